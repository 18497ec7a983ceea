"""ROS parameters of every node, from their declarations, and the keys of the settings files, from their models."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import esar_ros.nodes
from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.flight.limits import PilotLimits
from esar_ros.nodes.core.safety_limits import GROUP
from esar_ros.perception.settings import DetectorSettings
from esar_ros.safety.limits import Limits

_NODES = Path(esar_ros.nodes.__file__).parent
_SETTINGS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("safety", Limits),
    ("pilot", PilotLimits),
    ("detector", DetectorSettings),
)
_BASES = {
    "steps": "every node that answers steps",
    "lifecycle": "every managed node",
    "vehicle_bridge": "every autopilot's bridge",
}
_BOUNDS = ("ge", "gt", "le", "lt")
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


def parameters_page() -> str:
    """Parameters of nodes, then settings files."""
    lines = ["# Parameters", "", MADE, ""]
    lines += ["Read-only once a node runs. `ros2 param describe` shows the same; `--params-file` overrides.", ""]
    for path in sorted(_NODES.rglob("*.py"), key=lambda path: path.stem):
        rows = _declared(path)
        if rows:
            title = _BASES.get(path.stem, f"`{path.stem}`")
            lines += [f"## {title}", "", *table("parameter|default|values|what", rows)]
    lines += ["## The governor's limits", ""]
    lines += [f"Each key of `config/safety.yaml` below is the parameter `{GROUP}.<key>` of `safety_governor` and"]
    lines += [
        "`pilot`: a parameter file under `/**` changes it for both. A result flown with other limits says so and is"
    ]
    lines += ["not eligible.", "", "# Settings files", ""]
    for name, model in _SETTINGS:
        lines += [f"## `config/{name}.yaml`", "", *table("key|type|range|what", _keys(model))]
    return "\n".join(lines).rstrip() + "\n"


def _declared(path: Path) -> list[tuple[str, ...]]:
    """Each call of `declare` in a file that names its parameter; those of a settings file are listed with it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == "declare"]
    if not calls:
        return []
    known = dict(vars(import_module(".".join(("esar_ros.nodes", *path.relative_to(_NODES).with_suffix("").parts)))))
    for node in ast.walk(tree):  # texts that are given a name first, to keep lines short
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and len(node.targets) == 1:
            known.setdefault(_name(node.targets[0]), node.value.value)
    rows: list[tuple[str, ...]] = []
    for call in sorted(calls, key=lambda node: node.lineno):
        if not isinstance(call.args[1], ast.Constant):
            continue
        name, default, about, *bounds = (value for part in call.args[1:] for value in _values_of(part, known))
        given = {str(part.arg): _value(part.value, known) for part in call.keywords}
        given |= dict(zip(("minimum", "maximum"), bounds, strict=False))
        rows.append((f"`{name}`", f"`{default!r}`", cell(_values(given)), cell(str(about))))
    return rows


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _values_of(node: ast.expr, known: dict[str, Any]) -> Sequence[Any]:
    """Returns the values of an argument, several of a starred one."""
    return tuple(_value(node.value, known)) if isinstance(node, ast.Starred) else (_value(node, known),)


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """Returns the value of an expression of literals and constants; its source where it depends on the run."""
    try:
        return eval(compile(ast.Expression(node), "<declaration>", "eval"), {}, known)
    except (NameError, AttributeError):
        return ast.unparse(node)


def _values(given: dict[str, Any]) -> str:
    if "choices" in given:
        return ", ".join(map(str, given["choices"]))
    low, high = given.get("minimum"), given.get("maximum")
    if low is None and high is None:
        return ""
    return f">= {low}" if high is None else f"{low} to {high}"


def _keys(model: type[BaseModel], before: str = "") -> list[tuple[str, ...]]:
    """Keys of a model, those of models in it after a dot."""
    rows: list[tuple[str, ...]] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            rows += _keys(inner, f"{before}{name}.")
            continue
        bounds = [
            f"{_SIGNS[sign]} {getattr(limit, sign):g}"
            for limit in field.metadata
            for sign in _BOUNDS
            if getattr(limit, sign, None) is not None
        ]
        kind = inner.__name__ if isinstance(inner, type) else str(inner).replace("typing.", "")
        about = field.description or ""
        if not field.is_required() and field.default_factory is None:
            about += f" (default {field.default})"
        rows.append((f"`{before}{name}`", f"`{kind}`".replace("|", "\\|"), cell(", ".join(bounds)), cell(about)))
    return rows
