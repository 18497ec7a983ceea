"""Random: uniform over discrete actions, the lower bound of every table.

Source: ESARBench, section 4.1 ("Random"), with the action set of the paper's discrete agents.
Adapted for the air: an action is a waypoint that is flown until it is reached or blocked; the walk
keeps its height above ground, stays below the ceiling, and an action that would leave the search
area is drawn but not flown. The paper draws stop with the rest from the first step on; UAV-ON disables
it during the first ten steps, which is the default (the paper's rule: stop_from_step 0). Needs no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.discrete import ACTIONS, STOP, ActionSettings, Mover
from esar_ros.planning.leg import Leg, LegState
from esar_ros.planning.parameters import check
from esar_ros.planning.registry import register
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy


class RandomSettings(ActionSettings):
    """Section `random` of config/planners.yaml."""

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
        self._mover = Mover(self._settings, brief)
        self._policy.reset(brief.report_cap)
        self._random = np.random.default_rng(seed)
        self._leg: Leg | None = None
        self._actions = 0
        self._stopped = False

    def act(self, observation: Observation) -> Decision:
        """Go on with the action under way, or draw the next."""
        reports = self._policy.reports(observation)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        if self._leg is None:
            return self._fly(self._mover.start(observation), "climb", "to search height", reports)
        state = self._leg.state(observation)
        if state is LegState.FLYING:
            return Decision("continue", "action under way", reports=reports)
        return self._draw(observation, f"last action {state.value}", reports)

    def _draw(self, observation: Observation, why: str, reports: tuple[Report, ...]) -> Decision:
        choices = ACTIONS if self._actions >= self._settings.stop_from_step else ACTIONS[:-1]
        action = choices[int(self._random.integers(len(choices)))]
        self._actions += 1
        if action == STOP:
            self._stopped = True
            goal = Goal(GoalType.HOLD)
            return Decision(action, why, goal=goal, reports=reports, stop=True, considered=len(choices))
        goal = self._mover.goal(action, observation)
        if not self._mover.inside(goal.position):
            why = "would leave the search area"
            return Decision(action, why, reports=reports, considered=len(choices))
        self._mover.take(goal, observation)
        return self._fly(goal, action, why, reports, len(choices))

    def _fly(self, goal: Goal, action: str, why: str, reports: tuple[Report, ...], considered: int = 1) -> Decision:
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, why, goal=goal, reports=reports, considered=considered)
