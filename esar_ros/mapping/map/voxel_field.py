"""A number per coarse voxel, for what a planner keeps about space beside the occupancy.

APEX's maps of attraction, exploration and obstacles are three of these (planning/methods/models/apex_maps.py).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, vector
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import checked_points, checked_range
from esar_ros.mapping.map.voxel_map import VoxelMap

_MAX_VOXELS = 1 << 27  # voxels


class VoxelField:
    """Values (nx, ny, nz) float32 over a box of the map frame; what lies outside is ignored."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike, edge: float = 5.0, initial: float = 0.0) -> None:
        """Corners (3,) and voxel edge in m; the box ends with the last whole voxel. Raises MapInputError."""
        self.edge = checked_range(edge)
        self.lower = vector(lower)
        size = (vector(upper) - self.lower) / edge
        if not (np.isfinite(size).all() and (size >= 1.0 - 1e-9).all() and float(np.prod(size)) <= _MAX_VOXELS):
            raise MapInputError(f"no field of {edge} m voxels from {self.lower.tolist()}")
        shape = np.floor(size + 1e-9).astype(int)
        self.values: NDArray[np.float32] = np.full(tuple(shape), initial, np.float32)
        self._initial = initial

    def index_of(self, points: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Voxels (N, 3) of points (N, 3) in m, and which (N,) lie in the field; others have voxel 0."""
        place = np.floor((checked_points(points) - self.lower) / self.edge)
        inside = np.asarray(((place >= 0) & (place < self.values.shape)).all(axis=1))
        return np.where(inside[:, None], place, 0).astype(np.int64), inside

    def value_at(self, points: ArrayLike) -> NDArray[np.float32]:
        """Value (N,) at points (N, 3) in m; NaN outside."""
        index, inside = self.index_of(points)
        return np.where(inside, self.values[tuple(index.T)], np.float32(np.nan))

    def raise_to(self, points: ArrayLike, values: ArrayLike) -> None:
        """Lift the voxels of points (N, 3) to at least the given values (N,)."""
        index, inside = self.index_of(points)
        levels = np.broadcast_to(np.asarray(values, np.float32), inside.shape)
        if not np.isfinite(levels).all():
            raise MapInputError("values must be finite")
        np.maximum.at(self.values, tuple(index[inside].T), levels[inside])

    def in_view(
        self, model: CameraModel, pose: Pose, max_range: float, depth: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Voxels (M, 3) whose centres a camera shows within a range, and their distances (M,) in m.

        With a depth image only those that it does not hide, give or take a voxel.
        """
        reach = checked_range(max_range)
        low = np.maximum((pose.position - reach - self.lower) / self.edge, 0.0).astype(int)
        high = np.minimum(np.ceil((pose.position + reach - self.lower) / self.edge).astype(int), self.values.shape)
        if (high <= low).any():
            return np.zeros((0, 3), np.int64), np.zeros(0)
        index = np.indices(tuple(high - low)).reshape(3, -1).T + low
        centers = self.lower + (index + 0.5) * self.edge
        local = (centers - pose.position) @ pose.rotation
        uv, inside = model.project(local)
        distance = np.linalg.norm(local, axis=1)
        inside &= distance <= reach
        if depth is not None:
            pixel = np.where(inside[:, None], uv, 0.0).astype(int)
            inside &= local[:, 2] <= np.nan_to_num(depth[pixel[:, 1], pixel[:, 0]], nan=0.0) + self.edge
        return index[inside], distance[inside]

    def in_prism(
        self, place: Vector, yaw: float, reach: float, half_height: float
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Voxels (M, 3) in the prism ahead of a place (3,), whatever hides them, and their distances (M,) in m.

        It is `reach` m deep along the heading (rad), 45 degrees wide to each side, `half_height` m up and down.
        """
        corner = np.array([math.sqrt(2.0) * reach, math.sqrt(2.0) * reach, half_height])
        low = np.maximum((place - corner - self.lower) / self.edge, 0.0).astype(int)
        high = np.minimum(np.ceil((place + corner - self.lower) / self.edge).astype(int), self.values.shape)
        if (high <= low).any():
            return np.zeros((0, 3), np.int64), np.zeros(0)
        index = np.indices(tuple(high - low)).reshape(3, -1).T + low
        offset = self.lower + (index + 0.5) * self.edge - place
        ahead = offset[:, 0] * math.cos(yaw) + offset[:, 1] * math.sin(yaw)
        aside = offset[:, 1] * math.cos(yaw) - offset[:, 0] * math.sin(yaw)
        inside = (ahead > 0.0) & (ahead <= reach) & (np.abs(aside) <= ahead) & (np.abs(offset[:, 2]) <= half_height)
        return index[inside], np.linalg.norm(offset[inside], axis=1)

    def shift(self, steps: NDArray[np.int64]) -> None:
        """Moves the box by whole voxels (3,); values that it still covers stay where they are, others begin anew."""
        old, shape = self.values, np.array(self.values.shape)
        self.values = np.full(old.shape, self._initial, np.float32)
        self.lower = self.lower + steps * self.edge
        begin, end = np.maximum(steps, 0), np.minimum(shape + steps, shape)
        if (end > begin).all():
            kept = tuple(slice(a, b) for a, b in zip(begin, end, strict=True))
            moved = tuple(slice(a - d, b - d) for a, b, d in zip(begin, end, steps, strict=True))
            self.values[moved] = old[kept]

    def add(self, index: NDArray[np.int64], amounts: ArrayLike) -> None:
        """Add amounts (M,) to voxels (M, 3)."""
        np.add.at(self.values, tuple(index.T), np.asarray(amounts, np.float32))

    def obstacles(self, voxel_map: VoxelMap) -> NDArray[np.bool_]:
        """Returns a mask of the field's voxels that contain an occupied voxel of the map."""
        index, inside = self.index_of(voxel_map.occupied_points())
        out = np.zeros(self.values.shape, np.bool_)
        out[tuple(index[inside].T)] = True
        return out
