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
        self.said: list[str] = []
        self.inputs: dict[str, Callable[[Any], None]] = {}
        self.source = TopicFrames(self, load_vehicle())  # type: ignore[arg-type]  # what it uses of a node is here
        self.frames: list[FrameSet] = []
        self.source.subscribe(self.frames.append)

    def get_logger(self) -> Any:
        return SimpleNamespace(warning=lambda words, throttle_duration_sec: self.said.append(words))

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
    """Odometry is known of the first minute, at every stamp."""
    odometry = SimpleNamespace(nearest=lambda ns: (min(ns, 60 * SECOND), HERE, np.zeros(3)), covariance=lambda ns: None)
    monkeypatch.setattr(module, "OdometryInMap", lambda node: odometry)
    return Drivers()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time as the source sees it, moved by hand."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


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


@pytest.mark.parametrize("hertz", [1, 5, 9, 11, 15, 30])
def test_cameras_that_never_send_are_missed_at_no_rate(drivers: Drivers, clock: SimpleNamespace, hertz: int) -> None:
    for step in range(10 * hertz):
        for camera in ("front", "down"):
            drivers.photograph(camera, SECOND + step * SECOND // hertz)
        for _ in range(5):
            clock.now += 0.2 / hertz
            drivers.fly(SECOND)
    assert len(drivers.frames) >= 8 * hertz
    assert {frame.camera for frame in drivers.frames[-1].frames} == {"front", "down"}


def test_a_camera_that_is_always_late_is_done_without(drivers: Drivers, clock: SimpleNamespace) -> None:
    for step in range(300):
        for camera in names.CAMERAS:
            late = 150_000_000 if camera == "left" else 0
            drivers.photograph(camera, 2 * SECOND + step * SECOND // 30 - late)
        clock.now += 1.0 / 30.0
        drivers.fly(SECOND)
    assert len(drivers.frames) >= 50 and all(len(frame.frames) == 3 for frame in drivers.frames)
    assert any("left" in words and "-0.15 s" in words for words in drivers.said)


@pytest.mark.parametrize("off", [3600 * SECOND, -3600 * SECOND])
def test_a_camera_of_another_clock_silences_none_of_the_others(
    drivers: Drivers, clock: SimpleNamespace, off: int
) -> None:
    for step in range(50):
        for camera in names.CAMERAS:
            drivers.photograph(camera, max(0, 2 * SECOND + step * SECOND // 5 + (off if camera == "left" else 0)))
        for _ in range(5):
            clock.now += 0.04
            drivers.fly(SECOND)
    assert len(drivers.frames) > 40 and all(len(frame.frames) == 3 for frame in drivers.frames)
    assert any("frames without left" in words for words in drivers.said)


def test_a_clock_that_is_set_back_is_gone_on_with(drivers: Drivers) -> None:
    for ns in (30 * SECOND, 5 * SECOND, 6 * SECOND):
        for camera in names.CAMERAS:
            drivers.photograph(camera, ns)
        drivers.fly(ns)
    assert [frame.ns for frame in drivers.frames] == [30 * SECOND, 5 * SECOND, 6 * SECOND]
