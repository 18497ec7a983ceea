"""Three-dimensional frontiers: free voxels that touch the unknown (Yamauchi, 1997), kept up to date.

A block is looked at again when it or a face neighbour changes. Free and unknown voxels of a column
of a block are one 16-bit word each, so a column's frontier is a handful of shifts.
"""

from __future__ import annotations

import cc3d
import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.kernels.blocks import (
    ABSENT,
    NEVER_SEEN,
    OCCUPIED_FROM,
    SIDE,
    VOLUME,
    Blocks,
    rehoused,
    voxel_offset,
)
from esar_ros.mapping.kernels.kernel import kernel
from esar_ros.mapping.map.voxel_map import VoxelMap

CLUSTER_SPAN = 4  # blocks; clusters end at multiples of it, so that the rim of the known world is many
_FACES = np.array([(0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], np.int32)
_FULL = 0xFFFF


class Frontiers:
    """Frontier voxels of a VoxelMap by block, and their clusters. The rim of the bounded world is none."""

    def __init__(self, voxel_map: VoxelMap, consumer: str = "frontiers") -> None:
        self._map = voxel_map
        self._consumer = consumer
        shape = voxel_map.blocks.table.shape
        self._count = np.zeros(shape, np.int16)
        self._middle = np.zeros((*shape, 3), np.float32)  # mean of a block's frontier voxels, from its corner
        self._voxel = np.zeros((*shape, 3), np.uint8)  # the frontier voxel nearest to it
        self._low, self._high = np.array(shape), np.zeros(3, np.int64)  # box of blocks ever looked at
        self._again = np.zeros((0, 3), np.int32)  # to look at without having changed
        self._first_cell = voxel_map.first_cell

    def _follow(self) -> None:
        """Move everything with a world that has grown."""
        shift, shape = (self._first_cell - self._map.first_cell) // SIDE, self._map.blocks.table.shape
        old = self._count.shape
        if shape == old:
            return
        # What was the rim of the bounded world has now an unknown neighbour.
        known = self._map.known_blocks()
        rim = ((shift > 0) & (known == shift)) | ((shift + old < shape) & (known == shift + old - 1))
        within = ((known >= shift) & (known < shift + old)).all(axis=1)
        self._again = np.concatenate([self._again + shift.astype(np.int32), known[rim.any(axis=1) & within]])
        self._count = rehoused(self._count, shift, shape, 0)
        self._middle = rehoused(self._middle, shift, shape, 0)
        self._voxel = rehoused(self._voxel, shift, shape, 0)
        self._low, self._high = self._low + shift, self._high + shift
        self._first_cell = self._map.first_cell

    def update(self) -> None:
        """Bring the frontiers up to date with the map."""
        self._follow()
        dirty = np.concatenate([self._map.take_dirty(self._consumer), self._again])
        if not len(dirty):
            return
        self._again = self._again[:0]
        table = self._map.blocks.table
        around = (dirty[:, None] + _FACES).reshape(-1, 3)
        around = around[((around >= 0) & (around < table.shape)).all(axis=1)]
        ids = np.unique(np.ravel_multi_index(tuple(around.T), table.shape))
        ids = ids[table.ravel()[ids] != ABSENT]
        chosen = np.stack(np.unravel_index(ids, table.shape), axis=1).astype(np.int32)
        self._low = np.minimum(self._low, chosen.min(axis=0))
        self._high = np.maximum(self._high, chosen.max(axis=0) + 1)
        find_frontiers(self._map.blocks, chosen, self._count, self._middle, self._voxel)

    @property
    def total(self) -> int:
        """Number of frontier voxels."""
        return int(self._count.sum(dtype=np.int64))

    def clusters(self, min_size: int = 20, z_range: tuple[float, float] | None = None) -> NDArray[np.float64]:
        """(N, 4): x, y, z of a frontier voxel in the middle of each cluster (m, map frame), and its voxels.

        A cluster is a set of face-connected blocks with frontier voxels inside one cube of 4^3 blocks,
        on a fixed lattice; those of fewer voxels are left out. `z_range` (m, map frame) keeps blocks
        whose representative lies in it. Sorted by size, largest first, then by position.
        """
        self._follow()
        box = tuple(slice(int(a), int(b)) for a, b in zip(self._low, self._high, strict=True))
        where = np.argwhere(self._count[box] > 0) + self._low
        if z_range is not None and len(where):
            z = self._positions(where)[:, 2]
            where = where[(z >= z_range[0]) & (z <= z_range[1])]
        if not len(where):
            return np.zeros((0, 4))
        # An empty plane between the cubes keeps their blocks apart.
        low = where.min(axis=0) // CLUSTER_SPAN * CLUSTER_SPAN
        spread = (where - low) + (where - low) // CLUSTER_SPAN
        mask = np.zeros(tuple(spread.max(axis=0) + 1), np.uint8)
        mask[tuple(spread.T)] = 1
        labels = cc3d.connected_components(mask, connectivity=6)[tuple(spread.T)].astype(np.int64) - 1
        sizes = self._count[tuple(where.T)].astype(np.float64)
        total = np.bincount(labels, sizes)
        means = where * float(SIDE) + self._middle[tuple(where.T)]
        middles = np.stack([np.bincount(labels, sizes * means[:, a]) for a in range(3)], axis=1) / total[:, None]
        off = ((means - middles[labels]) ** 2).sum(axis=1)
        order = np.lexsort((off, labels))
        first = order[np.r_[True, np.diff(labels[order]) > 0]]
        found = np.column_stack([self._positions(where[first]), total])
        found = found[found[:, 3] >= min_size]
        return np.asarray(found[np.lexsort((found[:, 2], found[:, 1], found[:, 0], -found[:, 3]))])

    def _positions(self, blocks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Centres (N, 3) in m of the representative voxels of blocks (N, 3)."""
        voxels = blocks * SIDE + self._voxel[tuple(blocks.T)] + 0.5
        return np.asarray(voxels * self._map.resolution + self._map.lower)


@kernel
def unknown_column(blocks: Blocks, bx: int, by: int, bz: int, i: int, j: int) -> int:
    """Bit k is set where voxel (i, j, k) of a block is unknown; none outside the world."""
    bits = 0
    if 0 <= bx < blocks.table.shape[0] and 0 <= by < blocks.table.shape[1] and 0 <= bz < blocks.table.shape[2]:
        slot = blocks.table[bx, by, bz]
        if slot == ABSENT:
            bits = _FULL
        elif blocks.free[slot] + blocks.occupied[slot] < VOLUME:
            for k in range(SIDE):
                if blocks.log_odds[slot, voxel_offset(i, j, k)] == NEVER_SEEN:
                    bits |= 1 << k
    return bits


@kernel
def find_frontiers(
    blocks: Blocks,
    chosen: NDArray[np.int32],
    count: NDArray[np.int16],
    middle: NDArray[np.float32],
    voxel: NDArray[np.uint8],
) -> None:
    """Count the frontier voxels of chosen blocks (N, 3), their mean, and the one nearest to it."""
    free = np.empty((SIDE, SIDE), np.int64)
    unknown = np.zeros((SIDE + 2, SIDE + 2), np.int64)
    rim = np.empty((SIDE, SIDE), np.int64)
    for n in range(len(chosen)):
        bx, by, bz = np.int64(chosen[n, 0]), np.int64(chosen[n, 1]), np.int64(chosen[n, 2])
        slot = blocks.table[bx, by, bz]
        count[bx, by, bz] = 0
        if blocks.free[slot] == 0:
            continue
        for i in range(SIDE):
            for side in range(2):
                step, edge = 2 * side - 1, (1 - side) * (SIDE - 1)
                rim_place = side * (SIDE + 1)
                unknown[rim_place, i + 1] = unknown_column(blocks, bx + step, by, bz, edge, i)
                unknown[i + 1, rim_place] = unknown_column(blocks, bx, by + step, bz, i, edge)
        below = above = -2  # ABSENT and slots are unknown or looked up, -2 is outside the world
        if bz > 0:
            below = blocks.table[bx, by, bz - 1]
        if bz + 1 < blocks.table.shape[2]:
            above = blocks.table[bx, by, bz + 1]
        total, sx, sy, sz = 0, 0, 0, 0
        for i in range(SIDE):
            for j in range(SIDE):
                free_bits, unknown_bits = _FULL, 0
                if blocks.free[slot] < VOLUME:
                    free_bits = 0
                    for k in range(SIDE):
                        c = blocks.log_odds[slot, voxel_offset(i, j, k)]
                        if c == NEVER_SEEN:
                            unknown_bits |= 1 << k
                        elif c < OCCUPIED_FROM:
                            free_bits |= 1 << k
                free[i, j] = free_bits
                unknown[i + 1, j + 1] = unknown_bits
        for i in range(SIDE):
            for j in range(SIDE):
                own = unknown[i + 1, j + 1]
                beside = (own << 1) | (own >> 1)
                beside |= unknown[i, j + 1] | unknown[i + 2, j + 1] | unknown[i + 1, j] | unknown[i + 1, j + 2]
                if free[i, j] & 1 and (
                    below == ABSENT
                    or (below >= 0 and blocks.log_odds[below, voxel_offset(i, j, SIDE - 1)] == NEVER_SEEN)
                ):
                    beside |= 1
                if free[i, j] & 0x8000 and (
                    above == ABSENT or (above >= 0 and blocks.log_odds[above, voxel_offset(i, j, 0)] == NEVER_SEEN)
                ):
                    beside |= 0x8000
                bits = free[i, j] & beside
                rim[i, j] = bits
                k = 0
                while bits:
                    if bits & 1:
                        total += 1
                        sx, sy, sz = sx + i, sy + j, sz + k
                    bits >>= 1
                    k += 1
        if total == 0:
            continue
        count[bx, by, bz] = total
        mx, my, mz = sx / total, sy / total, sz / total
        middle[bx, by, bz, 0], middle[bx, by, bz, 1], middle[bx, by, bz, 2] = mx, my, mz
        best = np.inf
        for i in range(SIDE):
            for j in range(SIDE):
                bits = rim[i, j]
                k = 0
                while bits:
                    if bits & 1:
                        square = (i - mx) ** 2 + (j - my) ** 2 + (k - mz) ** 2
                        if square < best:
                            best = square
                            voxel[bx, by, bz, 0], voxel[bx, by, bz, 1], voxel[bx, by, bz, 2] = i, j, k
                    bits >>= 1
                    k += 1
