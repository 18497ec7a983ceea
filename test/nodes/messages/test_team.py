"""Teammates' messages as one vehicle's planner takes them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.msg import Decision, Report, Tick
from esar_ros.nodes.core.steps import Step, StepNode
from esar_ros.nodes.messages.team import Team
from esar_ros.nodes.messages.vehicle import transform_message

PERIOD = 10**9


class Planner(StepNode):
    def on_step(self, step: Any) -> bool | None:
        return None


def report(seq: int, **content: Any) -> Report:
    """A report of a tent; content: what differs."""
    message = Report(seq=seq, type=content.get("type", Report.CLUE), kind="tent", confidence=0.9)
    message.position.x = content.get("x", 5.0)
    message.header.stamp.sec = seq
    return message


def test_a_report_that_makes_no_sense_is_told_and_left_out_and_counts_all_the_same(
    ros: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    node = Planner("planner", namespace="/uav1")
    team = Team(node, ["uav2"])
    ros([node], lambda: True)
    place = transform_message(names.MAP, "uav2/odom", Pose(), Time())
    team._odometry["uav2"]._on_static(TFMessage(transforms=[place]))
    odometry = Odometry()
    odometry.pose.pose.orientation.w = 1.0
    node.inbox(names.ODOMETRY, "uav2").put(9 * PERIOD, odometry)
    node.inbox(names.DECISION, "uav2").put(8 * PERIOD, Decision(reports=4))
    step = Step(9 * PERIOD, 9, Tick.FRAME, 1.0, 8 * PERIOD, frozenset(), frame_before_ns=8 * PERIOD)
    for message in (report(1), report(2, type=0), report(3, type=7)):
        team._on_report("uav2", message)
    assert not team.is_complete(step)
    team._on_report("uav2", report(4, x=math.nan))
    assert team.is_complete(step), "a planner that waited for it would wait for ever"
    (mate,) = team.observe(step)
    assert [(one.kind, one.position.tolist()) for one in mate.reports] == [("tent", [5.0, 0.0, 0.0])]
    assert "refused report 2 of uav2: 0 is not a valid ReportType" in capfd.readouterr().err
