"""Frontiers of a bird's-eye grid: where known free air meets the unknown (Yamauchi 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid

_NEIGHBOURS = np.ones((3, 3), dtype=np.uint8)


@dataclass(frozen=True)
class Frontiers:
    """Cells (rows, columns) that are frontiers, and the number of their clusters."""

    cells: NDArray[np.bool_]
    clusters: int


def find_frontiers(grid: Grid, allowed: NDArray[np.bool_], least_cells: int) -> Frontiers:
    """FREE cells beside UNKNOWN ones where allowed (rows, columns), in 8-connected clusters of least_cells up."""
    beside_unknown = cv2.dilate((grid.cells == UNKNOWN).view(np.uint8), _NEIGHBOURS, borderValue=0)
    frontier = (grid.cells == FREE) & (beside_unknown > 0) & allowed
    count, labels, stats, _ = cv2.connectedComponentsWithStats(frontier.view(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= least_cells
    large[0] = False  # the background
    return Frontiers(np.asarray(large[labels]), int(np.count_nonzero(large[1:count])))


def passable_cells(grid: Grid, clearance: float) -> NDArray[np.bool_]:
    """FREE cells (rows, columns) at least clearance (m) away from every OCCUPIED one."""
    free = grid.cells == FREE
    occupied = (grid.cells == OCCUPIED).view(np.uint8)
    reach = int(np.ceil(clearance / grid.resolution))
    if reach > 0 and occupied.any():
        offsets = np.arange(-reach, reach + 1)
        disc = (np.hypot(offsets[:, None], offsets[None, :]) * grid.resolution <= clearance).astype(np.uint8)
        occupied = cv2.dilate(occupied, disc, borderValue=0)
    return np.asarray(free & (occupied == 0))


def polygon_cells(grid: Grid, corners: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Cells (rows, columns) in a polygon (N, 2) of the map frame, and those its edge touches."""
    mask = np.zeros(grid.cells.shape, dtype=np.uint8)
    # Cell centres are whole numbers for OpenCV; 8 fractional bits keep the edges exact to 1/256 cell.
    pixels = (corners - np.asarray(grid.origin)) / grid.resolution - 0.5
    cv2.fillPoly(mask, [np.rint(pixels * 256.0).astype(np.int32)], 1, shift=8)
    return mask.astype(bool)


def cell_at(grid: Grid, point: Vector) -> NDArray[np.bool_]:
    """Mask (rows, columns) of the one cell a map-frame point lies in; empty outside the grid."""
    mask = np.zeros(grid.cells.shape, dtype=bool)
    row, column = grid.cell_of(point)
    mask[max(row, 0) : max(row + 1, 0), max(column, 0) : max(column + 1, 0)] = True
    return mask


def clear_disc(mask: NDArray[np.bool_], grid: Grid, center: Vector, radius: float) -> None:
    """Set mask cells within radius (m) of a map-frame point to False."""
    row, column = grid.cell_of(center)
    reach = int(np.ceil(radius / grid.resolution))
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
