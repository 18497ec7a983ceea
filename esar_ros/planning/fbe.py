"""FBE: frontier-based exploration, always to the nearest frontier.

Source: Yamauchi, A frontier-based approach for autonomous exploration, CIRA 1997; as a baseline in
ESARBench, section 4.1 ("FBE"). Adapted for the air: the map is the bird's-eye grid at flight level,
a frontier is a FREE cell with an UNKNOWN 8-neighbour inside the search area, clusters of fewer than
four cells are dropped, and the nearest is by geodesic distance over free cells that keep clear of
obstacles (chamfer distance in place of fast marching). The vehicle sees ahead, left and right but
not behind, so the exploration opens with half a turn; Yamauchi's sweep at each frontier is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.decision import Decision, Goal, GoalType, Report
from esar_ros.mission.observation import Brief, Grid, Observation
from esar_ros.planning.frontier import cell_at, clear_disc, find_frontiers, nearest_cell, passable_cells, polygon_cells
from esar_ros.planning.grid_path import GridPath, farthest_visible, nearest_target
from esar_ros.planning.leg import Leg, LegSettings, LegState, Progress, waypoint
from esar_ros.planning.method import GRID
from esar_ros.planning.parameters import Settings, check
from esar_ros.planning.registry import register
from esar_ros.planning.reporting import ReportingSettings, ReportPolicy
from esar_ros.planning.search_area import AREA_MARGIN, flight_height, polygon_of

_SEED_REACH = 20.0  # m from the vehicle within which the way may begin, should its own cell not be free


class FbeSettings(Settings):
    """Section `fbe` of config/planners.yaml."""

    height: float = Field(default=30.0, gt=0, description="m above ground")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    least_cells: int = Field(default=4, ge=1, description="cells of a frontier cluster")
    clearance: float = Field(default=4.0, ge=0, description="m between the way and occupied cells")
    least_distance: float = Field(default=12.0, ge=0, description="m, nearer frontiers are not flown to")
    closed_radius: float = Field(default=12.0, ge=0, description="m around a target flown to or found blocked")
    settle: int = Field(default=5, ge=1, description="decisions in a row without a frontier before the search stops")
    leg: LegSettings = Field(default_factory=LegSettings)
    reporting: ReportingSettings = Field(default_factory=ReportingSettings)


@dataclass(frozen=True)
class _Target:
    """A frontier on its way to being reached."""

    position: Vector  # (2,) map frame
    progress: Progress


@register("fbe")
class FrontierExploration:
    """Flies to the nearest frontier, sticks to it until it is reached, and stops when none is left."""

    name = "fbe"
    eligible = True
    needs = frozenset({GRID})

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(FbeSettings, parameters, self.name)
        self._policy = ReportPolicy(self._settings.reporting)

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. The method draws no random numbers."""
        self._area = polygon_of(brief)
        self._height = flight_height(self._settings.height, brief)
        self._policy.reset(brief.report_cap)
        self._opening = ["climb", "look around"]
        self._leg: Leg | None = None  # of the opening
        self._target: _Target | None = None
        self._flown_to: Vector | None = None  # (2,) last waypoint given on the way to the target
        self._closed: list[Vector] = []  # targets done with
        self._empty = 0  # decisions in a row without a frontier
        self._stopped = False

    def act(self, observation: Observation) -> Decision:
        """Go on to the present target, or choose the next."""
        reports = self._policy.reports(observation)
        if self._stopped:
            return Decision("stop", "stopped before", reports=reports, stop=True)
        if self._leg is not None and self._leg.state(observation) is LegState.FLYING:
            return Decision("continue", "opening under way", reports=reports)
        if self._opening:
            return self._open(self._opening.pop(0), observation, reports)
        self._leg = None
        grid = observation.grid
        if grid is None:
            return Decision("hold", "no map yet", goal=Goal(GoalType.HOLD), reports=reports)
        passable = passable_cells(grid, self._settings.clearance)
        why = "exploration goes on"
        if self._target is not None:
            decision, why = self._follow(self._target, observation, grid, passable, reports)
            if decision is not None:
                return decision
            self._closed.append(self._target.position)
            self._target = self._flown_to = None
        return self._choose(observation, grid, passable, why, reports)

    def _open(self, action: str, observation: Observation, reports: tuple[Report, ...]) -> Decision:
        x, y = observation.pose.position[:2]
        yaw = wrap_angle(observation.pose.yaw + math.pi) if action == "look around" else None
        goal = waypoint(x, y, self._height, yaw=yaw)
        self._leg = Leg(goal, self._settings.leg)
        return Decision(action, "before the first frontier", goal=goal, reports=reports, considered=1)

    def _follow(
        self,
        target: _Target,
        observation: Observation,
        grid: Grid,
        passable: NDArray[np.bool_],
        reports: tuple[Report, ...],
    ) -> tuple[Decision | None, str]:
        """Stick to the target: the decision, or None and why the target is done with."""
        at_target = self._flown_to is not None and np.array_equal(self._flown_to, target.position)
        distance = float(np.linalg.norm(target.position - observation.pose.position[:2]))
        if distance <= self._settings.leg.tolerance or (at_target and observation.goal_reached):
            return None, "target reached"
        if observation.goal_blocked:
            return None, "target blocked"
        path = self._way(observation, grid, passable, cell_at(grid, target.position))
        if path is None:
            return None, "no way to the target any more"
        way = path.length * grid.resolution
        if target.progress.stalled(way, observation.stamp):
            return None, "no progress towards the target"
        return self._decide(path, grid, passable, f"{way:.0f} m to the frontier", reports, 1), ""

    def _choose(
        self,
        observation: Observation,
        grid: Grid,
        passable: NDArray[np.bool_],
        why: str,
        reports: tuple[Report, ...],
    ) -> Decision:
        """Fly to the nearest frontier there is, or stop."""
        allowed = polygon_cells(grid, self._area, AREA_MARGIN)
        for closed in self._closed:
            clear_disc(allowed, grid, closed, self._settings.closed_radius)
        clear_disc(allowed, grid, observation.pose.position, self._settings.least_distance)
        frontiers = find_frontiers(grid, allowed, self._settings.least_cells)
        path = self._way(observation, grid, passable, frontiers.cells)
        if path is None:
            self._empty += 1
            self._stopped = self._empty >= self._settings.settle
            self._flown_to = None
            why = f"{why}; no frontier can be reached"
            action = "stop" if self._stopped else "hold"
            return Decision(action, why, goal=Goal(GoalType.HOLD), reports=reports, stop=self._stopped)
        self._empty = 0
        way = path.length * grid.resolution
        self._target = _Target(grid.center_of(*path.cells[-1]), Progress(self._settings.leg.patience))
        self._target.progress.stalled(way, observation.stamp)
        why = f"{why}; nearest frontier is {way:.0f} m away"
        return self._decide(path, grid, passable, why, reports, frontiers.clusters)

    def _way(
        self, observation: Observation, grid: Grid, passable: NDArray[np.bool_], targets: NDArray[np.bool_]
    ) -> GridPath | None:
        """Way from the vehicle to the nearest target cell."""
        own = grid.cell_of(observation.pose.position)
        start = nearest_cell(passable, own, math.ceil(_SEED_REACH / grid.resolution))
        return None if start is None else nearest_target(passable, targets, start)

    def _decide(
        self,
        path: GridPath,
        grid: Grid,
        passable: NDArray[np.bool_],
        why: str,
        reports: tuple[Report, ...],
        considered: int,
    ) -> Decision:
        """The farthest point of the way in a straight line is the waypoint; the same point is not given twice."""
        point = grid.center_of(*farthest_visible(passable, path))
        if self._flown_to is not None and np.array_equal(point, self._flown_to):
            return Decision("continue", why, reports=reports, considered=considered)
        self._flown_to = point
        goal = waypoint(point[0], point[1], self._height, self._settings.speed)
        return Decision("frontier", why, goal=goal, reports=reports, considered=considered)
