"""The mapper all methods share: frames in; voxel map, layers, frontiers and coverage kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.coverage import Coverage
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.frontiers import Frontiers
from esar_ros.mapping.inputs import DepthView, pool_depth
from esar_ros.mapping.layers import BevLayers
from esar_ros.mapping.local_window import window_around
from esar_ros.mapping.voxel_map import VoxelMap

MARGIN = 160.0  # m mapped beyond the search area
DEPTH_BELOW, HEIGHT_ABOVE = 640.0, 640.0  # m mapped below and above the start
POOL_FROM = 480  # px wide: larger pictures are pooled 2x2 first
GRID_RESOLUTION = 2.0  # m
# m above ground: what stands in this band is in the way of a search from 25 to 40 m; lower trees are flown over.
FLIGHT_BAND = (20.0, 45.0)


@dataclass(frozen=True)
class MapState:
    """Numbers of msg/MapStatus.msg."""

    covered_area: float
    search_area: float
    coverage: float
    occupied: int
    free: int
    memory: int
    frames: int
    refused: int


class Mapper:
    """One map of one search area. Frames that are refused leave it unharmed."""

    def __init__(self, resolution: float, max_range: float, look_range: float) -> None:
        """resolution: m, edge of a voxel; max_range: m, farthest depth used; look_range: m, for coverage."""
        self.resolution = resolution
        self._max_range = max_range
        self._look_range = look_range
        self._map: VoxelMap | None = None
        self.frames = 0
        self.refused = 0

    @property
    def has_area(self) -> bool:
        """Whether the search area is known; frames are taken from then on."""
        return self._map is not None

    def set_area(self, area: NDArray[np.float64], home: Vector) -> None:
        """Begin the map of a search area (N, 2) around a start (3,), map frame, m. Raises MapInputError."""
        low, high = area.min(axis=0) - MARGIN, area.max(axis=0) + MARGIN
        coverage = Coverage(area, self._look_range)
        self._map = VoxelMap(self.resolution, [*low, home[2] - DEPTH_BELOW], [*high, home[2] + HEIGHT_ABOVE])
        self._layers = BevLayers(self._map)
        self._frontiers = Frontiers(self._map)
        self._coverage = coverage

    def integrate(self, views: Sequence[tuple[NDArray[np.float32], CameraModel, Pose]]) -> str:
        """Take one frame of all cameras; returns why it was refused, empty when it was not."""
        if self._map is None:
            return "no search area yet"
        try:
            pooled = [_pooled(*view) for view in views]
            self._map.integrate_frame(pooled, self._max_range)
            for view in pooled:
                self._coverage.observe(view)
        except MapInputError as error:
            self.refused += 1
            return str(error)
        self._layers.update()
        self.frames += 1
        return ""

    def warm_up(self) -> None:
        """Compile or load every kernel, on a map that is thrown away."""
        scratch = Mapper(self.resolution, self._max_range, self._look_range)
        scratch.set_area(np.array([[-20.0, -20.0], [20.0, -20.0], [20.0, 20.0], [-20.0, 20.0]]), np.zeros(3))
        model = CameraModel.from_horizontal_fov(32, 24, 1.5)
        down = Pose(np.array([0.0, 0.0, 10.0]), np.array([0.0, 1.0, 0.0, 0.0]))
        scratch.integrate([(np.full((24, 32), 10.0, np.float32), model, down)])
        scratch.grid()
        scratch.local_window(np.zeros(3), 0.0)
        scratch.frontiers()
        scratch.occupied_points()

    def local_window(self, center: Vector, stamp: float) -> OccupancyWindow:
        """Occupancy around a position (m, map frame)."""
        return window_around(self._ready, center, stamp)

    def grid(self) -> tuple[NDArray[np.int8], float, tuple[float, float]]:
        """Bird's-eye cells, their edge (m) and the least corner (m), as mission.observation.Grid."""
        cells, origin = self._layers.grid(GRID_RESOLUTION, FLIGHT_BAND)
        return cells, GRID_RESOLUTION, origin

    def frontiers(self) -> NDArray[np.float64]:
        """Clusters (N, 4): x, y, z (m) and number of voxels."""
        self._frontiers.update()
        return self._frontiers.clusters()

    def occupied_points(self) -> NDArray[np.float32]:
        """Centres (N, 3) of all occupied voxels, m."""
        return self._ready.occupied_points()

    def coverage_picture(self) -> tuple[NDArray[np.int8], float, tuple[float, float]]:
        """Cells 0..100: 100 seen from right above, towards 0 at the look range; -1 not seen; edge and corner (m)."""
        best = self._coverage.best_distance
        seen = np.isfinite(best)
        quality = np.where(seen, 100.0 * (1.0 - np.where(seen, best, 0.0) / self._look_range), -1.0)
        return np.round(quality).astype(np.int8), self._coverage.cell, self._coverage.origin

    def state(self) -> MapState:
        """Size and coverage."""
        ready = self._ready
        return MapState(
            self._coverage.covered_area,
            self._coverage.search_area,
            self._coverage.share,
            ready.occupied_count,
            ready.free_count,
            ready.memory_bytes,
            self.frames,
            self.refused,
        )

    @property
    def _ready(self) -> VoxelMap:
        if self._map is None:
            raise RuntimeError("the map has no search area yet")
        return self._map


def _pooled(depth: NDArray[np.float32], model: CameraModel, pose: Pose) -> DepthView:
    """Large pictures at half size: the least depth of each 2x2 keeps thin obstacles."""
    if model.width < POOL_FROM:
        return DepthView(depth, model, pose)
    return DepthView(pool_depth(depth), model.scaled(0.5), pose)
