"""Frames from drivers with clocks of their own: cameras that stop, and messages that are not what they say."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo, Image

from esar_ros.geometry.camera_frame import FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission import names
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.messages import frame_source as module
from esar_ros.nodes.messages.frame_source import TopicFrames
from esar_ros.nodes.messages.image import image_message

SECOND = 1_000_000_000
HERE = Pose(np.zeros(3), quaternion_from_yaw(0.0))


class Drivers:
    """A node that receives cameras in real time, without ROS."""

    lockstep = False

    def __init__(self) -> None:
        self.inputs: dict[str, Callable[[Any], None]] = {}
        self.source = TopicFrames(self, load_vehicle())  # type: ignore[arg-type]  # what it uses of a node is here
        self.frames: list[FrameSet] = []
        self.source.subscribe(self.frames.append)

    def input(self, name: str, callback: Callable[[Any], None]) -> None:
        self.inputs[name] = callback

    def photograph(self, camera: str, ns: int, image: Image | None = None) -> None:
        stamp = to_stamp(ns)
        info = CameraInfo(width=64, height=48, k=[32.0, 0.0, 32.0, 0.0, 32.0, 24.0, 0.0, 0.0, 1.0])
        info.header.stamp = stamp
        rgb = image_message(np.zeros((48, 64, 3), np.uint8), "rgb8", stamp, camera) if image is None else image
        self.inputs[names.camera_image(camera)](rgb)
        depth = image_message(np.full((48, 64), 9.0, np.float32), "32FC1", stamp, camera)
        self.inputs[names.camera_depth(camera)](depth)
        self.inputs[names.camera_info(camera)](info)

    def fly(self, ns: int) -> None:
        message = SimpleNamespace(header=SimpleNamespace(stamp=to_stamp(ns)))
        self.inputs[names.ODOMETRY](message)


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch) -> Drivers:
    odometry = SimpleNamespace(nearest=lambda ns: (ns, HERE, np.zeros(3)), covariance=lambda ns: None)
    monkeypatch.setattr(module, "OdometryInMap", lambda node: odometry)
    return Drivers()


def test_pictures_that_belong_together_are_one_frame(drivers: Drivers) -> None:
    for place, camera in enumerate(names.CAMERAS):
        drivers.fly(SECOND)
        drivers.photograph(camera, SECOND + 20_000_000 * place)
    drivers.fly(SECOND)
    drivers.fly(SECOND)
    assert [[f.camera for f in frame.frames] for frame in drivers.frames] == [list(names.CAMERAS)]


def test_a_camera_that_stops_blinds_none_of_the_others(drivers: Drivers) -> None:
    for camera in names.CAMERAS:
        drivers.photograph(camera, SECOND)
    drivers.fly(SECOND)
    for camera in ("left", "right", "down"):
        drivers.photograph(camera, 2 * SECOND)
    drivers.fly(2 * SECOND)
    assert len(drivers.frames) == 1, "it is waited for a little"
    time.sleep(module.TIMEOUT + 0.02)
    drivers.fly(2 * SECOND)
    drivers.fly(2 * SECOND)
    assert [[f.camera for f in frame.frames] for frame in drivers.frames[1:]] == [["left", "right", "down"]]


def test_a_message_with_another_size_than_it_says_has_no_pixels(drivers: Drivers) -> None:
    short = image_message(np.zeros((48, 64, 3), np.uint8), "rgb8", to_stamp(SECOND), "front")
    short.height = 480
    for camera in names.CAMERAS:
        drivers.photograph(camera, SECOND, short if camera == "front" else Image() if camera == "left" else None)
    drivers.fly(SECOND)
    assert not drivers.frames, "an empty message has no stamp that fits"
    time.sleep(module.TIMEOUT + 0.02)
    drivers.fly(SECOND)
    shapes = {frame.camera: frame.rgb.shape for frame in drivers.frames[0].frames}
    assert shapes == {"front": (0, 0, 3), "right": (48, 64, 3), "down": (48, 64, 3)}
