"""An air-ground pair: a drone searches from the air and reports persons, the walker below goes there.

All that the drone sends is a position with its covariance (PersonReport): no image, no map, no way. The walker is the
frontier baseline, which goes to the nearest edge of its known ground about a reported place until it is there. Each
drives by what its own camera and pose tell it. Idea: Wu et al., RescueBench, 2026, tables 9 and 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Grid
from esar_ros.mission.rescue import PersonReport, Phase, StandingPose, WalkAction, WalkObservation, WalkTask, WalkView
from esar_ros.perception.detector import ClueDetector
from esar_ros.planning.walk.frontier import SURE, FrontierWalk, backend, discs

Look = Callable[[Pose], WalkView]
"""Returns the image of a camera whose optical frame has a pose in the map."""
_SPEED = 4.0  # m/s, level
_CLIMB = 3.0  # m/s
_HEIGHT = 12.0  # m that it keeps above the highest thing that its camera shows
_LEG = 16.0  # m between the legs of its search: the camera shows 24 m of level ground across
_LEGS = 16  # of the search: to 64 m on each side
_LOOK = 2.0  # s between two looks
_SAME = 1.0  # m between two reports of the same person
_THERE = 0.6  # m from a reported place at which it was gone to, found or not
_RINGS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # m about a reported place in which an edge of the known ground is sought


class Scout(Protocol):
    """A drone beside a walker."""

    def reset(self, start: StandingPose) -> None:
        """Begin an episode above a place."""

    def fly(self, seconds: float, look: Look) -> tuple[PersonReport, ...]:
        """Fly on until a time (s since the start), look where it then is, and return what is to be reported."""


@runtime_checkable
class Accompanied(Protocol):
    """An agent on foot with a drone of its own."""

    @property
    def scout(self) -> Scout:
        """The drone; it flies while the victim is sought."""


class SquareScout:
    """Flies an expanding square, looking straight down. Source: IAMSAR Manual, volume II: expanding square search."""

    def reset(self, start: StandingPose) -> None:
        """Take off from a place."""
        self._detector = ClueDetector(backend())
        self._position = start.position + [0.0, 0.0, _HEIGHT]
        self._height = float(self._position[2])  # m, that it wants
        corner, corners = np.array(start.position[:2]), []
        for leg in range(_LEGS):
            heading = math.pi / 2 * leg
            corner = corner + _LEG * (1 + leg // 2) * np.array([math.cos(heading), math.sin(heading)])
            corners.append(corner)
        self._corners = corners[::-1]
        self._seconds = self._next_look = 0.0
        self._reported: list[Vector] = []  # (3,) m

    def fly(self, seconds: float, look: Look) -> tuple[PersonReport, ...]:
        """See Scout; it looks every two seconds."""
        self._go(seconds - self._seconds)
        self._seconds = seconds
        if seconds < self._next_look or not self._corners:
            return ()
        self._next_look = seconds + _LOOK
        view = look(Pose(self._position, quaternion_from_rotation(optical_rotation(0.0, -math.pi / 2))))
        seen = view.depth[np.isfinite(view.depth)]
        if len(seen):
            self._height = float(self._position[2] - seen.min()) + _HEIGHT
        frame = CameraFrame("air", view.model, view.pose, view.depth, view.colour, seconds)
        found = []
        for clue in self._detector.process([frame]).clues:
            known = any(math.dist(clue.position, place) < _SAME for place in self._reported)
            if clue.kind == PERSON and clue.probability >= SURE and not known:
                self._reported.append(clue.position)
                found.append(PersonReport(seconds, clue.position, clue.covariance))
        return tuple(found)

    def _go(self, seconds: float) -> None:
        """Moves along the legs for a time, and up or down to the height wanted."""
        x, y, z = self._position
        here, left = np.array([x, y]), _SPEED * seconds
        while self._corners and left > 0.0:
            gap = self._corners[-1] - here
            rest = float(np.hypot(*gap))
            here = here + gap * (left / rest) if rest > left else self._corners.pop()
            left -= rest
        step = _CLIMB * seconds
        self._position = np.array([*here, z + min(max(self._height - z, -step), step)])


class AirGround(FrontierWalk):
    """The frontier walker, which goes first to whom its drone reports."""

    name = "air_ground"

    def __init__(self) -> None:
        self.scout: Scout = SquareScout()

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode. Raises UsageError without the detector's network."""
        super().reset(task, seed)
        self._told: list[Vector] = []  # (2,) m, reported and not gone to

    def act(self, observation: WalkObservation) -> WalkAction:
        """Take in what was reported, then act as the walker alone."""
        self._told += [report.position[:2] for report in observation.reports]
        here = observation.pose.position[:2]
        self._told = [place for place in self._told if math.dist(place, here) > _THERE]
        return super().act(observation)

    def _seen(self, observation: WalkObservation) -> list[Vector]:
        """Returns whom it sees itself, and who was reported."""
        seen = super()._seen(observation)
        return [*seen, *self._told] if self._phase is Phase.FIND_INJURED else seen

    def _wanted(self, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Cells to go to: persons within reach, then the edges of the known ground nearest to a reported one."""
        told = self._not_in_vain(self._told)
        if self._phase is Phase.FIND_INJURED and told:
            yield from self._at_places(grid)
            edges = self._edges(grid, passable)
            for radius in _RINGS:
                yield edges & discs(grid, told, radius)
        yield from super()._wanted(grid, passable)
