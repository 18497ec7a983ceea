"""Oracle: knows the scene and flies a shortest path to the target, then stops. Ineligible; it shows that an episode can
be solved without a contact.

Source: none; an upper bound for the tables. The engine shows it the world and the episode before it begins.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import (
    ObjectGoalEpisode,
    StepAction,
    StepKind,
    StepObservation,
    StepPose,
    StepTask,
    wrapped,
)
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.shortest import Occupancy

NEAR = 0.6  # of the distance of a success: it stops there
MARGIN = 15.0  # m around start and target in which it looks for a way
CELL_CLEARANCE = 1.15  # m around a cell's centre that is free: no neighbour's is farther than the vehicle reaches
LEG_CLEARANCE = 0.65  # m around a straight leg that is free


@runtime_checkable
class Insider(Protocol):
    """An agent that is shown the truth, if it says that it is not eligible."""

    def show(self, world: World, episode: ObjectGoalEpisode, longest: float) -> None:
        """Called before an episode. longest: m that a step covers in its time."""


class Oracle:
    """Follows its path."""

    name = "oracle"
    eligible = False

    def show(self, world: World, episode: ObjectGoalEpisode, longest: float) -> None:
        """See Insider."""
        self._world, self._episode, self._longest = world, episode, longest

    def reset(self, task: StepTask, seed: int) -> None:
        """Plan. Raises UsageError where there is no way."""
        start, target = StepPose.of(self._episode.start), self._episode.targets[-1]
        ends = np.array([start.position, target])
        cells = Occupancy.around(self._world, ends, MARGIN, CELL_CLEARANCE)
        path = cells.path(start.position, target, NEAR * task.near)
        if path is None:
            raise UsageError(
                f"episode {self._episode.id} of {self._episode.scene}: no way to its target", "mend the scene"
            )
        self._actions: list[StepAction] = []
        here, done = start, 0
        while done < len(path) - 1:
            done, legs = self._farthest(here.position, path, done)
            for end in legs:
                here = self._fly(here, end)
        self._actions.append(StepAction(StepKind.STOP))

    def act(self, observation: StepObservation) -> StepAction:
        """The next of the plan."""
        return self._actions[observation.number]

    def _farthest(self, position: Vector, path: Vector, done: int) -> tuple[int, tuple[Vector, Vector]]:
        """The farthest point of the path that can be flown to along a level and an upright leg, and the legs' ends."""
        for index in range(len(path) - 1, done, -1):
            end = path[index]
            for corner in (np.array([end[0], end[1], position[2]]), np.array([position[0], position[1], end[2]])):
                if self._is_free(position, corner) and self._is_free(corner, end):
                    return index, (corner, end)
        end = path[done + 1]  # beside a neighbour every cell of the way is free
        return done + 1, (np.array([end[0], end[1], position[2]]), end)

    def _is_free(self, start: Vector, end: Vector) -> bool:
        return self._world.contact_along(start, end, LEG_CLEARANCE) is None

    def _fly(self, here: StepPose, end: Vector) -> StepPose:
        """Adds the actions of one level or upright leg; returns the pose after them."""
        offset = end - here.position
        level, climb = math.hypot(offset[0], offset[1]), float(offset[2])
        if level > 0.01:
            turn = wrapped(math.degrees(math.atan2(offset[1], offset[0])) - here.yaw)
            if abs(turn) > 1e-6:
                here = self._take(here, StepKind.TURN_LEFT if turn > 0.0 else StepKind.TURN_RIGHT, abs(turn))
            here = self._cover(here, StepKind.FORWARD, level)
        if abs(climb) > 0.01:
            here = self._cover(here, StepKind.UP if climb > 0.0 else StepKind.DOWN, abs(climb))
        return here

    def _cover(self, here: StepPose, kind: StepKind, distance: float) -> StepPose:
        """Adds steps of equal size, none longer than a step covers."""
        count = math.ceil(distance / self._longest)
        for _ in range(count):
            here = self._take(here, kind, distance / count)
        return here

    def _take(self, here: StepPose, kind: StepKind, size: float) -> StepPose:
        self._actions.append(StepAction(kind, size))
        return here.after(kind, size)
