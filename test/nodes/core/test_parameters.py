"""Parameters of every node, also of those that no test flies: described, bounded, refused when bad."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import rclpy

import esar_ros.nodes
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core.parameters import declare

FOLDER = Path(esar_ros.nodes.__path__[0])
# Declared without `declare`: meant to be changed in flight.
CHANGEABLE = {"voxel_mapper.py": {"map_file"}, "clock.py": {"paused", "speed"}}


def calls(name: str) -> list[tuple[str, ast.Call]]:
    """Calls of a function or method in all nodes: (file, call)."""
    found = []
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called == name:
                    found.append((path.name, node))
    return found


DECLARED = [(file, call) for file, call in calls("declare") if file != "parameters.py"]


def label(entry: Any) -> str | None:
    return entry if isinstance(entry, str) else None


@pytest.mark.parametrize(
    ("file", "call"), DECLARED, ids=[f"{file}-{ast.unparse(call.args[1])}" for file, call in DECLARED]
)
def test_every_number_has_bounds_and_every_parameter_a_description(file: str, call: ast.Call) -> None:
    assert len(call.args) >= 4, "node, name, default, description"
    description = call.args[3]
    assert not isinstance(description, ast.Constant) or str(description.value).strip()
    default = call.args[2]
    if isinstance(default, ast.UnaryOp):
        default = default.operand
    if isinstance(default, ast.Constant) and type(default.value) in (int, float):
        assert {keyword.arg for keyword in call.keywords} & {"minimum", "maximum"} or len(call.args) > 4


def test_what_is_declared_is_read() -> None:
    """A choice that a node offers and ignores."""
    ignored = []
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Name) and called.id == "declare":
                    ignored.append(f"{path.name}: {ast.unparse(node.value.args[1])}")
    assert not ignored


def test_nobody_declares_past_the_one_way() -> None:
    past = [
        (file, call.args[0].value)
        for file, call in calls("declare_parameter")
        if file != "parameters.py" and isinstance(call.args[0], ast.Constant)
    ]
    assert all(name in CHANGEABLE.get(file, set()) for file, name in past), past


@pytest.mark.parametrize(
    ("override", "declared", "words"),
    [
        (5000, (640, "px", 16, 4096), "width"),
        (3, (640, "px", 16, 4096), "width"),
        ("wide", (640, "px", 16, 4096), "width"),
        (0.5, (0.0, "share", 0.0, 0.1), "width"),
        ("moon", ("here", "where", None, None, ("here", "there")), "choose one of here, there"),
    ],
)
def test_a_bad_override_is_refused_in_one_line(ros: Any, override: Any, declared: tuple[Any, ...], words: str) -> None:
    value = f"width:={override}"
    node = rclpy.create_node("node", cli_args=["--ros-args", "-p", value], namespace="uav1")
    try:
        with pytest.raises(UsageError, match=words) as refusal:
            declare(node, "width", *declared)
        assert "\n" not in str(refusal.value)
        assert "/uav1/node parameter width" in str(refusal.value)
    finally:
        node.destroy_node()
