"""Random: uniform over discrete actions, the lower bound of every table.

Source: ESARBench, section 4.1 ("Random"), with the action set of the paper's discrete agents.
Adapted for the air: an action is a waypoint that is flown until it is reached or blocked; the walk
keeps its height above ground, stays below the ceiling, and an action that would leave the search
area is drawn but not flown. The paper draws stop with the rest from the first step on; UAV-ON
allows it from step 10 on, which is the default (the paper's rule: stop_from_step 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.leg import Leg, LegSettings, LegState, waypoint
from esar_ros.planning.parameters import Settings, check
from esar_ros.planning.registry import register
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import contains, flight_height, polygon_of

ACTIONS = ("forward", "left", "right", "up", "down", "turn_left", "turn_right", "stop")
# Metres forward and to the left, in units of the step.
_MOVES = {"forward": (1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
_CLIMBS = {"up": 1.0, "down": -1.0}
_TURNS = {"turn_left": 1.0, "turn_right": -1.0}


class RandomSettings(Settings):
    """Section `random` of config/planners.yaml."""

    height: float = Field(default=30.0, gt=0, description="m above ground at the start")
    least_height: float = Field(default=10.0, gt=0, description="m above ground, never lower")
    step: float = Field(default=10.0, gt=0, description="m, forward, left and right")
    climb: float = Field(default=5.0, gt=0, description="m, up and down")
    turn_deg: float = Field(default=90.0, gt=0, le=180, description="degrees")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    stop_from_step: int = Field(default=10, ge=0, description="actions before stop may be drawn; 0: the paper's rule")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=2.0, patience=10.0))
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


@register("random")
class RandomWalk:
    """Draws the next action when the last is done."""

    name = "random"
    eligible = True
    needs: frozenset[str] = frozenset()

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(RandomSettings, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission."""
        self._area = polygon_of(brief)
        self._ceiling = flight_height(math.inf, brief)
        self._height = flight_height(self._settings.height, brief)
        self._policy.reset(brief.report_cap)
        self._random = np.random.default_rng(seed)
        self._leg: Leg | None = None
        self._yaw: float | None = None
        self._actions = 0
        self._stopped = False

    def act(self, observation: Observation) -> Decision:
        """Go on with the action under way, or draw the next."""
        reports = self._policy.reports(observation)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        if self._leg is None or self._yaw is None:
            self._yaw = observation.pose.yaw
            x, y = observation.pose.position[:2]
            return self._fly(waypoint(x, y, self._height, yaw=self._yaw), "climb", "to search height", reports)
        state = self._leg.state(observation)
        if state is LegState.FLYING:
            return Decision("continue", "action under way", reports=reports)
        return self._draw(observation, f"last action {state.value}", reports)

    def _draw(self, observation: Observation, why: str, reports: tuple[Report, ...]) -> Decision:
        choices = ACTIONS if self._actions >= self._settings.stop_from_step else ACTIONS[:-1]
        action = choices[int(self._random.integers(len(choices)))]
        self._actions += 1
        if action == "stop":
            self._stopped = True
            goal = Goal(GoalType.HOLD)
            return Decision(action, why, goal=goal, reports=reports, stop=True, considered=len(choices))
        goal = self._goal(action, observation)
        if not contains(self._area, goal.position):
            why = "would leave the search area"
            return Decision(action, why, reports=reports, considered=len(choices))
        return self._fly(goal, action, why, reports, len(choices))

    def _goal(self, action: str, observation: Observation) -> Goal:
        assert self._yaw is not None
        settings, (x, y) = self._settings, observation.pose.position[:2]
        forward, left = _MOVES.get(action, (0.0, 0.0))
        height = self._height + settings.climb * _CLIMBS.get(action, 0.0)
        self._height = min(max(height, settings.least_height), self._ceiling)
        # Exact multiples of the turn, not what the vehicle's nose has drifted to.
        self._yaw += math.radians(settings.turn_deg) * _TURNS.get(action, 0.0)
        cos, sin = math.cos(self._yaw), math.sin(self._yaw)
        x += settings.step * (forward * cos - left * sin)
        y += settings.step * (forward * sin + left * cos)
        return waypoint(x, y, self._height, settings.speed, self._yaw)

    def _fly(self, goal: Goal, action: str, why: str, reports: tuple[Report, ...], considered: int = 1) -> Decision:
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, why, goal=goal, reports=reports, considered=considered)
