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
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import PointCloud2, PointField
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission import names
from esar_ros.mission.clues import KINDS
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Brief, Detection, Detections, Tick
from esar_ros.nodes import voxel_mapper
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.frame_source import InProcessFrames
from esar_ros.nodes.messages.mapping import GREY
from esar_ros.safety.limits import load_limits
from esar_ros.safety.watch import usable

Spin = Callable[..., bool]
SUCCESS = TransitionCallbackReturn.SUCCESS
BEAM = np.array([[30.2, 0.2, 45.2], [15.0, 0.1, 42.6]])  # where that beam ends and what it crosses
SECOND = 1_000_000_000
CORNERS = ((-80.0, -80.0), (80.0, -80.0), (80.0, 80.0), (-80.0, 80.0))
OUTPUTS = (
    names.MAP_POINTS, names.MAP_GRID, names.MAP_FRONTIERS, names.MAP_LOCAL, names.MAP_STATUS, names.MAP_COVERAGE,
    names.MAP_CLASSES,
)  # fmt: skip
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

    def brief(self) -> None:
        """The search area, taken in."""
        self.say(names.BRIEF, Brief(area=[Point(x=x, y=y) for x, y in CORNERS]))
        assert self.spin([], lambda: not self.mapper.waiting_for())

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
        image = np.full((48, 64), depth, np.float32)
        rgb = np.zeros((48, 64, 3), np.uint8)
        self.frames.publish(FrameSet(when, (CameraFrame("down", MODEL, DOWN, image, rgb, when * 1e-9),)))

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


class Member:
    """One vehicle's mapper of a team in lockstep, and the world around it."""

    def __init__(self, spin: Spin, world: Node, vehicle: str, shared: voxel_mapper.SharedMap) -> None:
        self.spin, self.world, self.vehicle = spin, world, vehicle
        self.frames = InProcessFrames()
        self.mapper = voxel_mapper.VoxelMapperNode(self.frames, f"/{vehicle}", shared)
        self._publishers: dict[str, Any] = {}

    def say(self, name: str, message: Any) -> None:
        entry = BY_NAME[name]
        if name not in self._publishers:
            full = name if name.startswith("/") else f"/{self.vehicle}/{name}"
            self._publishers[name] = self.world.create_publisher(
                message_class(entry.type), full, PROFILES[entry.quality]
            )
            assert self.spin([], lambda: self._publishers[name].get_subscription_count() > 0)
        self._publishers[name].publish(message)

    def tick(self, n: int, absent: tuple[str, ...] = ()) -> None:
        """A frame of this number: its odometry, its (empty) detections and its tick."""
        stamp = to_stamp(n * SECOND)
        odometry, found, tick = Odometry(), Detections(), Tick(epoch=1, seq=n, kinds=Tick.FRAME, absent=absent)
        for message in (odometry, found, tick):
            message.header.stamp = stamp
        odometry.pose.pose.orientation.w = 1.0
        self.say(names.ODOMETRY, odometry)
        self.say(names.DETECTIONS, found)
        self.say(names.TICK, tick)

    def depth(self, n: int) -> Any:
        """All look at the same column, the first vehicle to the ground and the others to a roof that comes and goes."""
        return np.full((48, 64), 40.0 if self.vehicle == "uav1" else 40.0 - 8.0 * (n % 2), np.float32)

    def hand_over(self, n: int) -> None:
        rgb, when = np.zeros((48, 64, 3), np.uint8), n * SECOND
        self.frames.publish(FrameSet(when, (CameraFrame("down", MODEL, DOWN, self.depth(n), rgb, when * 1e-9),)))

    def answered(self, n: int) -> bool:
        answered = self.mapper._ticks.answered
        return answered is not None and answered[1] == n


def make_team(ros: Spin, shared: voxel_mapper.SharedMap) -> dict[str, Member]:
    world = Node("world")
    ros([world], lambda: False, 0.0)
    team = {}
    for vehicle in shared.barrier.members:
        member = team[vehicle] = Member(ros, world, vehicle, shared)
        ros([member.mapper], lambda: False, 0.0)
    for vehicle, member in team.items():
        transform = TransformStamped(child_frame_id=f"{vehicle}/odom")
        transform.header.frame_id = names.MAP
        transform.transform.rotation.w = 1.0
        member.say(names.TF_STATIC, TFMessage(transforms=[transform]))
        member.say(names.BRIEF, Brief(area=[Point(x=x, y=y) for x, y in CORNERS]))
    assert ros([], lambda: not any(member.mapper.waiting_for() for member in team.values()))
    return team


def make_graph(ros: Spin, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any], briefed: bool = True) -> Graph:
    init = Node.__init__
    overrides = [Parameter(name, value=value) for name, value in ({"pace": "realtime"} | parameters).items()]

    def in_namespace(self: Any, name: str, **options: Any) -> None:
        given = {key: value for key, value in options.items() if value is not None}
        init(self, name, **{"namespace": "/uav1", "parameter_overrides": overrides} | given)

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
    if briefed:
        graph.brief()
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
    finding, _ = graph.mapper.diagnose()
    assert finding.message == "ok" and finding.values["frames"] == 1


def test_frames_of_drivers_that_come_before_the_brief_end_nothing(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(ros, monkeypatch, {}, briefed=False)
    assert ros([], lambda: graph.mapper.waiting_for() == "the brief")
    graph.fly(SECOND)
    graph.brief()
    graph.fly(2 * SECOND)
    assert graph.spin([], lambda: bool(graph.sent[names.MAP_STATUS]))
    assert graph.status().frames == 1 and not graph.status().refused


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


def test_deactivated_it_says_that_its_map_grows_old_and_cleaned_up_it_forgets(graph: Graph) -> None:
    mapper = graph.mapper
    graph.fly(SECOND)
    assert mapper.trigger_deactivate() is SUCCESS
    graph.fly(9 * SECOND)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_LOCAL]) == 2)
    window = convert.window_of(graph.sent[names.MAP_LOCAL][-1])
    limits = load_limits()
    assert not usable(window.stamp, 9.0, limits.map_age, limits.future), "stale to governor and pilot"
    assert mapper.trigger_cleanup() is SUCCESS
    graph.fly(10 * SECOND)
    answer = graph.call("save_map")
    assert not answer.success and "map_file" in answer.message
    assert mapper.diagnose()[0].message == "no frame yet"
    mapper.bring_up()
    assert not mapper.waiting_for(), "the brief is known still"
    graph.fly(11 * SECOND, depth=40_000.0)
    assert graph.spin([], lambda: len(graph.sent[names.MAP_LOCAL]) == 3), "unconfigured it says nothing"
    newest = graph.sent[names.MAP_LOCAL][-1]
    assert newest.age == np.inf and (convert.window_of(newest).cells == 0).all(), "nothing is known, so nothing is free"


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


def detections(ns: int) -> Detections:
    """A tent 0.6 m high in the middle of the picture of the camera that looks down."""
    tent = Detection(kind="tent", camera="down", x=30, y=22, width=6, height=6, has_position=True, pixels=36)
    tent.position = Point(x=1.0, y=1.0, z=0.0)
    unplaced = Detection(kind="rope", camera="down", x=0, y=0, width=64, height=48)
    elsewhere = Detection(kind="rope", camera="front", x=0, y=0, width=64, height=48, has_position=True)
    message = Detections(detections=[tent, unplaced, elsewhere])
    message.header.stamp = to_stamp(ns)
    return message


def test_the_ground_takes_the_class_of_what_was_detected_on_it(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make_graph(ros, monkeypatch, {"points_color": "class"})
    graph.fly(SECOND)
    graph.say(names.DETECTIONS, detections(SECOND))
    assert ros([], lambda: graph.mapper.inbox(names.DETECTIONS).newest is not None)
    graph.say(names.DETECTIONS, detections(2 * SECOND))  # before its frame
    assert ros([], lambda: graph.mapper.inbox(names.DETECTIONS).at(2 * SECOND) is not None)
    graph.fly(2 * SECOND)
    assert ros([], lambda: len(graph.sent[names.MAP_POINTS]) == 2 and len(graph.sent[names.MAP_CLASSES]) == 2)
    first, second = (message.data for message in graph.sent[names.MAP_CLASSES])
    assert set(first) == {-1} and set(second) == {-1, 1 + KINDS.index("tent")}
    votes = graph.mapper._mapper.classes.votes.sum(axis=0)
    assert votes.tolist() == [0, 72, *[0] * 12], "36 pixels in each of two frames, and nothing else"
    cloud: PointCloud2 = graph.sent[names.MAP_POINTS][-1]
    assert cloud.fields[3].name == "rgb"
    points = np.frombuffer(cloud.data, np.float32).reshape(-1, 4)
    colored = points.view(np.uint32)[:, 3] != GREY
    assert colored.any() and (np.abs(points[colored, :2]) <= 8.0).all() and not colored.all()


COLUMN = np.array([[0.5, 0.5, z + 0.5] for z in range(-2, 42)])


@pytest.mark.parametrize("order", [("uav1", "uav2"), ("uav2", "uav1")], ids="-".join)
def test_two_mappers_share_a_map_whatever_the_order_of_their_frames(ros: Spin, order: tuple[str, str]) -> None:
    shared = voxel_mapper.SharedMap(("uav1", "uav2"))
    team = make_team(ros, shared)
    first, last = (team[vehicle] for vehicle in order)
    wanted = Mapper(1.0, load_vehicle().image.depth_max, 120.0)
    wanted.set_area(np.array(CORNERS), np.zeros(3))
    for n in range(1, 4):
        for member in (first, last):
            member.tick(n)
        first.hand_over(n)
        assert ros([], lambda: first.vehicle in shared.barrier._offered)
        assert not first.answered(n), "waits for the other's frame"
        last.hand_over(n)
        assert ros([], lambda: first.answered(n) and last.answered(n))  # noqa: B023
        for vehicle in shared.barrier.members:
            wanted.integrate([CameraFrame("down", MODEL, DOWN, team[vehicle].depth(n))])
    assert shared.mapper is not None and first.mapper._mapper is last.mapper._mapper is shared.mapper
    np.testing.assert_array_equal(shared.mapper.map.log_odds(COLUMN), wanted.map.log_odds(COLUMN))
    assert len(set(shared.mapper.map.log_odds(COLUMN))) > 2
    last.tick(4, ("voxel_mapper",))
    first.tick(4)
    first.hand_over(4)
    assert ros([], lambda: first.answered(4)), "the other's mapper is not there to be waited for"


def test_a_teams_map_lives_as_long_as_one_of_its_mappers(ros: Spin) -> None:
    shared = voxel_mapper.SharedMap(("uav1", "uav2"))
    members = [member.mapper for member in make_team(ros, shared).values()]
    whole = shared.mapper
    for mapper, left in zip(members, (whole, None), strict=True):
        assert mapper.trigger_deactivate() is mapper.trigger_cleanup() is SUCCESS
        assert shared.mapper is left
    members[0].bring_up()
    members[1].bring_up()
    assert members[0]._mapper is members[1]._mapper is not whole


def nothing(ns: int) -> Detections:
    message = Detections()
    message.header.stamp = to_stamp(ns)
    return message


def scan_of_one_beam(ns: int) -> PointCloud2:
    cloud = PointCloud2(height=1, width=1, point_step=12, row_step=12)
    cloud.header.stamp = to_stamp(ns)
    cloud.fields = [PointField(name=name, offset=4 * k, datatype=7, count=1) for k, name in enumerate("zyx")]
    cloud.data = np.array([[5.2, 0.2, 30.2]], np.float32).tobytes()
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
    ticks, scans = graph.mapper._ticks, graph.mapper.inbox(names.LIDAR_POINTS)
    assert ros([], lambda: ticks.due() is not None)
    graph.say(names.LIDAR_POINTS, scan_of_one_beam(2 * SECOND))
    assert ros([], lambda: scans.newest is not None)
    assert graph.mapper._ticks.answered is None
    graph.say(names.LIDAR_POINTS, scan_of_one_beam(SECOND))
    assert ros([], lambda: ticks.answered is not None)
    assert graph.mapper._mapper.map.state(BEAM).tolist() == [2, 1]
    once = graph.mapper._mapper.map.log_odds(BEAM)
    tick.seq, tick.kinds = 2, Tick.RANGES | Tick.FRAME  # the frame comes last: asked again, the scan counts once
    tick.header.stamp = to_stamp(2 * SECOND)
    graph.say(names.TICK, tick)
    assert ros([], lambda: ticks.due() is not None)
    graph.say(names.ODOMETRY, graph.odometry(2 * SECOND))
    assert ros([], lambda: graph.mapper.inbox(names.ODOMETRY).at(2 * SECOND) is not None)
    graph.hand_over(2 * SECOND, np.nan)
    assert ros([], lambda: 2 * SECOND in graph.mapper._frames)
    assert ticks.answered == (1, 1)
    graph.say(names.DETECTIONS, nothing(2 * SECOND))
    assert ros([], lambda: ticks.answered == (1, 2))
    np.testing.assert_allclose(graph.mapper._mapper.map.log_odds(BEAM), 2.0 * once)
    tick.seq, tick.absent, tick.epoch = 3, ["camera_driver"], 2
    tick.header.stamp = to_stamp(3 * SECOND)
    graph.fly(3 * SECOND)
    graph.say(names.DETECTIONS, nothing(3 * SECOND))
    graph.say(names.TICK, tick)
    assert ros([], lambda: graph.mapper._ticks.answered == (2, 3))
