"""All occupied voxels as points, listed anew only where the map has changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.mapping.blocks import SIDE
from esar_ros.mapping.queries import list_occupied
from esar_ros.mapping.voxel_map import VoxelMap


class OccupiedCloud:
    """Centres of a VoxelMap's occupied voxels, kept by block; made only by those who want them."""

    def __init__(self, voxel_map: VoxelMap, consumer: str = "cloud") -> None:
        self._map = voxel_map
        self._consumer = consumer
        self._by_block: dict[tuple[int, int, int], NDArray[np.float32]] = {}  # key: block from the map's origin

    def update(self) -> NDArray[np.float32]:
        """Bring the cloud up to date; returns the points (N, 4) of the blocks that changed, see points."""
        dirty = self._map.take_dirty(self._consumer)
        if not len(dirty):
            return np.zeros((0, 4), np.float32)
        points, counts = list_occupied(self._map.blocks, dirty, self._map.resolution, self._map.lower)
        first = 0
        for key, count in zip((dirty + self._map.first_cell // SIDE).tolist(), counts.tolist(), strict=True):
            block = (key[0], key[1], key[2])
            if count:
                self._by_block[block] = points[first : first + count].copy()
            else:
                self._by_block.pop(block, None)
            first += count
        return points

    def points(self) -> NDArray[np.float32]:
        """(N, 4): x, y, z of the centres and the height z again, m in the map frame, as a PointCloud2 holds them.

        Sorted by block in the order in which blocks were first occupied.
        """
        if not self._by_block:
            return np.zeros((0, 4), np.float32)
        return np.concatenate(list(self._by_block.values()))
