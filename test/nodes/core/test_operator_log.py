"""A person's acts leave a trace that late readers get too, and goals identify their sender."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.msg import Log
from rclpy.node import Node

import esar_ros.nodes
from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME, RECORD_LEVELS
from esar_ros.nodes.core.operator_log import OperatorLog, goal_of, is_goal_of
from esar_ros.nodes.core.qos import PROFILES

HARMLESS = {"_on_save"}  # answers a person and changes nothing of the flight


@pytest.mark.parametrize("boot_id", [1, 77, 2**63 - 1])
def test_a_goal_tells_who_sent_it(boot_id: int) -> None:
    goal, again = goal_of(boot_id), goal_of(boot_id)
    assert is_goal_of(goal, boot_id) and bytes(goal.uuid) != bytes(again.uuid)
    assert not is_goal_of(goal, boot_id - 1) and not is_goal_of(goal_of(0), 0)


def test_a_trace_reaches_who_comes_later_and_every_bag(ros: Any) -> None:
    entry = BY_NAME[names.OPERATOR_ACT]
    assert all(entry.recorded(level) for level in RECORD_LEVELS if level != "none")
    bridge, late = Node("bridge"), Node("late")
    received: list[Log] = []
    OperatorLog(bridge, "uav1").record("touch_down")
    late.create_subscription(Log, f"uav1/{names.OPERATOR_ACT}", received.append, PROFILES[entry.quality])
    assert ros([bridge, late], lambda: bool(received))
    (act,) = received
    assert (act.name, act.msg, act.level) == ("bridge", "touch_down", Log.INFO) and act.stamp.sec > 0


def served() -> Iterator[Any]:
    """Every service that a module of the graph offers, as the method of a class that answers it."""
    for path in sorted(Path(str(esar_ros.nodes.__file__)).parent.rglob("*.py")):
        for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(kind, ast.ClassDef):
                continue
            methods = {part.name: part for part in kind.body if isinstance(part, ast.FunctionDef)}
            for call in ast.walk(kind):
                if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "create_service":
                    answer = call.args[2].attr  # type: ignore[attr-defined]
                    yield pytest.param(methods[answer], id=f"{path.stem} {answer}")


@pytest.mark.parametrize("answer", served())
def test_every_service_records_what_a_person_did_by_it(answer: ast.FunctionDef) -> None:
    calls = [call for call in ast.walk(answer) if isinstance(call, ast.Call)]
    acts = {"record", "_trace", "_note", "_on_operator_act"}  # the trace itself, and what hands over to it
    traces = [call for call in calls if getattr(call.func, "attr", "") in acts]
    sent = [call.args[0].attr for call in calls if call.args and isinstance(call.args[0], ast.Attribute)]
    assert bool(traces) or any(name.startswith("OPERATOR_") for name in sent) or answer.name in HARMLESS


def test_services_are_found() -> None:
    found = {str(parameter.id) for parameter in served()}
    assert {"pilot _on_order", "planner _on_sighting", "safety_governor _on_terminate", "clock _on_step"} <= found
