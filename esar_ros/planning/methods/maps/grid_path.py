"""Paths over a bird's-eye grid: geodesic distance, the nearest target, straight lines of sight.

Distances are chamfer distances over the 8-neighbourhood (Borgefors 1986: 5 straight, 7 diagonal, at most
8 % longer and 1 % shorter than Euclid), grown from the start in order of distance with one bucket a value (Dial 1969).
Integers make the order exact and equal on every machine; the search ends at the first target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

STRAIGHT, DIAGONAL = 5, 7
_BUCKETS = DIAGONAL + 1  # values in flight at a time never span more


@dataclass(frozen=True)
class GridPath:
    """Cells (N, 2) as row, column from start to target, and the path's length in cells."""

    cells: NDArray[np.int64]
    length: float


def nearest_target(passable: NDArray[np.bool_], targets: NDArray[np.bool_], start: tuple[int, int]) -> GridPath | None:
    """Shortest path over passable cells from start to the nearest target cell, None when there is none.

    passable and targets (rows, columns); the start itself need not be passable. A diagonal step
    needs both cells beside it passable, so that no corner is cut.
    """
    rows, columns = passable.shape
    if not (0 <= start[0] < rows and 0 <= start[1] < columns):
        return None
    goal, distance, parent = _grow(passable, targets, start[0], start[1])
    if goal < 0:
        return None
    cells = [goal]
    while parent[cells[-1]] >= 0:
        cells.append(parent[cells[-1]])
    flat = np.array(cells[::-1], dtype=np.int64)
    return GridPath(np.stack([flat // columns, flat % columns], axis=1), float(distance) / STRAIGHT)


def farthest_visible(passable: NDArray[np.bool_], path: GridPath) -> tuple[int, int]:
    """Returns the last cell of a path that can be flown to in a straight line from its first over passable cells."""
    row, column = path.cells[_last_visible(passable, path.cells)]
    return int(row), int(column)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _grow(
    passable: NDArray[np.bool_], targets: NDArray[np.bool_], row: int, column: int
) -> tuple[int, int, NDArray[np.int32]]:
    """Flat index of the nearest target (-1: none), its distance, and each cell's parent (-1: start or not reached)."""
    rows, columns = passable.shape
    cells = rows * columns
    distance = np.full(cells, 2147483647, dtype=np.int32)
    parent = np.full(cells, -1, dtype=np.int32)
    # Each bucket is a doubly linked list through the cells, newest first.
    head = np.full(_BUCKETS, -1, dtype=np.int32)
    after = np.full(cells, -1, dtype=np.int32)
    before = np.full(cells, -1, dtype=np.int32)

    start = row * columns + column
    distance[start] = 0
    head[0] = start
    waiting = 1
    value = 0
    while waiting > 0:
        bucket = value % _BUCKETS
        cell = head[bucket]
        if cell < 0:
            value += 1
            continue
        head[bucket] = after[cell]
        if after[cell] >= 0:
            before[after[cell]] = -1
        waiting -= 1
        r, c = cell // columns, cell % columns
        if targets[r, c]:
            return cell, value, parent
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                rr, cc = r + dr, c + dc
                if (dr == 0 and dc == 0) or rr < 0 or cc < 0 or rr >= rows or cc >= columns or not passable[rr, cc]:
                    continue
                cost = STRAIGHT
                if dr != 0 and dc != 0:
                    if not (passable[r, cc] and passable[rr, c]):
                        continue
                    cost = DIAGONAL
                other = rr * columns + cc
                new = value + cost
                old = distance[other]
                if new >= old:
                    continue
                if old != 2147483647:
                    ahead, behind = after[other], before[other]
                    if behind >= 0:
                        after[behind] = ahead
                    else:
                        head[old % _BUCKETS] = ahead
                    if ahead >= 0:
                        before[ahead] = behind
                    waiting -= 1
                distance[other] = new
                parent[other] = cell
                first = head[new % _BUCKETS]
                after[other] = first
                before[other] = -1
                if first >= 0:
                    before[first] = other
                head[new % _BUCKETS] = other
                waiting += 1
    return -1, 0, parent


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _last_visible(passable: NDArray[np.bool_], cells: NDArray[np.int64]) -> int:
    """Index of the last cell seen from cells[0]; the first itself need not be passable."""
    for index in range(cells.shape[0] - 1, 0, -1):
        dr, dc = cells[index, 0] - cells[0, 0], cells[index, 1] - cells[0, 1]
        # Samples half a cell apart; the corners they may cut are within the obstacles' clearance.
        steps = 2 * max(abs(dr), abs(dc))
        clear = True
        for step in range(1, steps + 1):
            r = int(np.floor(cells[0, 0] + 0.5 + dr * step / steps))
            c = int(np.floor(cells[0, 1] + 0.5 + dc * step / steps))
            if (r != cells[0, 0] or c != cells[0, 1]) and not passable[r, c]:
                clear = False
                break
        if clear:
            return index
    return 1 if cells.shape[0] > 1 else 0
