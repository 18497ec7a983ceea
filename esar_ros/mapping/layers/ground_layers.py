"""Layers over the ground painted from images: values of a place, object classes.

An image paints the cells in which its depth pixels end, so that nothing is painted behind what hides it. Rows lie along
y; positions and lengths are in m in the map frame.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import checked_depth, checked_pose, checked_range
from esar_ros.mapping.kernels.kernel import kernel

MIN_CONFIDENCE = 0.25  # at the edge of the view (VLFM remaps cos^2 to [0.25, 1])


class GroundGrid:
    """Square cells over a box of the map."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike, cell: float = 4.0) -> None:
        """Corners (2,) in m; the box is widened to whole cells. Raises MapInputError."""
        minimum, maximum = np.asarray(lower, dtype=np.float64)[:2], np.asarray(upper, dtype=np.float64)[:2]
        self.cell = checked_range(cell)
        if not (np.isfinite([minimum, maximum]).all() and (maximum > minimum).all()):
            raise MapInputError(f"no grid from {minimum.tolist()} to {maximum.tolist()}")
        first, last = np.floor(minimum / cell), np.ceil(maximum / cell)
        self.origin: tuple[float, float] = (float(first[0] * cell), float(first[1] * cell))
        self.shape: tuple[int, int] = (int(last[1] - first[1]), int(last[0] - first[0]))

    def cells_of(self, view: CameraFrame, max_range: float) -> NDArray[np.int32]:
        """Cell (H, W) in which each pixel of an image ends, as row * columns + column; -1 outside and beyond range."""
        depth = checked_depth(view)
        rotation, position = checked_pose(view.pose)
        model = view.model
        pinhole = (float(model.fx), float(model.fy), float(model.cx), float(model.cy))
        out = np.empty(depth.shape, np.int32)
        limits = (*self.origin, self.cell, checked_range(max_range))
        end_cells(depth, pinhole, rotation, position, limits, self.shape, out)
        return out

    def centers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x (columns,) and y (rows,) of the cells' centres."""
        x = self.origin[0] + (np.arange(self.shape[1]) + 0.5) * self.cell
        y = self.origin[1] + (np.arange(self.shape[0]) + 0.5) * self.cell
        return np.asarray(x), np.asarray(y)


class ValueLayer:
    """A value and its confidence per cell, as VLFM fuses them (Yokoyama et al., 2024, sec. IV-B).

    One image has one value; its confidence falls with cos^2 of the horizontal angle off the optical
    axis, from 1 to 0.25 at the edge. Views are averaged with their confidences as weights, and the
    confidence becomes sum(c^2) / sum(c).
    """

    def __init__(self, grid: GroundGrid) -> None:
        self.grid = grid
        self.value: NDArray[np.float32] = np.zeros(grid.shape, np.float32)
        self.confidence: NDArray[np.float32] = np.zeros(grid.shape, np.float32)  # 0: never seen
        self._best: NDArray[np.float32] = np.zeros(grid.shape[0] * grid.shape[1], np.float32)  # 0 between images

    def paint(self, view: CameraFrame, value: float, max_range: float) -> None:
        """Fuses the value of one image into the cells it sees. Raises MapInputError and paints nothing."""
        if not math.isfinite(value):
            raise MapInputError(f"not a value: {value}")
        model = view.model
        angle = np.arctan2(np.arange(model.width) + 0.5 - model.cx, model.fx)
        half = math.atan2(model.width / 2.0, model.fx)
        across = np.cos(np.clip(angle / half, -1.0, 1.0) * math.pi / 2.0) ** 2
        weight = (MIN_CONFIDENCE + (1.0 - MIN_CONFIDENCE) * across).astype(np.float32)
        cells = self.grid.cells_of(view, max_range)
        layers = self.value.reshape(-1), self.confidence.reshape(-1), self._best
        fuse_value(cells, weight, np.float32(value), *layers)

    def best_within(self, xy: ArrayLike, radius: float) -> NDArray[np.float32]:
        """Greatest value (N,) of the cells whose centres lie within a radius of positions (N, 2); -inf without any."""
        x, y = self.grid.centers()
        out = np.full(len(np.atleast_2d(np.asarray(xy))), -np.inf, np.float32)
        for n, (px, py) in enumerate(np.atleast_2d(np.asarray(xy, dtype=np.float64))):
            rows = np.flatnonzero(np.abs(y - py) <= radius)
            columns = np.flatnonzero(np.abs(x - px) <= radius)
            near = (y[rows, None] - py) ** 2 + (x[None, columns] - px) ** 2 <= radius**2
            part = np.ix_(rows, columns)
            known = near & (self.confidence[part] > 0.0)
            if known.any():
                out[n] = self.value[part][known].max()
        return out


class ClassLayer:
    """Semantic class per cell by the most pixels; the order of views does not matter."""

    def __init__(self, grid: GroundGrid, classes: int) -> None:
        """Labels run from 0 (unknown, never counted) to classes - 1. Raises MapInputError."""
        if not 2 <= classes <= 64:
            raise MapInputError(f"not a number of classes: {classes}")
        self.grid = grid
        self.votes: NDArray[np.uint32] = np.zeros((grid.shape[0] * grid.shape[1], classes), np.uint32)

    def paint(self, view: CameraFrame, labels: NDArray[np.uint8], max_range: float) -> None:
        """Counts the labels (H, W) of an image's pixels. Raises MapInputError and counts nothing."""
        if labels.shape != view.depth.shape or labels.dtype != np.uint8:
            raise MapInputError(f"labels of {labels.shape} {labels.dtype} for depth of {view.depth.shape}")
        if labels.max(initial=0) >= self.votes.shape[1]:
            raise MapInputError(f"label {int(labels.max())} of {self.votes.shape[1]} classes")
        cells = self.grid.cells_of(view, max_range).ravel()
        chosen = (cells >= 0) & (labels.ravel() > 0)
        np.add.at(self.votes, (cells[chosen], labels.ravel()[chosen]), 1)

    def classes(self) -> NDArray[np.uint8]:
        """Class (rows, columns) with the most votes, the lower number at a tie; 0 where none has any."""
        return np.argmax(self.votes, axis=1).astype(np.uint8).reshape(self.grid.shape)


@kernel
def end_cells(
    depth: NDArray[np.float32],
    pinhole: tuple[float, float, float, float],
    turn: NDArray[np.float64],
    position: NDArray[np.float64],
    limits: tuple[float, float, float, float],
    shape: tuple[int, int],
    out: NDArray[np.int32],
) -> None:
    """Cell in which each pixel ends; limits are the lower corner's x and y, the cell's edge and the range, in m."""
    fx, fy, cx, cy = pinhole
    left, bottom, cell, reach = limits
    px, py = position[0] - left, position[1] - bottom
    for v in range(depth.shape[0]):
        dy = (v + 0.5 - cy) / fy
        for u in range(depth.shape[1]):
            out[v, u] = -1
            z = float(depth[v, u])
            dx = (u + 0.5 - cx) / fx
            if not (z > 0.0 and z * z * (1.0 + dx * dx + dy * dy) <= reach * reach):
                continue
            column = math.floor((px + (turn[0, 0] * dx + turn[0, 1] * dy + turn[0, 2]) * z) / cell)
            row = math.floor((py + (turn[1, 0] * dx + turn[1, 1] * dy + turn[1, 2]) * z) / cell)
            if 0 <= row < shape[0] and 0 <= column < shape[1]:
                out[v, u] = row * shape[1] + column


@kernel
def fuse_value(
    cells: NDArray[np.int32],
    weight: NDArray[np.float32],
    new: float,
    value: NDArray[np.float32],
    confidence: NDArray[np.float32],
    best: NDArray[np.float32],
) -> None:
    """Fuse one value into each of the cells (H, W) once, with the maximum weight (W,) of its pixels.

    `best` is scratch, one a cell, 0 before and after.
    """
    for v in range(cells.shape[0]):
        for u in range(cells.shape[1]):
            if cells[v, u] >= 0:
                best[cells[v, u]] = max(best[cells[v, u]], weight[u])
    for v in range(cells.shape[0]):
        for u in range(cells.shape[1]):
            n = cells[v, u]
            if n >= 0 and best[n] > 0.0:
                c = best[n]
                best[n] = 0.0
                total = confidence[n] + c
                value[n] = (value[n] * confidence[n] + new * c) / total
                confidence[n] = (confidence[n] * confidence[n] + c * c) / total
