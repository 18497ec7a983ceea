"""Measures in a sentence: numbers, distances, walking times, compass and clock directions, and ways made of both.

Distances may be in metres, kilometres, feet, yards, miles, cables, steps, or minutes and hours of walking, as figures
or as words ("a hundred and fifty metres", "half a kilometre", "four five zero metres"). A number without a unit is
metres beside a direction ("500 N of the barn"). Left out is what is no way on the ground: heights, ages, speeds, wind.

Tags: N number, L distance, D direction, T a way with both, X any other measure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from esar_ros.planning.belief.brief.facts import (
    FARTHEST,
    PACED_SPREAD,
    STATED_SPREAD,
    VAGUE_SPREAD,
    WALKED_SPREAD,
    WALKING_SPEED,
    Direction,
    Distance,
    Way,
)
from esar_ros.planning.belief.brief.lexicon import SIDED, SMALL, TENS, UNITS, VAGUE, word_set
from esar_ros.planning.belief.brief.tokens import Item, Rule, joined, rewritten, rule

_SPREADS = {"stated": STATED_SPREAD, "paced": PACED_SPREAD, "walked": WALKED_SPREAD}
_SHORTEST = 10.0  # m; what is shorter is no way to fly
_LEAST_BARE = 20.0  # m, of a number without a unit
_SPEEDS = {"mph": 26.8, "kph": 16.67, "kmh": 16.67}  # m a minute; else knots

_POINTS = {"north": 90.0, "east": 0.0, "south": -90.0, "west": 180.0}
_PARTS = {"quarter": 4.0, "third": 3.0, "eighth": 8.0}
_DEGREES = word_set("c f celsius fahrenheit")
_SIDES = word_set("side bank edge end flank")


class Number(NamedTuple):
    """A number, whether it is a vague one, and its digits where they are written or spelt one by one."""

    value: float
    is_vague: bool = False
    digits: str = ""


def angle_of(word: str) -> float:
    """Mathematical angle (rad) of a compass word, e.g. "north-west", "SSE"."""
    low = word.lower()
    parts = re.findall("north|east|south|west", low) or [
        next(point for point in _POINTS if point[0] == letter) for letter in low if letter in "nesw"
    ]
    # "north-north-east" is the middle of north and north-east: each word halves the angle to the next.
    angle = math.radians(_POINTS[parts[-1]])
    for part in reversed(parts[:-1][-2:]):
        other = math.radians(_POINTS[part])
        angle = math.atan2(math.sin(angle) + math.sin(other), math.cos(angle) + math.cos(other))
    return angle


def of_bearing(degrees: float) -> Direction:
    """Returns the direction of a compass bearing."""
    return Direction(math.remainder(math.radians(90.0 - degrees), math.tau))


def measured(sentences: Iterable[Sequence[Item]]) -> list[list[Item]]:
    """Returns the items of each sentence with its measures put together."""
    rows: list[list[Item]] = []
    for items in sentences:
        row = rewritten(items, _LENGTHS)
        row = [_grounded(row, at) for at in range(len(row))]
        row = rewritten([_pointed(row, at) for at in range(len(row))], _BEARINGS)
        rows.append(rewritten(row, _WAYS))
    return rows


# -- numbers ---------------------------------------------------------------------------------------


def _number(items: Sequence[Item]) -> Item | None:
    if any(item.tag == "s" and item.low != "point" for item in items):
        return None  # "your position three hundred west"
    value = _figure(items) if items[0].tag == "#" else _in_words([item.low for item in items])
    return None if value is None else joined(items, "N", value)


def _figure(items: Sequence[Item]) -> Number | None:
    text, rest = items[0].low, [item.low for item in items[1:]]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", "")
    if not re.fullmatch(r"\d*\.?\d+", text):
        return None
    value = float(text)
    if not rest:
        return Number(value, digits=text)
    if rest[0] == "/":
        parts = float(rest[1]) if rest[1] in ("2", "3", "4", "5", "10") else 0.0
        return Number(value / parts) if value < parts else None
    if rest[0] == "and":
        return Number(value + 0.5) if rest[-1] == "half" else None
    if rest[0][-1].isdigit():  # "1 200"; "285 400" and "285 1.4" are a bearing and a distance
        return Number(1000.0 * value + float(rest[0])) if rest[0].isdigit() and len(rest[0]) == 3 > len(text) else None
    return Number(value * (1000.0 if rest[0] == "thousand" else 100.0))


def _in_words(words: Sequence[str]) -> Number | None:
    plain = [word for word in words if word not in ("-", "and", "plus", "of", "a", "an")]
    if "decimal" in plain or "point" in plain:
        at = plain.index("decimal" if "decimal" in plain else "point")
        tenths = float("0." + "".join(str(SMALL[word]) for word in plain[at + 1 :]))
        return Number(tenths + ((SMALL | TENS)[plain[0]] if at else 0.0))
    if len(plain) > 1 and all(SMALL.get(word, 10) < 10 for word in plain):
        digits = "".join(str(SMALL[word]) for word in plain)  # "zero two zero"
        return Number(float(digits), digits=digits)
    total, group, part, before = 0.0, 0.0, 0.0, ""
    for word in plain:
        if word in SMALL or word in TENS:
            small = SMALL.get(word) or TENS.get(word, 0)
            group = group * 100.0 if small >= 10 and before in SMALL else group  # "seven forty"
            group += small
        elif word.startswith("hundred"):
            group = (group or (3.0 if word == "hundreds" else 1.0)) * 100.0
        elif word == "thousand":
            total, group = total + (group or 1.0) * 1000.0, 0.0
        elif word in VAGUE:
            group = (part or group or 1.0) * 12.0 if word == "dozen" else group + VAGUE[word]
            part = 0.0
        elif word == "half":
            part = 0.5
        elif word.rstrip("s") in _PARTS:
            part, group = (group or 1.0) / _PARTS[word.rstrip("s")], 0.0
        else:
            return None  # "a quarter past several"
        before = word
    value = total + group + part
    return Number(value, any(word in ("few", "several", "couple", "hundreds") for word in plain)) if value else None


# -- distances and speeds --------------------------------------------------------------------------


def _length(items: Sequence[Item]) -> Item | None:
    """Makes a distance of "500 m", "300 to 500 m", "a mile and a half", "another hour"."""
    numbers: list[Number] = [item.value for item in items if item.tag == "N"]
    unit = next(item for item in items if item.tag == "u").low
    more = numbers.pop().value if items[-1].tag == "N" else 0.0
    if unit in ("h", "hr", "hrs", "hours") and len(numbers) == 1 and len(numbers[0].digits) == 4:
        return None  # "2100 hrs"
    if items[1].tag == "j" and items[1].low != "or" and numbers[1:]:
        return None  # "heading 210 for 800 m"
    if items[1].tag == "," and not numbers[0].value < numbers[1].value <= 2.0 * numbers[0].value:
        return None
    if more not in (0.0, 0.5, 0.25) or (
        not numbers and unit in ("m", "h", "k", "mi", "min", "cable", "foot", "pace", "step", "click")
    ):
        return None
    how, size = UNITS[unit]
    value, spread = numbers[0].value if numbers else 1.0, _SPREADS[how]
    if len(numbers) > 1:
        until = numbers[1].value
        if value < 10.0 and until >= 100.0:
            value *= 10.0 ** math.floor(math.log10(until))  # "two to three hundred"
        value, spread = (value + until) / 2.0, max(spread, abs(until - value) / (value + until or 1.0))
    if numbers and numbers[0].is_vague:
        spread = max(spread, VAGUE_SPREAD)
    return joined(items, "L", Distance((value + more) * size * (WALKING_SPEED if how == "walked" else 1.0), spread))


def _speed(items: Sequence[Item]) -> Item | None:
    """Makes a speed, m a minute, of "3 km per hour", "fifty miles an hour", "14 m/s", "15 to 20 mph"."""
    last = items[-1].low
    if items[0].tag == "N":
        return joined(items, "X", items[0].value.value * _SPEEDS.get(last, 30.9))
    if items[-1].tag == "L" and not last.startswith(("an hour", "a minute", "a second")):
        return None
    return joined(items, "X", items[0].value.metres / (60.0 if "h" in last else 1.0))


_LENGTHS: list[Rule] = [
    rule(r"[de][ps]d(?:-?d){0,2}", _number),
    rule(r"#/#x(?=fa?u)", lambda items: _number(items) if items[-1].low in ("th", "rd") else None),
    rule(r"#/#|##(?=u)|#h|#&aq|(?<![aAj])[ps]d(?:-?d){0,2}", _number),
    rule(r"#|a?[dehqv](?:-?[dehqv]|&a?q|fa?[hv]|(?<=h)&[dev]|(?<=q)a[hv]){0,8}", _number),
    rule(r"lN&N-?u", lambda items: _length(items[1:]) if items[0].low == "between" else None),
    rule(r"N(?:[-gj]|,j?)N-?[fajk]{0,2}u(?:&N)?", _length),
    rule(r"N-?[fajk]{0,3}u(?:&N)?|(?:a|k)j?u(?:&N)?", _length),
    rule(r"(?:\+/?-|\?)[NL]", lambda items: joined(items, "X") if items[0].low in "+±" else None),  # "+/- 50 m"
    rule(r"Lz|LL|L/[ux]|N(?:[-g]N)?z", _speed),
]


_ELSE_AFTER = word_set(
    "tall high deep altitude elevation wide asl height visibility thick draught long agl depth rope above old "
    "summit peak route stretch loop circuit"
)
_TIME_AFTER = word_set("ago later earlier before late overdue until")
_ELSE_BEFORE = word_set(
    "altitude alt elevation visibility sight height level ceiling depth below radius accuracy "
    "error width since age draught snow"
)
_SINCE = word_set("gone missing overdue lost waiting away")  # "gone for three hours"
_TIME_BEFORE = word_set("every last past")
_BETWEEN = word_set("of is about at some only around roughly the a an : = to than up")


def _plain_after(row: Sequence[Item], at: int) -> list[str]:
    """Returns the three words after an item, without the same measure in brackets: "the 978 m (3209 ft) summit"."""
    tags = "".join(item.tag for item in row[at + 1 : at + 4])
    skipped = 3 if tags == "(L)" else 1 if tags[:1] == ")" else 0
    return [item.low for item in row[at + 1 + skipped : at + 4 + skipped]]


def _grounded(row: Sequence[Item], at: int) -> Item:
    """Returns a distance as it is, or as another measure where it is a height, an age, a width, a time of day."""
    if row[at].tag != "L":
        return row[at]
    distance: Distance = row[at].value
    before = [item.low for item in row[max(at - 3, 0) : at]]
    after = _plain_after(row, at)
    while before[1:] and before[-1] in _BETWEEN:
        before.pop()
    if distance.metres > FARTHEST:
        return replace(row[at], tag="X", value=math.inf)
    is_else = distance.metres < _SHORTEST or bool(_ELSE_AFTER & set(after[:1])) or bool(_ELSE_BEFORE & set(before[-1:]))
    is_else |= (
        after[:1] == ["of"] and bool(after[1:2]) and after[1] in ("rope", "visibility", "height", "altitude", "snow")
    )
    is_else |= after[:1] in (["in"], ["above"]) and after[-1] in ("height", "altitude", "sea", "level")
    if distance.is_walked:  # "ten minutes to six", "missing for two hours"
        is_else |= bool(_TIME_AFTER & set(after[:1])) or bool(_TIME_BEFORE & set(before[-1:]))
        is_else |= before[-1:] == ["for"] and bool(_SINCE & set(before[-2:-1])) and "walk" not in after[:1]
        is_else |= after[:1] in (["to"], ["past"]) and at + 2 < len(row) and row[at + 2].tag == "N"
    return replace(row[at], tag="X", value=None) if is_else else row[at]


# -- directions ------------------------------------------------------------------------------------


def _pointed(row: Sequence[Item], at: int) -> Item:
    """Returns a compass word as a direction, or as a plain word where it is part of a name: "the south beach"."""
    item = row[at]
    if item.tag not in "DE" or item.value.__class__ is not str:
        return item
    before, after = row[at - 1] if at else None, row[at + 1] if at + 1 < len(row) else None
    is_measured = before is not None and before.tag in "LN" and item.value.isupper()  # "300 N hut"
    if (
        after is not None
        and not is_measured
        and (after.low in SIDED or (after.tag == "C" and item.value[0].isupper() and item.value[1:].islower()))
    ):
        return replace(item, tag="x")
    beyond = row[at + 2] if at + 2 < len(row) else None
    is_side = after is not None and beyond is not None and after.low in _SIDES and beyond.low == "of"
    if is_side and not any(other.tag in "LN" for other in row[max(at - 5, 0) : at]):
        return replace(item, tag="x")  # "on the west side of the river"
    if item.tag == "E" and not (after is not None and after.tag in "+-" and beyond is not None and beyond.tag == "N"):
        near = (before.tag if before else "^") + (("l" if after.low == "for" else after.tag) if after else "$")
        if not re.search(r"^[NLGbgjk:=(]|[fNLgl:=]$|^[^C]\$|,$", near):
            return replace(item, tag="C")
    return replace(item, tag="D", value=Direction(angle_of(item.value)))


def _bearing(items: Sequence[Item]) -> Item | None:
    """Makes a direction of "bearing 250 degrees", "on 045", "200 deg", "hdg 315"."""
    number = next(item.value for item in items if item.tag == "N")
    has_sign = any(item.tag == "o" for item in items)
    is_sure = (
        any(item.tag in "b@" for item in items)
        or has_sign + (items[0].tag == "l") + (len(number.digits) == 3) > 1
        or (items[0].tag == "g" and number.digits.startswith("0") and len(number.digits) == 3)
    )
    if not is_sure or not number.digits.isdigit() or number.value > 360.0:
        return None
    return joined(items, "D", of_bearing(number.value))


_BEARINGS: list[Rule] = [
    rule(r"NoC", lambda items: joined(items, "X") if items[-1].low in _DEGREES else None),
    rule(r"(?:[l@][aA]?x?)?b(?:[fBjA:=]{0,2}|[fgBjAxPCVH]{0,5}[:=])No?|[l@g]A?No?", _bearing),
    rule(r"No", _bearing),
]


# -- ways ------------------------------------------------------------------------------------------


def _way(items: Sequence[Item]) -> Item | None:
    """Makes a way of a distance and a direction beside it; a number without a unit is metres."""
    length = next(item for item in items if item.tag in "LN")
    direction: Direction = next(item.value for item in items if item.tag == "D")
    distance = length.value
    if isinstance(distance, Number):
        if distance.value < _LEAST_BARE or distance.digits.startswith("0") or "." in distance.digits:
            return None
        distance = Distance(distance.value, STATED_SPREAD)
    low = [item.low for item in items]
    if "minus" in low or ("-" in low and low.index("-") > low.index(next(i.low for i in items if i.tag == "D"))):
        direction = Direction(math.remainder(direction.angle + math.pi, math.tau))
    return joined(items, "T", Way(distance, direction))


_WAYS: list[Rule] = [
    rule(r"(?<![LN])D[:=]?[-+][LN]", _way),
    rule(r"[LN][jkgAlt]{0,4}D", _way),
    rule(r"D[:=]{0,2}[-+m&]?[LN]|D[/@jkg(]{1,3}[LN]", _way),
    rule(r"L,[jgAl]{0,3}D|D,[jgAlak]{0,3}L", _way),
]
