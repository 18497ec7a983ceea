"""The governor's limits as parameters: seen, bounded, obeyed at the start, refused in flight, and told to the score."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rclpy
from rcl_interfaces.msg import ParameterType
from rclpy.parameter import Parameter

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core.safety_limits import GROUP, bounds, changed, declare_limits
from esar_ros.nodes.pilot import PilotNode
from esar_ros.nodes.safety_governor import SafetyGovernorNode
from esar_ros.safety.limits import Limits, changed_text, load_limits


def node_with(*overrides: str) -> Any:
    arguments = [part for override in overrides for part in ("-p", f"{GROUP}.{override}")]
    return rclpy.create_node("governor", cli_args=["--ros-args", *arguments], namespace="uav1")


def test_every_limit_is_a_described_bounded_read_only_parameter(ros: Any) -> None:
    node = node_with()
    try:
        assert declare_limits(node) == load_limits()
        for key, field in Limits.model_fields.items():
            descriptor = node.describe_parameter(f"{GROUP}.{key}")
            assert descriptor.read_only and descriptor.description == field.description
            [span] = descriptor.floating_point_range
            assert (span.from_value, span.to_value) == bounds(key)
            assert span.from_value <= getattr(load_limits(), key) <= span.to_value
    finally:
        node.destroy_node()


def test_an_override_is_obeyed_and_cannot_be_changed_afterwards(ros: Any) -> None:
    node = node_with("speed_horizontal:=3.5")
    try:
        limits = declare_limits(node)
        assert limits == load_limits().model_copy(update={"speed_horizontal": 3.5})
        assert changed(limits) == {"speed_horizontal": 3.5}
        [answer] = node.set_parameters([Parameter(f"{GROUP}.speed_horizontal", value=5.0)])
        assert not answer.successful and "read-only" in answer.reason
    finally:
        node.destroy_node()


@pytest.mark.parametrize(
    "override", ["speed_horizontal:=80.0", "speed_horizontal:=0.0", "latency:=fast", "floor:=-1.0"]
)
def test_a_limit_out_of_its_range_is_refused_in_one_line(ros: Any, override: str) -> None:
    node = node_with(override)
    try:
        with pytest.raises(UsageError, match=override.split(":")[0]) as refusal:
            declare_limits(node)
        assert "\n" not in str(refusal.value) and "/uav1/governor" in str(refusal.value)
    finally:
        node.destroy_node()


def test_governor_and_pilot_have_the_same_limits_and_the_governor_tells_what_differs(
    ros: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(SafetyGovernorNode, "send", lambda self, name, message: told.append((name, message)))
    usual = SafetyGovernorNode()
    assert told == []
    monkeypatch.setattr("esar_ros.nodes.core.safety_limits.declare", lambda node, name, value, *about: value / 2.0)
    halved, pilot = SafetyGovernorNode(), PilotNode()
    try:
        assert halved._governor.limits == pilot._limits
        assert halved._governor.limits.speed_up == usual._governor.limits.speed_up / 2.0
        [(topic, message)] = told
        assert (topic, message.node) == (names.SAFETY_LIMITS, halved.get_fully_qualified_name())
        assert json.loads(changed_text(message)) == changed(halved._governor.limits)
        for parameter in message.new_parameters:
            assert usual.has_parameter(parameter.name) and parameter.value.type == ParameterType.PARAMETER_DOUBLE
    finally:
        for node in (usual, halved, pilot):
            node.destroy_node()
