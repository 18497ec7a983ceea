"""Oracle: knows the place and the task and walks the shortest ways to the victim and to the stretcher. Ineligible.

Source: Wu et al., RescueBench, 2026, appendix D: the expert of its automatic data. It shows that a task can be done.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import FASTEST, SHARPEST, Animation, Phase, WalkAction, WalkObservation, WalkTask
from esar_ros.sim.walking.walkable import WalkableGrid

CORNER = 0.25  # m from a corner of the way at which the next one is walked to
STRAIGHT = math.radians(25.0)  # rad off the way beyond which it turns on the spot
RATE = 2.8  # degrees of turning by degree of an action's angle and second
FLOOR = 1.5  # m between the body's middle and a target on its floor
INSIDE = 0.8  # share of a gate at which an agent's own hands act


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
        here, yaw = observation.pose.position, observation.pose.yaw
        while len(way) > 1 and math.dist(way[0][:2], here[:2]) < CORNER:
            way.pop(0)
        x, y = (way[0] - here)[:2]
        off = wrap_angle(math.atan2(y, x) - yaw)
        angle = math.degrees(off) / (RATE * self._task.step)
        angle = min(max(angle, -SHARPEST), SHARPEST)
        return WalkAction(FASTEST if abs(off) < STRAIGHT else 0.0, angle, animation=self._hands(observation, way[-1]))

    def _hands(self, observation: WalkObservation, target: Vector) -> Animation:
        """Returns the animation of one who picks up and puts down by itself; without effect in the active mode."""
        if observation.phase is Phase.FIND_INJURED:
            gate, animation = self._task.pick_up, Animation.CARRY
        else:
            gate, animation = self._task.put_down, Animation.DROP
        gap = target - observation.pose.position
        near = math.hypot(gap[0], gap[1]) < INSIDE * gate and abs(gap[2]) < FLOOR
        return animation if near else Animation.STAND


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
