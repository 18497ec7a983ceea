"""Proves briefs: reads each claim's words with its own lexicon and compares them with map, task and story.

It also looks for statements that nobody claimed: a compass word, distance, time, colour, weather or thing in the text
that no claim covers is a fault, and so is anything that looks like a coordinate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache

import numpy as np
import numpy.typing as npt

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.weather import Weather
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.sky import sun_direction
from esar_ros.suites.esarbench.tasks.claims import Claim, Situation
from esar_ros.suites.esarbench.tasks.ground import arc_length

_BEARINGS = {
    "north": 90.0, "north-east": 45.0, "east": 0.0, "south-east": -45.0,
    "south": -90.0, "south-west": -135.0, "west": 180.0, "north-west": 135.0,
}  # fmt: skip
_BEARING_TOLERANCE = 32.0  # degrees
_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "twenty-five": 25,
    "fifty": 50, "quarter": 15,
}  # fmt: skip
_DISTANCE_SHARE = 0.3  # that "about" may be off by
_MIN_TOLERANCE = 28.0  # m that it may be off by
_WALKING = (0.25, 1.6)  # m/s, slowest and fastest over rough ground, rests included
_COLOURS = re.compile(
    r"\b(red|orange|yellow|green|blue|purple|black|white|grey|olive|pink|brown|silver|teal|lime|navy|khaki|maroon)\b",
    re.I,
)
_WEATHERS: tuple[tuple[str, frozenset[Weather]], ...] = (
    (r"thunder", frozenset({Weather.THUNDERSTORM})),
    (r"pouring|heavy rain|rain coming down hard", frozenset({Weather.HEAVY_RAIN})),
    (r"drizzle|light rain", frozenset({Weather.LIGHT_RAIN})),
    (r"blizzard", frozenset({Weather.BLIZZARD})),
    (r"heavy snow|hard snowfall|thick snow", frozenset({Weather.HEAVY_SNOW})),
    (r"light snow|little snow|few flakes", frozenset({Weather.LIGHT_SNOW})),
    (r"dense fog|thick fog|fog so thick", frozenset({Weather.DENSE_FOG})),
    (r"\bfog\b", frozenset({Weather.FOG})),
    (r"sandstorm", frozenset({Weather.SANDSTORM})),
    (r"dust", frozenset({Weather.DUST})),
    (r"overcast|grey sky|closed grey", frozenset({Weather.OVERCAST})),
    (r"broken cloud|few clouds|partly cloudy|scattered clouds", frozenset({Weather.PARTLY_CLOUDY})),
    (r"clear|cloudless", frozenset({Weather.CLEAR})),
)
_WINDS = (
    (r"no wind to speak|hardly a breath", (0.0, 1.0)), (r"light", (0.9, 4.1)), (r"fresh|moderate", (3.9, 7.6)),
    (r"strong|hard", (7.4, 15.0)),
)  # fmt: skip
# Words that may stand in a brief only inside a claim.
_GUARDED = re.compile(
    r"\b(?:north|south|east|west)(?:-(?:east|west))?(?:ern)?\b|\b(?:up|down)hill\b"
    r"|\b\w*met(?:re|er)s?\b|\bkilomet(?:re|er)s?\b|\bminutes?\b|\bhours?\b|\byesterday\b|\bago\b|\d\d?:\d\d"
    r"|\b(?:red|orange|yellow|green|blue|purple|pink|olive|teal|lime|navy|khaki|maroon)\b"
    r"|\b(?:tents?|rucksack|backpack|campfire|signal flare|flare|sleeping bag|rope|footprints|boot prints)\b"
    r"|\b(?:fog|drizzle|blizzard|overcast|thunderstorm|dusk|dawn)\b",
    re.I,
)
_COORDINATES = re.compile(
    r"-?\d+\.\d+|\b\d{3,}\s*(?:m|metres|meters|km)\b|\b[xy]\s*=|\b\d{1,3}\s*°|\blatitude|\blongitude|\butm\b", re.I
)
# Names of places with guarded words in them that no measure is meant by.
_NAMES = re.compile(r"\b(?:the )?(?:south|east) beach\b|\bsouthern track\b|\bpath\b|\bsouth shore\b|\bstorm\b", re.I)


def faults(text: str, claims: Sequence[Claim], facts: Situation, place: PlaceMap, labels: Sequence[str]) -> list[str]:
    """Returns the faults of a brief, one line each; empty when every word of it holds. labels: names of places."""
    found = [
        f"'{claim.words}' ({claim.kind} {' '.join(claim.about)}): {fault}"
        for claim, fault in _untrue(claims, facts, place)
    ]
    covered, missing = _covered(text, claims, [*labels, *(str(victim["name"]) for victim in facts.victims)])
    found += [f"'{claim.words}' is claimed and not said" for claim in missing]
    found += [
        f"'{match[0]}' is said and claimed nowhere: ...{text[max(0, match.start() - 30) : match.end() + 20]}..."
        for match in _GUARDED.finditer(text)
        if not covered[match.start() : match.end()].all()
    ]
    found += [f"'{match[0]}' looks like a coordinate" for match in _COORDINATES.finditer(text)]
    found += [f"{victim['name']} is not named" for victim in facts.victims if str(victim["name"]) not in text]
    return found


def _covered(text: str, claims: Sequence[Claim], names: Sequence[str]) -> tuple[npt.NDArray[np.bool_], list[Claim]]:
    """Returns a mask of the characters that claims and names account for, and claims that the text does not contain.

    Each claim accounts for one place where its words stand whole, so a "west" that somebody claimed excuses no other.
    """
    named = np.zeros(len(text), dtype=np.bool_)
    for pattern in (_NAMES, *(_whole(name) for name in names)):
        for match in pattern.finditer(text):
            named[match.start() : match.end()] = True
    claimed = np.zeros(len(text), dtype=np.bool_)
    missing = []
    for claim in sorted(claims, key=lambda claim: -len(claim.words)):  # "a red rope" before the "a red" in it
        for match in _whole(claim.words).finditer(text):
            span = slice(match.start(), match.end())
            if not claimed[span].any() and not named[span].all():
                claimed[span] = True
                break
        else:
            missing.append(claim)
    return named | claimed, missing


def _whole(words: str) -> re.Pattern[str]:
    """Words where they are not part of longer ones: no "east" in "south-east"."""
    return re.compile(rf"(?<![\w-]){re.escape(words)}(?![\w-])", re.I)


def _untrue(claims: Sequence[Claim], facts: Situation, place: PlaceMap) -> Iterator[tuple[Claim, str]]:
    checks = {
        "direction": _direction, "distance": _distance, "uphill": _rise, "downhill": _rise, "walk": _walk,
        "days": _days, "clock": _clock, "light": _light, "weather": _weather, "wind": _wind, "wears": _wears,
        "item": _item, "cover": _cover, "story": _story,
    }  # fmt: skip
    for claim in claims:
        check = checks.get(claim.kind)
        try:
            fault = check(claim, facts, place) if check else "no such kind of claim"
        except (KeyError, ValueError, IndexError) as error:
            fault = f"cannot be read: {error!r}"
        if fault:
            yield claim, fault


def _direction(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    a, b = (facts.point(name) for name in claim.about)
    true = math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))
    off = abs(math.degrees(wrap_angle(math.radians(true - _BEARINGS[claim.words.lower()]))))
    return "" if off <= _BEARING_TOLERANCE else f"the bearing is {true:.0f} degrees, {off:.0f} off"


def _distance(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    a, b = (facts.point(name) for name in claim.about)
    true = math.dist(a, b)
    low, high = _metres(claim.words.lower())
    return "" if low <= true <= high else f"it is {true:.0f} m"


def _metres(words: str) -> tuple[float, float]:
    """Least and greatest distance that the words cover."""
    if words in ("right beside", "close to"):
        return 0.0, 40.0
    if words in ("a stone's throw", "a few steps"):
        return 0.0, 40.0
    tokens = words.replace("or so", "").split()
    if "half" in tokens:
        middle = 500.0
    elif "kilometre" in tokens or "kilometres" in tokens:
        middle = 1000.0 * next(_WORDS[token] for token in tokens if token in _WORDS and token != "and")
        middle += 500.0 if "half" in tokens else 150.0 if "good" in tokens else 0.0
    elif "hundred" in tokens:
        before = [_WORDS[token] for token in tokens[: tokens.index("hundred")] if token in _WORDS]
        after = [_WORDS[token] for token in tokens[tokens.index("hundred") + 1 :] if token in _WORDS]
        middle = 100.0 * before[-1] + (after[0] if after else 0.0)
    else:
        middle = float(next(_WORDS[token] for token in tokens if token in _WORDS))
    if "kilometre and a half" in words:
        middle = 1500.0
    slack = max(_MIN_TOLERANCE, _DISTANCE_SHARE * middle)
    return middle - slack, middle + slack


def _rise(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    a, b = (float(place.ground_height(np.array(facts.point(name)))) for name in claim.about)
    up = claim.words.lower() == "uphill"
    return "" if (b >= a) is up else f"the ground goes from {a:.0f} to {b:.0f} m"


def _walk(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    line = facts.lines[claim.about[0]]
    true = float(arc_length(line)[-1])
    low, high = _minutes(claim.words.lower())
    if low * 60.0 * _WALKING[0] <= true <= high * 60.0 * _WALKING[1]:
        return ""
    return f"the way is {true:.0f} m long"


def _minutes(words: str) -> tuple[float, float]:
    if "few" in words or "couple" in words:
        return 1.0, 8.0
    if "over an hour" in words:
        return 60.0, 240.0
    if "three quarters" in words:
        return 35.0, 55.0
    if "half an hour" in words:
        return 22.0, 40.0
    if "quarter of an hour" in words:
        return 11.0, 19.0
    if "hour" in words:
        return 45.0, 85.0
    stated = float(next(_WORDS[token] for token in words.split() if token in _WORDS))
    return 0.7 * stated, 1.35 * stated


def _days(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    true = (facts.day - date.fromisoformat(claim.about[0])).days
    words = claim.words.lower()
    if "before yesterday" in words:
        stated = 2
    elif "yesterday" in words:
        stated = 1
    elif "today" in words:
        stated = 0
    elif "week" in words:
        stated = 7
    elif words.startswith("on "):
        day = date.fromisoformat(claim.about[0])
        return "" if words == f"on {day.day} {day:%B}".lower() else f"it was on {day}"
    else:
        stated = next(_WORDS[token] for token in words.split() if token in _WORDS)
    return "" if stated == true else f"it is {true} days"


def _clock(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    words = claim.words.lower()
    true = 60 * facts.local_time.hour + facts.local_time.minute
    if match := re.fullmatch(r"(\d+):(\d\d)(?: (am|pm))?", words):
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0) if match[3] else int(match[1])
        return "" if 60 * hour + int(match[2]) == true else f"it is {facts.local_time:%H:%M}"
    tokens = words.split()
    half_day = 720 if "afternoon" in tokens or "evening" in tokens else 0
    if "at night" in words:
        if 5 <= facts.local_time.hour < 21:
            return f"it is {facts.local_time:%H:%M}, no night"
        half_day = 720 if facts.local_time.hour >= 12 else 0
    if "o'clock" in tokens:
        stated = 60 * (_WORDS[tokens[0]] % 12)
    elif tokens[0] == "half":
        stated = 60 * (_WORDS[tokens[2]] % 12) + 30
    else:
        at = tokens.index("past") if "past" in tokens else tokens.index("to")
        minutes = _WORDS[tokens[at - 1]]
        hour = _WORDS[tokens[at + 1]]
        stated = 60 * (hour % 12) + minutes if tokens[at] == "past" else 60 * ((hour - 1) % 12) + 60 - minutes
    return "" if (stated + half_day) % 1440 == true else f"it is {facts.local_time:%H:%M}"


def _light(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    origin = place.origin
    sun = sun_direction(origin.latitude, origin.longitude, place.utc_offset, facts.local_time)
    height = math.degrees(math.asin(float(sun[2])))
    words = claim.words.lower()
    if any(word in words for word in ("dark", "night", "no daylight")):
        return "" if height < -5.0 else f"the sun stands at {height:.0f} degrees"
    if not -7.0 <= height <= 5.0:
        return f"the sun stands at {height:.0f} degrees"
    rising = any(word in words for word in ("coming", "breaking")) and "dusk" not in words
    return "" if rising is (facts.local_time.hour < 12) else "the sun moves the other way"


def _weather(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    stated = next(kinds for pattern, kinds in _WEATHERS if re.search(pattern, claim.words.lower()))
    return "" if facts.weather in stated else f"it is {facts.weather.value}"


def _wind(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    words = claim.words.lower()
    low, high = next(span for pattern, span in _WINDS if re.search(pattern, words))
    if not low <= facts.wind_speed <= high:
        return f"it blows at {facts.wind_speed} m/s"
    if low == 0.0:
        return ""
    comes_from = math.degrees(facts.wind_direction) + 180.0
    off = math.degrees(wrap_angle(math.radians(comes_from - _BEARINGS[words.rsplit(" ", 1)[1]])))
    return "" if abs(off) <= _BEARING_TOLERANCE else f"it comes from a bearing of {comes_from:.0f} degrees"


def _wears(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    outfit = next(str(victim["variant"]) for victim in facts.victims if victim["id"] == claim.about[0])
    return "" if claim.words.lower().split()[-1] in outfit.split("_") else f"the outfit is {outfit}"


def _item(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    own = [clue for clue in facts.clues if clue["kind"] == claim.about[0]]
    if not own:
        return f"the snapshot has no {claim.about[0]}"
    colours = {match.lower() for match in _COLOURS.findall(claim.words)}
    if colours and not any(colours <= set(str(clue["variant"]).split("_")) for clue in own):
        return f"its colour is {own[0]['variant']}"
    kinds = _judge().kinds(claim.words)
    # What burns may be told as a light that was seen.
    burns = claim.about[0] in ("signal_flare", "campfire") and "light" in kinds
    return "" if not kinds or burns or claim.about[0] in kinds else f"a judge takes it for {', '.join(sorted(kinds))}"


def _cover(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    name, cover, reach = claim.about
    offsets = np.linspace(-float(reach), float(reach), 25)
    around = np.stack(np.meshgrid(offsets, offsets), axis=-1).reshape(-1, 2)
    around = around[np.linalg.norm(around, axis=1) <= float(reach)] + np.array(facts.point(name))
    share = float((place.cover_at(around) == LandCover[cover]).mean())
    return "" if share > 0.0 else f"no {cover} within {reach} m"


def _story(claim: Claim, facts: Situation, place: PlaceMap) -> str:
    measures = re.compile(r"north|south|east|west|metre|kilomet|minute|yesterday|\bago\b|\d:\d\d", re.I)
    return "holds a measure" if measures.search(claim.words) else ""


@cache
def _judge() -> OfflineJudge:
    return OfflineJudge()
