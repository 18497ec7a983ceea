"""Frontiers of a bird's-eye grid: where known free air meets the unknown (Yamauchi 1997)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid


@dataclass(frozen=True)
class Frontiers:
    """Cells (rows, columns) that are frontiers, and the number of their clusters."""

    cells: NDArray[np.bool_]
    clusters: int


def find_frontiers(grid: Grid, allowed: NDArray[np.bool_], least_cells: int) -> Frontiers:
    """Allowed (rows, columns) FREE cells beside UNKNOWN ones, in 8-connected clusters of least_cells or more.

    The grid is what is known so far, so beyond its border all is UNKNOWN.
    """
    cells = np.zeros(grid.cells.shape, np.bool_)
    top, bottom, left, right = _find_edges(grid.cells, allowed, cells)
    if top > bottom:
        return Frontiers(cells, 0)
    box = cells[top : bottom + 1, left : right + 1]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(box.view(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= least_cells
    large[0] = False  # the background
    box[:] = large[labels]
    return Frontiers(cells, int(np.count_nonzero(large)))


@njit(cache=True, nogil=True)
def _find_edges(cells, allowed, out):  # type: ignore[no-untyped-def]
    """Marks the allowed FREE cells beside UNKNOWN ones in out, False before.

    Returns their first and last row and column; the last row is less than the first where there are none.
    """
    rows, columns = cells.shape
    top, bottom, left, right = rows, -1, columns, -1
    for row in range(rows):
        for column in range(columns):
            if cells[row, column] != FREE or not allowed[row, column]:
                continue
            beside = row == 0 or column == 0 or row == rows - 1 or column == columns - 1
            if not beside:
                for other in range(row - 1, row + 2):
                    for across in range(column - 1, column + 2):
                        beside |= cells[other, across] == UNKNOWN
            if beside:
                out[row, column] = True
                top, bottom = min(top, row), max(bottom, row)
                left, right = min(left, column), max(right, column)
    return top, bottom, left, right


def pieces(cells: NDArray[np.int64], longest: float) -> list[NDArray[np.int64]]:
    """Returns cells (K, 2) cut across the longer side of their box until no box's diagonal is longer than `longest`.

    One large frontier is many places to fly to (Zhou et al., FUEL, 2021, section IV, cuts across the main axis).
    Lengths in cells.
    """
    span = cells.max(axis=0) - cells.min(axis=0)
    if math.hypot(float(span[0]), float(span[1])) <= longest:
        return [cells]
    axis = int(np.argmax(span))
    first = cells[:, axis] <= cells[:, axis].min() + span[axis] // 2
    return [*pieces(cells[first], longest), *pieces(cells[~first], longest)]


def passable_cells(grid: Grid, clearance: float) -> NDArray[np.bool_]:
    """FREE cells (rows, columns) at least clearance (m) away from every OCCUPIED one."""
    free = grid.cells == FREE
    occupied = (grid.cells == OCCUPIED).view(np.uint8)
    reach = math.ceil(clearance / grid.resolution)
    if reach > 0 and occupied.any():
        offsets = np.arange(-reach, reach + 1)
        disc = (np.hypot(offsets[:, None], offsets[None, :]) * grid.resolution <= clearance).astype(np.uint8)
        occupied = cv2.dilate(occupied, disc, borderValue=0)
    return np.asarray(free & (occupied == 0))


def nearer_than(grid: Grid, place: Vector, others: Sequence[Vector]) -> NDArray[np.bool_]:
    """Cells (rows, columns) at least as near to a place (x, y, ...) of the map frame as to each of the others."""
    rows, columns = grid.cells.shape
    y = grid.origin[1] + (np.arange(rows) + 0.5) * grid.resolution
    x = grid.origin[0] + (np.arange(columns) + 0.5) * grid.resolution
    own = np.hypot(y[:, None] - place[1], x[None, :] - place[0])
    out = np.ones((rows, columns), np.bool_)
    for other in others:
        out &= own <= np.hypot(y[:, None] - other[1], x[None, :] - other[0])
    return out


def polygon_cells(grid: Grid, corners: NDArray[np.float64], margin: float = 0.0) -> NDArray[np.bool_]:
    """Cells (rows, columns) whose centres lie in a polygon (N, 2) of the map frame, margin (m) away from its edges.

    The margin is counted in whole cells along rows and columns.
    """
    rows, columns = grid.cells.shape
    y = grid.origin[1] + (np.arange(rows) + 0.5) * grid.resolution
    x = grid.origin[0] + (np.arange(columns) + 0.5) * grid.resolution
    inside = np.zeros((rows, columns), dtype=bool)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        spanned = np.flatnonzero((start[1] > y) != (end[1] > y))
        crossing = start[0] + (end[0] - start[0]) * (y[spanned] - start[1]) / (end[1] - start[1] or 1.0)
        inside[spanned] ^= x < crossing[:, None]
    reach = math.ceil(margin / grid.resolution)
    if reach > 0:
        # Outside the grid nothing is known of the polygon: only its part inside is shrunk.
        kernel = np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8)
        inside = cv2.erode(inside.view(np.uint8), kernel, borderType=cv2.BORDER_REPLICATE).astype(bool)
    return inside


def clear_disc(mask: NDArray[np.bool_], grid: Grid, center: Vector, radius: float) -> None:
    """Set mask cells within radius (m) of a map-frame point to False."""
    row, column = grid.cell_of(center)
    reach = math.ceil(radius / grid.resolution)
    top, left = max(row - reach, 0), max(column - reach, 0)
    window = mask[top : max(row + reach + 1, 0), left : max(column + reach + 1, 0)]
    if not window.size:
        return
    rows = (np.arange(window.shape[0]) + top + 0.5) * grid.resolution + grid.origin[1] - center[1]
    columns = (np.arange(window.shape[1]) + left + 0.5) * grid.resolution + grid.origin[0] - center[0]
    window &= np.hypot(rows[:, None], columns[None, :]) > radius


def nearest_cell(mask: NDArray[np.bool_], cell: tuple[int, int], reach: int) -> tuple[int, int] | None:
    """The True cell nearest to a cell, at most reach cells away; itself when it is True."""
    top, left = max(cell[0] - reach, 0), max(cell[1] - reach, 0)
    rows, columns = np.nonzero(mask[top : max(cell[0] + reach + 1, 0), left : max(cell[1] + reach + 1, 0)])
    if not len(rows):
        return None
    rows, columns = rows + top, columns + left
    squares = (rows - cell[0]) ** 2 + (columns - cell[1]) ** 2
    best = int(np.argmin(squares))
    return (int(rows[best]), int(columns[best])) if squares[best] <= reach**2 else None
