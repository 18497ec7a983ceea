"""Faults at a node's inputs on real DDS, on real messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nav_msgs.msg import Odometry
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.msg import MissionState, Tick
from esar_ros.nodes.core import steps
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.core.types import message_class

PERIOD = 50_000_000

Write = Callable[..., Path]


class Pilot(StepNode):
    """Answers every step; notes which odometry it had."""

    def __init__(self) -> None:
        super().__init__("pilot")
        self.await_input(names.ODOMETRY)
        self.seen: list[tuple[int, bool, float | None]] = []
        self.join()

    def on_step(self, step: Step) -> bool | None:
        box = self.inbox(names.ODOMETRY)
        newest = box.newest.pose.pose.position.x if box.newest is not None else None
        self.seen.append((step.seq, box.at(step.ns) is not None, newest))
        return None


class World(Node):
    """Sends the mission's state, ticks and odometry."""

    def __init__(self) -> None:
        super().__init__("world")
        self.out = {
            name: self.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (names.TICK, names.ODOMETRY, names.MISSION_STATE)
        }

    def begin(self) -> None:
        state = MissionState(phase=MissionState.RUNNING)
        state.header.stamp = to_stamp(PERIOD)
        self.out[names.MISSION_STATE].publish(state)

    def step(self, seq: int) -> None:
        stamp = to_stamp((seq + 1) * PERIOD)
        odometry, tick = Odometry(), Tick(seq=seq, epoch=1, period=0.05)
        odometry.header.stamp = tick.header.stamp = stamp
        odometry.pose.pose.position.x = float(seq)
        self.out[names.ODOMETRY].publish(odometry)
        self.out[names.TICK].publish(tick)


@pytest.fixture
def stepped(
    ros: Any, write: Write, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], list[tuple[int, bool, float | None]]]]:
    """Steps 0..29 of a lockstep mission with a fault at the pilot: what it saw."""

    def run(fault: str) -> list[tuple[int, bool, float | None]]:
        path = str(write(fault))
        real = steps.declare
        monkeypatch.setattr(
            steps, "declare", lambda n, name, *a, **k: path if name == "faults" else real(n, name, *a, **k)
        )
        pilot = Pilot()
        faults = pilot._faults
        assert faults is not None
        world = World()
        assert ros([pilot, world], lambda: all(p.get_subscription_count() for p in world.out.values()))
        world.begin()
        assert ros([pilot, world], lambda: faults._start_ns is not None)
        for seq in range(30):
            world.step(seq)
            assert ros([pilot, world], lambda n=seq: len(pilot.seen) > n, 5.0), f"time stood still at step {seq}"
        return pilot.seen

    yield run


def test_in_lockstep_a_lost_message_is_absent_and_time_goes_on(stepped: Any) -> None:
    seen = stepped("kind: drop, node: pilot, topic: odometry, at: 1.1, for: 0.2")
    assert [seq for seq, there, _ in seen if not there] == [22, 23, 24, 25]
    assert [newest for seq, _, newest in seen if seq in (21, 23, 26)] == [21.0, 21.0, 26.0]


def test_in_lockstep_a_delayed_message_comes_with_a_later_step(stepped: Any) -> None:
    seen = stepped("kind: delay, node: pilot, topic: odometry, at: 1.0, for: 0.2, delay: 0.1")
    assert [seq for seq, there, _ in seen if not there] == [20, 21, 22, 23]
    assert [newest for seq, _, newest in seen if 19 <= seq <= 25] == [19.0, 19.0, 19.0, 20.0, 21.0, 24.0, 25.0]


def test_a_node_that_is_not_named_hears_everything(stepped: Any) -> None:
    assert all(there for _, there, _ in stepped("kind: drop, node: safety_governor, topic: odometry, at: 1"))


def test_a_fault_of_one_vehicle_is_at_its_own_node_alone(
    ros: Any, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write(
        "kind: drop, node: pilot, topic: odometry, at: 1.0, vehicle: uav1",
        "kind: tf_gap, node: pilot, at: 1.0, vehicle: uav1",
    ))  # fmt: skip
    real = steps.declare
    monkeypatch.setattr(steps, "declare", lambda n, name, *a, **k: path if name == "faults" else real(n, name, *a, **k))

    class Listening(StepNode):
        def on_step(self, step: Step) -> bool | None:
            return None

    message = Odometry()
    message.header.stamp = to_stamp(5 * 10**9)
    for vehicle, is_hit in (("uav1", True), ("uav2", False)):
        node = Listening("pilot", namespace=f"/{vehicle}")
        faults = node._faults
        assert faults is not None
        faults._start_ns = 0
        got: list[Any] = []
        faults.into(names.ODOMETRY, got.append)(message)  # its own, or a teammate's
        assert (not got, node.lacks_transform(5 * 10**9)) == (is_hit, is_hit)
        ros([node], lambda: True)
