"""A camera driver against a simulator that refuses or hangs up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node

from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError
from esar_ros.geometry.camera_frame import FrameSet
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.msg import Tick
from esar_ros.nodes import camera_driver
from esar_ros.nodes.camera_driver import GIVE_UP, CameraDriverNode
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import Step
from esar_ros.nodes.core.types import message_class

Spin = Callable[..., bool]
STEP = Step(ns=1_000_000_000, seq=1, kinds=Tick.RANGES, period=0.05, previous_ns=None, absent=frozenset())


class Lidar:
    """Refuses as often as set."""

    made = 0
    errors: list[Exception]

    def __init__(self, *_: Any) -> None:
        Lidar.made += 1

    def read(self) -> np.ndarray:
        if Lidar.errors:
            raise Lidar.errors.pop(0)
        return np.array([[5.0, 0.0, 0.0]], dtype=np.float32)

    def close(self) -> None:
        """Nothing to hang up."""


@pytest.fixture
def driver(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> CameraDriverNode:
    Lidar.made, Lidar.errors = 0, []
    original = Node.__init__
    monkeypatch.setattr(Node, "__init__", lambda self, name, **more: original(self, name, namespace="/uav1"))
    monkeypatch.setattr(camera_driver, "AirSimCameras", Lidar)
    monkeypatch.setattr(camera_driver, "AirSimLidar", Lidar)
    monkeypatch.setattr("esar_ros.nodes.airsim.server.connect", lambda *_: None)
    node = CameraDriverNode()
    node._odometry = SimpleNamespace(at=lambda ns: (ns, Pose(), np.zeros(3)))  # type: ignore[assignment]
    ros([node], lambda: True)
    return node


def test_a_scan_is_told_in_the_lidars_frame(driver: CameraDriverNode, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(driver, "wanted", lambda name: True)
    monkeypatch.setattr(driver, "send", told.__setitem__)
    driver.on_step(STEP)
    scan, ranges = told[names.LIDAR_POINTS], told[names.RANGES]
    assert (scan.header.frame_id, ranges.header.frame_id) == ("uav1/lidar", "uav1/base_link")
    assert scan.header.stamp == ranges.header.stamp


@pytest.fixture
def sent(driver: CameraDriverNode, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(driver, "send", lambda name, message: names.append(name))
    return names


def test_what_is_refused_is_asked_for_again_in_the_same_step(driver: CameraDriverNode, sent: list[str]) -> None:
    Lidar.errors = [AirSimError("busy"), AirSimError("busy")]
    assert [driver.on_step(STEP) for _ in range(3)] == [False, False, None]
    assert sent == ["ranges"]
    assert Lidar.made == 2, "the connection was sound"


def test_a_lost_connection_is_made_again(driver: CameraDriverNode, sent: list[str]) -> None:
    Lidar.errors = [AirSimConnectionError("lost")]
    assert [driver.on_step(STEP) for _ in range(2)] == [False, None]
    assert (sent, Lidar.made) == (["ranges"], 4)


def test_half_a_step_is_not_sent(driver: CameraDriverNode, sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges came, the images did not: neither is sent."""

    def refuse() -> None:
        raise AirSimError("no picture")

    monkeypatch.setattr(driver._cameras, "read", refuse)
    assert driver.on_step(Step(**{**vars(STEP), "kinds": Tick.RANGES | Tick.FRAME})) is False
    assert sent == []


def test_it_does_not_ask_for_ever(driver: CameraDriverNode, sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(camera_driver.time, "monotonic", lambda: now[0])
    Lidar.errors = [AirSimError("busy") for _ in range(9)]
    assert (driver.on_step(STEP), driver.exit_code) == (False, None)
    now[0] += 0.5 * GIVE_UP
    assert (driver.on_step(STEP), driver.exit_code) == (False, None)
    now[0] += GIVE_UP
    assert (driver.on_step(STEP), driver.exit_code) == (False, 1)
    Lidar.errors.clear()


def test_it_asks_again_by_itself(ros: Spin, driver: CameraDriverNode, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(driver, "retry", lambda: asked.append(True))
    driver._again()
    assert not asked, "nothing was refused"
    Lidar.errors = [AirSimError("busy")]
    driver.on_step(STEP)
    assert ros([], lambda: bool(asked), 5.0)


def test_where_the_vehicle_is_not_known_ranges_come_and_frames_are_empty(
    driver: CameraDriverNode, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An odometry that cannot be must not leave the governor waiting for ranges."""
    driver._odometry = SimpleNamespace(at=lambda ns: None)  # type: ignore[assignment]
    handed: list[FrameSet] = []
    monkeypatch.setattr(driver._frames, "publish", handed.append)
    assert driver.on_step(replace(STEP, kinds=Tick.RANGES | Tick.FRAME)) is None
    assert names.RANGES in sent and [(frame.ns, frame.frames) for frame in handed] == [(STEP.ns, ())]


def test_it_waits_for_the_nodes_that_must_read_its_images(driver: CameraDriverNode, ros: Spin) -> None:
    driver._odometry = SimpleNamespace(known=True)  # type: ignore[assignment]
    assert driver.waiting_for() == "", "who needs the images shares its process"
    driver._readers = {"clue_detector"}
    assert driver.waiting_for() == "clue_detector to read camera/front/image"
    reader = Node("clue_detector")
    for camera in names.CAMERAS:
        for topic in (names.camera_image(camera), names.camera_depth(camera), names.camera_info(camera)):
            assert driver.waiting_for()
            entry = BY_NAME[topic]
            reader.create_subscription(message_class(entry.type), topic, lambda m: None, PROFILES[entry.quality])
    assert ros([reader], lambda: driver.waiting_for() == "")
