"""Zigzag: the parallel-track search pattern that rescue teams fly.

Source: parallel track search of the IAMSAR manual, and SARenv's "zigzag" baseline. Adapted for the
air: lanes follow the ground at a fixed height; their spacing is the width on the ground in which the
four cameras show a person large enough; and since the mission is short beside the area, the swept
box around home is no larger than the time allows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.coverage_path import CoveragePath, sweep_within
from esar_ros.planning.leg import Leg, LegSettings, LegState, waypoint
from esar_ros.planning.parameters import Settings, check
from esar_ros.planning.registry import register
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import AREA_MARGIN, flight_height, polygon_of


class ZigzagSettings(Settings):
    """Section `zigzag` of config/planners.yaml."""

    height: float = Field(default=30.0, gt=0, description="m above ground")
    look_range: float = Field(default=60.0, gt=0, description="m, slant range up to which a person is seen")
    overlap: float = Field(default=0.2, ge=0, lt=1, description="share of a lane's width seen from its neighbour too")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    time_share: float = Field(default=0.85, gt=0, le=1, description="of the mission's time that the sweep may take")
    leg: LegSettings = Field(default_factory=LegSettings)
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


def lane_spacing(height: float, look_range: float, overlap: float) -> float:
    """Distance of lanes (m): width on flat ground within look_range of a vehicle at height, less the overlap.

    The side cameras look from steep down to above the horizon, so the range limits the width, not their frame.
    """
    half = math.sqrt(max(look_range**2 - height**2, height**2))
    return 2.0 * half * (1.0 - overlap)


@register("zigzag")
class Zigzag:
    """Flies the lanes in order and stops after the last."""

    name = "zigzag"
    eligible = True
    needs: frozenset[str] = frozenset()

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(ZigzagSettings, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: lay the lanes. The pattern draws no random numbers."""
        settings = self._settings
        self._height = flight_height(settings.height, brief)
        spacing = lane_spacing(self._height, settings.look_range, settings.overlap)
        longest = settings.speed * brief.t_max * settings.time_share
        self._path: CoveragePath = sweep_within(polygon_of(brief), brief.home, spacing, longest, AREA_MARGIN)
        self._policy.reset(brief.report_cap)
        self._next = 0  # waypoint to fly to when the present leg is done
        self._leg: Leg | None = None
        self._stopped = False

    def act(self, observation: Observation) -> Decision:
        """Go on along the lane, or turn into the next."""
        reports = self._policy.reports(observation)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        if self._leg is None:
            x, y = observation.pose.position[:2]
            return self._fly(waypoint(x, y, self._height), "climb", "to search height", reports)
        state = self._leg.state(observation)
        if state is LegState.FLYING:
            return Decision("continue", self._where(), reports=reports)
        why = "waypoint reached"
        if state is LegState.BLOCKED and self._next > 0:
            # The rest of a lane whose way is blocked is left out; so is a lane that cannot be entered.
            self._next += self._next % 2
            why = "waypoint blocked, on to the next lane"
        if self._next >= len(self._path.waypoints):
            self._stopped = True
            return Decision("stop", "all lanes flown", goal=Goal(GoalType.HOLD), reports=reports, stop=True)
        x, y = self._path.waypoints[self._next]
        self._next += 1
        return self._fly(waypoint(x, y, self._height, self._settings.speed), self._where(), why, reports)

    def _fly(self, goal: Goal, action: str, why: str, reports: tuple[Report, ...]) -> Decision:
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, why, goal=goal, reports=reports, considered=1)

    def _where(self) -> str:
        if self._next == 0:
            return "climb"
        return f"lane {(self._next + 1) // 2} of {self._path.lanes}"
