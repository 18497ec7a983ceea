"""The mapper's node: what readers get, files by service, and frames that are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Point, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission import names
from esar_ros.msg import Brief, Clue, Clues, Tick
from esar_ros.nodes import convert, voxel_mapper
from esar_ros.nodes.frames import FrameSet, InProcessFrames
from esar_ros.nodes.interface import BY_NAME
from esar_ros.nodes.qos import PROFILES
from esar_ros.nodes.steps import to_stamp
from esar_ros.nodes.types import message_class
from esar_ros.perception.backend import CameraFrame

Spin = Callable[..., bool]
BEAM = np.array([[30.2, 0.2, 45.2], [15.0, 0.1, 42.6]])  # where that beam ends and what it crosses
SECOND = 1_000_000_000
OUTPUTS = (names.MAP_POINTS, names.MAP_GRID, names.MAP_FRONTIERS, names.MAP_LOCAL, names.MAP_STATUS, names.MAP_COVERAGE)
MODEL = CameraModel.from_horizontal_fov(64, 48, np.pi / 2)
DOWN = Pose(np.array([0.0, 0.0, 40.0]), quaternion_from_rotation(optical_rotation(0.0, -np.pi / 2)))


@dataclass
class Graph:
    """The node in real time, what it has sent, and the world around it."""

    spin: Spin
    world: Node
    mapper: voxel_mapper.VoxelMapperNode
    frames: InProcessFrames
    sent: dict[str, list[Any]] = field(default_factory=dict)

    def say(self, name: str, message: Any) -> None:
        entry = BY_NAME[name]
        if not hasattr(self, "_" + name):
            publisher = self.world.create_publisher(message_class(entry.type), name, PROFILES[entry.quality])
            setattr(self, "_" + name, publisher)
            assert self.spin([], lambda: publisher.get_subscription_count() > 0)
        getattr(self, "_" + name).publish(message)

    def fly(self, ns: int, stamp: int | None = None, depth: float = 40.0) -> None:
        """Odometry of an instant and a frame with a stamp."""
        before = self.mapper.inbox(names.ODOMETRY).arrived
        self.say(names.ODOMETRY, self.odometry(ns))
        assert self.spin([], lambda: self.mapper.inbox(names.ODOMETRY).arrived > before)
        self.hand_over(ns if stamp is None else stamp, depth)

    def odometry(self, ns: int) -> Odometry:
        odometry = Odometry()
        odometry.header.stamp = to_stamp(ns)
        odometry.pose.pose.position.z = 40.0
        odometry.pose.pose.orientation.w = 1.0
        return odometry

    def hand_over(self, when: int, depth: float) -> None:
        """A frame of one camera that looks straight down."""
        picture = np.full((48, 64), depth, np.float32)
        rgb = np.zeros((48, 64, 3), np.uint8)
        self.frames.publish(FrameSet(when, (CameraFrame("down", MODEL, DOWN, rgb, picture, when * 1e-9),)))

    def status(self) -> Any:
        return self.sent[names.MAP_STATUS][-1]

    def call(self, service: str) -> Trigger.Response:
        client = self.world.create_client(Trigger, f"voxel_mapper/{service}")
        assert self.spin([], client.service_is_ready)
        future = client.call_async(Trigger.Request())
        assert self.spin([], future.done)
        return future.result()


@pytest.fixture
def graph(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> Graph:
    return make_graph(ros, monkeypatch, {})


def make_graph(ros: Spin, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any]) -> Graph:
    init = Node.__init__
    overrides = [Parameter(name, value=value) for name, value in ({"pace": "realtime"} | parameters).items()]

    def in_namespace(self: Any, name: str, **options: Any) -> None:
        init(self, name, **{"namespace": "/uav1", "parameter_overrides": overrides} | options)

    monkeypatch.setattr("rclpy.node.Node.__init__", in_namespace)
    frames = InProcessFrames()
    graph = Graph(ros, Node("world"), voxel_mapper.VoxelMapperNode(frames), frames)
    for name in OUTPUTS:
        entry, kept = BY_NAME[name], graph.sent.setdefault(name, [])
        graph.world.create_subscription(message_class(entry.type), name, kept.append, PROFILES[entry.quality])
    assert ros([graph.world, graph.mapper], lambda: all(graph.mapper.wanted(name) for name in OUTPUTS))
    transform = TransformStamped(child_frame_id="uav1/odom")
    transform.header.frame_id = names.MAP
    transform.transform.rotation.w = 1.0
    graph.say(names.TF_STATIC, TFMessage(transforms=[transform]))
    corners = ((-80.0, -80.0), (80.0, -80.0), (80.0, 80.0), (-80.0, 80.0))
    graph.say(names.BRIEF, Brief(area=[Point(x=x, y=y) for x, y in corners]))
    assert ros([], lambda: not graph.mapper.waiting_for())
    return graph


def test_readers_get_one_map_in_their_own_words(graph: Graph) -> None:
    graph.fly(SECOND)
    assert graph.spin([], lambda: all(graph.sent[name] for name in OUTPUTS))
    status, points, grid = graph.status(), graph.sent[names.MAP_POINTS][-1], graph.sent[names.MAP_GRID][-1]
    assert status.occupied == points.width > 1000 and status.frames == 1 and not status.refused
    xyz = np.frombuffer(points.data, np.float32).reshape(-1, 4)
    assert (xyz[:, 2] == xyz[:, 3]).all() and set(np.unique(xyz[:, 2])) <= {-0.5, 0.5}
    assert [f.name for f in points.fields] == ["x", "y", "z", "intensity"]
    assert grid.info.resolution == 2.0 and len(grid.data) == grid.info.width * grid.info.height > 0
    assert graph.sent[names.MAP_FRONTIERS][-1].markers[0].action == 3  # all older ones go
    assert graph.sent[names.MAP_LOCAL][-1].size_x == 96 and max(graph.sent[names.MAP_COVERAGE][-1].data) > 40
    (finding,) = graph.mapper.diagnose()
    assert finding.message == "ok" and finding.values["frames"] == 1


def test_grids_and_frontiers_come_at_two_hertz_and_windows_with_every_frame(graph: Graph) -> None:
    for n in range(11):
        graph.fly(SECOND + n * SECOND // 10)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_LOCAL]) == 11)
    assert len(graph.sent[names.MAP_GRID]) == len(graph.sent[names.MAP_FRONTIERS]) == 3


def test_a_window_says_how_old_its_newest_frame_is(graph: Graph) -> None:
    graph.fly(SECOND, depth=40_000.0)
    graph.fly(2 * SECOND)
    graph.fly(3 * SECOND)
    graph.fly(5 * SECOND, depth=40_000.0)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_LOCAL]) == 4)
    assert [message.age for message in graph.sent[names.MAP_LOCAL]] == [np.inf, 0.0, 0.0, 2.0]
    stamps = [convert.window_of(message).stamp for message in graph.sent[names.MAP_LOCAL]]
    assert stamps == [-np.inf, 2.0, 3.0, 3.0]


def test_refused_frames_are_told_and_change_nothing(graph: Graph) -> None:
    graph.fly(SECOND)
    graph.fly(2 * SECOND, stamp=30 * SECOND)
    graph.fly(3 * SECOND, depth=40_000.0)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_STATUS]) == 3)
    first, future, millimetres = graph.sent[names.MAP_STATUS]
    assert "future" in future.refused_reason and "metres" in millimetres.refused_reason
    assert millimetres.refused == 2 and millimetres.frames == 1
    assert (millimetres.occupied, millimetres.free) == (first.occupied, first.free)
    assert "refused" in graph.mapper.diagnose()[0].message


def test_the_map_is_saved_and_loaded_by_service(graph: Graph, tmp_path: Path) -> None:
    answer = graph.call("save_map")
    assert not answer.success and "map_file" in answer.message
    path = tmp_path / "map.vox"
    graph.mapper.set_parameters([Parameter("map_file", value=str(path))])
    answer = graph.call("load_map")
    assert not answer.success and not path.exists()
    graph.fly(SECOND)
    assert graph.call("save_map").success and path.stat().st_size > 100
    graph.fly(2 * SECOND, depth=30.0)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_STATUS]) == 2)
    assert graph.status().occupied > graph.sent[names.MAP_STATUS][0].occupied
    assert graph.call("load_map").success
    graph.fly(3 * SECOND)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_STATUS]) == 3)
    assert graph.status().occupied == graph.sent[names.MAP_STATUS][0].occupied
    path.write_bytes(path.read_bytes()[:-20])
    answer = graph.call("load_map")
    assert not answer.success and "damaged" in answer.message
    assert graph.mapper.diagnose()[0].values["voxels occupied"] == graph.status().occupied


def test_points_take_the_colour_of_what_was_found_there(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(ros, monkeypatch, {"points_color": "class"})
    clue = Clue(kind="tent", position=Point(x=5.0, y=5.0, z=0.0))
    graph.say(names.CLUES, Clues(clues=[clue]))
    assert ros([], lambda: graph.mapper.inbox(names.CLUES).newest is not None)
    graph.fly(SECOND)
    assert ros([], lambda: bool(graph.sent[names.MAP_POINTS]))
    cloud: PointCloud2 = graph.sent[names.MAP_POINTS][-1]
    assert cloud.fields[3].name == "rgb"
    points = np.frombuffer(cloud.data, np.float32).reshape(-1, 4)
    colored = points.view(np.uint32)[:, 3] != voxel_mapper.GREY
    away = np.linalg.norm(points[:, :3] - (5.0, 5.0, 0.0), axis=1)
    assert colored.any() and (away[colored] <= 2.0).all() and (away[~colored] > 2.0).all()


def scan_of_one_beam(ns: int) -> PointCloud2:
    cloud = PointCloud2(height=1, width=1, point_step=12, row_step=12)
    cloud.header.stamp = to_stamp(ns)
    cloud.data = np.array([[30.2, 0.2, 5.2]], np.float32).tobytes()
    return cloud


def test_lidar_scans_go_into_the_same_map(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(ros, monkeypatch, {"lidar": True})
    graph.fly(SECOND)
    graph.say(names.LIDAR_POINTS, scan_of_one_beam(SECOND))
    assert ros([], lambda: graph.mapper._mapper.map.state(BEAM).tolist() == [2, 1])


def test_in_lockstep_a_step_with_ranges_waits_for_its_scan(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(ros, monkeypatch, {"lidar": True, "pace": "lockstep"})
    graph.fly(SECOND)
    tick = Tick(epoch=1, seq=1, kinds=Tick.RANGES, period=0.05)
    tick.header.stamp = to_stamp(SECOND)
    graph.say(names.TICK, tick)
    assert not ros([], lambda: graph.mapper._answered is not None, 0.5)
    graph.say(names.LIDAR_POINTS, scan_of_one_beam(2 * SECOND))
    assert not ros([], lambda: graph.mapper._answered is not None, 0.5)
    graph.say(names.LIDAR_POINTS, scan_of_one_beam(SECOND))
    assert ros([], lambda: graph.mapper._answered is not None)
    assert graph.mapper._mapper.map.state(BEAM).tolist() == [2, 1]
    once = graph.mapper._mapper.map.log_odds(BEAM)
    tick.seq, tick.kinds = 2, Tick.RANGES | Tick.FRAME  # the frame comes last: asked again, the scan counts once
    tick.header.stamp = to_stamp(2 * SECOND)
    graph.say(names.TICK, tick)
    assert not ros([], lambda: graph.mapper._answered == (1, 2), 0.5)
    graph.say(names.ODOMETRY, graph.odometry(2 * SECOND))
    assert not ros([], lambda: graph.mapper._answered == (1, 2), 0.5)
    graph.hand_over(2 * SECOND, np.nan)
    assert ros([], lambda: graph.mapper._answered == (1, 2))
    np.testing.assert_allclose(graph.mapper._mapper.map.log_odds(BEAM), 2.0 * once)
    tick.seq, tick.absent, tick.epoch = 3, ["camera_driver"], 2
    tick.header.stamp = to_stamp(3 * SECOND)
    graph.fly(3 * SECOND)
    graph.say(names.TICK, tick)
    assert ros([], lambda: graph.mapper._answered == (2, 3))
