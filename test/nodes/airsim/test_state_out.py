"""The AirSim bridge's messages on its vehicles, over real DDS, from readings that the test makes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node

from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.vehicle import VehicleReading
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.airsim.bridged_vehicle import BridgedVehicle
from esar_ros.nodes.airsim.state_out import StateOut
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.roster import Roster
from esar_ros.nodes.core.types import message_class

NS = 50_000_000


class Remote:
    """A vehicle whose battery is asked for, and nothing else."""

    odom_in_map = Pose(np.array([1.0, 2.0, 3.0]))

    def read_battery(self) -> Any:
        return SimpleNamespace(charge=0.5, voltage=22.0, current=10.0)


def reading(**changes: Any) -> VehicleReading:
    still = np.zeros(3)
    flies = VehicleReading(
        NS, Pose(np.array([0.0, 0.0, 9.0])), still, still, False, True, True, True, "", False, 0, still, 0.0, ""
    )
    return replace(flies, **changes)


@pytest.fixture
def graph(ros: Any) -> Any:
    remote = Remote()
    craft = BridgedVehicle("uav1", remote, Roster((), 1.0), None, Actuation(remote))  # type: ignore[arg-type]
    node, reader = Node("bridge"), Node("reader")
    out = StateOut(node, [craft], load_vehicle(), 0.0)
    heard: dict[str, list[Any]] = {}
    told = (names.CLOCK, names.TF, names.TF_STATIC, names.ODOMETRY, names.BATTERY, names.COLLISION)
    for name in told:
        entry, heard[name] = BY_NAME[name], []
        full = name if name.startswith("/") else f"uav1/{name}"
        reader.create_subscription(message_class(entry.type), full, heard[name].append, PROFILES[entry.quality])
    publishers = [out._clock, out._tf, out._tf_static, *(craft.publishers[name] for name in told[3:])]
    assert ros([node, reader], lambda: all(one.get_subscription_count() for one in publishers))
    return SimpleNamespace(out=out, craft=craft, heard=heard, ros=ros)


def test_frames_are_told_once(graph: Any) -> None:
    graph.out.tell_frames(NS)
    graph.out.tell_frames(2 * NS)
    graph.craft.reading = reading()
    graph.out.tell(2 * NS, False)
    assert graph.ros([], lambda: graph.heard[names.TF_STATIC] and graph.heard[names.TF])
    (static,) = graph.heard[names.TF_STATIC]
    assert nanoseconds(static.transforms[0].header.stamp) == NS
    assert static.transforms[0].child_frame_id == "uav1/odom" and static.transforms[0].transform.translation.z == 3.0


def test_state_comes_with_the_clock_and_the_battery_at_frames(graph: Any) -> None:
    graph.craft.reading = reading()
    for number in (1, 2, 3):
        graph.out.tell(number * NS, number == 2)
    heard = graph.heard
    assert graph.ros([], lambda: len(heard[names.ODOMETRY]) == 3 and heard[names.BATTERY])
    assert [nanoseconds(message.header.stamp) for message in heard[names.ODOMETRY]] == [NS, 2 * NS, 3 * NS]
    (battery,) = heard[names.BATTERY]
    assert nanoseconds(battery.header.stamp) == 2 * NS and battery.current == -10.0


def test_a_contact_is_told_once_and_on_the_ground_not_at_all(graph: Any) -> None:
    for number, (at, landed) in enumerate(((7, False), (7, False), (8, True), (9, False)), 1):
        graph.craft.reading = reading(collided=True, collision_ns=at, landed=landed)
        graph.out.tell(number * NS, False)
    assert graph.ros([], lambda: len(graph.heard[names.COLLISION]) == 2)
    assert graph.craft.collisions == 2


def test_who_was_not_read_yet_is_not_told_of(graph: Any) -> None:
    graph.out.tell(NS, True)
    graph.craft.reading = reading()
    graph.out.tell(2 * NS, False)
    assert graph.ros([], lambda: bool(graph.heard[names.ODOMETRY]))
    assert nanoseconds(graph.heard[names.ODOMETRY][0].header.stamp) == 2 * NS
    assert not graph.heard[names.BATTERY]
