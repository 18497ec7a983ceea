"""Bystanders on foot and vehicles that go to and fro on ways drawn from a seed, and give way to the walker.

They are in the world: seen, walked against, and taken for the victim by who looks for a person. A figure keeps its
posture; it glides. Ways are the shortest between two places of the ground, for vehicles where it is wide enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mission.clues import PERSON, VictimPose
from esar_ros.sim.assets.people.persons import OUTFITS
from esar_ros.sim.walking.walkable import CELL, WalkableGrid
from esar_ros.sim.world.world import World

PEOPLE, VEHICLES = 6, 2
_TRIES = 40  # of one way
_LONG = (6.0, 25.0)  # m, of a way from end to end, as the crow flies
_VEHICLE = "household_truck/pick_up_white"
_NAME = "passing_"
_PATIENCE = 3.0  # s near the walker after which it can be walked through: nobody shuts a way for good


@dataclass(frozen=True)
class _Kind:
    asset: str
    speed: float  # m/s
    half: float  # m to each side that its way must be free
    clear: float  # m to the walker at which it turns back, and to what it keeps away from


class _Passing:
    """One of them on its way."""

    def __init__(self, kind: _Kind, way: NDArray[np.float64]) -> None:
        self.kind, self._way = kind, way
        self._ends = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
        self._along, self._forth = 0.0, 1.0
        self._near = 0.0  # s near the walker

    @property
    def gives_way(self) -> bool:
        """Returns whether it has been near the walker for too long to be in the way."""
        return self._near > _PATIENCE

    def pose(self, ahead: float = 0.0) -> Pose:
        """Returns where it is, or would be some metres on."""
        along = float(np.clip(self._along + self._forth * ahead, 0.0, self._ends[-1]))
        part = int(np.clip(np.searchsorted(self._ends, along, side="right"), 1, len(self._way) - 1))
        gap = self._way[part] - self._way[part - 1]
        share = (along - self._ends[part - 1]) / (self._ends[part] - self._ends[part - 1])
        yaw = math.atan2(gap[1], gap[0]) + (0.0 if self._forth > 0.0 else math.pi)
        return Pose(self._way[part - 1] + share * gap, quaternion_from_yaw(yaw))

    def advance(self, seconds: float, walker: Vector) -> None:
        """Goes on, turns at the ends of its way, and turns back before a walker at (3,) m who stands in it."""
        step = self.kind.speed * seconds
        here, there = (math.dist(self.pose(ahead).position[:2], walker[:2]) for ahead in (0.0, step))
        self._near = self._near + seconds if here < self.kind.clear else 0.0
        if there < self.kind.clear and there < here:
            self._forth = -self._forth
            return
        self._along += self._forth * step
        if not 0.0 < self._along < self._ends[-1]:
            self._along, self._forth = float(np.clip(self._along, 0.0, self._ends[-1])), -self._forth


class Crowd:
    """All who pass by in a world; the same for the same seed and steps."""

    def __init__(self, world: World, grid: WalkableGrid, seed: int, kept_free: list[Vector]) -> None:
        """grid: of the world as it is; kept_free: (3,) m, places that nobody's way comes near."""
        self._world = world
        rng = np.random.default_rng(seed)
        outfits = rng.permutation(list(OUTFITS))[:PEOPLE].tolist()
        standing = f"{PERSON}_{VictimPose.STANDING.value}"
        kinds = [_Kind(f"{standing}/{outfit}", float(rng.uniform(0.8, 1.3)), 0.4, 1.5) for outfit in outfits]
        kinds += [_Kind(_VEHICLE, 2.5, 1.4, 5.0)] * VEHICLES
        ground = WalkableGrid(grid.low, grid.floors[:, :, :1])
        self._all: list[_Passing] = []
        for kind in kinds:
            way = _way(ground, kind, rng, kept_free)
            if way is not None:  # a room has none for a vehicle
                world.spawn(f"{_NAME}{len(self._all)}", kind.asset, Pose(way[0]))
                self._all.append(_Passing(kind, way))

    @property
    def places(self) -> NDArray[np.float64]:
        """Returns where they are, (N, 3) m."""
        return np.array([one.pose().position for one in self._all]).reshape(-1, 3)

    def advance(self, seconds: float, walker: Vector) -> None:
        """Lets time pass; walker: (3,) m."""
        for number, one in enumerate(self._all):
            one.advance(seconds, walker)
            self._world.move(f"{_NAME}{number}", one.pose(), passable=one.gives_way)

    def leave(self) -> None:
        """Takes all of them out of the world."""
        for number in range(len(self._all)):
            self._world.destroy(f"{_NAME}{number}")
        self._all.clear()


def _way(
    grid: WalkableGrid, kind: _Kind, rng: np.random.Generator, kept_free: list[Vector]
) -> NDArray[np.float64] | None:
    """Returns the corners (N, 3) of a way that is wide enough, None where none was found."""
    cells = math.ceil(2.0 * kind.half / CELL) | 1
    free = binary_erosion(np.isfinite(grid.floors[:, :, 0]), np.ones((cells, cells)))
    x, y = np.meshgrid(*(grid.low[axis] + (np.arange(free.shape[axis]) + 0.5) * CELL for axis in (0, 1)), indexing="ij")
    for place in kept_free:
        free &= np.hypot(x - place[0], y - place[1]) > kind.clear
    wide = WalkableGrid(grid.low, np.where(free[:, :, None], grid.floors, np.nan))
    places = wide.points()
    for _ in range(_TRIES if len(places) else 0):
        one, other = places[rng.integers(len(places), size=2)]
        if _LONG[0] < math.dist(one, other) < _LONG[1]:
            way = wide.path(one, other)
            if way is not None and len(way) > 1:
                return way
    return None
