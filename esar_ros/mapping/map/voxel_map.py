"""The voxel map: what is free, occupied or unknown in a bounded world."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import vector
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import (
    Scan,
    checked_depth,
    checked_noise,
    checked_points,
    checked_pose,
    checked_range,
    checked_scan,
)
from esar_ros.mapping.kernels import blocks as storage
from esar_ros.mapping.kernels import carving, integration, lidar, queries
from esar_ros.mapping.kernels.blocks import NEVER_SEEN, OCCUPIED_FROM, UNIT
from esar_ros.mapping.map.voxel_store import VoxelStore

__all__ = ["FREE", "OCCUPIED", "UNKNOWN", "MapInputError", "Scan", "VoxelMap"]

_CLASS = np.array([FREE if c < OCCUPIED_FROM else OCCUPIED for c in range(-128, 128)], np.int8)
_CLASS[NEVER_SEEN + 128] = UNKNOWN


class VoxelMap(VoxelStore):
    """Occupancy of the box between two corners of the map frame (m, ENU), cut into cubic voxels.

    Several vehicles may fill one map: a frame is a set of views, whosoever they are. Not thread safe;
    kernels release the interpreter lock.
    """

    # ------------------------------------------------------------------ integration

    def integrate_frame(self, views: Sequence[CameraFrame], max_range: float, depth_noise: float = 0.0) -> None:
        """Integrate the cameras of one frame; a hit of any of them wins over all their misses.

        `max_range` (m, Euclidean) bounds hits and free space; `depth_noise` is the standard deviation
        of depth as a share of it. Raises MapInputError and leaves the map as it was.
        """
        reach = checked_range(max_range) / self.resolution
        checked_noise(depth_noise)
        images = [checked_depth(view) for view in views]

        def lenses() -> list[integration.Lens]:
            return [
                integration.lens_of(v.model, v.pose, self.lower, self.resolution, reach, depth_noise) for v in views
            ]

        seen = lenses()
        boxes = [integration.blocks_in_view(lens) for lens in seen]
        if not boxes:
            return
        if self.make_room(boxes):
            seen = lenses()
            boxes = [integration.blocks_in_view(lens) for lens in seen]
        chosen = [
            (d, s, b) for d, s, b in zip(images, seen, map(self._clipped, boxes), strict=True) if (b[0] <= b[1]).all()
        ]
        if not chosen:
            return
        frame = self._begin([box for _, _, box in chosen], sum(depth.size for depth, _, _ in chosen))
        world = (float(self.shape[0]), float(self.shape[1]), float(self.shape[2]))
        for depth, lens, _ in chosen:
            integration.mark_hits(depth, lens, frame, world)
        for depth, lens, box in chosen:
            free = integration.free_depth(depth, lens.per_metre)
            pyramid = integration.depth_pyramid(free, lens.reach)
            carving.carve(free, lens, self.blocks, frame, pyramid, box)
        integration.apply_hits(self.blocks, frame)
        self._note(frame)

    def integrate_scan(self, scan: Scan, max_range: float, range_noise: float = 0.0) -> None:
        """Integrate the beams of one LiDAR scan; a hit of any of them wins over all their misses.

        Limits as in integrate_frame. Raises MapInputError and leaves the map as it was.
        """
        reach = checked_range(max_range) / self.resolution
        checked_noise(range_noise)
        directions, ranges = checked_scan(scan)
        rotation, position = checked_pose(scan.pose)
        along = np.ascontiguousarray(directions @ rotation.T)
        lengths = np.ascontiguousarray(ranges / self.resolution)

        def box() -> NDArray[np.int64]:
            ends = along * np.minimum(np.where(lengths > 0.0, lengths, 0.0), reach)[:, None]
            corners = np.stack([np.minimum(ends.min(axis=0), 0.0), np.maximum(ends.max(axis=0), 0.0)])
            return integration.as_blocks(corners + (position - self.lower) / self.resolution)

        if not len(lengths):
            return
        self.make_room([box()])
        within = self._clipped(box())
        if not (within[0] <= within[1]).all():
            return
        hit = self._begin([within], len(lengths))
        voxels = int(np.prod(hit.shape)) * storage.VOLUME
        crossed = self._crossed.frame(hit.lower, hit.shape, min(voxels, len(lengths) * (3 * math.ceil(reach) + 3)))
        start = np.ascontiguousarray((position - self.lower) / self.resolution)
        margin, noise = integration.SURFACE_MARGIN, integration.NOISE_MARGIN * float(range_noise)
        lidar.mark_beams(start, along, lengths, reach, margin, noise, self.shape, hit, crossed)
        lidar.apply_misses(self.blocks, hit, crossed)
        integration.apply_hits(self.blocks, hit)
        self._note(hit)

    def _begin(self, boxes: list[NDArray[np.int64]], max_hits: int) -> integration.Frame:
        """Scratch for the box around boxes of blocks, with room in the pool for every block that may be needed."""
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        within = self.blocks.table[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))]
        self.reserve(int(np.count_nonzero(within <= storage.FREE_TILE)))
        self.blocks.counters[storage.FRAME] += 1
        return self._scratch.frame(low, high - low + 1, max_hits)

    def _note(self, frame: integration.Frame) -> None:
        """Remember the frame's changed blocks for every consumer."""
        rows = frame.changed[: frame.counters[integration.CHANGED]]
        if len(rows):
            here = np.stack(np.unravel_index(rows, tuple(frame.shape))) + frame.lower[:, None]
            self.note_changes(here.T)

    # ------------------------------------------------------------------ queries

    def log_odds(self, points: ArrayLike) -> NDArray[np.float32]:
        """Log-odds of occupancy (N,) at map-frame points (N, 3) in m; NaN where unknown or outside."""
        counts = self._counts(points)
        return np.where(counts == NEVER_SEEN, np.nan, counts * np.float32(UNIT)).astype(np.float32)

    def state(self, points: ArrayLike) -> NDArray[np.int8]:
        """UNKNOWN, FREE or OCCUPIED (N,) at map-frame points (N, 3) in m; outside the world UNKNOWN."""
        return np.asarray(_CLASS[self._counts(points).astype(np.int16) + 128])

    def _counts(self, points: ArrayLike) -> NDArray[np.int8]:
        return queries.counts_at(self.blocks, self._in_voxels(points))

    def _in_voxels(self, points: ArrayLike) -> NDArray[np.float64]:
        return np.require((checked_points(points) - self.lower) / self.resolution, requirements=["C", "W"])

    def raycasts(
        self, origins: ArrayLike, directions: ArrayLike, max_range: float, unknown_is_obstacle: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Returns for rays (N, 3) the free distance (N,) in m and the state at its end: OCCUPIED, UNKNOWN, or FREE at
        max_range.

        Directions need not be unit vectors but must not be zero. Raises MapInputError.
        """
        starts, along = self._in_voxels(origins), checked_points(directions)
        norms = np.linalg.norm(along, axis=1)
        if len(starts) != len(along) or not (norms > 0.0).all():
            raise MapInputError("every ray needs an origin and a direction that is not zero")
        distances, states = np.empty(len(starts)), np.empty(len(starts), np.uint8)
        reach = checked_range(max_range) / self.resolution
        unit = np.ascontiguousarray(along / norms[:, None])
        queries.cast_rays(self.blocks, starts, unit, reach, not unknown_is_obstacle, distances, states)
        return distances * self.resolution, states

    def raycast(
        self, origin: ArrayLike, direction: ArrayLike, max_range: float, unknown_is_obstacle: bool = True
    ) -> tuple[float, int]:
        """One ray; see raycasts."""
        distances, states = self.raycasts(vector(origin)[None], vector(direction)[None], max_range, unknown_is_obstacle)
        return float(distances[0]), int(states[0])

    def nearest_obstacle(
        self, points: ArrayLike, r_max: float, unknown_is_obstacle: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Exact distance (N,) in m from points (N, 3) to the nearest obstacle's voxel and that voxel's nearest point.

        0 inside an obstacle; inf and NaN beyond r_max. Outside the world everything is unknown.
        """
        inside = self._in_voxels(points)
        distances, nearest = np.empty(len(inside)), np.empty((len(inside), 3))
        reach = checked_range(r_max) / self.resolution
        queries.nearest_obstacles(self.blocks, inside, reach, bool(unknown_is_obstacle), distances, nearest)
        return distances * self.resolution, nearest * self.resolution + self.lower

    def occupied_points(self, blocks: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
        """Centres (N, 3) in m of occupied voxels, in all or in the given blocks (M, 3) (see take_dirty)."""
        chosen = self.known_blocks() if blocks is None else np.require(blocks, np.int32, ["C", "W"])
        return queries.list_occupied(self.blocks, chosen, self.resolution, self.lower)[:, :3]

    def window(self, origin_cell: ArrayLike, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
        """Classes of a box of voxels; origin_cell (3,) counts voxels from the map frame's origin."""
        cell = np.asarray(origin_cell)
        if cell.shape != (3,) or cell.dtype.kind not in "iu" or min(shape) <= 0:
            raise MapInputError(f"no window of {shape} voxels at {cell.tolist()}")
        cells = np.empty(shape, np.uint8)
        queries.cut_window(self.blocks, cell.astype(np.int64) - self.first_cell, cells)
        return cells
