"""Vehicle or mission as the hardware of a finding."""

from __future__ import annotations

from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.nodes.core.diagnostics import MISSION, Diagnostics, Finding
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES


@pytest.mark.parametrize(
    ("space", "vehicle", "hardware"),
    [
        ("/", "", MISSION),
        ("/team", "", MISSION),
        ("/uav1", None, "uav1"),
        ("/team/uav1", None, "uav1"),
        ("/", "uav1", "uav1"),
        ("/", None, MISSION),
    ],
)
def test_the_hardware_is_the_vehicle_or_the_mission(ros: Any, space: str, vehicle: str | None, hardware: str) -> None:
    node = Node("referee", namespace=space)
    told: list[DiagnosticArray] = []
    quality = PROFILES[BY_NAME[names.DIAGNOSTICS].quality]
    node.create_subscription(DiagnosticArray, names.DIAGNOSTICS, told.append, quality)
    diagnostics = Diagnostics(node, vehicle)

    def heard() -> bool:
        diagnostics.publish([Finding("steps")])
        return bool(told)

    assert ros([node], heard)
    (status,) = told[0].status
    assert status.hardware_id == hardware
    assert status.name == f"{space}/referee: steps".lstrip("/").replace("//", "/")
