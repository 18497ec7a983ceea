"""Base of methods that explore the bird's-eye map: an opening, then target after target, and a stop at the end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.decision import Decision, Goal, GoalType
from esar_ros.mission.observation import Brief, Grid, Observation
from esar_ros.planning.leg import Leg, LegState, waypoint
from esar_ros.planning.method import GRID
from esar_ros.planning.methods.maps.grid_path import GridPath
from esar_ros.planning.methods.maps.grid_walk import REACHED, GridWalk, WalkSettings
from esar_ros.planning.parameters import check
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import flight_height, polygon_of

CLIMB = "climb"
SWEEP = "look around"  # half a turn: the cameras see ahead, left and right


class ExplorationSettings(WalkSettings):
    """Parameters of every method that explores the map."""

    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


@dataclass(frozen=True)
class Target:
    """A target with the reason for it; is_object: a seen object, not a frontier."""

    position: Vector  # (2,) or (3,) m, map frame
    why: str
    is_object: bool = False
    considered: int = 1
    path: GridPath | None = None  # from where the vehicle is, when it is known already


class Exploration(ABC):
    """Base: opens with a climb and half a turn, flies from target to target, stops when none is left."""

    name: str
    eligible = True
    needs: frozenset[str] = frozenset({GRID})
    settings_type: ClassVar[type[ExplorationSettings]] = ExplorationSettings
    prompts: ClassVar[Sequence[str]] = ()
    sweeps: ClassVar[bool] = False  # looks around at every target reached

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(self.settings_type, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        self._brief = brief
        self._area = polygon_of(brief)
        self._height = flight_height(self._settings.height, brief)
        self._policy.reset(brief.report_cap)
        self._walk = self.walk()
        self._manoeuvres = [CLIMB, SWEEP]  # still to be flown before the next target
        self._leg: Leg | None = None  # of a manoeuvre
        self._aim: Target | None = None
        self._empty = 0
        self._since = 0  # decisions since the target was chosen
        self._stopped = False
        self._tokens, self._trouble = (0, 0), ""
        self._thinking = False
        self.prepare()

    def act(self, observation: Observation) -> Decision:
        """Take in the observation, then go on to the target or choose the next."""
        reports = self._policy.reports(observation)
        self._tokens, self._trouble, self._thinking = (0, 0), "", False
        decision = self._decide(observation)
        return replace(
            decision,
            reports=reports,
            tokens_in=self._tokens[0],
            tokens_out=self._tokens[1],
            thinking=self._thinking,
            trouble=self._trouble,
        )

    # -- what a method does ---------------------------------------------------------------------

    @abstractmethod
    def targets(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> Iterable[Target]:
        """Returns the next targets over passable cells (rows, columns), the best first; none ends the search."""

    def walk(self) -> GridWalk:
        """Returns the walk along which targets are flown to."""
        return GridWalk(self._settings, self._area, self._height)

    def prepare(self) -> None:  # noqa: B027  a hook that may stay empty
        """Forget the last mission."""

    def look(self, observation: Observation) -> None:  # noqa: B027  a hook that may stay empty
        """Take in an observation; called once for each, from the opening on."""

    def visit(self, observation: Observation) -> None:  # noqa: B027  a hook that may stay empty
        """Note what the vehicle has come near to; called once the opening is over."""

    def arrived(self, target: Target) -> None:  # noqa: B027  a hook that may stay empty
        """A target was reached or given up."""

    def object_target(self, observation: Observation) -> Target | None:
        """Returns a seen object that is to be flown to before any frontier; None in this base class."""
        return None

    def keeps(self, observation: Observation, grid: Grid) -> str:
        """Returns why the present target is abandoned for another, '' to go on; called at every observation."""
        return ""

    # -- the loop -------------------------------------------------------------------------------

    def _decide(self, observation: Observation) -> Decision:
        if self._stopped:
            return Decision("stop", "stopped before", stop=True)
        self.look(observation)
        if self._leg is not None and self._leg.state(observation) is LegState.FLYING:
            return Decision("continue", "manoeuvre under way")
        if self._manoeuvres:
            return self._manoeuvre(self._manoeuvres.pop(0), "before the first target", observation)
        self._leg = None
        grid = observation.grid
        if grid is None:
            return Decision("hold", "no map yet", goal=Goal(GoalType.HOLD))
        self.visit(observation)
        why = "exploration goes on"
        if self._aim is not None:
            decision, why = self._go_on(observation, grid)
            if decision is not None:
                return decision
            if self.sweeps and why == REACHED:
                return self._manoeuvre(SWEEP, why, observation)
        return self._choose(observation, grid, why)

    def _manoeuvre(self, action: str, why: str, observation: Observation) -> Decision:
        x, y = observation.pose.position[:2]
        yaw = wrap_angle(observation.pose.yaw + math.pi) if action == SWEEP else None
        goal = waypoint(x, y, self._height, yaw=yaw)
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, why, goal=goal, considered=1)

    def _go_on(self, observation: Observation, grid: Grid) -> tuple[Decision | None, str]:
        """On towards the target: the decision, or None and why another is to be chosen."""
        assert self._aim is not None
        self._since += 1
        if not self._aim.is_object and (other := self.object_target(observation)) is not None:
            return self._aim_at(other, observation, grid, self._walk.passable(grid)), ""
        if why := self.keeps(observation, grid):
            self._walk.drop()
            self._aim = None
            return None, why
        return self._follow(observation, grid, self._walk.passable(grid))

    def _follow(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> tuple[Decision | None, str]:
        aim = self._aim
        assert aim is not None
        followed = self._walk.follow(grid, passable, observation)
        if followed.done:
            self.arrived(aim)
            self._aim = None
            return None, followed.done
        why = f"{aim.why}; {followed.remaining:.0f} m to go"
        action = ("object" if aim.is_object else "frontier") if followed.goal is not None else "continue"
        return Decision(action, why, goal=followed.goal, considered=aim.considered), ""

    def _aim_at(
        self, target: Target, observation: Observation, grid: Grid, passable: NDArray[np.bool_]
    ) -> Decision | None:
        self._aim, self._since = target, 0
        self._walk.start(target.position, target.path)
        return self._follow(observation, grid, passable)[0]

    def _choose(self, observation: Observation, grid: Grid, before: str) -> Decision:
        passable = self._walk.passable(grid)
        target = self.object_target(observation)
        if target is not None:
            decision = self._aim_at(target, observation, grid, passable)
            if decision is not None:
                return decision
        for target in self.targets(observation, grid, passable):
            decision = self._aim_at(replace(target, why=f"{before}; {target.why}"), observation, grid, passable)
            if decision is not None:
                self._empty = 0
                return decision
        self._empty += 1
        self._stopped = self._empty >= self._settings.settle
        why = f"{before}; no frontier can be reached"
        return Decision("stop" if self._stopped else "hold", why, goal=Goal(GoalType.HOLD), stop=self._stopped)
