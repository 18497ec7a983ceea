"""The mapper all methods share: frames in; voxel map, layers, frontiers and coverage kept together.

Frames may come from any number of vehicles. Derived products are computed on demand: layers, frontiers and the point
cloud are updated from the map when they are read.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import Scan, check_view, checked_depth, checked_pose, checked_stamp, pool_depth
from esar_ros.mapping.layers.coverage import Coverage
from esar_ros.mapping.layers.frontiers import Frontiers
from esar_ros.mapping.layers.ground_layers import ClassLayer, GroundGrid, ValueLayer
from esar_ros.mapping.layers.ground_plan import BevLayers, HeightLayers
from esar_ros.mapping.layers.object_labels import LABELS, SeenObject, object_labels
from esar_ros.mapping.map.local_window import window_around
from esar_ros.mapping.map.occupied_cloud import OccupiedCloud
from esar_ros.mapping.map.voxel_map import VoxelMap
from esar_ros.mission.names import THERMAL

MARGIN = 160.0  # m mapped beyond the search area
DEPTH_BELOW, HEIGHT_ABOVE = 64.0, 128.0  # m mapped below and above the start to begin with; the world grows
POOL_FROM = 480  # px wide: larger images are pooled 2x2 first
GRID_RESOLUTION = 2.0  # m
# m above ground: what stands in this band is in the way of a search from 25 to 40 m; lower trees are flown over.
FLIGHT_BAND = (20.0, 45.0)
CLASSES = 1 + len(LABELS)  # labels of the class layer, none among them
RESERVED_PAGED = 1 << 12  # blocks of a file that grows, 16 MB
PAGING_PERIOD = 30  # frames between two looks for cold blocks


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

    def __init__(
        self,
        resolution: float,
        max_range: float,
        look_range: float,
        depth_noise: float = 0.0,
        page_folder: Path | None = None,
        page_after: int = 300,
    ) -> None:
        """resolution: m, edge of a voxel; max_range: m, farthest depth used; look_range: m, for coverage.

        depth_noise: standard deviation of depth as a share of it. With a page folder (on a disk), blocks
        that no frame looked into for `page_after` frames leave memory until they are touched again.
        """
        self.resolution = resolution
        self._max_range = max_range
        self._look_range = look_range
        self._depth_noise = depth_noise
        self._page_folder = page_folder
        self._page_after = page_after
        self._map: VoxelMap | None = None
        self.frames = 0
        self.refused = 0

    @property
    def has_area(self) -> bool:
        """True once the search area is known; frames are integrated from then on."""
        return self._map is not None

    def set_area(self, area: NDArray[np.float64], home: Vector) -> None:
        """Begin the map of a search area (N, 2) around a start (3,), map frame, m. Raises MapInputError."""
        coverage = Coverage(area, self._look_range)
        low, high = area.min(axis=0) - MARGIN, area.max(axis=0) + MARGIN
        minimum, maximum = [*low, home[2] - DEPTH_BELOW], [*high, home[2] + HEIGHT_ABOVE]
        reserved = 1 << 16 if self._page_folder is None else RESERVED_PAGED
        self._begin(VoxelMap(self.resolution, minimum, maximum, reserved, True, self._page_folder), coverage)

    def _begin(self, voxel_map: VoxelMap, coverage: Coverage) -> None:
        self._map = voxel_map
        self._layers = BevLayers(voxel_map)
        self._frontiers = Frontiers(voxel_map)
        self._cloud = OccupiedCloud(voxel_map)
        self._coverage = coverage
        rows, columns = coverage.inside.shape
        corner = np.array(coverage.origin)
        self._ground_grid = GroundGrid(corner, corner + coverage.cell * np.array([columns, rows]), coverage.cell)
        self._values: dict[str, ValueLayer] = {}
        self._classes: ClassLayer | None = None

    # ------------------------------------------------------------------ what comes in

    def integrate(self, frames: Sequence[CameraFrame], now: float | None = None) -> str:
        """Take the frames of all cameras at one stamp; returns why some were refused, empty when none was.

        With the time now (s, on the clock of the frames' stamps) frames from the future are refused. A thermal camera
        measures no depth: what is registered to its images is from the others, and is not mapped again.
        """
        if self._map is None:
            return "no search area yet"
        pooled, refused = [], []
        for frame in frames:
            if frame.camera == THERMAL:
                continue
            try:
                checked_stamp(frame.stamp, now)
                checked_pose(frame.pose)
                checked_depth(frame)
                pooled.append(_pooled(frame))
            except MapInputError as error:
                refused.append(f"{frame.camera}: {error}")
        self.refused += bool(refused)
        try:
            self._map.integrate_frame(pooled, self._max_range, self._depth_noise)
            for frame in pooled:
                self._coverage.observe(frame)
        except MapInputError as error:
            self.refused += not refused
            return "; ".join([*refused, str(error)])
        self.frames += bool(pooled)
        if pooled and self._page_folder is not None and self.frames % PAGING_PERIOD == 0:
            self._map.evict(self._page_after)
        return "; ".join(refused)

    def integrate_scan(self, scan: Scan, stamp: float | None = None, now: float | None = None) -> str:
        """Take one LiDAR scan; returns why it was refused, empty when it was not."""
        if self._map is None:
            return "no search area yet"
        try:
            checked_stamp(stamp, now)
            self._map.integrate_scan(scan, self._max_range, self._depth_noise)
        except MapInputError as error:
            self.refused += 1
            return str(error)
        return ""

    def paint_value(self, layer: str, frame: CameraFrame, value: float) -> None:
        """Fuse the value of one image into a layer, which begins with its first; see ValueLayer."""
        self.values(layer).paint(_pooled(frame), value, self._look_range)

    def paint_classes(self, frame: CameraFrame, labels: NDArray[np.uint8]) -> None:
        """Count the labels (H, W) of an image, 0 for none; see ClassLayer."""
        self.classes.paint(frame, labels, self._look_range)

    def paint_objects(self, frame: CameraFrame, objects: Sequence[SeenObject]) -> str:
        """Count the pixels of what was detected in an image; returns why it was refused, empty when it was not."""
        if not objects or self._map is None:
            return ""
        try:
            self.paint_classes(frame, object_labels(frame, objects))
        except MapInputError as error:
            return str(error)
        return ""

    # ------------------------------------------------------------------ what goes out

    def local_window(self, center: Vector, stamp: float) -> OccupancyWindow:
        """Occupancy around a position (m, map frame)."""
        return window_around(self.map, center, stamp)

    def grid(self) -> tuple[NDArray[np.int8], float, tuple[float, float]]:
        """Bird's-eye cells, their edge (m) and the lower corner (m), as mission.observation.Grid."""
        self._layers.update()
        cells, origin = self._layers.grid(GRID_RESOLUTION, FLIGHT_BAND)
        return cells, GRID_RESOLUTION, origin

    def heights(self) -> HeightLayers:
        """Ground, top, observed and height above ground over what is known."""
        self._layers.update()
        return self._layers.heights()

    def frontiers(self) -> NDArray[np.float64]:
        """Clusters (N, 4): x, y, z (m) and number of voxels."""
        self._frontiers.update()
        return self._frontiers.clusters()

    def occupied_points(self) -> NDArray[np.float32]:
        """Centres (N, 3) of all occupied voxels, m."""
        return self.map.occupied_points()

    def cloud(self) -> NDArray[np.float32]:
        """The same points (N, 4) with their height once more, listed anew only where the map changed."""
        self._cloud.update()
        return self._cloud.points()

    def cloud_data(self) -> array.array[int]:
        """The same as the bytes of a PointCloud2: four float32 a point."""
        self._cloud.update()
        return self._cloud.data()

    def class_image(self) -> tuple[NDArray[np.int8], float, tuple[float, float]]:
        """Label of each ground cell, 1 + its place in mission.clues.KINDS, -1 where none was seen; edge, corner (m)."""
        labels = self.classes.classes().astype(np.int8)
        return np.where(labels > 0, labels, np.int8(-1)), self._ground_grid.cell, self._ground_grid.origin

    def coverage_image(self) -> tuple[NDArray[np.int8], float, tuple[float, float]]:
        """Cells 0..100: 100 seen from right above, towards 0 at the look range; -1 not seen; edge and corner (m)."""
        best = self.coverage.best_distance
        seen = np.isfinite(best)
        quality = np.where(seen, 100.0 * (1.0 - np.where(seen, best, 0.0) / self._look_range), -1.0)
        return np.round(quality).astype(np.int8), self.coverage.cell, self.coverage.origin

    def state(self) -> MapState:
        """Size and coverage."""
        return MapState(
            self.coverage.covered_area,
            self.coverage.search_area,
            self.coverage.share,
            self.map.occupied_count,
            self.map.free_count,
            self.map.memory_bytes,
            self.frames,
            self.refused,
        )

    @property
    def map(self) -> VoxelMap:
        """The voxel map, for queries."""
        if self._map is None:
            raise RuntimeError("the map has no search area yet")
        return self._map

    @property
    def coverage(self) -> Coverage:
        """The coverage of the search area: cells seen, with the distance and angle of the best view."""
        if self._map is None:
            raise RuntimeError("the map has no search area yet")
        return self._coverage

    def values(self, layer: str) -> ValueLayer:
        """A value layer by name; it begins empty."""
        return self._values.setdefault(layer, ValueLayer(self._ground_grid))

    @property
    def classes(self) -> ClassLayer:
        """The class layer; it begins empty."""
        if self._classes is None:
            self._classes = ClassLayer(self._ground_grid, CLASSES)
        return self._classes

    # ------------------------------------------------------------------ files

    def save(self, path: Path) -> None:
        """Write map, search area and coverage to one file, atomically."""
        layers = {f"coverage.{name}": layer for name, layer in self.coverage.layers.items()}
        self.map.save(path, {"area": self.coverage.area, **layers})

    def load(self, path: Path) -> None:
        """Go on from a file that save wrote. Raises MapInputError, and the map stays as it was.

        Other layers begin anew. A file of another resolution, or of another area than the one that was set, is refused.
        """
        read, extras = VoxelMap.load_with_extras(path, endless=True, page_folder=self._page_folder)
        if not math.isclose(read.resolution, self.resolution):
            raise MapInputError(f"{path} has voxels of {read.resolution} m, this mapper of {self.resolution} m")
        if "area" not in extras:
            raise MapInputError(f"{path} knows no search area")
        if self.has_area and not np.array_equal(extras["area"], self.coverage.area):
            raise MapInputError(f"{path} is of another search area")
        coverage = Coverage(extras["area"], self._look_range)
        coverage.restore({name[9:]: layer for name, layer in extras.items() if name.startswith("coverage.")})
        self._begin(read, coverage)

    def warm_up(self) -> None:
        """Compile or load every kernel, on a map that is thrown away: none is left for the first second of flight."""
        scratch = Mapper(self.resolution, self._max_range, self._look_range)
        scratch.set_area(np.array([[-20.0, -20.0], [20.0, -20.0], [20.0, 20.0], [-20.0, 20.0]]), np.zeros(3))
        model = CameraModel.from_horizontal_fov(32, 24, 1.5)
        down = Pose(np.array([0.0, 0.0, 10.0]), np.array([0.0, 1.0, 0.0, 0.0]))
        frame = CameraFrame("down", model, down, np.full((24, 32), 10.0, np.float32))
        scratch.integrate([frame])
        scratch.integrate_scan(Scan.of_points([[5.0, 0.0, 0.0]], down))
        scratch.grid()
        scratch.local_window(np.zeros(3), 0.0)
        scratch.frontiers()
        scratch.cloud()
        scratch.map.state(np.zeros((1, 3)))
        scratch.map.raycast(np.zeros(3), [1.0, 0.0, 0.0], 10.0)
        scratch.map.nearest_obstacle(np.zeros((1, 3)), 10.0)
        scratch.paint_value("value", frame, 1.0)


def _pooled(frame: CameraFrame) -> CameraFrame:
    """Large depth images at half size: the minimum of each 2x2 keeps thin obstacles. Raises MapInputError."""
    if frame.model.width < POOL_FROM:
        return frame
    check_view(frame)
    return CameraFrame(frame.camera, frame.model.scaled(0.5), frame.pose, pool_depth(frame.depth))
