"""All occupied voxels as points, listed anew only where the map has changed."""

from __future__ import annotations

import array

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.kernels.blocks import FRAME, FREE_TILE, SIDE, rehoused
from esar_ros.mapping.kernels.queries import gather_rows, occupied_in, write_occupied
from esar_ros.mapping.map.voxel_map import VoxelMap

_SPARE = 1.5  # room of a block's run against what it holds; a run that is outgrown is left behind


class OccupiedCloud:
    """Centres of a VoxelMap's occupied voxels, kept as one run of rows a block; made only by those who want them."""

    def __init__(self, voxel_map: VoxelMap, consumer: str = "cloud") -> None:
        self._map = voxel_map
        self._consumer = consumer
        self._first_cell = voxel_map.first_cell
        self._run_of = np.zeros(voxel_map.blocks.table.shape, np.int32)  # 0: none
        self._rows = np.empty((0, 4), np.float32)
        self._start = np.zeros(1, np.int64)  # of a run, in rows
        self._room = np.zeros(1, np.int64)
        self._count = np.zeros(1, np.int64)
        self._frame = -1  # of the map, up to which it was followed
        self._used = 0  # rows of all runs, with those left behind

    def update(self) -> None:
        """Bring the cloud up to date with the map."""
        table = self._map.blocks.table
        if self._run_of.shape != table.shape:
            shift = (self._first_cell - self._map.first_cell) // SIDE
            self._run_of = rehoused(self._run_of, shift, table.shape, 0)
            self._first_cell = self._map.first_cell
        dirty = self._map.take_dirty(self._consumer)
        blocks = self._map.blocks
        slots = blocks.table[tuple(dirty.T)]
        dirty = dirty[(slots <= FREE_TILE) | (blocks.altered[slots] > self._frame)]
        self._frame = int(blocks.counters[FRAME])
        if not len(dirty):
            return
        counts = occupied_in(blocks, dirty)
        runs = self._run_of[tuple(dirty.T)]
        outgrown = counts > self._room[runs]
        if outgrown.any():
            self._count[runs[outgrown]] = 0
            runs = runs.copy()
            runs[outgrown] = self._new_runs((counts[outgrown] * _SPARE).astype(np.int64))
            self._run_of[tuple(dirty.T)] = runs
        kept = runs > 0
        self._count[runs[kept]] = counts[kept]
        write_occupied(blocks, dirty, self._start[runs], self._map.resolution, self._map.lower, self._rows)

    def _new_runs(self, rooms: NDArray[np.int64]) -> NDArray[np.int32]:
        """Runs with so much room (N,), behind all others."""
        first = len(self._start)
        self._start = np.concatenate([self._start, self._used + np.cumsum(rooms) - rooms])
        self._room = np.concatenate([self._room, rooms])
        self._count = np.concatenate([self._count, np.zeros(len(rooms), np.int64)])
        self._used += int(rooms.sum())
        if self._used > len(self._rows):
            larger = np.empty((2 * self._used, 4), np.float32)
            larger[: len(self._rows)] = self._rows
            self._rows = larger
        return np.arange(first, first + len(rooms), dtype=np.int32)

    def points(self) -> NDArray[np.float32]:
        """(N, 4): x, y, z of the centres and the height z again, m in the map frame, as a PointCloud2 holds them."""
        return np.frombuffer(self.data(), np.float32).reshape(-1, 4)

    def data(self) -> array.array[int]:
        """The same points as the bytes of a PointCloud2, written once and not copied again."""
        count = int(self._count.sum())
        out = array.array("B", b"\0") * (16 * count)
        gather_rows(self._rows, self._start, self._count, np.frombuffer(out, np.float32).reshape(-1, 4))
        return out

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self._used * 16 + self._run_of.nbytes
