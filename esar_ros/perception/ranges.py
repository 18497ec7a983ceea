"""Nearest obstacle per direction: LiDAR points or depth images pooled into the grid that the safety governor reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission.vehicle import LidarSpec

COLUMNS_POOLED = 3  # beams side by side that share a cell
PROBES = 5  # directions a side by which a cell is known to lie in an image
INVALID = 0.25  # share of a cell's pixels without a measurement from which what the others show is not all there is
NEAR = 2.0  # m within which what was measured counts all the same: the governor keeps as far away
_STEEP = math.radians(85.0)
_EDGE = 1e-6  # rad


@dataclass(frozen=True)
class RangeGrid:
    """Cells as in msg/RangeImage.msg: rad, m."""

    azimuth_min: float
    azimuth_step: float
    columns: int
    elevation_min: float
    elevation_step: float
    rows: int
    range_min: float
    range_max: float

    @staticmethod
    def of(lidar: LidarSpec) -> RangeGrid:
        """One row a channel; beams side by side pooled."""
        columns = max(4, lidar.columns // COLUMNS_POOLED)
        low, high = math.radians(lidar.elevation_min_deg), math.radians(lidar.elevation_max_deg)
        return RangeGrid(
            azimuth_min=-math.pi,
            azimuth_step=2.0 * math.pi / columns,
            columns=columns,
            elevation_min=low,
            elevation_step=(high - low) / lidar.channels,
            rows=lidar.channels,
            range_min=0.1,
            range_max=lidar.range_max,
        )


def pool_ranges(points: NDArray[np.float32], grid: RangeGrid) -> NDArray[np.float32]:
    """Minimum range per cell, (rows, columns) float32 m; -inf nearer than range_min, +inf nothing in reach, NaN
    unknown.

    points: (N, 3) m in the sensor's FLU frame. A cloud holds echoes alone, so an empty cell does not show whether its
    beams met nothing or were never sent. Beams side by side in azimuth share emitter and window: the empty cells of a
    column in which any other beam came back met nothing (+inf); those of a column without a single echo are unknown
    (NaN), and so are all of an empty cloud. A point beyond the reach is an echo from farther off: nothing is within it.
    Points outside the grid's elevations are left out; non-finite ones too, since they have no direction.
    """
    p = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    p = p[np.isfinite(p).all(axis=1)]
    distance = np.linalg.norm(p, axis=1)
    p, distance = p[distance > 0.0], distance[distance > 0.0]
    elevation = np.arcsin(np.clip(p[:, 2] / distance, -1.0, 1.0))
    azimuth = np.arctan2(p[:, 1], p[:, 0])
    # A beam on the grid's outermost edge belongs to the outermost cell.
    row = np.floor((elevation - grid.elevation_min) / grid.elevation_step + 1e-6).astype(np.int64)
    row = np.where(np.abs(elevation - grid.elevation_min - grid.rows * grid.elevation_step) < 1e-3, grid.rows - 1, row)
    row = np.where(np.abs(elevation - grid.elevation_min) < 1e-3, 0, row)
    column = np.floor((azimuth - grid.azimuth_min) / grid.azimuth_step + 1e-6).astype(np.int64) % grid.columns
    kept = (row >= 0) & (row < grid.rows)
    # Straight up or down azimuth means nothing: such an echo speaks for no column.
    speaks = kept & (np.abs(elevation) < _STEEP)
    alive = np.zeros(grid.columns, dtype=bool)
    alive[column[speaks]] = True
    out = np.where(alive, np.float32(np.inf), np.float32(np.nan)) * np.ones((grid.rows, 1), dtype=np.float32)
    out = out.ravel()
    measured = np.where(distance < grid.range_min, -np.inf, np.where(distance <= grid.range_max, distance, np.inf))
    np.fmin.at(out, row[kept] * grid.columns + column[kept], measured[kept].astype(np.float32))
    return out.reshape(grid.rows, grid.columns)


def unknown_outside(ranges: NDArray[np.float32], grid: RangeGrid, low: float, high: float) -> NDArray[np.float32]:
    """Returns ranges (rows, columns) of which the empty cells that reach beyond two elevations (rad) are unknown.

    No beam looks there, so that nothing came back says nothing.
    """
    lower = grid.elevation_min + np.arange(grid.rows)[:, None] * grid.elevation_step
    outside = (lower < low - _EDGE) | (lower + grid.elevation_step > high + _EDGE)
    return np.where(np.isposinf(ranges) & outside, np.float32(np.nan), ranges)


def plane_ranges(
    angles: NDArray[np.float64], measured: NDArray[np.float64], spread: float, grid: RangeGrid
) -> NDArray[np.float32]:
    """Returns the ranges (rows, columns) float32 m of a level scan (N,): m at angles (rad, to the left, base_link).

    The scan is taken to hold for spread (rad) above and below its plane, in whole cells; all else is unknown (NaN).
    measured: +inf met nothing in reach; NaN is invalid, -inf too near. The nearest of a cell's beams counts; a cell in
    which one is invalid and none has measured anything is unknown.
    """
    lower = grid.elevation_min + np.arange(grid.rows) * grid.elevation_step
    rows = (lower < spread - _EDGE) & (lower + grid.elevation_step > -spread + _EDGE)
    column = np.floor((angles - grid.azimuth_min) / grid.azimuth_step + 1e-6).astype(np.int64) % grid.columns
    near = np.where(measured < grid.range_min, -np.inf, np.where(measured > grid.range_max, np.inf, measured))
    level = np.full(grid.columns, np.nan)
    np.fmin.at(level, column, near)
    invalid = np.zeros(grid.columns, dtype=bool)
    invalid[column[np.isnan(near)]] = True
    level[invalid & np.isposinf(level)] = np.nan
    return np.where(rows[:, None], level, np.nan).astype(np.float32)


def with_ground(ranges: NDArray[np.float32], distance: float) -> NDArray[np.float32]:
    """Returns ranges (rows, columns) of a grid that begins straight down, with a distance (m) measured there."""
    return np.concatenate([np.full_like(ranges[:1], distance), ranges[1:]])


class DepthPooling:
    """Depth images of one camera as ranges; what depends on the camera alone is computed once."""

    def __init__(self, model: CameraModel, mount: Pose, grid: RangeGrid) -> None:
        """mount: the optical frame in base_link; directions are taken as if the camera were at base_link's origin."""
        self._grid = grid
        rays = model.rays() @ mount.rotation.T
        self._stretch = np.linalg.norm(rays, axis=-1)  # m of range for a metre of depth
        up, around = np.arcsin(rays[..., 2] / self._stretch), np.arctan2(rays[..., 1], rays[..., 0])
        row = np.floor((up - grid.elevation_min) / grid.elevation_step).astype(np.int64)
        column = np.floor((around - grid.azimuth_min) / grid.azimuth_step).astype(np.int64) % grid.columns
        self._kept = (row >= 0) & (row < grid.rows)
        self._cell = (row * grid.columns + column)[self._kept]
        self._pixels = np.bincount(self._cell, minlength=grid.rows * grid.columns)
        self._whole = _is_inside(model, mount, grid)

    def pool(self, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        """Minimum range per cell, (rows, columns) float32 m; -inf too near, +inf nothing in reach, NaN unknown.

        depth: (H, W) m along the axis (REP-118). A cell of which the image shows only a part is unknown, and so is one
        in which a pixel is invalid and none has measured anything, or as many as INVALID are and nothing is within
        NEAR: what stereo cannot measure may stand before what it can. Raises ValueError for an image of another size.
        """
        if depth.shape != self._stretch.shape:
            raise ValueError(f"a depth image of {depth.shape}, the camera has {self._stretch.shape}")
        metres = np.where(np.isneginf(depth), -np.inf, depth * self._stretch)[self._kept]
        measured = np.where(metres < self._grid.range_min, -np.inf, metres)
        measured = np.where(measured <= self._grid.range_max, measured, np.where(np.isnan(metres), np.nan, np.inf))
        out = np.full(self._whole.size, np.inf)
        np.fmin.at(out, self._cell, measured)
        invalid = np.bincount(self._cell[np.isnan(measured)], minlength=out.size)
        unmeasured = (invalid > 0) & (np.isposinf(out) | ((invalid >= INVALID * self._pixels) & (out > NEAR)))
        unknown = ~self._whole | unmeasured
        return np.where(unknown, np.nan, out).astype(np.float32).reshape(self._grid.rows, self._grid.columns)


def _is_inside(model: CameraModel, mount: Pose, grid: RangeGrid) -> NDArray[np.bool_]:
    """Returns whether an image shows the whole of each cell (rows * columns,)."""
    share = np.linspace(0.0, 1.0, PROBES)
    up = grid.elevation_min + (np.arange(grid.rows)[:, None] + share) * grid.elevation_step
    around = grid.azimuth_min + (np.arange(grid.columns)[:, None] + share) * grid.azimuth_step
    level = np.cos(up)[:, :, None, None]
    directions = np.stack(
        np.broadcast_arrays(level * np.cos(around), level * np.sin(around), np.sin(up)[:, :, None, None]), axis=-1
    )  # (rows, PROBES, columns, PROBES, 3)
    _, inside = model.project(directions @ mount.rotation)
    return np.asarray(inside.all(axis=(1, 3)).ravel())


def merged_ranges(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Returns the nearest of several cameras' ranges (rows, columns): a cell is unknown where all say so."""
    return np.asarray(np.fmin.reduce(np.stack(parts)), dtype=np.float32)
