"""The tree of places that the ways of a brief make: what each counts from, and the lines that follow from that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from esar_ros.planning.belief.brief.facts import Direction, Move, Reference, StartFact
from esar_ros.planning.belief.brief.places import Kind, Place, head, stems
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.belief.brief.ways import Stated


def turned(direction: Direction | None, turn: float) -> Direction | None:
    """Returns a direction turned counter-clockwise, rad."""
    return None if direction is None else Direction(math.remainder(direction.angle + turn, math.tau))


def marks(stated: Sequence[Stated], rows: Sequence[Sequence[Item]]) -> list[bool]:
    """Returns of each way whether its sentence tells where a place lies, seen from the vehicle, and of nobody.

    Of none where nothing else tells of somebody: then that is where they are.
    """
    tells = [
        bool(one.move.kinds or one.move.persons) or any(item.tag in "PQ" for item in rows[one.number]) for one in stated
    ]
    if not any(tells):
        return [False] * len(stated)
    return [
        not told and bool(one.subject) and not one.is_start and one.origin is not None and one.origin.kind is Kind.HOME
        for one, told in zip(stated, tells, strict=True)
    ]


def parents_of(stated: Sequence[Stated], start: StartFact | None, is_mark: Sequence[bool]) -> list[Reference | int]:
    """Returns for each way what it counts from: a place, or the number of the way at whose end it begins."""
    parents: list[Reference | int] = []
    for number, one in enumerate(stated):
        is_of_mark = bool(number) and is_mark[number - 1] and one.origin == Place(Kind.LAST)  # "west of it"
        parents.append(number - 1 if is_of_mark else _parent(number, one, stated, parents, start))
    return parents


def _parent(
    number: int, one: Stated, stated: Sequence[Stated], parents: Sequence[Reference | int], start: StartFact | None
) -> Reference | int:
    before = number - 1 if number else Reference.START
    origin = one.origin
    if one.is_back or (origin is not None and origin.kind is Kind.HOME):
        return Reference.VEHICLE
    if origin is None or origin.kind in (Kind.PERSON, Kind.THERE):
        same = [parents[n] for n in range(number) if stated[n].origin == origin == Place(Kind.PERSON)]
        if same:
            return same[0]  # "a cap 200 m north of LKP, a shoe 450 m north of LKP"
        return before
    if origin.kind is Kind.LAST:
        words = stems(origin.words)
        if ends := [n for n in range(number - 1, -1, -1) if words & stated[n].around]:
            return ends[0]  # "the reference point is 250 m north of you"
        return next((parent for parent in reversed(parents) if isinstance(parent, Reference)), Reference.START)
    words = stems(head(origin.words))
    if start is not None and _is_at(start, origin):
        return Reference.START
    ends = [n for n in range(number - 1, -1, -1) if words & stated[n].around]
    ends += [n for n in range(number + 1, len(stated)) if _is_placed(stated[n], words, start)]
    if ends:
        return ends[0]
    if start is None:
        return Reference.START
    if origin.words.startswith(("his ", "her ", "their ")):
        return before
    return Reference.OTHER


def _is_placed(one: Stated, words: frozenset[str], start: StartFact | None) -> bool:
    """Returns whether a way leads to a place from where the vehicle starts: "the col is 600 m east of your hut"."""
    if one.origin is None or one.way.distance is None or not words & one.around:
        return False
    if one.origin.kind is Kind.HOME or start is None or start.distance is not None or start.direction is not None:
        return one.origin.kind is Kind.HOME
    is_other = one.origin.kind is Kind.NAMED and not words & stems(one.origin.words)
    return is_other and _is_at(start, one.origin)  # what it counts from is the start: no way leads to itself


def _is_at(start: StartFact, origin: Place) -> bool:
    """Returns whether a way counts from the landmark of the start, not from what tells that landmark by another."""
    return bool(stems(head(origin.words)) & stems(head(start.landmark)))


def in_order(parents: Sequence[Reference | int]) -> list[tuple[int, bool]]:
    """Returns the ways in the order in which a line follows them, and whether each begins a line anew.

    A way from which several others go on is told again for each but the first.
    """
    out: list[tuple[int, bool]] = []
    led_to: set[int] = set()
    for number, parent in enumerate(parents):
        if number in led_to:
            continue  # another way, told before, begins at its end
        if isinstance(parent, int) and (not out or out[-1][0] != parent):
            path = [parent]
            while isinstance(above := parents[path[0]], int):
                path.insert(0, above)
            out += [(n, n == path[0]) for n in path]
            led_to.update(path)
        out.append((number, not isinstance(parent, int)))
    return out


def move_of(one: Stated, parent: Reference | int) -> Move:
    direction = turned(one.way.direction, math.pi if one.is_back else 0.0)
    reference = parent if isinstance(parent, Reference) else Reference.PREVIOUS
    return replace(one.move, distance=one.way.distance, direction=direction, reference=reference)
