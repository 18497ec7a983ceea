"""A descent to touch the ground, during which what is below the vehicle is no obstacle."""

from __future__ import annotations

from esar_ros.bridges.px4.state import DESCEND, LAND, PRECISION_LAND, RETURN
from esar_ros.safety.limits import TOUCH_DOWN_FROM

_DOWNWARD = (LAND, DESCEND, PRECISION_LAND)


class Descent:
    """PX4's modes that land, and its return, which comes down at home without another mode."""

    def __init__(self) -> None:
        self._low = False  # in a return: the ground was seen near last

    def is_coming_down(self, mode: int, touches: bool, height: float | None) -> bool:
        """Returns whether it comes down.

        touches: it is asked to touch down; height: m above the surface that the governor sees, None: not seen, which
        near the ground may be for one scan, and changes nothing.
        """
        if mode != RETURN:
            self._low = False
            return touches or mode in _DOWNWARD
        if height is not None:
            self._low = height <= TOUCH_DOWN_FROM
        return touches or self._low
