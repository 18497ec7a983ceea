"""Nearest obstacle per direction: LiDAR points pooled into the grid that the safety governor reads."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.vehicle import LidarSpec

COLUMNS_POOLED = 3  # beams side by side that share a cell
_STEEP = math.radians(85.0)


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
