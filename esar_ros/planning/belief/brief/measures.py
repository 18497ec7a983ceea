"""Measures in words: distances, walking times and compass directions of an English text.

Distances may be in metres, kilometres, feet, yards, miles, steps, or minutes and hours of walking, as figures
or as words ("a hundred and fifty metres", "half a kilometre", "a couple of hundred yards").
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# Hikers off the path; Naismith's rule and DIN 33466 give 4 to 5 km/h on the level, far less on rough ground.
WALKING_SPEED = 3000.0 / 60.0  # m a minute
# Relative standard deviations of a way told in metres, in walking time, and in words like "a few hundred".
STATED_SPREAD, WALKED_SPREAD, VAGUE_SPREAD = 0.12, 0.4, 0.35

_NUMBERS = {
    "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0,
    "eight": 8.0, "nine": 9.0, "ten": 10.0, "eleven": 11.0, "twelve": 12.0, "fifteen": 15.0, "eighteen": 18.0,
    "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "seventy": 70.0, "eighty": 80.0,
    "ninety": 90.0, "few": 3.0, "several": 4.0, "couple": 2.0, "dozen": 12.0, "some": 1.0,
}  # fmt: skip
_SCALES = {"hundred": 100.0, "thousand": 1000.0, "hundreds": 300.0}
_VAGUE = {"few", "several", "couple", "hundreds", "some"}
_UNITS = (
    (r"kilomet(?:re|er)s?|kms?|k", 1000.0, STATED_SPREAD),
    (r"met(?:re|er)s?|m", 1.0, STATED_SPREAD),
    (r"yards?|yds?|paces?|steps?", 0.9, 0.15),
    (r"feet|foot|ft", 0.3048, 0.15),
    (r"miles?", 1609.0, 0.15),
    (r"minutes?|mins?", WALKING_SPEED, WALKED_SPREAD),
    (r"hours?", 60.0 * WALKING_SPEED, WALKED_SPREAD),
)
_WORDS = "|".join(
    sorted(
        {*_NUMBERS, *_SCALES, "half", "quarter", "quarters", "and", "of", "good", "full", "bare", "short"},
        key=len,
        reverse=True,
    )
)
# Bounded, and taken as a whole below (a lookahead and its group do not go back): text made of numbers costs no time.
_NUMBER = rf"(?:\d[\d,]{{0,12}}(?:\.\d{{1,12}})?|(?:{_WORDS})(?:[\s-]{{1,3}}(?:{_WORDS})){{0,8}})"
_UNIT = "|".join(unit for unit, _, _ in _UNITS)
_DISTANCE = re.compile(
    rf"\b(?=({_NUMBER}))\1(?:\s*(?:-|–|to)\s*(?=({_NUMBER}))\2)?[\s-]{{0,3}}({_UNIT})\b(?:['’]s?)?(\s+and\s+a\s+half)?",
    re.IGNORECASE,
)
# What makes a number with a unit something else than a way on the ground.
_OTHER_AFTER = re.compile(
    r"^\s*(?:ago|later|earlier|before|old|tall|high|deep|altitude|elevation|wide|a\.?s\.?l|above\s+sea|(?:in|of)\s+(?:height|altitude|visibility)|"
    r"to\s+(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)\b|past\s+(?:one|two|three|"
    r"four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)\b|per\b|/|an?\s+hour|long\s+rope|of\s+rope)",
    re.IGNORECASE,
)
_OTHER_BEFORE = re.compile(
    r"(?:altitude|elevation|visibility|sight|height|level|every|for(?:\s+the)?\s+(?:last|past)|in\s+the\s+last)\s+"
    r"(?:of\s+|is\s+|about\s+|at\s+|some\s+|only\s+)*$",
    re.IGNORECASE,
)
_BEFORE = 80  # characters before a number that tell what it measures
_TIME_UNITS = re.compile(r"^(?:min|hour)", re.IGNORECASE)
_DURATION_BEFORE = re.compile(
    r"\b(?:for|since|in|after|every|about\s+for|last|past|next)\s+(?:about\s+|some\s+|the\s+)?$", re.I
)

_POINTS = ("north", "east", "south", "west")
_POINT = (
    r"(?:north|south)(?:[\s-]?(?:north|south))?(?:[\s-]?(?:east|west))?"
    r"|(?:east|west)(?:[\s-]?(?:north|south)[\s-]?(?:east|west))?"
)
_DIRECTION = re.compile(
    rf"\b({_POINT})(ern|erly|wards?|ernmost|bound)?\b|\b(NNE|ENE|ESE|SSE|SSW|WSW|WNW|NNW|NE|SE|SW|NW)\b"
    r"|\b([NESW])(?=\s+of\b)",
    re.IGNORECASE,
)


_BEARING = re.compile(
    r"\b(?:bearing|heading|azimuth|course)\s+(?:of\s+|is\s+)?(\d{1,3})\b(?:\s*(?:degrees?|deg\b|°))?|"
    r"(?<![\d.])(\d{1,3})\s*°(?!\s*[CF]\b)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<=\b(?:m|k)m\s)[NESW]\b|(?<=\d\sm\s)[NESW]\b|(?<=met(?:re|er)s\s)[NESW]\b")


@dataclass(frozen=True)
class Distance:
    """A distance on the ground: median m, relative standard deviation, and where in the text it stands."""

    metres: float
    spread: float
    start: int
    end: int


@dataclass(frozen=True)
class Direction:
    """A compass direction: mathematical angle (rad, 0 = east, counter-clockwise) and where in the text it stands."""

    angle: float
    start: int
    end: int
    suffix: str = ""  # ern, ward ... as written


def number_of(words: str) -> tuple[float, bool] | None:
    """Value of a number in figures or words and whether it is a vague one; None when there is none."""
    text = words.strip().lower()
    if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", text):
        return float(text.replace(",", "")), False
    total, current, seen, vague, half = 0.0, 0.0, False, False, 0.0
    for word in re.split(r"[\s-]+", text):
        if word in _SCALES:
            current = (current or 1.0) * _SCALES[word]
            total, current, seen = total + current, 0.0, True
        elif word == "half":
            half, seen = 0.5, True
        elif word in ("quarter", "quarters"):
            half, current, seen = 0.25 * (current if word == "quarters" else 1.0), 0.0, True
        elif word in _NUMBERS:
            value = _NUMBERS[word]
            if word in ("a", "an") and (seen or current):
                continue  # "two and a half"
            # "a few", "a couple": the article does not count.
            current = value if word in _VAGUE or current <= 1.0 else current + value
            seen = True
        vague = vague or (word in _VAGUE and word != "some")
    if not seen:
        return None
    if half and total == 0.0 and current in (0.0, 1.0):
        return half, vague
    value = total + current + half
    return (value, vague) if value > 0.0 else None


def distances(text: str) -> list[Distance]:
    """All ways on the ground in a text, in order."""
    found = []
    for match in _DISTANCE.finditer(text):
        first = number_of(match[1])
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if first is None or _OTHER_AFTER.match(text[match.end() :]) or _OTHER_BEFORE.search(before):
            continue
        if _TIME_UNITS.match(match[3]) and _DURATION_BEFORE.search(before):
            continue
        if match[3].lower() == "m" and not match[1][-1].isdigit():
            continue
        second = number_of(match[2]) if match[2] else None
        if second is not None and first[0] < 10.0 and second[0] >= 100.0:
            first = (first[0] * 10.0 ** math.floor(math.log10(second[0])), first[1])  # "two to three hundred"
        scale, spread = next((scale, spread) for unit, scale, spread in _UNITS if re.fullmatch(unit, match[3], re.I))
        value = first[0] + (0.5 if match[4] else 0.0)
        if second is not None:
            value, spread = (value + second[0]) / 2.0, max(spread, abs(second[0] - value) / (value + second[0]))
        if first[1]:
            spread = max(spread, VAGUE_SPREAD)
        if value * scale >= 10.0:
            found.append(Distance(value * scale, spread, match.start(), match.end()))
    return found


def directions(text: str) -> list[Direction]:
    """All compass directions in a text, in order. "from the north" counts as such: the caller knows of what."""
    found = []
    for match in _DIRECTION.finditer(text):
        word = match[1] or match[3] or match[4]
        if match[1] is None and not word.isupper():
            continue
        found.append(Direction(angle_of(word), match.start(), match.end(), (match[2] or "").lower()))
    for match in _BEARING.finditer(text):
        degrees = float(match[1] or match[2])
        if degrees <= 360.0:
            found.append(Direction(math.radians(90.0 - degrees), match.start(), match.end()))
    starts = {one.start for one in found}
    found += [
        Direction(angle_of(match[0]), match.start(), match.end())
        for match in _LETTER.finditer(text)
        if match.start() not in starts
    ]
    return sorted(found, key=lambda one: one.start)


def angle_of(word: str) -> float:
    """Mathematical angle (rad) of a compass word, e.g. "north-west", "SSE"."""
    text = re.sub(r"[\s-]", "", word.lower())
    parts = re.findall("north|east|south|west", text) or [
        next(point for point in _POINTS if point[0] == letter) for letter in text
    ]
    # "north-north-east" is the middle of north and north-east: each word halves the angle to the next.
    vectors = {"north": (0.0, 1.0), "east": (1.0, 0.0), "south": (0.0, -1.0), "west": (-1.0, 0.0)}
    angle = math.atan2(*reversed(vectors[parts[-1]]))
    if len(parts) >= 2:
        angle = _middle(math.atan2(*reversed(vectors[parts[-2]])), angle)
    if len(parts) == 3:
        angle = _middle(math.atan2(*reversed(vectors[parts[0]])), angle)
    return angle


def _middle(first: float, second: float) -> float:
    return math.atan2(math.sin(first) + math.sin(second), math.cos(first) + math.cos(second))
