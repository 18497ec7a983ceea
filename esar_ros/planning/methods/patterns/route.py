"""Route: a way that somebody else has planned, flown corner by corner at its heights above the sea.

Not in the registry: a brief holds no way. Whoever has one makes the method with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Goal, GoalType
from esar_ros.planning.methods.patterns.pattern import Pattern


class Route(Pattern):
    """Climbs above its start, flies the corners in order and stops after the last."""

    name = "route"

    def __init__(self, parameters: Mapping[str, Any], corners: NDArray[np.float64]) -> None:
        """corners: (N, 3) m, map frame."""
        super().__init__(parameters)
        self._corners = np.asarray(corners, dtype=np.float64)

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        return self._corners[:, :2]

    def _goal(self, number: int) -> Goal:
        return Goal(GoalType.WAYPOINT, self._corners[number], speed=self._settings.speed)
