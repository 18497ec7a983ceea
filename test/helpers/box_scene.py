"""Level green ground with a red box on it, as a camera that looks down from above sees them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation

MODEL = CameraModel.from_horizontal_fov(320, 240, math.pi / 2)
HEIGHT = 20.0  # m, of the camera
HALF, TOP = 2.0, 3.0  # m, of the box: half its sides, its height
RED, GREEN = (200, 40, 30), (60, 120, 60)


def looking_down(x: float, y: float) -> Pose:
    """Returns the optical frame of the camera above a place, m."""
    return Pose(np.array([x, y, HEIGHT]), quaternion_from_rotation(optical_rotation(0.0, -math.pi / 2)))


def seen(pose: Pose) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Returns planar depth (H, W), m, and colours (H, W, 3); the box's sides are not drawn."""
    at_top = pose.position + (HEIGHT - TOP) * (MODEL.rays() @ pose.rotation.T)
    box = (np.abs(at_top[..., :2]) < HALF).all(axis=-1)
    depth = np.where(box, HEIGHT - TOP, HEIGHT).astype(np.float32)
    return depth, np.where(box[..., None], RED, GREEN).astype(np.uint8)


def flight(count: int = 4) -> list[Pose]:
    """Returns poses on a line over the box."""
    return [looking_down(float(x), 0.3) for x in np.linspace(-3.0, 3.0, count)]


def assert_shows_box(points: NDArray[np.float64], colours: NDArray[np.uint8], at: ArrayLike = (0, 0, 0)) -> None:
    """Fails unless points lie where ground and box are, and have their colours."""
    local = points - np.asarray(at)
    ground, top = local[:, 2] < 0.5, local[:, 2] > 2.9
    assert ground.sum() > 5000 and top.sum() > 100
    assert np.abs(local[ground][:, 2]).max() < 0.01 and np.abs(local[top][:, 2] - TOP).max() < 0.01
    assert np.abs(np.abs(local[top][:, :2]).max(axis=0) - HALF).max() < 0.3  # a voxel's edge
    assert np.abs(np.median(colours[top], axis=0) - RED).max() <= 1
    assert np.abs(np.median(colours[ground], axis=0) - GREEN).max() <= 1
