"""Base class of search patterns: a path laid down at the start, flown point by point at a fixed height."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.leg import Leg, LegSettings, LegState, waypoint
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import AREA_MARGIN, distance_to_edge, flight_height, polygon_of

STEP = 25.0  # m between the points of a curved way; the chord of a 50 m ring is off by 1.6 m


class PatternSettings(StrictModel):
    """Sections `spiral`, `concentric`, `greedy` and `zigzag` of config/planners.yaml."""

    height: float = Field(default=30.0, gt=0, description="m above ground")
    look_range: float = Field(default=60.0, gt=0, description="m, slant range up to which a person is seen")
    overlap: float = Field(default=0.2, ge=0, lt=1, description="share of a turn's width seen from its neighbour too")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    time_share: float = Field(default=0.85, gt=0, le=1, description="of the mission's time that the way may take")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=8.0))
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


class Pattern(ABC):
    """Flies the points of its route in order and stops after the last; a point that is blocked is left out."""

    name: str = "pattern"
    eligible = True
    needs: frozenset[str] = frozenset()
    settings_type: ClassVar[type[PatternSettings]] = PatternSettings
    flown: ClassVar[str] = "the way is flown"  # why it stops

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(self.settings_type, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: lay the path. Patterns draw no random numbers."""
        settings = self._settings
        self._height = flight_height(settings.height, brief)
        spacing = lane_spacing(self._height, settings.look_range, settings.overlap)
        longest = settings.speed * brief.t_max * settings.time_share
        home = np.asarray(brief.home, dtype=np.float64)[:2]
        self._route = self._lay(home, polygon_of(brief), spacing, longest)
        self._policy.reset(brief.report_cap)
        self._next = 0  # point to fly to when the present leg is done
        self._leg: Leg | None = None
        self._stopped = False

    @abstractmethod
    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        """Points (N, 2) of the pattern around home, inside the area (corners (M, 2)), on a path of at most `longest` m.

        spacing: m between turns or lanes.
        """

    def _left_out(self) -> int:
        """Points to leave out because the path to the present one is blocked."""
        return 0

    def _has_more(self, observation: Observation, state: LegState) -> bool:
        """Returns whether the way goes on after a leg that has ended so; a pattern may lay more of it here."""
        return self._next < len(self._route)

    def _where(self) -> str:
        """Returns a name for the part of the pattern being flown."""
        return "climb" if self._next == 0 else f"point {self._next} of {len(self._route)}"

    def act(self, observation: Observation) -> Decision:
        """Go on to the present point, or to the next."""
        reports = self._policy.reports(observation)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        if self._leg is None:
            x, y = observation.pose.position[:2]
            return self._fly(waypoint(x, y, self._height), "climb", "to search height", reports)
        state = self._leg.state(observation)
        if state is LegState.FLYING:
            return Decision("continue", self._where(), reports=reports)
        if state is LegState.BLOCKED and self._next > 0:
            self._next += self._left_out()
        if not self._has_more(observation, state):
            self._stopped = True
            return Decision("stop", self.flown, goal=Goal(GoalType.HOLD), reports=reports, stop=True)
        goal = self._goal(self._next)
        self._next += 1
        return self._fly(goal, self._where(), f"waypoint {state.value}", reports)

    def _goal(self, number: int) -> Goal:
        """Returns the goal at a point of the route."""
        x, y = self._route[number]
        return waypoint(x, y, self._height, self._settings.speed)

    def _fly(self, goal: Goal, action: str, why: str, reports: tuple[Report, ...]) -> Decision:
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, why, goal=goal, reports=reports, considered=1)


class Turns(Pattern):
    """Around home, turn after turn."""

    @abstractmethod
    def turns(self, spacing: float, reach: float) -> NDArray[np.float64]:
        """Points (N, 2) around the origin, turns `spacing` m apart, out to `reach` m at least."""

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        reach = float(np.linalg.norm(corners - home, axis=1).max())
        return cut(inside(home + self.turns(spacing, min(reach, longest)), corners), home, longest)


def lane_spacing(height: float, look_range: float, overlap: float) -> float:
    """Distance of lanes (m): width on flat ground within look_range of a vehicle at height, less the overlap.

    The side cameras look from steep down to above the horizon, so the range limits the width, not their frame.
    """
    half = math.sqrt(max(look_range**2 - height**2, height**2))
    return 2.0 * half * (1.0 - overlap)


def inside(points: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Those of the points (N, 2) that lie in the polygon and keep the margin from its edge."""
    if not len(points):
        return points.reshape(0, 2)
    return points[distance_to_edge(corners, points) >= AREA_MARGIN]


def cut(points: NDArray[np.float64], start: Vector, longest: float) -> NDArray[np.float64]:
    """The first of the points (N, 2), as many as fit on a path of at most `longest` m from start."""
    path = np.concatenate([start[None, :2], points])
    flown = np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))
    return points[: int(np.searchsorted(flown, longest, side="right"))]
