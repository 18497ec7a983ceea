"""Frames by hand-over and by Image topics are the same frames, and make the same map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_rpy, quaternion_from_yaw
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission import names
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Tick
from esar_ros.nodes import camera_driver
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import convert, frame_source
from esar_ros.nodes.messages.frame_source import InProcessFrames, TopicFrames

PERIOD = 1_000_000_000  # ns between frames
WIDTH, HEIGHT = 64, 48
ODOM_IN_MAP = Pose(np.array([120.0, -35.5, 7.25]), quaternion_from_yaw(0.3))
STATED = np.array([4.0, 1.0, 9.0, 0.01, 0.02, 0.03])  # variances of the odometry, m^2 and rad^2
Spin = Callable[..., bool]


class Remote:
    """Stands for the simulator's cameras and LiDAR: pictures that differ at every read."""

    def __init__(self, *_: Any) -> None:
        self._reads = 0

    def read(self) -> FrameSet:
        self._reads += 1
        rng, rig, frames = np.random.default_rng(self._reads), load_vehicle().with_image_size(WIDTH, HEIGHT), []
        for camera in names.CAMERAS:
            rgb = rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
            depth = (20.0 + 3.0 * rng.random((HEIGHT, WIDTH))).astype(np.float32)
            depth[:8], depth[8, :5], depth[9, :5] = np.inf, np.nan, -np.inf
            frames.append(CameraFrame(camera, rig.image.model, rig.cameras[camera].pose, depth, rgb))
        return FrameSet(self._reads * PERIOD, tuple(frames))

    def close(self) -> None:
        """Nothing to hang up."""


class World(Node):
    """The bridge's part: odometry, the static transform and ticks."""

    def __init__(self) -> None:
        super().__init__("world", namespace="/uav1")
        self.outputs = {
            name: self.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (names.TICK, names.ODOMETRY, names.TF_STATIC)
        }

    def locate(self) -> None:
        transform = TransformStamped(child_frame_id=names.vehicle_frame("uav1", names.ODOM))
        transform.header.frame_id = names.MAP
        transform.transform.translation = convert.vector3(ODOM_IN_MAP.position)
        transform.transform.rotation = convert.quaternion(ODOM_IN_MAP.quaternion)
        self.outputs[names.TF_STATIC].publish(TFMessage(transforms=[transform]))

    def fly(self, number: int) -> Pose:
        """Tell where the vehicle is at a frame; returns the pose in odom."""
        pose = Pose(np.array([2.0 * number, 1.0, 30.0]), quaternion_from_rpy(0.05, -0.1, 0.2 * number))
        message = Odometry()
        message.header.stamp = to_stamp(number * PERIOD)
        message.pose.pose.position = convert.point(pose.position)
        message.pose.pose.orientation = convert.quaternion(pose.quaternion)
        message.pose.covariance = np.diag(number * STATED).ravel()
        self.outputs[names.ODOMETRY].publish(message)
        return pose

    def tick(self, number: int) -> None:
        message = Tick(seq=number, epoch=1, kinds=Tick.FRAME, period=0.05)
        message.header.stamp = to_stamp(number * PERIOD)
        self.outputs[names.TICK].publish(message)


class Reader(StepNode):
    """Any node in a process of its own that wants frames."""

    def __init__(self) -> None:
        super().__init__("reader")
        self.frames = TopicFrames(self, load_vehicle())

    def on_step(self, step: Step) -> bool | None:
        return None


@dataclass
class Graph:
    spin: Spin
    world: World
    handed: list[FrameSet]
    received: list[FrameSet]

    def frame(self, number: int) -> tuple[FrameSet, FrameSet]:
        """One frame by both ways."""
        self.world.fly(number)
        self.world.tick(number)
        assert self.spin([], lambda: len(self.handed) == number and len(self.received) == number)
        return self.handed[-1], self.received[-1]


@pytest.fixture
def graph(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> Graph:
    for name in ("AirSimCameras", "AirSimLidar"):
        monkeypatch.setattr(camera_driver, name, Remote)
    monkeypatch.setattr("esar_ros.nodes.airsim.server.connect", lambda *_: None)
    monkeypatch.setattr("rclpy.node.Node.__init__", _in_namespace(Node.__init__))
    frames = InProcessFrames()
    world, driver, reader = World(), camera_driver.CameraDriverNode(frames), Reader()
    handed: list[FrameSet] = []
    received: list[FrameSet] = []
    frames.subscribe(handed.append)
    reader.frames.subscribe(received.append)
    topics = [f(c) for c in names.CAMERAS for f in (names.camera_image, names.camera_depth, names.camera_info)]

    def matched() -> bool:
        return all(driver.wanted(topic) for topic in topics) and all(
            world.outputs[name].get_subscription_count() >= 2 for name in (names.ODOMETRY, names.TF_STATIC)
        )

    assert ros([world, driver, reader], matched)
    world.locate()
    assert ros([], lambda: not driver.waiting_for())
    return Graph(ros, world, handed, received)


def _in_namespace(init: Any) -> Any:
    """Nodes of one vehicle live in its namespace; here nothing starts them with one."""

    def wrapped(self: Any, name: str, **options: Any) -> None:
        given = {key: value for key, value in options.items() if value is not None}
        init(self, name, **{"namespace": "/uav1"} | given)

    return wrapped


def test_the_arrays_the_models_and_the_poses_are_equal(graph: Graph) -> None:
    for number in (1, 2, 3):
        handed, received = graph.frame(number)
        assert handed.ns == received.ns == number * PERIOD
        for one, other, camera in zip(handed.frames, received.frames, names.CAMERAS, strict=True):
            assert one.camera == other.camera == camera
            assert one.stamp == other.stamp
            assert one.model == other.model
            assert one.pose == other.pose
            for mine, theirs in ((one.rgb, other.rgb), (one.depth, other.depth)):
                assert mine.dtype == theirs.dtype
                np.testing.assert_array_equal(mine, theirs)  # NaN and both infinities among them
    assert not np.array_equal(graph.handed[0].frames[0].rgb, graph.handed[1].frames[0].rgb)


def test_the_poses_are_those_of_the_cameras_in_the_map(graph: Graph) -> None:
    handed, _ = graph.frame(1)
    base = ODOM_IN_MAP.compose(Pose(np.array([2.0, 1.0, 30.0]), quaternion_from_rpy(0.05, -0.1, 0.2)))
    for frame in handed.frames:
        mount = load_vehicle().cameras[frame.camera].pose
        np.testing.assert_allclose(frame.pose.matrix, base.matrix @ mount.matrix, atol=1e-9)


def test_the_covariance_of_the_odometry_is_told_about_the_map_s_axes(graph: Graph) -> None:
    graph.frame(1)
    handed, received = graph.frame(2)
    for frame in (*handed.frames, *received.frames):
        assert frame.pose_covariance is not None
        for part, block in ((slice(0, 3), STATED[:3]), (slice(3, 6), STATED[3:])):
            turned = ODOM_IN_MAP.rotation @ np.diag(2 * block) @ ODOM_IN_MAP.rotation.T
            np.testing.assert_allclose(frame.pose_covariance[part, part], turned, atol=1e-12)


def test_the_map_made_of_them_is_equal(graph: Graph) -> None:
    area = np.array([[-80.0, -80.0], [200.0, -80.0], [200.0, 80.0], [-80.0, 80.0]])
    mappers = []
    for _ in range(2):
        mapper = Mapper(1.0, 120.0, 120.0)
        mapper.set_area(area, np.zeros(3))
        mappers.append(mapper)
    for number in (1, 2, 3):
        for mapper, frame_set in zip(mappers, graph.frame(number), strict=True):
            assert mapper.integrate(frame_set.frames) == ""
    one, other = mappers
    assert one.state() == other.state()
    assert one.state().occupied > 100
    np.testing.assert_array_equal(one.occupied_points(), other.occupied_points())
    np.testing.assert_array_equal(one.grid()[0], other.grid()[0])
    np.testing.assert_array_equal(one.frontiers(), other.frontiers())
    center = ODOM_IN_MAP.apply([6.0, 1.0, 30.0])
    np.testing.assert_array_equal(one.local_window(center, 0.0).cells, other.local_window(center, 0.0).cells)


def test_nobody_can_write_into_what_is_handed_to_all(graph: Graph) -> None:
    handed, _ = graph.frame(1)
    for frame in handed.frames:
        for image in (frame.rgb, frame.depth):
            with pytest.raises(ValueError, match="read-only"):
                image[0, 0] = 0


def test_every_consumer_gets_every_frame_once(graph: Graph) -> None:
    for number in (1, 2, 3, 4, 5, 6):
        graph.frame(number)
    for delivered in (graph.handed, graph.received):
        assert [frame_set.ns // PERIOD for frame_set in delivered] == [1, 2, 3, 4, 5, 6]


def test_a_frame_on_topics_is_waited_for_a_while_and_one_within_a_process_for_ever(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(frame_source.time, "monotonic", lambda: clock[0])
    reader = Reader()
    waited = []
    for now in (100.0, 100.0 + frame_source.LATE, 100.1 + frame_source.LATE):
        clock[0] = now
        waited.append(reader.frames.has_lost(PERIOD))
        assert not InProcessFrames().has_lost(PERIOD)
    assert waited == [False, False, True]
    assert not reader.frames.has_lost(2 * PERIOD), "the next frame has its own time"
    reader.destroy_node()
