"""The detector's object that a report is about: a report carries no error, and the object's estimate has one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

SAME = 5.0
"""m between a report and the detector's object that it is taken to be of."""
_Seen = TypeVar("_Seen")


def nearest_of_kind(
    kind: str, position: Iterable[float], seen: Iterable[_Seen], about: Callable[[_Seen], tuple[str, Iterable[float]]]
) -> _Seen | None:
    """Returns the object of a kind that lies nearest to a place (3,) m, at most SAME away; None where there is none.

    about: kind and place of an object, in the same frame.
    """
    near = [
        (away, one) for one in seen if about(one)[0] == kind and (away := math.dist(about(one)[1], position)) <= SAME
    ]
    return min(near, key=lambda pair: pair[0], default=(0.0, None))[1]
