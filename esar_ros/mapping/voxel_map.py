"""The voxel map: what is free, occupied or unknown in a bounded world."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, vector
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, pack_cells
from esar_ros.mapping import blocks as storage
from esar_ros.mapping import carving, integration, lidar, map_file, queries
from esar_ros.mapping.blocks import NEVER_SEEN, OCCUPIED_FROM, SIDE, UNIT
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import (
    DepthView,
    Scan,
    checked_depth,
    checked_noise,
    checked_points,
    checked_pose,
    checked_range,
    checked_scan,
)
from esar_ros.mapping.integration import FrameScratch
from esar_ros.mapping.paging import PageFile

__all__ = ["FREE", "OCCUPIED", "UNKNOWN", "DepthView", "MapInputError", "Scan", "VoxelMap"]

_MOST_BLOCKS = 1 << 28  # of an index that was asked for
_MOST_GROWN = 1 << 24  # of one that grew: 8 km x 8 km x 1 km of 1 m voxels
_GROWTH = 8  # blocks that a world grows by at least
_CLASS = np.array([FREE if c < OCCUPIED_FROM else OCCUPIED for c in range(-128, 128)], np.int8)
_CLASS[NEVER_SEEN + 128] = UNKNOWN


class VoxelMap:
    """Occupancy of the box between two corners of the map frame (m, ENU), cut into cubic voxels.

    The box is widened to whole blocks of 16 voxels, so that voxel edges are multiples of the
    resolution. Several vehicles may fill one map: a frame is a set of views, whosoever they are.
    Not thread safe; kernels release the interpreter lock.
    """

    def __init__(
        self,
        resolution: float = 1.0,
        lower: ArrayLike = (-1000.0, -1000.0, -64.0),
        upper: ArrayLike = (1000.0, 1000.0, 192.0),
        reserved_blocks: int = 1 << 16,
        endless: bool = False,
        page_folder: Path | None = None,
    ) -> None:
        """Reserved blocks cost memory only once they are used; beyond them the pool doubles.

        An endless map's box grows with what its cameras see; otherwise what lies outside is clipped.
        With a page folder (on a disk) blocks live in a file there, and `evict` takes cold ones out of memory.
        """
        least, most = vector(lower), vector(upper)
        if not (math.isfinite(resolution) and resolution > 0.0 and np.isfinite([least, most]).all()):
            raise MapInputError(f"not a world: {resolution} m from {least.tolist()} to {most.tolist()}")
        edge = SIDE * resolution
        first = np.floor(least / edge + 1e-9).astype(np.int64)
        shape = np.ceil(most / edge - 1e-9).astype(np.int64) - first
        if not ((most > least).all() and float(np.prod(shape.astype(float))) <= _MOST_BLOCKS):
            raise MapInputError(f"no world of {resolution} m from {least.tolist()} to {most.tolist()}")
        self.resolution = float(resolution)
        self.endless = endless
        self._place(first * SIDE, shape)
        self._pages = None if page_folder is None else PageFile(page_folder, storage.VOLUME)
        table = np.full(tuple(shape), storage.ABSENT, np.int32)
        self.blocks = storage.reserve(table, max(reserved_blocks, 2), self._pages)
        self._cold_before = 0  # frames; blocks not touched since are out of memory
        self._scratch = FrameScratch()
        self._crossed = FrameScratch()
        self._changes: dict[str, list[NDArray[np.int64]]] = {}

    def _place(self, first_cell: NDArray[np.int64], shape: NDArray[np.int64]) -> None:
        """Take a box of so many blocks as the world."""
        self.first_cell: NDArray[np.int64] = first_cell  # of voxel (0, 0, 0), counted from the map's origin
        self.lower: Vector = np.asarray(first_cell * self.resolution, dtype=np.float64)
        self.shape: NDArray[np.int64] = shape * SIDE  # voxels
        self.upper: Vector = np.asarray((first_cell + self.shape) * self.resolution, dtype=np.float64)

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
        checked_noise(depth_noise)
        pictures = [checked_depth(view) for view in views]

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
            (d, s, b) for d, s, b in zip(pictures, seen, map(self._clipped, boxes), strict=True) if (b[0] <= b[1]).all()
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

    def _clipped(self, box: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part of a box (2, 3) of blocks inside the world; empty where first exceeds last."""
        last = np.array(self.blocks.table.shape) - 1
        return np.stack([np.clip(box[0], 0, last + 1), np.clip(box[1], -1, last)])

    def _begin(self, boxes: list[NDArray[np.int64]], most_hits: int) -> integration.Frame:
        """Scratch for the box around boxes of blocks, with room in the pool for every block that may be needed."""
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        within = self.blocks.table[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))]
        self.reserve(int(np.count_nonzero(within <= storage.FREE_TILE)))
        self.blocks.counters[storage.FRAME] += 1
        return self._scratch.frame(low, high - low + 1, most_hits)

    def reserve(self, blocks: int) -> None:
        """Make sure that so many more blocks have room; the pool at least doubles when it grows."""
        if storage.slots_left(self.blocks) < blocks:
            used = int(self.blocks.counters[storage.NEXT_SLOT])
            self.blocks = storage.grown(self.blocks, max(2 * len(self.blocks.log_odds), used + blocks), self._pages)

    def make_room(self, boxes: list[NDArray[np.int64]]) -> bool:
        """Let an endless world grow to hold boxes of blocks; whether it did, which moves its least corner."""
        if not self.endless:
            return False
        low, high = np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)
        table = self.blocks.table
        below, above = np.maximum(-low, 0), np.maximum(high - np.array(table.shape) + 1, 0)
        if not (below.any() or above.any()):
            return False
        below, above = np.where(below > 0, below + _GROWTH, 0), np.where(above > 0, above + _GROWTH, 0)
        shape = np.array(table.shape) + below + above
        if float(np.prod(shape.astype(float))) > _MOST_GROWN:
            corner = (self.first_cell + low * SIDE) * self.resolution
            raise MapInputError(f"a frame around {np.round(corner).tolist()} lies too far from the map to belong to it")
        size = (int(shape[0]), int(shape[1]), int(shape[2]))
        for pending in self._changes.values():
            moved = [np.stack(np.unravel_index(ids, table.shape)) + below[:, None] for ids in pending]
            pending[:] = [np.asarray(np.ravel_multi_index(tuple(ids), size), np.int64) for ids in moved]
        self.blocks = self.blocks._replace(table=storage.rehoused(table, below, size, storage.ABSENT))
        self._place(self.first_cell - below * SIDE, shape)
        return True

    def _note(self, frame: integration.Frame) -> None:
        """Remember the frame's changed blocks for every consumer."""
        rows = frame.changed[: frame.counters[integration.CHANGED]]
        if len(rows):
            here = np.stack(np.unravel_index(rows, tuple(frame.shape))) + frame.lower[:, None]
            self.note_changes(here.T)

    def note_changes(self, blocks: NDArray[np.int64]) -> None:
        """Tell every consumer of blocks (N, 3) in which a voxel's class changed."""
        ids = np.asarray(np.ravel_multi_index(tuple(blocks.T), self.blocks.table.shape), dtype=np.int64)
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
        return queries.list_occupied(self.blocks, chosen, self.resolution, self.lower)[:, :3]

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
        scratch = self._scratch.nbytes + self._crossed.nbytes
        return slots * storage.BYTES_A_SLOT - self.paged_blocks * storage.VOLUME + self.blocks.table.nbytes + scratch

    @property
    def paged_blocks(self) -> int:
        """Number of blocks that were taken out of memory and not integrated into since."""
        used = int(self.blocks.counters[storage.NEXT_SLOT])
        return int(np.count_nonzero(self.blocks.touched[storage.FREE_TILE + 1 : used] < self._cold_before))

    def evict(self, idle_frames: int) -> int:
        """Take blocks that no frame has looked into for so many frames out of memory; returns how many are out.

        Whatever reads them later brings them back unchanged. Needs a page folder.
        """
        if self._pages is None:
            raise MapInputError("nothing can leave memory: this map was made without a page folder")
        self._cold_before = max(int(self.blocks.counters[storage.FRAME]) + 1 - idle_frames, 0)
        used = int(self.blocks.counters[storage.NEXT_SLOT])
        cold = self.blocks.touched[:used] < self._cold_before
        cold[storage.FREE_TILE] = False
        self._pages.drop(np.flatnonzero(cold))
        return self.paged_blocks

    def save(self, path: Path, extras: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Write the map to one file, atomically, and further arrays with it."""
        map_file.write(path, self.blocks, self.resolution, self.first_cell, extras or {})

    @staticmethod
    def load(path: Path, endless: bool = False, page_folder: Path | None = None) -> VoxelMap:
        """Read a map that save wrote. Raises MapInputError for any other file."""
        return VoxelMap.load_with_extras(path, endless, page_folder)[0]

    @staticmethod
    def load_with_extras(
        path: Path, endless: bool = False, page_folder: Path | None = None
    ) -> tuple[VoxelMap, dict[str, NDArray[Any]]]:
        """A map and the further arrays in its file. Raises MapInputError."""
        content = map_file.read(path)
        lower = content.first_cell * content.resolution
        upper = (content.first_cell + np.array(content.index.shape) * SIDE) * content.resolution
        room = 2 * len(content.log_odds)
        out = VoxelMap(
            content.resolution, lower, upper, room if page_folder else max(1 << 16, room), endless, page_folder
        )
        if out.blocks.table.shape != content.index.shape:
            raise MapInputError(f"{path}: the world in it contradicts itself")
        map_file.restore(out.blocks, content)
        return out, content.extras
