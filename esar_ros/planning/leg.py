"""One leg of a flight: a waypoint until it is reached, or found unreachable."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.observation import Observation
from esar_ros.mission.settings_file import StrictModel

_YAW_WEIGHT = 3.0  # m/rad: weight of the yaw that remains against the distance, when progress is judged
_YAW_TOLERANCE = math.radians(10.0)
_PROGRESS = 1.0  # m that count as progress


class LegSettings(StrictModel):
    """Conditions under which a waypoint counts as reached or is abandoned."""

    tolerance: float = Field(default=4.0, gt=0, description="m, horizontally and in height")
    patience: float = Field(default=15.0, gt=0, description="s without progress until a waypoint counts as blocked")


class LegState(Enum):
    """State of a leg."""

    FLYING = "flying"
    REACHED = "reached"
    BLOCKED = "blocked"


class Progress:
    """Detects when the distance that remains to be flown (m) has stopped shrinking."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._minimum = math.inf
        self._at: float | None = None  # s, stamp of the last progress

    def stalled(self, remaining: float, stamp: float) -> bool:
        """Returns whether the last progress is longer ago than patience (s)."""
        if self._at is None or remaining < self._minimum - _PROGRESS:
            self._minimum, self._at = remaining, stamp
        return stamp - self._at > self._patience


class Leg:
    """Judges the progress to one waypoint goal by the pilot's report and by the vehicle's own movement."""

    def __init__(self, goal: Goal, settings: LegSettings) -> None:
        if goal.type is not GoalType.WAYPOINT:
            raise ValueError(f"a leg needs a waypoint, got {goal.type.name}")
        self.goal = goal
        self._settings = settings
        self._progress = Progress(settings.patience)
        self._vertical_only: bool | None = None  # decided by the first observation

    def state(self, observation: Observation) -> LegState:
        """Judge once for every observation after the goal was given."""
        if self._vertical_only is None:
            self._vertical_only = self._horizontal(observation) <= self._settings.tolerance
        if self._is_at_goal(observation) or observation.goal_reached:
            return LegState.REACHED
        if observation.goal_blocked:
            return LegState.BLOCKED
        stalled = self._progress.stalled(self._remaining(observation), observation.stamp)
        return LegState.BLOCKED if stalled else LegState.FLYING

    def _is_at_goal(self, observation: Observation) -> bool:
        return (
            self._horizontal(observation) <= self._settings.tolerance
            and self._vertical(observation) <= self._settings.tolerance
            and self._turn(observation) <= _YAW_TOLERANCE
        )

    def _remaining(self, observation: Observation) -> float:
        turn = _YAW_WEIGHT * self._turn(observation)
        return math.hypot(self._horizontal(observation), self._vertical(observation)) + turn

    def _horizontal(self, observation: Observation) -> float:
        return float(np.linalg.norm(self.goal.position[:2] - observation.pose.position[:2]))

    def _vertical(self, observation: Observation) -> float:
        if self.goal.height_reference is HeightReference.MAP:
            return abs(float(self.goal.position[2] - observation.pose.position[2]))
        if observation.height is None:
            # On the way to a far point the pilot keeps the height; a climb has nothing else to be judged by.
            return math.inf if self._vertical_only else 0.0
        return abs(float(self.goal.position[2]) - observation.height)

    def _turn(self, observation: Observation) -> float:
        return 0.0 if self.goal.yaw is None else abs(wrap_angle(self.goal.yaw - observation.pose.yaw))


def waypoint(x: float, y: float, height: float, speed: float = 0.0, yaw: float | None = None) -> Goal:
    """Waypoint at map-frame x, y and height (m) above ground."""
    return Goal(
        GoalType.WAYPOINT,
        position=np.array([x, y, height]),
        height_reference=HeightReference.GROUND,
        yaw=yaw,
        speed=speed,
    )
