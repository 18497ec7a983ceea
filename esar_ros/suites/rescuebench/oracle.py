"""Oracle: knows the place and the task and walks the shortest ways to the victim and to the stretcher. Ineligible.

Source: Wu et al., RescueBench, 2026, appendix D: the expert of its automatic data. It shows that a task can be done.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Phase, WalkAction, WalkObservation, WalkTask
from esar_ros.planning.walk.steering import FLOOR, hands, towards
from esar_ros.sim.walking.walkable import WalkableGrid

CORNER = 0.1  # m from a corner of the way at which the next one is walked to


@runtime_checkable
class Insider(Protocol):
    """An agent that is shown the truth, if it says that it is not eligible."""

    def show(self, grid: WalkableGrid, start: Vector, victim: Vector, stretcher: Vector) -> None:
        """Called before an episode; grid: where one can walk; start, victim, stretcher: (3,) m on the floor."""


class Oracle:
    """Follows its ways."""

    name = "oracle"
    eligible = False

    def show(self, grid: WalkableGrid, start: Vector, victim: Vector, stretcher: Vector) -> None:
        """See Insider."""
        self._grid, self._start, self._targets = grid, start, (victim, stretcher)

    def reset(self, task: WalkTask, seed: int) -> None:
        """Plan. Raises UsageError where there is no way."""
        self._task = task
        victim, stretcher = self._targets
        there = _way(self._grid, self._start, victim)
        self._ways = {
            Phase.FIND_INJURED: [*there, victim],
            Phase.FIND_STRETCHER: [*_way(self._grid, there[-1], stretcher), stretcher],
        }

    def act(self, observation: WalkObservation) -> WalkAction:
        """Walks on along the way of the phase, and uses its hands at its end."""
        way = self._ways[observation.phase]
        here = observation.pose.position
        while len(way) > 1 and math.dist(way[0][:2], here[:2]) < CORNER:
            way.pop(0)
        action = towards(observation.pose, way[0], self._task.step)
        return replace(action, animation=hands(observation, way[-1], self._task))


def _way(grid: WalkableGrid, start: Vector, target: Vector) -> list[Vector]:
    """Returns the corners of the shortest way to the place nearest to a target. Raises UsageError without one."""
    reach = grid.reach(start)
    nodes = np.flatnonzero(np.isfinite(reach.metres))
    places = grid.position(nodes)
    near = [place for place in places if abs(place[2] - target[2]) < FLOOR]
    path = None
    if near:
        path = reach.path(min(near, key=lambda place: math.dist(place[:2], target[:2])))
    if path is None:
        raise UsageError("no way to the victim or to the stretcher", "mend the point")
    return list(path[1:]) or [path[0]]
