"""The graph of a real vehicle: who is in it, who is not, and that a flight begins when a person says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.versions import DEFAULT, RELEASES
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.graph.mission import (
    BAD_INPUT,
    PX4_TAU,
    REFEREE_RECORDER,
    SENSING,
    SIMULATOR,
    MissionOptions,
    mission_graph,
)
from esar_ros.nodes.graph.px4 import STARTING, ends_launch, vehicle_graph

REAL = MissionOptions(
    map="aotai", seed=7, world="px4", pace="realtime", use_sim_time=False, detector="another", vehicles=("uav1", "uav2")
)


def test_nobody_who_knows_the_truth_is_there() -> None:
    specs = vehicle_graph(REAL)
    executables = {spec.executable for spec in specs}
    assert executables.isdisjoint({SIMULATOR, REFEREE_RECORDER, SENSING, node_names.AIRSIM_BRIDGE, node_names.REFEREE})
    assert not any(spec.truth for spec in specs)
    assert not any(spec.parameters["use_sim_time"] for spec in specs)


def test_every_vehicle_has_the_control_chain() -> None:
    spaces: dict[str, set[str]] = {}
    for spec in vehicle_graph(REAL):
        spaces.setdefault(spec.namespace, set()).add(spec.executable)
    chain = {
        node_names.PX4_BRIDGE, node_names.SAFETY_GOVERNOR, node_names.PILOT, node_names.CLUE_DETECTOR,
        node_names.VOXEL_MAPPER, node_names.PLANNER, node_names.RANGE_DRIVER,
    }  # fmt: skip
    assert spaces == {"": {node_names.MISSION_CONTROL, node_names.RECORDER}, "/uav1": chain, "/uav2": chain}


def test_only_who_refuses_its_input_at_the_start_ends_a_launch() -> None:
    assert ends_launch(BAD_INPUT, 3.0)
    assert not ends_launch(BAD_INPUT, STARTING + 1.0), "its vehicle may fly by then"
    assert not ends_launch(1, 3.0) and not ends_launch(-9, 300.0)


@pytest.mark.parametrize(("ranges", "told"), [("lidar", ["lidar"] * 2), ("depth", ["depth"] * 2), ("none", [])])
def test_ranges_are_made_of_what_is_said(ranges: str, told: list[str]) -> None:
    graph = [spec for spec in vehicle_graph(REAL, ranges) if spec.executable == node_names.RANGE_DRIVER]
    assert [spec.parameters["source"] for spec in graph] == told


def test_governors_and_planners_know_the_other_vehicles() -> None:
    told = {
        (spec.namespace, spec.executable): spec.parameters["others"]
        for spec in vehicle_graph(REAL)
        if "others" in spec.parameters
    }
    pairs, nodes = (
        (("/uav1", "uav2"), ("/uav2", "uav1")),
        (node_names.SAFETY_GOVERNOR, node_names.PILOT, node_names.PLANNER),
    )
    assert told == {(space, node): [other] for space, other in pairs for node in nodes}


def test_an_autopilot_that_was_not_calibrated_is_taken_for_slow() -> None:
    """Governor and pilot alike, and in no world but this; a parameter file comes after it and wins."""
    simulated = mission_graph(replace(REAL, vehicles=("uav1",)))
    for specs in (vehicle_graph(REAL), simulated):
        told = {spec.executable: spec.parameters["limits.tau"] for spec in specs if "limits.tau" in spec.parameters}
        assert told == {node_names.SAFETY_GOVERNOR: PX4_TAU, node_names.PILOT: PX4_TAU}
    embedded = mission_graph(MissionOptions(map="aotai", seed=7))
    assert not any("limits.tau" in spec.parameters for spec in embedded)


def test_a_detector_that_reads_the_simulator_is_refused() -> None:
    with pytest.raises(UsageError, match="segmentation_oracle"):
        vehicle_graph(replace(REAL, detector="segmentation_oracle"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("preset", "fast"),
        ("odometry", "true"),
        ("fault", "/faults.yaml"),
        ("view", 8643),
        ("foxglove", 0),
        ("host", "192.0.2.1"),
        ("port", 4000),
        ("use_sim_time", True),
    ],
)
def test_what_nothing_in_it_heeds_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} means nothing"):
        vehicle_graph(replace(REAL, **{name: value}))


# -- settings -----------------------------------------------------------------------------------


def test_the_settings_that_come_with_it() -> None:
    settings = load_px4_settings()
    assert settings.release == DEFAULT in RELEASES
    assert settings.timing.fresh < 1.0 < settings.timing.stream, "PX4's own limit is a second"
    addresses = [settings.address(f"uav{k + 1}", k) for k in range(3)]
    assert [(a.namespace, a.system_id) for a in addresses] == [("", 1), ("px4_1", 2), ("px4_2", 3)]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"release": "1.14"}, "1.14"),
        ({"stream": 0.5}, "stream"),
        ({"heartbeat": 0.6}, "heartbeat"),
        ({"fresh": 1.0}, "fresh"),
        ({"vehicles": {"uav1": {"system_id": 0}}}, "system_id"),
        ({"vehicles": {"uav1": {"namespace": "a b"}}}, "namespace"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_settings_are_refused_by_name(tmp_path: Path, wrong: dict[str, Any], words: str) -> None:
    path = tmp_path / "px4.yaml"
    path.write_text(yaml.safe_dump(wrong))
    with pytest.raises(UsageError, match=words):
        load_px4_settings(path)


def test_a_vehicle_s_own_address_wins(tmp_path: Path) -> None:
    path = tmp_path / "px4.yaml"
    path.write_text(yaml.safe_dump({"vehicles": {"uav2": {"namespace": "drone", "system_id": 9}}}))
    settings = load_px4_settings(path)
    assert settings.address("uav2", 1).namespace == "drone"
    assert settings.address("uav3", 2).system_id == 3


# -- mission_control ------------------------------------------------------------------------------------


def test_a_flight_begins_when_a_person_says_so_and_home_is_where_the_vehicle_stands(ros: Callable[..., bool]) -> None:
    import rclpy
    from nav_msgs.msg import Odometry
    from rcl_interfaces.msg import Log
    from rclpy.parameter import Parameter
    from std_srvs.srv import Trigger
    from tf2_msgs.msg import TFMessage

    from esar_ros.geometry.frames import Pose
    from esar_ros.mission import names
    from esar_ros.msg import Brief, MissionState, Report, VehicleState
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.core.steps import to_stamp
    from esar_ros.nodes.messages.vehicle import transform_message
    from esar_ros.nodes.mission_control import WAITING, MissionControlNode

    quality = lambda name: PROFILES[BY_NAME[name].quality]  # noqa: E731
    context = rclpy.get_default_context()
    assert context.ok()
    mission_control = make_node(MissionControlNode, [Parameter("vehicles", value=["uav1"])])
    user = rclpy.create_node("user")
    briefs: list[Any] = []
    states: list[Any] = []
    user.create_subscription(Brief, f"uav1/{names.BRIEF}", briefs.append, quality(names.BRIEF))
    user.create_subscription(MissionState, f"uav1/{names.MISSION_STATE}", states.append, quality(names.MISSION_STATE))
    acts: list[tuple[str, str]] = []
    user.create_subscription(
        Log, f"uav1/{names.OPERATOR_ACT}", lambda act: acts.append((act.name, act.msg)), quality(names.OPERATOR_ACT)
    )
    start, stop = (user.create_client(Trigger, f"mission_control/{verb}") for verb in ("start", "stop"))
    nodes = [mission_control, user]

    def call(client: Any) -> Any:
        future = client.call_async(Trigger.Request())
        assert ros(nodes, future.done)
        return future.result()

    assert ros(nodes, lambda: bool(briefs) and start.service_is_ready() and stop.service_is_ready())
    assert briefs[-1].mission_id == WAITING
    assert not call(start).success, "nobody knows where the vehicle is"
    static = user.create_publisher(TFMessage, names.TF_STATIC, quality(names.TF_STATIC))
    odometry = user.create_publisher(Odometry, f"uav1/{names.ODOMETRY}", quality(names.ODOMETRY))
    pose = Pose(np.array([100.0, -50.0, 7.0]))
    static.publish(TFMessage(transforms=[transform_message(names.MAP, "uav1/odom", pose, to_stamp(1))]))
    where = Odometry()
    where.pose.pose.position.x = 3.0
    where.pose.pose.orientation.w = 1.0

    told = user.create_publisher(VehicleState, f"uav1/{names.VEHICLE_STATE}", quality(names.VEHICLE_STATE))
    state = VehicleState(armed=True, landed=VehicleState.LANDED_FLYING)

    def home_is_known() -> bool:
        odometry.publish(where)
        told.publish(state)
        return briefs[-1].mission_id != WAITING

    # A process that was started again in flight: what lies below the vehicle is no home to which it returns.
    assert not ros(nodes, home_is_known, 3.0)
    refused = call(start)
    assert not refused.success and "uav1 is armed or in the air" in refused.message
    state.armed, state.landed = False, VehicleState.LANDED_ON_GROUND
    assert ros(nodes, home_is_known)
    assert [briefs[-1].home.x, briefs[-1].home.y, briefs[-1].home.z] == [103.0, -50.0, 7.0]
    assert ros(nodes, lambda: bool(states))
    assert states[-1].phase == MissionState.PREPARING
    assert call(start).success and not call(start).success
    assert ros(nodes, lambda: states[-1].phase == MissionState.RUNNING)
    reports = user.create_publisher(Report, f"uav1/{names.REPORTS}", quality(names.REPORTS))
    for number in (1, 2, 2):
        reports.publish(Report(seq=number))
    assert ros(nodes, lambda: states[-1].reports == 2), "a planner that is started again numbers its own from 3 on"
    assert call(stop).success
    assert ros(nodes, lambda: states[-1].phase == MissionState.ENDED)
    assert states[-1].end == MissionState.END_ABORTED
    assert ros(nodes, lambda: acts == [("mission_control", "start"), ("mission_control", "stop")])


def test_a_planner_that_fails_ends_the_mission_as_an_error(ros: Callable[..., bool]) -> None:
    from rclpy.parameter import Parameter

    from esar_ros.mission.decision import DecisionStatus
    from esar_ros.msg import Decision, MissionState
    from esar_ros.nodes.mission_control import MissionControlNode

    mission_control = make_node(MissionControlNode, [Parameter("vehicles", value=["uav1"])])
    failed = Decision(status=int(DecisionStatus.FAILED), trouble="KeyError: 'x' (mine.py, line 7)")
    mission_control._on_decision("uav1", failed)
    assert mission_control._phase == MissionState.PREPARING, "there is none yet"
    mission_control._phase = MissionState.RUNNING
    mission_control._on_decision("uav1", failed)
    assert (mission_control._phase, mission_control._end) == (MissionState.ENDED, MissionState.END_ERROR)
    assert mission_control._text == "uav1: the planner failed: KeyError: 'x' (mine.py, line 7)"


def test_vehicles_share_out_the_report_cap(ros: Callable[..., bool]) -> None:
    import rclpy
    from rclpy.parameter import Parameter

    from esar_ros.mission import names
    from esar_ros.mission.thresholds import load_thresholds
    from esar_ros.msg import Brief
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.mission_control import MissionControlNode

    mission_control = make_node(MissionControlNode, [Parameter("vehicles", value=["uav1", "uav2"])])
    user = rclpy.create_node("user")
    briefs: list[Any] = []
    user.create_subscription(Brief, f"uav2/{names.BRIEF}", briefs.append, PROFILES[BY_NAME[names.BRIEF].quality])
    assert ros([mission_control, user], lambda: bool(briefs))
    assert briefs[0].report_cap == load_thresholds().report_cap // 2


def make_node(kind: Any, parameters: list[Any]) -> Any:
    """A node that takes no arguments, with parameters."""
    from rclpy.node import Node

    original = Node.__init__

    def with_parameters(self: Any, name: str, **options: Any) -> None:
        original(self, name, parameter_overrides=parameters, **options)

    Node.__init__ = with_parameters  # type: ignore[method-assign]
    try:
        return kind()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]


# -- pictures of drivers ------------------------------------------------------------------------


class Wire:
    """Stands for a node in real time: keeps what is subscribed to and delivers by hand."""

    lockstep = False
    vehicles = ("uav1",)

    def __init__(self) -> None:
        self.boxes: dict[str, Any] = {}
        self.callbacks: dict[str, list[Callable[[Any], None]]] = {}

    def input(self, name: str, callback: Any = None, vehicle: Any = None, kept: int = 8) -> Any:
        from esar_ros.nodes.core.steps import Inbox

        self.callbacks.setdefault(name, []).extend([callback] if callback else [])
        return self.boxes.setdefault(name, Inbox(kept))

    def await_input(self, name: str, vehicle: Any = None) -> Any:
        return self.boxes[name]

    def lacks_transform(self, ns: int) -> bool:
        return False

    def deliver(self, name: str, message: Any, ns: int) -> None:
        self.boxes[name].put(ns, message)
        for callback in self.callbacks[name]:
            callback(message)


def drivers_frames(offsets: dict[str, int], lag: int) -> list[Any]:
    """Frames made of one image per camera, each `offsets` ns off, with odometry `lag` ns after the newest."""
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import CameraInfo, Image
    from tf2_msgs.msg import TFMessage

    from esar_ros.mission import names
    from esar_ros.mission.vehicle import load_vehicle
    from esar_ros.nodes.core.steps import to_stamp
    from esar_ros.nodes.messages.frame_source import TopicFrames

    wire = Wire()
    frames: list[Any] = []
    source = TopicFrames(wire, load_vehicle())  # type: ignore[arg-type]
    source.subscribe(frames.append)
    static = TransformStamped(child_frame_id="uav1/odom")
    static.header.frame_id = names.MAP
    wire.deliver(names.TF_STATIC, TFMessage(transforms=[static]), 0)
    begin = 5_000_000_000
    for camera in names.CAMERAS:
        ns = begin + offsets.get(camera, 0)
        colour = Image(height=2, width=2, step=6, encoding="rgb8", data=bytes(12))
        depth = Image(height=2, width=2, step=8, encoding="32FC1", data=bytes(16))
        info = CameraInfo(width=2, height=2, k=[1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0])
        for topic, message in (
            (names.camera_image(camera), colour),
            (names.camera_depth(camera), depth),
            (names.camera_info(camera), info),
        ):
            message.header.stamp = to_stamp(ns)
            wire.deliver(topic, message, ns)
    for ns in (begin + max([0, *offsets.values()]) + lag,) * 2:
        odometry = Odometry()
        odometry.header.stamp = to_stamp(ns)
        odometry.pose.pose.orientation.w = 1.0
        wire.deliver(names.ODOMETRY, odometry, ns)
    return frames


def test_pictures_with_stamps_of_their_own_make_one_frame() -> None:
    frames = drivers_frames({"left": 30_000_000, "down": -40_000_000}, lag=7_000_000)
    assert [frame.ns for frame in frames] == [5_030_000_000], "once, at the newest picture"
    assert len(frames[0].frames) == 4


@pytest.mark.parametrize(("offsets", "lag"), [({"left": 150_000_000}, 0), ({}, 80_000_000)])
def test_pictures_that_do_not_belong_together_or_lie_nowhere_make_none(offsets: dict[str, int], lag: int) -> None:
    assert drivers_frames(offsets, lag) == []
