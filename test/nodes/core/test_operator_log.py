"""A person's acts leave a trace that late readers get too, and goals identify their sender."""

from __future__ import annotations

from typing import Any

import pytest
from rcl_interfaces.msg import Log
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME, RECORD_LEVELS
from esar_ros.nodes.core.operator_log import OperatorLog, goal_of, is_goal_of
from esar_ros.nodes.core.qos import PROFILES


@pytest.mark.parametrize("boot_id", [1, 77, 2**63 - 1])
def test_a_goal_tells_who_sent_it(boot_id: int) -> None:
    goal, again = goal_of(boot_id), goal_of(boot_id)
    assert is_goal_of(goal, boot_id) and bytes(goal.uuid) != bytes(again.uuid)
    assert not is_goal_of(goal, boot_id - 1) and not is_goal_of(goal_of(0), 0)


def test_a_trace_reaches_who_comes_later_and_every_bag(ros: Any) -> None:
    entry = BY_NAME[names.OPERATOR_ACT]
    assert all(entry.recorded(level) for level in RECORD_LEVELS if level != "none")
    bridge, late, received = Node("bridge"), Node("late"), []
    OperatorLog(bridge, "uav1").record("touch_down")
    late.create_subscription(Log, f"uav1/{names.OPERATOR_ACT}", received.append, PROFILES[entry.quality])
    assert ros([bridge, late], lambda: bool(received))
    (act,) = received
    assert (act.name, act.msg, act.level) == ("bridge", "touch_down", Log.INFO) and act.stamp.sec > 0
