"""Views of a flat floor with boxes on it, by casting rays: what a walker's camera would see, without a renderer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation

MODEL = CameraModel.from_horizontal_fov(96, 96, np.radians(110.0))
EYE = 1.6  # m

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Least and greatest corner, m."""


class BoxView:
    """The view (mission.rescue.WalkView) of one who stands at a place on the floor z = 0."""

    model = MODEL

    def __init__(self, foot: ArrayLike, yaw: float, boxes: Sequence[Box]) -> None:
        x, y = np.asarray(foot, dtype=np.float64)[:2]
        self.pose = Pose(np.array([x, y, EYE]), quaternion_from_rotation(optical_rotation(yaw, 0.0)))
        rays = MODEL.rays() @ self.pose.rotation.T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(rays[..., 2] < 0.0, -EYE / rays[..., 2], np.inf)
            for low, high in boxes:
                one, other = (low - self.pose.position) / rays, (high - self.pose.position) / rays
                enter, leave = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
                depth = np.where((enter > 0.0) & (enter < leave), np.minimum(depth, enter), depth)
        self.depth: NDArray[np.float32] = depth.astype(np.float32)  # rays have a depth of 1

    @property
    def colour(self) -> NDArray[np.uint8]:
        """Grey."""
        return np.full((MODEL.height, MODEL.width, 3), 128, dtype=np.uint8)
