"""The voxel map: what is free, occupied or unknown in a bounded world."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, vector
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, pack_cells
from esar_ros.mapping import blocks as storage
from esar_ros.mapping import carving, integration, map_file, queries
from esar_ros.mapping.blocks import NEVER_SEEN, OCCUPIED_FROM, SIDE, UNIT
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import (
    DepthView,
    checked_depth,
    checked_points,
    checked_pose,
    checked_range,
)

__all__ = ["FREE", "OCCUPIED", "UNKNOWN", "DepthView", "MapInputError", "VoxelMap"]

SURFACE_MARGIN = 0.9  # voxels in front of a surface that its own pixel does not free
NOISE_MARGIN = 2.0  # standard deviations of depth added to it
_MOST_BLOCKS = 1 << 28  # of an index
_CLASS = np.array([FREE if c < OCCUPIED_FROM else OCCUPIED for c in range(-128, 128)], np.int8)
_CLASS[NEVER_SEEN + 128] = UNKNOWN


class VoxelMap:
    """Occupancy of the box between two corners of the map frame (m, ENU), cut into cubic voxels.

    The box is widened to whole blocks of 16 voxels, so that voxel edges are multiples of the
    resolution. Not thread safe; kernels release the interpreter lock.
    """

    def __init__(
        self,
        resolution: float = 1.0,
        lower: ArrayLike = (-1000.0, -1000.0, -64.0),
        upper: ArrayLike = (1000.0, 1000.0, 192.0),
        reserved_blocks: int = 1 << 16,
    ) -> None:
        """Reserved blocks cost memory only once they are used; beyond them the pool doubles."""
        least, most = vector(lower), vector(upper)
        if not (math.isfinite(resolution) and resolution > 0.0 and np.isfinite([least, most]).all()):
            raise MapInputError(f"not a world: {resolution} m from {least.tolist()} to {most.tolist()}")
        edge = SIDE * resolution
        first = np.floor(least / edge + 1e-9).astype(np.int64)
        shape = np.ceil(most / edge - 1e-9).astype(np.int64) - first
        if not ((most > least).all() and float(np.prod(shape.astype(float))) <= _MOST_BLOCKS):
            raise MapInputError(f"no world of {resolution} m from {least.tolist()} to {most.tolist()}")
        self.resolution = float(resolution)
        self.first_cell: NDArray[np.int64] = first * SIDE  # of voxel (0, 0, 0), counted from the map's origin
        self.lower: Vector = np.asarray(self.first_cell * self.resolution, dtype=np.float64)
        self.shape: NDArray[np.int64] = shape * SIDE  # voxels
        self.upper: Vector = np.asarray((self.first_cell + self.shape) * self.resolution, dtype=np.float64)
        table = np.full(tuple(shape), storage.ABSENT, np.int32)
        self.blocks = storage.reserve(table, max(reserved_blocks, 2))
        self._masks = np.zeros((0, storage.BRICKS), np.uint64)
        self._flags = np.zeros(0, np.bool_)
        self._hits = np.empty(0, np.int64)
        self._changes: dict[str, list[NDArray[np.int64]]] = {}

    # ------------------------------------------------------------------ integration

    def integrate_depth(
        self,
        depth: NDArray[np.float32],
        model: CameraModel,
        pose: Pose,
        max_range: float,
        depth_noise: float = 0.0,
    ) -> None:
        """Integrate one camera; see integrate_frame."""
        self.integrate_frame([DepthView(depth, model, pose)], max_range, depth_noise)

    def integrate_frame(self, views: Sequence[DepthView], max_range: float, depth_noise: float = 0.0) -> None:
        """Integrate the cameras of one frame; a hit of any of them wins over all their misses.

        `max_range` (m, Euclidean) bounds hits and free space; `depth_noise` is the standard deviation
        of depth as a share of it. Raises MapInputError and leaves the map as it was.
        """
        reach = checked_range(max_range) / self.resolution
        if not 0.0 <= depth_noise <= 0.1:
            raise MapInputError(f"not a depth noise: {depth_noise}")
        seen = []
        for view in views:
            depth, lens = checked_depth(view), self._lens(view, reach, depth_noise)
            box = self._blocks_in_view(lens)
            if (box[0] <= box[1]).all():
                seen.append((depth, lens, box))
        if not seen:
            return
        frame = self._frame(
            np.min([box[0] for _, _, box in seen], axis=0),
            np.max([box[1] for _, _, box in seen], axis=0),
            sum(depth.size for depth, _, _ in seen),
        )
        world = (float(self.shape[0]), float(self.shape[1]), float(self.shape[2]))
        for depth, lens, _ in seen:
            integration.mark_hits(depth, lens, frame, world)
        for depth, lens, box in seen:
            free = integration.free_depth(depth, lens.per_metre)
            pyramid = integration.depth_pyramid(free, lens.reach)
            carving.carve(free, lens, self.blocks, frame, pyramid, box)
        integration.apply_hits(self.blocks, frame)
        self._note(frame)

    def _lens(self, view: DepthView, reach: float, depth_noise: float) -> integration.Lens:
        rotation, position = checked_pose(view.pose)
        model = view.model
        right, down, forward = (tuple(axis) for axis in rotation.T.tolist())
        return integration.Lens(
            fx=float(model.fx),
            fy=float(model.fy),
            cx=float(model.cx),
            cy=float(model.cy),
            width=float(model.width),
            height=float(model.height),
            right=right,
            down=down,
            forward=forward,
            origin=tuple(((position - self.lower) / self.resolution).tolist()),
            reach=float(reach),
            per_metre=1.0 / self.resolution,
            margin=SURFACE_MARGIN,
            noise=NOISE_MARGIN * float(depth_noise),
        )

    def _blocks_in_view(self, lens: integration.Lens) -> NDArray[np.int64]:
        """First and last block (2, 3) of the box around a view's frustum, clipped to the world."""
        u = np.array([-lens.cx, lens.width - lens.cx, -lens.cx, lens.width - lens.cx]) / lens.fx
        v = np.array([-lens.cy, -lens.cy, lens.height - lens.cy, lens.height - lens.cy]) / lens.fy
        axes = np.array([lens.right, lens.down, lens.forward])
        corners = np.stack([u, v, np.ones(4)], axis=1) @ axes * lens.reach
        low = np.maximum(np.minimum(corners.min(axis=0), 0.0), -lens.reach) + lens.origin
        high = np.minimum(np.maximum(corners.max(axis=0), 0.0), lens.reach) + lens.origin
        last = np.array(self.blocks.table.shape) - 1
        low, high = np.floor(low / SIDE), np.floor(high / SIDE)
        return np.stack([np.clip(low, 0, last + 1), np.clip(high, -1, last)]).astype(np.int64)

    def _frame(self, low: NDArray[np.int64], high: NDArray[np.int64], pixels: int) -> integration.Frame:
        """Scratch for a box of blocks, with room in the pool for every block that may be needed."""
        box = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
        within = self.blocks.table[box]
        needed = int(np.count_nonzero(within <= storage.FREE_TILE))
        if storage.slots_left(self.blocks) < needed:
            used = int(self.blocks.counters[storage.NEXT_SLOT])
            self.blocks = storage.grown(self.blocks, max(2 * len(self.blocks.log_odds), used + needed))
        if len(self._masks) < within.size:
            self._masks = np.zeros((within.size, storage.BRICKS), np.uint64)
            self._flags = np.zeros(within.size, np.bool_)
        if len(self._hits) < pixels:
            self._hits = np.empty(pixels, np.int64)
        return integration.Frame(
            lower=low,
            shape=high - low + 1,
            hit_masks=self._masks,
            hits=self._hits,
            flagged=self._flags,
            changed=np.empty(within.size, np.int64),
            counters=np.zeros(2, np.int64),
        )

    def _note(self, frame: integration.Frame) -> None:
        """Remember the frame's changed blocks for every consumer."""
        rows = frame.changed[: frame.counters[integration.CHANGED]]
        if not len(rows):
            return
        here = np.stack(np.unravel_index(rows, tuple(frame.shape))) + frame.lower[:, None]
        ids = np.asarray(np.ravel_multi_index(tuple(here), self.blocks.table.shape), dtype=np.int64)
        for pending in self._changes.values():
            pending.append(ids)
            if len(pending) >= 64:  # keeps what a slow consumer has to fetch bounded by the map
                pending[:] = [np.unique(np.concatenate(pending))]

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
        """How far (N,) in m rays (N, 3) run free, and what stops each: OCCUPIED, UNKNOWN, or FREE at max_range.

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
        return queries.list_occupied(self.blocks, chosen, self.resolution, self.lower)

    def window(self, origin_cell: ArrayLike, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
        """Classes of a box of voxels; origin_cell (3,) counts voxels from the map frame's origin."""
        cell = np.asarray(origin_cell)
        if cell.shape != (3,) or cell.dtype.kind not in "iu" or min(shape) <= 0:
            raise MapInputError(f"no window of {shape} voxels at {cell.tolist()}")
        cells = np.empty(shape, np.uint8)
        queries.cut_window(self.blocks, cell.astype(np.int64) - self.first_cell, cells)
        return cells

    def pack_window(self, origin_cell: ArrayLike, shape: tuple[int, int, int]) -> bytes:
        """The same window as in a LocalMap message; geometry.occupancy_window.unpack_cells reads it."""
        return pack_cells(self.window(origin_cell, shape))

    # ------------------------------------------------------------------ bookkeeping

    def known_blocks(self) -> NDArray[np.int32]:
        """Coordinates (N, 3) of all blocks in which something is known, sorted."""
        return self._coordinates(np.flatnonzero(self.blocks.table.ravel() != storage.ABSENT))

    def take_dirty(self, consumer: str) -> NDArray[np.int32]:
        """Sorted coordinates (N, 3) of blocks in which a voxel changed class since this consumer's last call.

        A consumer's first call gives all known blocks.
        """
        pending = self._changes.get(consumer)
        self._changes[consumer] = []
        if pending is None:
            return self.known_blocks()
        if not pending:
            return np.empty((0, 3), np.int32)
        ids = np.unique(np.concatenate(pending))
        return self._coordinates(ids)

    def _coordinates(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Blocks (N, 3) of places in the flattened table."""
        return np.stack(np.unravel_index(ids, self.blocks.table.shape), axis=1).astype(np.int32)

    @property
    def free_count(self) -> int:
        """Number of free voxels."""
        return int(self.blocks.counters[storage.FREE_TOTAL])

    @property
    def occupied_count(self) -> int:
        """Number of occupied voxels."""
        return int(self.blocks.counters[storage.OCCUPIED_TOTAL])

    @property
    def memory_bytes(self) -> int:
        """Memory in use, without what is merely reserved."""
        slots = int(self.blocks.counters[storage.NEXT_SLOT])
        scratch = self._masks.nbytes + self._flags.nbytes + self._hits.nbytes
        return slots * storage.BYTES_A_SLOT + self.blocks.table.nbytes + scratch

    def save(self, path: Path) -> None:
        """Write the map to one file, atomically."""
        map_file.write(path, self.blocks, self.resolution, self.first_cell)

    @staticmethod
    def load(path: Path) -> VoxelMap:
        """Read a map that save wrote. Raises MapInputError for any other file."""
        content = map_file.read(path)
        lower = content.first_cell * content.resolution
        upper = (content.first_cell + np.array(content.index.shape) * SIDE) * content.resolution
        out = VoxelMap(content.resolution, lower, upper, max(1 << 16, 2 * len(content.log_odds)))
        if out.blocks.table.shape != content.index.shape:
            raise MapInputError(f"{path}: the world in it contradicts itself")
        map_file.restore(out.blocks, content)
        return out
