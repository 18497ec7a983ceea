"""Goals of the AirSim bridge's actions, over real DDS, with a vehicle that notes what it is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from esar_ros.action import TouchDown
from esar_ros.bridges.airsim.actuation import STANDS_FOR, Actuation
from esar_ros.mission.modes import Mode
from esar_ros.nodes.airsim.actions import BridgeActions
from esar_ros.nodes.core.operator_log import goal_of
from esar_ros.nodes.core.roster import Roster


class Remote:
    def __init__(self) -> None:
        self.ns, self.armed, self.landed = 0, True, False

    def read(self) -> Any:
        return SimpleNamespace(ns=self.ns, armed=self.armed, landed=self.landed, velocity=np.zeros(3))

    def arm(self, wanted: bool) -> bool:
        self.armed = wanted
        return True


@pytest.fixture
def graph(ros: Any) -> Any:
    remote: Any = Remote()  # in an AirSimVehicle's place
    craft = SimpleNamespace(
        name="uav1", remote=remote, actuation=Actuation(remote), mode=Mode.NORMAL, reading=remote.read(),
        roster=Roster(("pilot",), 1.0), text="",
    )  # fmt: skip
    did: list[str] = []
    craft.actuation.height = 3.0
    bridge, user = Node("bridge"), Node("user")
    actions = BridgeActions(bridge, craft, lambda: remote.ns, SimpleNamespace(record=did.append))  # type: ignore[arg-type]
    client = ActionClient(user, TouchDown, "uav1/touch_down")

    def wait(until: Any) -> bool:
        def settled() -> bool:
            remote.ns += 50_000_000
            craft.reading = remote.read()
            actions.settle(craft.reading)
            return bool(until())

        return bool(ros([bridge, user], settled, 20.0))

    def ask(goal_uuid: Any = None) -> Any:
        sent = client.send_goal_async(TouchDown.Goal(), goal_uuid=goal_uuid)
        assert wait(sent.done)
        return sent.result()

    assert ros([bridge, user], client.server_is_ready, 20.0)
    return SimpleNamespace(remote=remote, craft=craft, wait=wait, ask=ask, did=did)


def result(graph: Any, handle: Any) -> Any:
    future = handle.get_result_async()
    assert graph.wait(future.done)
    return future.result()


def test_two_goals_are_one_touch_down_and_end_with_the_motors_stopped(graph: Any) -> None:
    first, second = graph.ask(), graph.ask()
    graph.remote.landed, graph.craft.actuation.height = True, 0.2
    before = graph.remote.ns
    for handle in (first, second):
        told = result(graph, handle)
        assert (told.status, told.result.error_code, told.result.landed) == (GoalStatus.STATUS_SUCCEEDED, 0, True)
    assert not graph.remote.armed and graph.remote.ns - before >= STANDS_FOR


def test_cancelling_either_calls_it_off(graph: Any) -> None:
    first, second = graph.ask(), graph.ask()
    cancelled = second.cancel_goal_async()
    assert graph.wait(cancelled.done) and cancelled.result().goals_canceling
    assert result(graph, second).status == GoalStatus.STATUS_CANCELED
    told = result(graph, first)
    assert told.status == GoalStatus.STATUS_ABORTED and told.result.error_code == TouchDown.Result.FAILED
    assert not graph.craft.actuation.landing and graph.remote.armed


def test_too_high_it_is_refused_in_words(graph: Any) -> None:
    graph.craft.actuation.height = 28.0
    told = result(graph, graph.ask()).result
    assert told.error_code == TouchDown.Result.REFUSED_SAFETY and "28.0 m" in told.error_msg


def test_a_persons_goals_leave_a_trace_and_the_pilots_do_not(graph: Any) -> None:
    graph.craft.roster.on_heartbeat("pilot", 77, True, "", 0, 0.0)
    graph.ask(goal_of(77))
    assert graph.did == []
    handle = graph.ask()
    assert graph.did == ["touch_down"]
    assert graph.wait(handle.cancel_goal_async().done)
    assert graph.did == ["touch_down", "touch_down called off"]
