"""Bird's-eye layers of the voxel map, kept up to date from its changed block columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import minimum_filter

from esar_ros.mapping.errors import MapInputError
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
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN

TILE = 64.0  # m; published grids begin and end on multiples of it
DEFAULT_BAND = (4.0, 60.0)  # m above local ground
NOTHING = np.iinfo(np.int16).max  # as a height: higher than any
_GROUND_REACH = 4.0  # m; the lowest surface this near a cell is its local ground, even under a crown


@dataclass(frozen=True)
class HeightLayers:
    """Layers of one box, rows along y; heights in m in the map frame, NaN where no occupied voxel is known."""

    origin: tuple[float, float]  # m, lower corner of column (0, 0)
    resolution: float  # m
    ground: NDArray[np.float32]  # top face of the lowest occupied voxel
    top: NDArray[np.float32]  # top face of the highest occupied voxel
    observed: NDArray[np.bool_]  # anything known in the column

    @property
    def local_ground(self) -> NDArray[np.float32]:
        """Lowest ground within 4 m, which is the ground under a crown's edge; NaN where none is known."""
        reach = 2 * math.ceil(_GROUND_REACH / self.resolution) + 1
        filled = np.where(np.isnan(self.ground), np.float32(np.inf), self.ground)
        low = minimum_filter(filled, size=reach, mode="nearest") if filled.size else filled
        return np.where(np.isinf(low), np.float32(np.nan), low)

    @property
    def above_ground(self) -> NDArray[np.float32]:
        """Height (m) of the surface above the local ground; NaN where no occupied voxel is known."""
        return np.asarray(self.top - self.local_ground)


class BevLayers:
    """Ground, top and observed columns of a VoxelMap, and its grid at a height band above ground."""

    def __init__(self, voxel_map: VoxelMap, consumer: str = "layers") -> None:
        self._map = voxel_map
        self._consumer = consumer
        columns = (int(voxel_map.shape[0]), int(voxel_map.shape[1]))
        # Voxel number + 1, so that 0 means none and untouched memory stays untouched.
        self._ground = np.zeros(columns, np.int16)
        self._top = np.zeros(columns, np.int16)
        self._observed = np.zeros(columns, np.bool_)
        self._known: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None  # first, last block column
        self._cells = np.zeros((0, 0), np.int8)
        self._cells_for: tuple[float, float, float] | None = None
        self._stale = np.zeros((0, 2), np.int32)
        self._first_cell = voxel_map.first_cell

    def _follow(self) -> None:
        """Move everything with a world that has grown."""
        shift = self._first_cell - self._map.first_cell
        columns = (int(self._map.shape[0]), int(self._map.shape[1]))
        if not shift.any() and columns == self._ground.shape:
            return
        for heights in (self._ground, self._top):
            heights[heights > 0] += np.int16(shift[2])
        self._ground = rehoused(self._ground, shift[:2], columns, 0)
        self._top = rehoused(self._top, shift[:2], columns, 0)
        self._observed = rehoused(self._observed, shift[:2], columns, 0)
        blocks = (shift[:2] // SIDE).astype(np.int32)
        if self._known is not None:
            self._known = (self._known[0] + blocks, self._known[1] + blocks)
        if self._cells_for is not None:
            span = round(self._cells_for[0] / self._map.resolution)
            size = (columns[0] // span, columns[1] // span)
            self._cells = rehoused(self._cells, shift[:2] // span, size, UNKNOWN)
        self._stale = self._stale + blocks
        self._first_cell = self._map.first_cell

    def update(self) -> None:
        """Bring all layers up to date with the map."""
        self._follow()
        dirty = self._map.take_dirty(self._consumer)
        if not len(dirty):
            return
        columns = np.unique(dirty[:, :2], axis=0)
        moved = scan_columns(self._map.blocks, columns, self._ground, self._top, self._observed)
        low, high = columns.min(axis=0), columns.max(axis=0)
        if self._known is not None:
            low, high = np.minimum(low, self._known[0]), np.maximum(high, self._known[1])
        self._known = (low, high)
        beside = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)], np.int32)
        around = (columns[moved][:, None] + beside).reshape(-1, 2)
        around = around[((around >= 0) & (around < self._map.blocks.table.shape[:2])).all(axis=1)]
        self._stale = np.unique(np.concatenate([self._stale, columns, around]), axis=0).astype(np.int32)

    def grid(
        self, resolution: float = 2.0, band: tuple[float, float] = DEFAULT_BAND
    ) -> tuple[NDArray[np.int8], tuple[float, float]]:
        """Cells (rows = y, columns = x) as mission.observation.Grid has them, and the lower corner (m).

        A cell is OCCUPIED when something occupied stands between band[0] and band[1] m above its local
        ground, FREE when something free was seen in that band or its ground was, else UNKNOWN. The box
        is what is known, widened to tiles of 64 m. Raises MapInputError unless the resolution is 1, 2,
        4, 8 or 16 voxels.
        """
        span = round(resolution / self._map.resolution)
        if span not in (1, 2, 4, 8, 16) or not math.isclose(span * self._map.resolution, resolution):
            raise MapInputError(f"no grid of {resolution} m from voxels of {self._map.resolution} m")
        if not 0.0 <= band[0] < band[1] < math.inf:
            raise MapInputError(f"not a height band: {band}")
        self._follow()
        wanted = (resolution, *band)
        if wanted != self._cells_for:
            self._cells = np.full((len(self._ground) // span, self._ground.shape[1] // span), UNKNOWN, np.int8)
            self._cells_for = wanted
            self._stale = np.unique(np.argwhere((self._map.blocks.table != ABSENT).any(axis=2)), axis=0)
            self._stale = self._stale.astype(np.int32)
        size = self._map.resolution
        reach = math.ceil(_GROUND_REACH / size)
        fill_cells(
            self._map.blocks, self._stale, self._ground, self._cells, span, reach, band[0] / size, band[1] / size
        )
        self._stale = np.zeros((0, 2), np.int32)
        low, high = self._box(resolution)
        cells = np.full((high[1] - low[1], high[0] - low[0]), UNKNOWN, np.int8)
        first = np.round(self._map.lower[:2] / resolution).astype(int)
        part = [slice(max(low[a], first[a]), min(high[a], first[a] + self._cells.shape[a])) for a in (0, 1)]
        inner = self._cells[tuple(slice(s.start - first[a], s.stop - first[a]) for a, s in enumerate(part))]
        cells[part[1].start - low[1] : part[1].stop - low[1], part[0].start - low[0] : part[0].stop - low[0]] = inner.T
        return cells, (float(low[0] * resolution), float(low[1] * resolution))

    def heights(self) -> HeightLayers:
        """The layers over what is known, at the map's resolution."""
        self._follow()
        low, high = self._known if self._known is not None else (np.zeros(2, int), np.full(2, -1))
        box = tuple(slice(int(a) * SIDE, (int(b) + 1) * SIDE) for a, b in zip(low, high, strict=True))
        corner = self._map.lower[:2] + low * SIDE * self._map.resolution
        return HeightLayers(
            (float(corner[0]), float(corner[1])),
            self._map.resolution,
            self._in_metres(self._ground[box].T),
            self._in_metres(self._top[box].T),
            self._observed[box].T.copy(),
        )

    def ground_at(self, points: ArrayLike) -> NDArray[np.float32]:
        """Ground height (N,) in m at map-frame positions (N, 2); NaN where it was not seen."""
        self._follow()
        xy = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        voxel = np.floor((xy - self._map.lower[:2]) / self._map.resolution)
        inside = np.asarray(((voxel >= 0) & (voxel < self._ground.shape)).all(axis=1))
        i, j = np.where(inside[:, None], voxel, 0).astype(int).T
        return np.where(inside, self._in_metres(self._ground[i, j]), np.float32(np.nan))

    def _in_metres(self, voxels: NDArray[np.int16]) -> NDArray[np.float32]:
        heights = voxels * self._map.resolution + self._map.lower[2]
        return np.where(voxels > 0, heights, np.nan).astype(np.float32)

    def _box(self, resolution: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First cell of the known box and the one past its last, counted from the map frame's origin."""
        if self._known is None:
            return np.zeros(2, np.int64), np.zeros(2, np.int64)
        low = self._map.lower[:2] + self._known[0] * SIDE * self._map.resolution
        high = self._map.lower[:2] + (self._known[1] + 1) * SIDE * self._map.resolution
        cells = TILE / resolution
        first, last = np.floor(low / TILE) * cells, np.ceil(high / TILE) * cells
        return np.floor(first).astype(np.int64), np.ceil(last).astype(np.int64)


@kernel
def scan_columns(
    blocks: Blocks,
    columns: NDArray[np.int32],
    ground: NDArray[np.int16],
    top: NDArray[np.int16],
    observed: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Recompute block columns (N, 2); returns in which of them the ground has changed."""
    moved = np.zeros(len(columns), np.bool_)
    new_ground, new_top = np.empty((SIDE, SIDE), np.int16), np.empty((SIDE, SIDE), np.int16)
    for n in range(len(columns)):
        bx, by = columns[n]
        new_ground[:] = 0
        new_top[:] = 0
        for bz in range(blocks.table.shape[2]):
            slot = blocks.table[bx, by, bz]
            if slot == ABSENT:
                continue
            whole = blocks.free[slot] + blocks.occupied[slot] == VOLUME
            any_occupied = blocks.occupied[slot] > 0
            if whole and not any_occupied:
                observed[bx * SIDE : (bx + 1) * SIDE, by * SIDE : (by + 1) * SIDE] = True
                continue
            for i in range(SIDE):
                for j in range(SIDE):
                    seen = False
                    for k in range(SIDE):
                        count = blocks.log_odds[slot, voxel_offset(i, j, k)]
                        if count >= OCCUPIED_FROM:
                            new_top[i, j] = bz * SIDE + k + 1
                            if new_ground[i, j] == 0:
                                new_ground[i, j] = bz * SIDE + k + 1
                        seen = seen or count != NEVER_SEEN
                    if seen:
                        observed[bx * SIDE + i, by * SIDE + j] = True
        for i in range(SIDE):
            for j in range(SIDE):
                x, y = bx * SIDE + i, by * SIDE + j
                moved[n] = moved[n] or ground[x, y] != new_ground[i, j]
                ground[x, y] = new_ground[i, j]
                top[x, y] = new_top[i, j]
    return moved


@kernel
def fill_cells(
    blocks: Blocks,
    columns: NDArray[np.int32],
    ground: NDArray[np.int16],
    cells: NDArray[np.int8],
    span: int,
    reach: int,
    h_min: float,
    h_max: float,
) -> None:
    """Recompute the cells of span x span voxels in block columns (N, 2); lengths in voxels."""
    nx, ny = ground.shape
    nz = blocks.table.shape[2] * SIDE
    # Lowest ground of each row around a block column, over the reach of each of its cells.
    lows = np.empty((SIDE + 2 * reach, SIDE // span), np.int16)
    for n in range(len(columns)):
        bx, by = columns[n]
        for i in range(len(lows)):
            x = bx * SIDE + i - reach
            for c in range(SIDE // span):
                y = by * SIDE + c * span
                low = NOTHING
                if 0 <= x < nx:
                    for j in range(max(0, y - reach), min(ny, y + span + reach)):
                        if 0 < ground[x, j] < low:
                            low = ground[x, j]
                lows[i, c] = low
        for x in range(bx * SIDE, (bx + 1) * SIDE, span):
            for y in range(by * SIDE, (by + 1) * SIDE, span):
                lowest = NOTHING
                for i in range(x & 15, (x & 15) + span + 2 * reach):
                    lowest = min(lowest, lows[i, (y & 15) // span])
                value = UNKNOWN
                if lowest < NOTHING:
                    for i in range(x, x + span):
                        for j in range(y, y + span):
                            if ground[i, j] > 0:
                                value = FREE
                    first, last = int(lowest + h_min), min(nz, math.ceil(lowest + h_max))
                    z = first
                    while z < last and value != OCCUPIED:
                        end = min(last, (z // SIDE + 1) * SIDE)
                        slot = blocks.table[bx, by, z // SIDE]
                        if slot != ABSENT and (blocks.occupied[slot] > 0 or value == UNKNOWN):
                            for i in range(x & 15, (x & 15) + span):
                                for j in range(y & 15, (y & 15) + span):
                                    for k in range(z, end):
                                        count = blocks.log_odds[slot, voxel_offset(i, j, k & 15)]
                                        if count >= OCCUPIED_FROM:
                                            value = OCCUPIED
                                        elif count != NEVER_SEEN and value == UNKNOWN:
                                            value = FREE
                        z = end
                cells[x // span, y // span] = value
