"""Map references: how far and which way one lies from another, told by their digits alone.

"Last ping 337 612, drone at 330 617": of two references of as many digits the difference is a way, whatever the square.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from esar_ros.planning.belief.brief.facts import STATED_SPREAD, Direction, Distance, Move, Reference, Way
from esar_ros.planning.belief.brief.measures import Number
from esar_ros.planning.belief.brief.places import Kind, Place
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.belief.brief.ways import Stated

_SIZES = {3: 100.0, 4: 10.0, 5: 1.0, 6: 1.0, 7: 1.0}  # m, of the last digit of an easting or northing
_FARTHEST = 20_000.0  # m between two references of one brief


def offsets(rows: Sequence[Sequence[Item]]) -> list[Stated]:
    """Returns the ways from the map reference in a sentence about the vehicle to those in others."""
    told = [(number, *reference) for number, row in enumerate(rows) for reference in references(row)]
    homes = [one for one in told if any(item.tag in "VHZ" for item in rows[one[0]])]
    out: dict[tuple[float, float], Stated] = {}
    for number, at, digits, east, north, span in told if homes else ():
        _, _, home_digits, home_east, home_north, _ = homes[0]
        x, y = (east - home_east) * _SIZES[digits], (north - home_north) * _SIZES[digits]
        if digits != home_digits or (number, at) in [one[:2] for one in homes] or math.hypot(x, y) > _FARTHEST:
            continue
        way = Way(Distance(math.hypot(x, y), STATED_SPREAD), Direction(math.atan2(y, x)))
        move = Move(way.distance, way.direction, Reference.OTHER)
        home, nothing = Place(Kind.HOME), frozenset[str]()
        out[x, y] = Stated(
            way, number, at, home, None, False, False, False, False, None, False, nothing, nothing, move, (span,)
        )
    return list(out.values())


def references(row: Sequence[Item]) -> Iterator[tuple[int, int, float, float, tuple[int, int]]]:
    """Yields where a map reference stands, the digits of its northing, its easting and northing, its characters."""
    for at, item in enumerate(row[:-1]):
        beside = at + 2 if row[at + 1].tag in ",/" else at + 1
        numbers = [one.value for one in (item, *row[beside : beside + 1]) if isinstance(one.value, Number)]
        if len(numbers) < 2 or not all(number.digits.isdecimal() for number in numbers):
            continue
        first, second = (len(number.digits) for number in numbers)
        is_one = first == second or (first, second) == (6, 7)
        if is_one and second in _SIZES and (second > 3 or beside == at + 1):
            yield at, second, numbers[0].value, numbers[1].value, (item.start, row[beside].end)
