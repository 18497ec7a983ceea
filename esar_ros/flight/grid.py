"""A route through the local map: A* over coarse cells, then shortened by straight lines of sight.

Cells are FREE, UNKNOWN (never seen: passable at a price), NEAR (within the clearance of an obstacle:
only to get out of) or SOLID (an obstacle, or unknown below one: inside the hill). Search: Hart, Nilsson
and Raphael 1968, weighted (Pohl 1970); ties go to the older entry, so equal maps give equal ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow

FREE, UNKNOWN, NEAR, SOLID = 0, 1, 2, 3

_PRICE_UNKNOWN = 1.5  # per metre, against 1 in the free
_PRICE_NEAR = 10.0
_PRICE_HEIGHT = 2.0  # per metre of climb or descent: around before over
_WEIGHT = 1.3  # of the heuristic: quicker, at most this much longer
_MAX_OPENED = 12_000  # cells; about 8 ms


@njit(cache=True, nogil=True)
def _coarsen(cells, factor, lowest_unknown, out):  # type: ignore[no-untyped-def]
    """Class of each coarse cell without clearance. Unknown below an obstacle, or lower than asked, is SOLID."""
    nx, ny, nz = out.shape
    for i in range(nx):
        for j in range(ny):
            covered = False
            for k in range(nz - 1, -1, -1):
                occupied, unknown = False, False
                for a in range(i * factor, min((i + 1) * factor, cells.shape[0])):
                    for b in range(j * factor, min((j + 1) * factor, cells.shape[1])):
                        for c in range(k * factor, min((k + 1) * factor, cells.shape[2])):
                            if cells[a, b, c] == 2:
                                occupied = True
                            elif cells[a, b, c] != 1:
                                unknown = True
                if occupied:
                    out[i, j, k] = SOLID
                    covered = True
                elif unknown:
                    out[i, j, k] = SOLID if covered or k < lowest_unknown else UNKNOWN
                else:
                    out[i, j, k] = FREE


@njit(cache=True, nogil=True)
def _widen(solid, offsets, out):  # type: ignore[no-untyped-def]
    """Mark NEAR what lies within the offsets of a SOLID cell that has a face in the open."""
    nx, ny, nz = solid.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if solid[i, j, k] != SOLID:
                    continue
                if (
                    0 < i < nx - 1
                    and 0 < j < ny - 1
                    and 0 < k < nz - 1
                    and solid[i - 1, j, k] == SOLID
                    and solid[i + 1, j, k] == SOLID
                    and solid[i, j - 1, k] == SOLID
                    and solid[i, j + 1, k] == SOLID
                    and solid[i, j, k - 1] == SOLID
                    and solid[i, j, k + 1] == SOLID
                ):
                    continue
                for n in range(offsets.shape[0]):
                    a, b, c = i + offsets[n, 0], j + offsets[n, 1], k + offsets[n, 2]
                    if 0 <= a < nx and 0 <= b < ny and 0 <= c < nz and out[a, b, c] < NEAR:
                        out[a, b, c] = NEAR


@njit(cache=True, nogil=True)
def _sees(grid, start, end):  # type: ignore[no-untyped-def]
    """Returns whether a straight line between two points (in cells) meets neither NEAR nor SOLID; leaving NEAR is
    allowed."""
    delta = end - start
    count = max(1, math.ceil(2.0 * math.sqrt(delta[0] ** 2 + delta[1] ** 2 + delta[2] ** 2)))
    leaving = True
    for n in range(count + 1):
        i = math.floor(start[0] + delta[0] * n / count)
        j = math.floor(start[1] + delta[1] * n / count)
        k = math.floor(start[2] + delta[2] * n / count)
        if not (0 <= i < grid.shape[0] and 0 <= j < grid.shape[1] and 0 <= k < grid.shape[2]):
            return False
        value = grid[i, j, k]
        if value == SOLID:
            return False
        if value == NEAR:
            if not leaving:
                return False
        else:
            leaving = False
    return True


@njit(cache=True, nogil=True)
def _less(score, order, a, b):  # type: ignore[no-untyped-def]
    return score[a] < score[b] or (score[a] == score[b] and order[a] < order[b])


@njit(cache=True, nogil=True)
def _search(grid, start, goal, max_opened):  # type: ignore[no-untyped-def]
    """Cells (n, 3) from start to the goal, or to the opened cell nearest to it, and whether it is the goal."""
    nx, ny, nz = grid.shape
    total = nx * ny * nz
    cost = np.full(total, np.inf, dtype=np.float32)
    parent = np.full(total, -1, dtype=np.int32)
    closed = np.zeros(total, dtype=np.bool_)
    capacity = max_opened * 26 + 16
    heap = np.empty(capacity, dtype=np.int32)  # entries, as a binary heap
    entry_cell = np.empty(capacity, dtype=np.int32)
    score = np.empty(capacity, dtype=np.float32)
    size, entries = 0, 0
    gx, gy, gz = goal[0], goal[1], goal[2]
    first = (start[0] * ny + start[1]) * nz + start[2]
    last = (gx * ny + gy) * nz + gz
    order = np.arange(capacity)
    cost[first] = 0.0
    entry_cell[0], score[0], heap[0] = first, 0.0, 0
    size = entries = 1
    best, best_left = first, np.inf
    opened = 0
    while size > 0 and opened < max_opened:
        top = heap[0]
        size -= 1
        moved = heap[size]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and _less(score, order, heap[child + 1], heap[child]):
                child += 1
            if not _less(score, order, heap[child], moved):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = moved
        cell = entry_cell[top]
        if closed[cell]:
            continue
        closed[cell] = True
        opened += 1
        z = cell % nz
        y = (cell // nz) % ny
        x = cell // (nz * ny)
        left = math.sqrt((x - gx) ** 2 + (y - gy) ** 2 + (z - gz) ** 2)
        if left < best_left and grid[x, y, z] < NEAR:
            best, best_left = cell, left
        if cell == last:
            break
        here = grid[x, y, z]
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-1, 2):
                    a, b, c = x + dx, y + dy, z + dz
                    if (dx == 0 and dy == 0 and dz == 0) or not (0 <= a < nx and 0 <= b < ny and 0 <= c < nz):
                        continue
                    value = grid[a, b, c]
                    if value == SOLID or (value == NEAR and here != NEAR):
                        continue
                    price = _PRICE_NEAR if value == NEAR else (_PRICE_UNKNOWN if value == UNKNOWN else 1.0)
                    step = math.sqrt(dx * dx + dy * dy + (_PRICE_HEIGHT * dz) ** 2) * price
                    other = (a * ny + b) * nz + c
                    through = cost[cell] + np.float32(step)
                    if closed[other] or through >= cost[other] or entries == capacity:
                        continue
                    cost[other] = through
                    parent[other] = cell
                    ahead = math.sqrt((a - gx) ** 2 + (b - gy) ** 2 + (_PRICE_HEIGHT * (c - gz)) ** 2)
                    entry_cell[entries] = other
                    score[entries] = through + np.float32(_WEIGHT * ahead)
                    at = size
                    while at > 0 and _less(score, order, entries, heap[(at - 1) // 2]):
                        heap[at] = heap[(at - 1) // 2]
                        at = (at - 1) // 2
                    heap[at] = entries
                    size += 1
                    entries += 1
    end = last if closed[last] else best
    length = 1
    cell = end
    while parent[cell] >= 0:
        cell = parent[cell]
        length += 1
    route = np.empty((length, 3), dtype=np.int64)
    cell = end
    for n in range(length - 1, -1, -1):
        route[n, 0], route[n, 1], route[n, 2] = cell // (nz * ny), (cell // nz) % ny, cell % nz
        cell = parent[cell]
    return route, closed[last]


@dataclass(frozen=True)
class GridRoute:
    """Corners (n, 3) m, map frame, from the vehicle on; found: they end at the target."""

    corners: NDArray[np.float64]
    found: bool


class RouteGrid:
    """One local map prepared for searching routes; `lowest` (m, map z) is how low the unknown may be entered."""

    def __init__(self, window: OccupancyWindow, cell: float, clearance: float, lowest: float) -> None:
        factor = max(1, round(cell / window.resolution))
        self.cell = factor * window.resolution
        # Coarse cells lie at multiples of their size, so that they stay where they are as the window moves;
        # partial ones at its edge are left out.
        first_cell = np.round(np.asarray(window.origin) / window.resolution).astype(np.int64)
        skip = -first_cell % factor
        self.origin = (first_cell + skip) * window.resolution
        cells = window.cells[skip[0] :, skip[1] :, skip[2] :]
        solid = np.empty(tuple(max(1, n // factor) for n in cells.shape), dtype=np.uint8)
        _coarsen(cells, factor, (lowest - self.origin[2]) / self.cell, solid)
        self.grid = solid.copy()
        _widen(solid, _ball(clearance / self.cell), self.grid)

    def sees(self, start: Vector, end: Vector) -> bool:
        """Returns whether the straight line between two map-frame points (m) keeps the clearance once gained."""
        return bool(_sees(self.grid, (start - self.origin) / self.cell, (end - self.origin) / self.cell))

    def inside(self, target: Vector, start: Vector) -> Vector:
        """The target, or where the line from start to it leaves the map, one cell before the edge."""
        low = self.origin + 1.5 * self.cell
        high = self.origin + (np.array(self.grid.shape) - 1.5) * self.cell
        share = 1.0
        for k in range(3):
            step = target[k] - start[k]
            edge = high[k] if step > 0.0 else low[k]
            if step != 0.0 and (edge - start[k]) / step < share:
                share = max(0.0, (edge - start[k]) / step)
        return np.clip(start + share * (target - start), low, high)

    def route(self, start: Vector, target: Vector) -> GridRoute | None:
        """Returns the shortest route found from start to the target, or to the nearest place to it within reach.

        A target outside the map stands for where the straight line to it leaves the map. None when
        there is nowhere to go at all.
        """
        end = self.inside(target, start)
        if self.sees(start, end):
            return GridRoute(np.array([start, end]), True)
        shape = np.array(self.grid.shape)
        first = np.clip(np.floor((start - self.origin) / self.cell).astype(np.int64), 0, shape - 1)
        last = np.clip(np.floor((end - self.origin) / self.cell).astype(np.int64), 0, shape - 1)
        cells, found = _search(self.grid, first, last, _MAX_OPENED)
        if len(cells) < 2:
            return None
        corners = self.origin + (cells + 0.5) * self.cell
        corners[0] = start
        if found:
            corners[-1] = end
        return GridRoute(self._shortened(corners), bool(found))

    def _shortened(self, corners: NDArray[np.float64]) -> NDArray[np.float64]:
        """Keep a corner only where the next ones cannot be seen from the last one kept."""
        kept = [0]
        while kept[-1] < len(corners) - 1:
            here = kept[-1]
            step = here + 1
            for there in range(len(corners) - 1, here + 1, -1):
                if self.sees(corners[here], corners[there]):
                    step = there
                    break
            kept.append(step)
        return corners[kept]


def _ball(radius: float) -> NDArray[np.int64]:
    """Offsets (n, 3) of the cells whose nearest point lies within radius (in cells) of a cell."""
    reach = math.ceil(radius)
    axis = np.arange(-reach, reach + 1)
    offsets = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    gap = np.maximum(np.abs(offsets) - 1, 0)
    return offsets[np.linalg.norm(gap, axis=1) < radius - 0.5]
