"""What methods share that search over the bird's-eye map: a target is chosen, flown to, and closed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue
from esar_ros.planning.grid_walk import Frontier, GridWalk, WalkSettings
from esar_ros.planning.leg import Leg, LegState, waypoint
from esar_ros.planning.method import GRID
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import flight_height, polygon_of


class MapSettings(WalkSettings):
    """Parameters of every map-based method."""

    visit_radius: float = Field(default=25.0, gt=0, description="m from a seen person at which it counts as looked at")
    person_score: float = Field(default=0.4, ge=0, le=1, description="a seen person is flown to from this score on")
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


@dataclass(frozen=True)
class Target:
    """Where to fly and why; object: it is a thing seen, not a frontier."""

    position: Vector  # (2,) or (3,) m, map frame
    why: str
    is_object: bool = False
    considered: int = 1


class MapMethod:
    """Base: opens with a climb and half a turn, flies from target to target, stops when none is left."""

    name: ClassVar[str]
    eligible = True
    needs: frozenset[str] = frozenset({GRID})
    settings_type: ClassVar[type[MapSettings]] = MapSettings
    prompts: ClassVar[Sequence[str]] = ()

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(self.settings_type, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        self._brief = brief
        self._area = polygon_of(brief)
        self._height = flight_height(self._settings.height, brief)
        self._policy.reset(brief.report_cap)
        self._walk = GridWalk(self._settings, self._area, self._height)
        self._opening = ["climb", "look around"]
        self._leg: Leg | None = None  # of the opening
        self._aim: Target | None = None
        self._visited: list[Vector] = []  # persons looked at
        self._empty = 0
        self._since = 0  # decisions since the target was chosen
        self._stopped = False
        self._tokens = (0, 0)
        self._thinking = False
        self.prepare()

    def act(self, observation: Observation) -> Decision:
        """Take in the observation, then go on to the target or choose the next."""
        reports = self._policy.reports(observation)
        self._tokens, self._thinking = (0, 0), False
        decision = self._decide(observation)
        return replace(
            decision, reports=reports, tokens_in=self._tokens[0], tokens_out=self._tokens[1], thinking=self._thinking
        )

    # -- what a method does ---------------------------------------------------------------------

    def prepare(self) -> None:
        """Forget the last mission."""

    def look(self, observation: Observation) -> None:
        """Take in an observation; called once for each, from the opening on."""

    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """What a frontier is worth; the best is flown to."""
        raise NotImplementedError

    def object_target(self, observation: Observation) -> Target | None:
        """A thing seen that is to be flown to before any frontier: here, a person not looked at from near."""
        persons = [
            clue
            for clue in observation.clues
            if clue.kind == PERSON and clue.score >= self._settings.person_score and not self._was_visited(clue)
        ]
        if not persons:
            return None
        here = observation.pose.position[:2]
        best = min(persons, key=lambda clue: (float(np.linalg.norm(clue.position[:2] - here)), clue.id))
        distance = float(np.linalg.norm(best.position[:2] - here))
        return Target(best.position[:2], f"a person is seen {distance:.0f} m away", True, len(persons))

    def words(self) -> str:
        """What the method adds to the reason of a choice."""
        return ""

    def keeps(self, observation: Observation, grid: Grid) -> bool:
        """Whether the present frontier is still flown to, asked at every observation."""
        return True

    # -- the loop -------------------------------------------------------------------------------

    def _decide(self, observation: Observation) -> Decision:
        if self._stopped:
            return Decision("stop", "stopped before", stop=True)
        self.look(observation)
        if self._leg is not None and self._leg.state(observation) is LegState.FLYING:
            return Decision("continue", "opening under way")
        if self._opening:
            return self._open(self._opening.pop(0), observation)
        self._leg = None
        grid = observation.grid
        if grid is None:
            return Decision("hold", "no map yet", goal=Goal(GoalType.HOLD))
        self._note_visits(observation)
        why = "exploration goes on"
        if self._aim is not None:
            decision, why = self._go_on(observation, grid)
            if decision is not None:
                return decision
        return self._choose(observation, grid, why)

    def _open(self, action: str, observation: Observation) -> Decision:
        x, y = observation.pose.position[:2]
        yaw = wrap_angle(observation.pose.yaw + math.pi) if action == "look around" else None
        goal = waypoint(x, y, self._height, yaw=yaw)
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, "before the first target", goal=goal, considered=1)

    def _go_on(self, observation: Observation, grid: Grid) -> tuple[Decision | None, str]:
        """On towards the target: the decision, or None and why another is to be chosen."""
        assert self._aim is not None
        self._since += 1
        if not self._aim.is_object:
            if (other := self.object_target(observation)) is not None:
                return self._aim_at(other, observation, grid), ""
            if not self.keeps(observation, grid):
                self._walk.drop()
                self._aim = None
                return None, "another frontier is worth more now"
        elif any(np.array_equal(self._aim.position, place) for place in self._visited):
            self._walk.drop()
            self._aim = None
            return None, "the person has been looked at"
        return self._follow(observation, grid)

    def _follow(self, observation: Observation, grid: Grid) -> tuple[Decision | None, str]:
        aim = self._aim
        assert aim is not None
        followed = self._walk.follow(grid, self._walk.passable(grid), observation)
        if followed.done:
            if aim.is_object:
                self._visited.append(aim.position[:2])
            self._aim = None
            return None, followed.done
        why = f"{aim.why}; {followed.remaining:.0f} m to go"
        action = ("object" if aim.is_object else "frontier") if followed.goal is not None else "continue"
        return Decision(action, why, goal=followed.goal, considered=aim.considered), ""

    def _aim_at(self, target: Target, observation: Observation, grid: Grid) -> Decision | None:
        self._aim, self._since = target, 0
        self._walk.start(target.position)
        return self._follow(observation, grid)[0]

    def _choose(self, observation: Observation, grid: Grid, before: str) -> Decision:
        target = self.object_target(observation)
        if target is not None:
            decision = self._aim_at(target, observation, grid)
            if decision is not None:
                return decision
        frontiers = self._walk.frontiers(grid, observation)
        ranked = sorted(
            ((self.value(frontier, observation, grid), -index) for index, frontier in enumerate(frontiers)),
            reverse=True,
        )
        for value, index in ranked:
            frontier = frontiers[-index]
            why = f"{before}; best of {len(frontiers)} frontiers, worth {value:.2f}{self.words()}"
            decision = self._aim_at(Target(frontier.position, why, False, len(frontiers)), observation, grid)
            if decision is not None:
                self._empty = 0
                return decision
        self._empty += 1
        self._stopped = self._empty >= self._settings.settle
        why = f"{before}; no frontier can be reached"
        return Decision("stop" if self._stopped else "hold", why, goal=Goal(GoalType.HOLD), stop=self._stopped)

    def _note_visits(self, observation: Observation) -> None:
        """Persons within the visit's radius have been looked at."""
        here = observation.pose.position[:2]
        places = [clue.position for clue in observation.clues if clue.kind == PERSON and clue.views >= 3]
        if self._aim is not None and self._aim.is_object:
            places.append(self._aim.position)
        known = {tuple(place) for place in self._visited}
        for place in places:
            near = float(np.linalg.norm(place[:2] - here)) <= self._settings.visit_radius
            if near and tuple(place[:2]) not in known:
                self._visited.append(place[:2])

    def _was_visited(self, clue: SeenClue) -> bool:
        return any(float(np.linalg.norm(clue.position[:2] - place[:2])) <= 10.0 for place in self._visited)


def closeness(position: Vector, observation: Observation, scale: float = 100.0) -> float:
    """1 at the vehicle, falling to 0 far away: exp(-distance / scale)."""
    return math.exp(-float(np.linalg.norm(position[:2] - observation.pose.position[:2])) / scale)
