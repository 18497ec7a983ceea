"""A governor that a lifecycle manager takes out of service on the ground: neither bridge flies, PX4's does not arm."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from tf2_msgs.msg import TFMessage

from esar_ros.bridges.px4.commands import Manoeuvre
from esar_ros.bridges.px4.state import Px4State
from esar_ros.mission import names
from esar_ros.msg import VehicleState
from esar_ros.nodes import airsim_bridge, px4_bridge
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.safety_governor import SafetyGovernorNode
from helpers.lone_bridges import Link, Remote, make_node

Spin = Callable[..., bool]
PERIOD = 0.02  # s
# What is left of the governor after these transitions, one after the other.
WAYS_OUT = [("deactivate",), ("deactivate", "cleanup"), ("shutdown",)]


class Governor:
    """The real node of a vehicle that stands on the ground, disarmed, with odometry as its bridge stamps it."""

    def __init__(self, now: Callable[[], int]) -> None:
        """now(): ns."""
        self.measured = 0  # odometry messages so far
        self.node, self._now = make_node(SafetyGovernorNode, "/uav1", {"pace": "realtime"}), now
        transform = TransformStamped(child_frame_id=names.vehicle_frame("uav1", names.ODOM))
        transform.header.frame_id = names.MAP
        self.node._odometry._on_static(TFMessage(transforms=[transform]))
        on_ground = VehicleState(armed=False, landed=VehicleState.LANDED_ON_GROUND)
        self.node.inbox(names.VEHICLE_STATE).put(1, on_ground)
        self.node.create_timer(PERIOD, self._measure, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _measure(self) -> None:
        odometry, ns = Odometry(), self._now()
        odometry.header.stamp = to_stamp(ns)
        self.node.inbox(names.ODOMETRY).put(ns, odometry)
        self.measured += 1

    def change(self, *labels: str) -> None:
        for label in labels:
            request = ChangeState.Request(transition=Transition(label=label))
            assert self.node._service_change_state.callback(request, ChangeState.Response()).success


@pytest.fixture
def px4(ros: Spin, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The bridge of an autopilot that would arm, and its governor; refusal(): of the wish to arm."""
    monkeypatch.setattr(px4_bridge, "Px4Link", Link)
    monkeypatch.setattr(px4_bridge.Px4BridgeNode, "_refuse_another_release", lambda self, release: None)
    monkeypatch.setattr(px4_bridge.Px4BridgeNode, "_step", lambda self: None)
    monkeypatch.setattr(Px4State, "is_linked", lambda self, now: True)
    monkeypatch.setattr(Px4State, "reasons_against_arming", lambda self, now: [])
    bridge = make_node(px4_bridge.Px4BridgeNode, "/uav1", {})
    governor = Governor(lambda: bridge.get_clock().now().nanoseconds)

    def refusal() -> str:
        bridge._stream.now = time.monotonic()
        bridge._stream.mode = bridge._told.mode
        outcome = bridge._offboard._refusal(Manoeuvre.ARM, 0.0)
        return "" if outcome is None else str(outcome.text)

    assert ros([bridge, governor.node], lambda: not refusal()), refusal()
    return SimpleNamespace(governor=governor, refusal=refusal, ros=ros)


@pytest.mark.parametrize("way", WAYS_OUT, ids=lambda way: way[-1])
def test_px4_is_not_armed_while_the_governor_is_not_active(px4: Any, way: tuple[str, ...]) -> None:
    px4.governor.change(*way)
    assert px4.ros([], lambda: px4.refusal() == "no fresh safe command from the governor")
    until = px4.governor.measured + 50
    assert px4.ros([], lambda: px4.governor.measured > until or not px4.refusal())
    assert px4.refusal(), "and stays so"


def test_px4_is_armed_again_once_the_governor_is_active(px4: Any) -> None:
    px4.governor.change("deactivate", "cleanup")
    assert px4.ros([], lambda: bool(px4.refusal()))
    px4.governor.change("configure", "activate")
    assert px4.ros([], lambda: not px4.refusal())


@pytest.mark.parametrize("way", WAYS_OUT, ids=lambda way: way[-1])
def test_airsim_holds_while_the_governor_is_not_active(
    ros: Spin, monkeypatch: pytest.MonkeyPatch, way: tuple[str, ...]
) -> None:
    client = SimpleNamespace(call=lambda *_: None, close=lambda: None)
    monkeypatch.setattr(airsim_bridge, "AirSimVehicle", Remote)
    monkeypatch.setattr(airsim_bridge.Server, "of", lambda node: SimpleNamespace(connect=lambda: client))
    seen = {"armed": True, "landed": False, "velocity": np.zeros(3)}
    monkeypatch.setattr(Remote, "read", lambda self: SimpleNamespace(ns=time.monotonic_ns(), **seen))
    for name in ("tell_frames", "tell"):
        monkeypatch.setattr(airsim_bridge.StateOut, name, lambda self, *_: None)
    bridge = make_node(airsim_bridge.AirSimBridgeNode, "/", {"pace": "realtime"})
    craft, governor = bridge._bridged["uav1"], Governor(time.monotonic_ns)
    assert ros([bridge, governor.node], lambda: not craft.holding), craft.refusal(bridge._ns, airsim_bridge.OLDEST)
    governor.change(*way)
    assert ros([], lambda: craft.holding)
    until = bridge._seq + 20
    assert ros([], lambda: bridge._seq > until or not craft.holding)
    assert craft.holding, "and stays so"
