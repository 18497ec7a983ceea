"""Euclidean signed distance field of a window of the map, made when somebody asks for one.

Distances run between cell centres, so they differ from the exact distance to an obstacle's voxel
(VoxelMap.nearest_obstacle) by at most half a voxel's diagonal. For optimisers that need a smooth
field and its gradient; a single query is cheaper and exact from the map.
"""

from __future__ import annotations

from dataclasses import dataclass

import edt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow


@dataclass(frozen=True)
class LocalEsdf:
    """Distances of a box of cells in the map frame."""

    origin: Vector  # (3,) m, least corner of cell (0, 0, 0)
    resolution: float  # m
    distance: NDArray[np.float32]  # (nx, ny, nz) m; <= 0 inside obstacles

    @staticmethod
    def of_window(window: OccupancyWindow, unknown_is_obstacle: bool = True, signed: bool = False) -> LocalEsdf:
        """Field of a window; what lies outside of it is unknown. Unsigned fields are 0 inside obstacles."""
        obstacle = window.cells != FREE if unknown_is_obstacle else window.cells == OCCUPIED
        size = (window.resolution,) * 3
        border = unknown_is_obstacle
        outside = edt.edt(~obstacle, anisotropy=size, black_border=border, order="C", parallel=1)
        if signed:
            inside = edt.edt(obstacle, anisotropy=size, black_border=False, order="C", parallel=1)
            outside = outside - inside
        return LocalEsdf(window.origin, window.resolution, np.asarray(outside, np.float32))

    def distance_at(self, points: ArrayLike) -> NDArray[np.float64]:
        """Distance (N,) in m at map-frame points (N, 3), trilinear between cell centres; NaN outside the window."""
        return self._interpolated(np.asarray(points, dtype=np.float64).reshape(-1, 3))

    def gradient_at(self, points: ArrayLike) -> NDArray[np.float64]:
        """Gradient (N, 3), away from obstacles, by central differences of one cell; NaN at the window's rim."""
        p = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        steps = np.eye(3) * self.resolution / 2.0
        ahead = np.stack([self._interpolated(p + step) for step in steps], axis=1)
        behind = np.stack([self._interpolated(p - step) for step in steps], axis=1)
        return np.asarray((ahead - behind) / self.resolution)

    def _interpolated(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        place = (points - self.origin) / self.resolution - 0.5
        last = np.array(self.distance.shape) - 1
        inside = np.asarray(((place >= -0.5) & (place <= last + 0.5)).all(axis=1))
        place = np.clip(np.where(inside[:, None], place, 0.0), 0.0, last)
        low = np.minimum(place.astype(np.intp), np.maximum(last - 1, 0))
        part = place - low
        total = np.zeros(len(points))
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
            i, j, k = np.minimum(low + corner, last).T
            total += weight * self.distance[i, j, k]
        return np.where(inside, total, np.nan)
