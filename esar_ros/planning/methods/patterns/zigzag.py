"""Zigzag: the parallel-track search pattern that rescue teams fly.

Source: parallel track search of the IAMSAR manual, and SARenv's "zigzag" baseline. Adapted for the
air: lanes follow the ground at a fixed height; their spacing is the width on the ground in which the
four cameras show a person large enough; and since the mission is short beside the area, the swept
box around home is no larger than the time allows. Needs no model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.planning.leg import LegSettings
from esar_ros.planning.methods.patterns.coverage_path import sweep_within
from esar_ros.planning.methods.patterns.pattern import Pattern, PatternSettings
from esar_ros.planning.registry import register
from esar_ros.planning.search_area import AREA_MARGIN


class ZigzagSettings(PatternSettings):
    """Section `zigzag` of config/planners.yaml."""

    leg: LegSettings = Field(default_factory=LegSettings)


@register("zigzag")
class Zigzag(Pattern):
    """Flies the lanes in order and stops after the last."""

    name = "zigzag"
    settings_type: ClassVar[type[PatternSettings]] = ZigzagSettings
    flown = "all lanes flown"

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        path = sweep_within(corners, home, spacing, longest, AREA_MARGIN)
        self._lanes = path.lanes
        return path.waypoints

    def _left_out(self) -> int:
        """The rest of a lane whose path is blocked; so is a lane that cannot be entered."""
        return self._next % 2

    def _where(self) -> str:
        return "climb" if self._next == 0 else f"lane {(self._next + 1) // 2} of {self._lanes}"
