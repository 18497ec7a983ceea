"""A stranger among the writers of what moves a vehicle: both bridges hold, on real DDS, and nobody stops the motors."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import SafetyStatus
from esar_ros.nodes import airsim_bridge, px4_bridge
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.messages.vehicle import mount_transforms, transform_message
from helpers.lone_bridges import Link, Remote, make_node

PERIOD = 0.02  # s


class Writer(Node):
    """Publishes commands of 2 m/s and statuses of a mode, 50 times a second, stamped as the bridge wants them."""

    def __init__(self, name: str, stamp: Callable[[], Any], mode: int) -> None:
        super().__init__(name, namespace="/uav1")
        self.mode, self._stamp = mode, stamp
        quality = lambda topic: PROFILES[BY_NAME[topic].quality]  # noqa: E731
        self.command = self.create_publisher(TwistStamped, names.CMD_VEL_SAFE, quality(names.CMD_VEL_SAFE))
        self.status = self.create_publisher(SafetyStatus, names.SAFETY_STATUS, quality(names.SAFETY_STATUS))
        self.create_timer(PERIOD, self.say, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def say(self) -> None:
        command = TwistStamped()
        command.header.stamp, command.twist.linear.x = self._stamp(), 2.0
        self.command.publish(command)
        self.status.publish(SafetyStatus(mode=self.mode, has_height=True, height=20.0))


class Stranger(Node):
    """A tool that publishes statuses which terminate."""

    def __init__(self) -> None:
        super().__init__("tool", namespace="/uav1")
        entry = BY_NAME[names.SAFETY_STATUS]
        self.status = self.create_publisher(SafetyStatus, names.SAFETY_STATUS, PROFILES[entry.quality])

    def terminate(self) -> None:
        self.status.publish(SafetyStatus(mode=SafetyStatus.MODE_TERMINATE))


@pytest.fixture
def make_bridge(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """make_bridge(namespace): the bridge in real time, without a simulator."""
    client = SimpleNamespace(call=lambda *_: None, close=lambda: None)
    monkeypatch.setattr(airsim_bridge, "AirSimVehicle", Remote)
    monkeypatch.setattr(airsim_bridge.Server, "of", lambda node: SimpleNamespace(connect=lambda: client))
    for name in ("tell_frames", "tell"):
        monkeypatch.setattr(airsim_bridge.StateOut, name, lambda self, *_: None)
    return lambda space: make_node(airsim_bridge.AirSimBridgeNode, space, {"pace": "realtime"})


@pytest.fixture
def airsim(ros: Any, make_bridge: Callable[[str], Any]) -> Any:
    """The bridge, its vehicle, and its governor."""
    bridge = make_bridge("/")
    craft = bridge._bridged["uav1"]
    governor = Writer(node_names.SAFETY_GOVERNOR, lambda: airsim_bridge.to_stamp(bridge._ns), SafetyStatus.MODE_NORMAL)
    assert ros([bridge, governor], lambda: [2.0, 0.0, 0.0] in craft.remote.sent)
    return SimpleNamespace(bridge=bridge, craft=craft, remote=craft.remote, governor=governor, ros=ros)


def wait(ros: Any, seconds: float) -> None:
    until = time.monotonic() + seconds
    ros([], lambda: time.monotonic() > until, seconds + 10.0)


def test_the_airsim_bridge_does_not_obey_one_foreign_termination(airsim: Any) -> None:
    stranger = Stranger()
    assert airsim.ros([stranger], lambda: stranger.status.get_subscription_count() > 0)
    for _ in range(5):
        stranger.terminate()
        wait(airsim.ros, 0.1)
    assert airsim.ros([], lambda: "/uav1/tool" in airsim.craft.authority.complaint)
    del airsim.remote.sent[:]
    for _ in range(30):
        stranger.terminate()
        wait(airsim.ros, 0.03)
    assert airsim.remote.armed, "the motors run"
    assert airsim.remote.sent and all(sent == [0.0, 0.0, 0.0] for sent in airsim.remote.sent), "it holds"
    assert airsim.craft.mode is Mode.HOLD and airsim.craft.height is None


def test_the_airsim_bridge_obeys_the_governors_termination(airsim: Any) -> None:
    airsim.governor.mode = SafetyStatus.MODE_TERMINATE
    assert airsim.ros([], lambda: not airsim.remote.armed)


def test_a_mission_is_refused_beside_another_namespaces_clock_and_frames(
    ros: Any, make_bridge: Callable[[str], Any]
) -> None:
    other, bridge = Node("airsim_bridge", namespace="/other"), make_bridge("/own")
    static = other.create_publisher(TFMessage, names.TF_STATIC, PROFILES[BY_NAME[names.TF_STATIC].quality])
    frames = mount_transforms("uav7", load_vehicle(), Time())
    static.publish(TFMessage(transforms=[transform_message("map", "uav7/odom", Pose(), Time()), *frames]))
    with pytest.raises(UsageError, match=r"^another mission flies on ROS domain \d+, .*set another ROS_DOMAIN_ID$"):
        ros([other, bridge], lambda: bridge._is_alone())
    assert not bridge._is_alone() and not bridge._bridged["uav1"].remote.sent


def test_frames_of_other_robots_and_of_the_vehicle_s_own_model_are_no_mission(
    ros: Any, make_bridge: Callable[[str], Any]
) -> None:
    other, bridge = Node("robot_state_publisher"), make_bridge("/own")
    static = other.create_publisher(TFMessage, names.TF_STATIC, PROFILES[BY_NAME[names.TF_STATIC].quality])
    static.publish(TFMessage(transforms=[transform_message("map", "ugv/odom", Pose(), Time())]))
    static.publish(TFMessage(transforms=mount_transforms("uav1", load_vehicle(), Time())))
    assert ros([other, bridge], lambda: bridge._is_alone())


@pytest.fixture
def px4(ros: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The bridge without an autopilot, what its stream is told to obey, and its governor."""
    monkeypatch.setattr(px4_bridge, "Px4Link", Link)
    monkeypatch.setattr(px4_bridge.Px4BridgeNode, "_refuse_another_release", lambda self, release: None)
    bridge = make_node(px4_bridge.Px4BridgeNode, "/uav1", {})
    obeyed: list[list[float]] = []
    bridge._stream.obey = lambda velocity, yaw_rate, now: obeyed.append([float(value) for value in velocity])
    stamp = lambda: bridge.get_clock().now().to_msg()  # noqa: E731
    governor = Writer(node_names.SAFETY_GOVERNOR, stamp, SafetyStatus.MODE_NORMAL)
    assert ros([bridge, governor], lambda: [2.0, 0.0, 0.0] in obeyed)
    assert ros([], lambda: bridge._stream.mode is Mode.NORMAL)
    return SimpleNamespace(bridge=bridge, obeyed=obeyed, governor=governor, ros=ros)


def test_the_px4_bridge_stands_in_offboard_while_a_stranger_writes_and_does_not_terminate(px4: Any) -> None:
    stranger = Stranger()
    modes: set[Mode] = set()
    step = px4.bridge._offboard.step

    def noted(now: float) -> Any:
        modes.add(px4.bridge._stream.mode)
        return step(now)

    px4.bridge._offboard.step = noted
    assert px4.ros([stranger], lambda: stranger.status.get_subscription_count() > 0)
    stranger.terminate()
    assert px4.ros([], lambda: "/uav1/tool" in px4.bridge._authority.complaint)
    del px4.obeyed[:]
    for _ in range(30):
        stranger.terminate()
        wait(px4.ros, 0.03)
    assert len(px4.obeyed) > 10 and all(one == [0.0, 0.0, 0.0] for one in px4.obeyed), "it goes on streaming zeros"
    assert modes <= {Mode.NORMAL, Mode.HOLD} and px4.bridge._stream.mode is Mode.HOLD
    assert px4.bridge._stream.height is None
    stranger.destroy_publisher(stranger.status)
    assert px4.ros([], lambda: px4.obeyed[-1] == [2.0, 0.0, 0.0]), "alone again it is obeyed"


def test_the_px4_bridge_obeys_the_governors_termination(px4: Any) -> None:
    px4.governor.mode = SafetyStatus.MODE_TERMINATE
    assert px4.ros([], lambda: px4.bridge._stream.mode is Mode.TERMINATE)
