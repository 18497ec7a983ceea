"""Hand-made cameras and sightings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.fusion.localisation import Sighting

MODEL = CameraModel.from_horizontal_fov(640, 480, math.pi / 2)


@pytest.fixture
def down_frame() -> CameraFrame:
    """A camera 30 m above flat ground at (5, 7), looking straight down with the picture's top to the east."""
    pose = Pose(np.array([5.0, 7.0, 30.0]), quaternion_from_rotation(optical_rotation(0.0, -math.pi / 2)))
    depth = np.full((480, 640), 30.0, dtype=np.float32)
    return CameraFrame(
        "down", MODEL, pose, depth, np.zeros((480, 640, 3), np.uint8), 1.0, np.zeros((480, 640), np.uint8)
    )


@pytest.fixture
def sighting() -> Callable[..., Sighting]:
    """Factory of placed sightings."""

    def make(
        position: object,
        stamp: float = 0.0,
        camera: str = "front",
        kind: str = "tent",
        sigma: float = 0.5,
        score: float = 0.6,
        view_range: float = 30.0,
        text: str = "",
        direction: object = (1.0, 0.0, 0.0),
        pose: object = None,
        box: tuple[int, int, int, int] | None = None,
    ) -> Sighting:
        place = np.asarray(position, dtype=np.float64)
        # Boxes side by side, so that two sightings of a picture are two things.
        x, y, z = np.rint(place * 10.0).astype(int)
        detection = Detection2D(kind, score, box or (int(x + z), int(y + z), 4, 4), text or kind)
        bearing = np.asarray(direction, dtype=np.float64)
        covariance = np.zeros((6, 6)) if pose is None else np.asarray(pose)
        blank = Sighting(stamp, camera, detection, place - bearing * view_range, bearing, covariance)
        return replace(blank, position=place, noise=np.eye(3) * sigma**2, view_range=view_range)

    return make
