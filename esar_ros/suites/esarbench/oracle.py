"""Oracle: knows the task and flies to each victim in turn. Ineligible; it shows that a task can be solved in time.

Source: none; an upper bound for the tables. It needs no model, and no channel for the truth: briefs are unique, so the
brief's text finds the task in the benchmark's files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.briefing import brief_words
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Decision, Goal, GoalType, Report, ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.task import Task, load_task
from esar_ros.mission.task_files import benchmark_event, benchmark_index, demo_tasks, event_tasks
from esar_ros.planning.leg import Leg, LegSettings, LegState, waypoint
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings
from esar_ros.planning.search_area import flight_height
from esar_ros.sim.terrain.maps import load_map


class OracleSettings(StrictModel):
    """Section `oracle` of config/planners.yaml."""

    task: str = Field(default="", description="task id or file; empty: the shipped task with the brief's text")
    heights: tuple[float, ...] = Field(
        default=(25.0, 50.0, 80.0), min_length=1, description="m above ground; the next where the way is blocked"
    )
    near: float = Field(default=10.0, gt=0, description="m, horizontally, from which a victim counts as visited")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=3.0, patience=20.0))
    reporting: ReportingSettings = Field(
        default_factory=ReportingSettings, description="not used: it reports the truth"
    )


class Oracle:
    """Visits victims, always the nearest next, reports each from above it, and stops after the last."""

    name = "oracle"
    eligible = False
    needs: frozenset[str] = frozenset()

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(OracleSettings, parameters, self.name)

    def reset(self, brief: Brief, seed: int) -> None:
        """Look the task up. Raises UsageError where no shipped task has this brief."""
        task = load_task(self._settings.task) if self._settings.task else task_of(brief.prompt)
        place = load_map(task.map)
        self._left: dict[str, Vector] = {
            victim.id: np.array([*victim.position, float(place.ground_height(np.array(victim.position)))])
            for victim in task.victims
        }
        self._heights = [flight_height(height, brief) for height in self._settings.heights]
        self._leg: Leg | None = None
        self._target = ""
        self._tries = 0

    def act(self, observation: Observation) -> Decision:
        """Fly on; report on arrival."""
        here = observation.pose.position
        reports: tuple[Report, ...] = ()
        if self._target and math.dist(here[:2], self._left[self._target][:2]) <= self._settings.near:
            at = self._left.pop(self._target)
            reports = (Report(ReportType.VICTIM, PERSON, "person", at),)
            self._leg, self._target, self._tries = None, "", 0
        if not self._left:
            return Decision("stop", "all visited", goal=Goal(GoalType.HOLD), reports=reports, stop=True)
        if self._leg is None:
            self._target = min(self._left, key=lambda id: (math.dist(here[:2], self._left[id][:2]), id))
            return self._fly("to the next victim", reports)
        state = self._leg.state(observation)
        if state is LegState.FLYING:
            return Decision("continue", f"{len(self._left)} left", reports=reports)
        self._tries += 1
        return self._fly("not there yet: again, at another height", reports)

    def _fly(self, why: str, reports: tuple[Report, ...]) -> Decision:
        x, y, _ = self._left[self._target]
        goal = waypoint(float(x), float(y), self._heights[self._tries % len(self._heights)])
        self._leg = Leg(goal, self._settings.leg)
        return Decision("fly", why, goal=goal, reports=reports, considered=len(self._left))


def task_of(prompt: str) -> Task:
    """The shipped task whose brief this is. Raises UsageError."""
    id = _by_prompt().get(prompt)
    if id is None:
        raise UsageError("planner oracle: no shipped task has this brief", "name the task: parameter task of oracle")
    return load_task(id)


@lru_cache(maxsize=1)
def _by_prompt() -> dict[str, str]:
    found = {brief_words(load_task(id)): id for id in demo_tasks()}
    for event in benchmark_index()["events"]:
        found |= {str(task["prompt"]): id for id, task in event_tasks(benchmark_event(event)).items()}
    return found
