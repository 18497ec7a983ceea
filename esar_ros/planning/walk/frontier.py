"""Frontier exploration on foot: to the nearest edge of the known ground until a person is seen, then back by its map.

Source: Yamauchi, A frontier-based approach for autonomous exploration, CIRA 1997, as an honest baseline of RescueBench.
It knows what its own camera and its pose tell it: ground and obstacles from depth (ground_map.py), persons from the
detector that all methods share. It does not read the text. The stretcher is known by its measures: things as low and as
long as one are walked to, those near the start first. It never waits: where nothing is left to see it goes where it
has not been.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Grid
from esar_ros.mission.rescue import SHARPEST, TURN_RATE, Phase, WalkAction, WalkObservation, WalkTask
from esar_ros.perception.detector import ClueDetector
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.perception.detectors.chosen import about_chosen, create_chosen
from esar_ros.planning.methods.maps.frontier import clear_disc, find_frontiers, nearest_cell, passable_cells
from esar_ros.planning.methods.maps.grid_path import farthest_visible, nearest_target
from esar_ros.planning.walk.ground_map import CELL, GroundMap
from esar_ros.planning.walk.steering import hands, towards

DETECTOR = "esar_yolo"
_BODY = 0.9  # m from the floor to the body's middle, which poses are of
_LOOK = 1.0  # s between two looks
_SWEEP = 0.6  # s between two looks while it turns round at the start: they overlap by half
_CLEARANCE = 0.42  # m between its way and obstacles: its radius and a little more
_LEAST = 4  # cells of a frontier
SURE = 0.3
"""Probability from which a person is walked to."""
_AT = 0.4  # m from a place at which it has been reached
_NEAR_THING = 1.2  # m from a thing's middle, from where whatever lies on it is at hand
_SAME = 1.0  # m about a place that was reached in vain
_STRETCHER = ((0.3, 0.5), (1.4, 2.6))  # m, height and length of what may be one
_HOME = 15.0  # m about the start, where the ambulance is
_SEEN = {Phase.FIND_INJURED: 3.0, Phase.FIND_STRETCHER: 1.5}  # m about its track that count as searched
_STUCK = 5  # steps ahead without getting on


class FrontierWalk:
    """Explores, picks up whom its detector sees, and looks for the stretcher about where it set out."""

    name = "frontier"
    eligible = True

    @property
    def details(self) -> Mapping[str, str]:
        """The detector's identity (see planning.method.HasDetails)."""
        return about_chosen(DETECTOR)

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode. Raises UsageError without the detector's network."""
        self._task = task
        self._detector = ClueDetector(backend())
        self._map: GroundMap | None = None  # from the first observation on
        self._track: list[Vector] = []  # (2,) m, where it was at each look
        self._phase = Phase.FIND_INJURED
        self._sweeping = math.ceil(360.0 / (SHARPEST * TURN_RATE * task.step))  # steps
        self._next_look = 0
        self._places: list[Vector] = []  # (2,) m, persons or stretchers as it seems
        self._vain: list[Vector] = []  # (2,) m, reached in vain
        self._closed: list[Vector] = []  # (2,) m, frontiers that were reached
        self._goal: Vector | None = None  # (2,) m, end of the way
        self._waypoint: Vector | None = None  # (2,) m, next place of it
        self._last: Vector | None = None
        self._still = 0

    def act(self, observation: WalkObservation) -> WalkAction:
        """Look every second, plan anew then and at each waypoint, and walk on."""
        here = observation.pose.position
        if self._map is None:
            self._map = GroundMap(here - [0.0, 0.0, _BODY])
            self._home = here[:2].copy()
        if observation.phase is not self._phase:
            self._phase = observation.phase
            self._vain, self._closed, self._track, self._waypoint = [], [], [], None
        arrived = self._waypoint is None or math.dist(self._waypoint, here[:2]) < _AT
        looks = observation.number >= self._next_look
        if looks:
            self._look(self._map, observation)
        if self._sweeping > 0:
            self._sweeping -= 1
            return WalkAction(0.0, SHARPEST)
        self._note_stuck(self._map, observation)
        if looks or arrived:
            self._plan(self._map, here)
        if self._waypoint is None:
            return WalkAction(0.0, SHARPEST)
        action = towards(observation.pose, self._waypoint, self._task.step)
        if not self._places:
            return action
        nearest = min(self._places, key=lambda place: math.dist(place, here[:2]))
        return replace(action, animation=hands(observation, np.array([*nearest, here[2]]), self._task))

    def _look(self, ground: GroundMap, observation: WalkObservation) -> None:
        """Take in one image: the ground, and persons or what may be the stretcher."""
        view, here = observation.view, observation.pose.position
        interval = _SWEEP if self._sweeping else _LOOK
        self._next_look = observation.number + max(1, round(interval / self._task.step))
        self._track.append(here[:2].copy())
        ground.look(view, float(here[2]) - _BODY, observation.carrying)
        self._places = self._seen(observation)
        reached = _AT if self._phase is Phase.FIND_INJURED else _NEAR_THING
        self._vain += [place for place in self._places if math.dist(place, here[:2]) < reached]
        self._places = self._not_in_vain(self._places)

    def _seen(self, observation: WalkObservation) -> list[Vector]:
        """Returns the places (2,) m of persons, or of what may be the stretcher."""
        if self._phase is Phase.FIND_STRETCHER:
            assert self._map is not None
            things = self._map.low_things(*_STRETCHER)
            return [thing for thing in things if math.dist(thing, self._home) < _HOME]
        view = observation.view
        frame = CameraFrame("eye", view.model, view.pose, view.depth, view.colour, observation.seconds)
        clues = self._detector.process([frame]).clues
        return [clue.position[:2] for clue in clues if clue.kind == PERSON and clue.probability >= SURE]

    def _not_in_vain(self, places: list[Vector]) -> list[Vector]:
        """Returns the places at which it has not been without finding anything."""
        return [place for place in places if all(math.dist(place, other) > _SAME for other in self._vain)]

    def _plan(self, ground: GroundMap, here: Vector) -> None:
        """Choose where to go, and the next straight piece of the way there."""
        if self._goal is not None and math.dist(self._goal, here[:2]) < 2.0 * _AT:
            self._closed.append(self._goal)
        grid = ground.grid()
        passable = passable_cells(grid, _CLEARANCE)
        cell = grid.cell_of(here)
        start = cell if passable[cell] else nearest_cell(passable, cell, math.ceil(1.0 / CELL))
        self._goal = self._waypoint = None
        if start is None:
            return
        for wanted in self._wanted(grid, passable):
            path = nearest_target(passable, wanted & passable, start)
            if path is not None and len(path.cells) > 1:
                self._goal = grid.center_of(*path.cells[-1])
                self._waypoint = grid.center_of(*(farthest_visible(passable, path) if start == cell else start))
                return

    def _wanted(self, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Cells to go to, the most wanted first."""
        yield from self._at_places(grid)
        frontiers = self._edges(grid, passable)
        searched = passable & ~discs(grid, self._track, _SEEN[self._phase])
        if self._phase is Phase.FIND_STRETCHER:
            near = discs(grid, [self._home], _HOME)
            if all(math.dist(self._home, place) > _AT for place in self._track):
                yield discs(grid, [self._home], _AT)
            yield frontiers & near
            yield searched & near
        yield frontiers
        yield searched

    def _at_places(self, grid: Grid) -> Iterator[NDArray[np.bool_]]:
        """Cells at persons or stretchers, as it seems."""
        if self._places:
            yield discs(grid, self._places, _AT)
            yield discs(grid, self._places, _NEAR_THING)

    def _edges(self, grid: Grid, passable: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Cells of frontiers that it has not been at."""
        frontiers = find_frontiers(grid, passable, _LEAST).cells
        for place in self._closed:
            clear_disc(frontiers, grid, place, 2.0 * _AT)
        return frontiers

    def _note_stuck(self, ground: GroundMap, observation: WalkObservation) -> None:
        """Takes note of what is in the way unseen, where walking on leads nowhere."""
        here, yaw = observation.pose.position, observation.pose.yaw
        moved = self._last is None or math.dist(self._last, here[:2]) > 0.02
        turning = self._waypoint is None or towards(observation.pose, self._waypoint, self._task.step).speed == 0.0
        self._last = here[:2].copy()
        self._still = 0 if moved or turning else self._still + 1
        if self._still >= _STUCK:
            self._still = 0
            ground.block(here[:2] + (_CLEARANCE + CELL) * np.array([math.cos(yaw), math.sin(yaw)]))
            self._waypoint = None


def discs(grid: Grid, places: list[Vector], radius: float) -> NDArray[np.bool_]:
    """Returns the cells (rows, columns) within a radius (m) of any of the places (2,)."""
    mask = np.zeros(grid.cells.shape, dtype=np.uint8)
    for place in places:
        row, column = grid.cell_of(place)
        cv2.circle(mask, (column, row), max(1, round(radius / grid.resolution)), 1, -1)
    return mask.astype(bool)


@cache
def backend() -> DetectorBackend:
    """Returns the detector that all agents share. Raises UsageError without its network."""
    return create_chosen(DETECTOR)
