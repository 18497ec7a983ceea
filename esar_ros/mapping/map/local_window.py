"""The box of occupancy around a vehicle that the map hands to pilot and governor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.frames import vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mapping.map.voxel_map import VoxelMap

WINDOW_SHAPE = (96, 96, 64)  # voxels


def window_around(
    voxel_map: VoxelMap, center: ArrayLike, stamp: float, shape: tuple[int, int, int] = WINDOW_SHAPE
) -> OccupancyWindow:
    """Cuts the window of `shape` voxels whose middle lies at a map-frame position (m), on whole voxels."""
    middle = np.round(vector(center) / voxel_map.resolution).astype(np.int64)
    first = middle - np.array(shape) // 2
    return OccupancyWindow(first * voxel_map.resolution, voxel_map.resolution, voxel_map.window(first, shape), stamp)
