"""Directions told by where somebody looks: ahead, to the left, at two o'clock."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from esar_ros.planning.belief.brief.facts import Direction
from esar_ros.planning.belief.brief.lexicon import word_set
from esar_ros.planning.belief.brief.tokens import Item

_BODY = {"ahead": 0.0, "front": 0.0, "behind": 180.0, "left": 90.0, "right": -90.0}
_FACING = word_set("face faces facing look looks looking pointing")
_IS_TWELVE = re.compile(r"N(?:@[Bc=,]?[^LN.;]{0,8}?|[=B]j?)D")  # "twelve o'clock is up-valley, due north"
_AS_TWELVE = re.compile(r"D[^LND.;]{0,9}[cB=]N@$")  # "taking north as twelve o'clock"


def _clock(row: Sequence[Item]) -> tuple[int, int] | None:
    """Returns where a sentence says what lies at twelve o'clock: the number and the direction."""
    tags = "".join(item.tag if item.low != "o'clock" else "@" for item in row)
    for at in (at for at, item in enumerate(row) if item.tag == "N" and item.value.value == 12.0):
        after, before = _IS_TWELVE.match(tags, at), _AS_TWELVE.search(tags[max(at - 12, 0) : at + 2])
        if after is not None:
            return at, after.end() - 1
        if before is not None:
            return at, before.start() + max(at - 12, 0)
    return None


def twelve(row: Sequence[Item]) -> float | None:
    """Returns the angle of what a sentence says to lie at twelve o'clock."""
    told = _clock(row)
    return None if told is None else float(row[told[1]].value.angle)


def turned(row: Sequence[Item], facing: float | None) -> tuple[list[Item], float | None]:
    """Returns the items with what is told by somebody's facing as directions, and the facing.

    "Look up the glen, which runs north: she was dead ahead." The facing may be told in a sentence before.
    """
    out, is_used = list(row), False
    looks = next((at for at, item in enumerate(row) if item.low in _FACING), len(row))
    told = next((at for at in range(looks, len(row)) if row[at].tag == "D"), None)
    clock = _clock(row)
    if clock is not None:
        told, is_used = clock[1], True
    if told is not None:
        facing, out[told] = row[told].value.angle, replace(row[told], tag="X", value=None)
    for at, item in enumerate(row):
        turn = None
        if item.low == "o'clock" and at and row[at - 1].tag == "N":
            out[at - 1] = replace(row[at - 1], tag="X", value=None)
            turn = None if clock is not None and at - 1 == clock[0] else -math.radians(30.0) * row[at - 1].value.value
        elif item.low in _BODY and (_is_body(row[at + 1 : at + 3]) or _is_body(row[max(at - 1, 0) : at])):
            turn = math.radians(_BODY[item.low])
        if facing is not None and turn is not None:
            out[at] = replace(item, tag="D", value=Direction(math.remainder(facing + turn, math.tau)))
            is_used = True
    return (out if is_used else list(row)), facing


def _is_body(beside: Sequence[Item]) -> bool:
    """Returns whether words beside "behind" or "left" say that it is by somebody's facing."""
    return any(item.tag in "YZ" or item.low in ("dead", "straight", "of") for item in beside)
