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
_TITLES = {  # by modules that are not named as the node whose parameters they declare
    "steps": "every node that answers steps",
    "lifecycle": "every managed node",
    "vehicle_bridge": "every autopilot's bridge",
    "server": "every node that talks to the AirSim server",
    "clock": "`airsim_bridge` in lockstep",
    "site": "`mission_control` without a mission",
    "command_relay": "`pilot` without a mission",
    "governor": "`safety_governor` without a mission",
}
_DECLARE = ("declare", "declare_parameter")
_BOUNDS = ("ge", "gt", "le", "lt")
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


def parameters_page() -> str:
    """Parameters of nodes, then settings files."""
    lines = ["# Parameters", "", MADE, ""]
    lines += ["Read-only once a node runs, save where it says that it can be changed in flight. `ros2 param describe`"]
    lines += ["shows the same; `--params-file` overrides.", ""]
    for path in sorted(_NODES.rglob("*.py"), key=lambda path: path.stem):
        rows = _declared(path)
        if rows:
            title = _TITLES.get(path.stem, f"`{path.stem}`")
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
    """Each call of `declare` and `declare_parameter` in a file that names its parameter.

    Those of a settings file are listed with it.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in _DECLARE]
    if not any(isinstance(_arguments(call)[0], ast.Constant) for call in calls):
        return []
    module = dict(vars(import_module(".".join(("esar_ros.nodes", *path.relative_to(_NODES).with_suffix("").parts)))))
    rows: list[tuple[str, ...]] = []
    for call in sorted(calls, key=lambda node: node.lineno):
        arguments = _arguments(call)
        if not isinstance(arguments[0], ast.Constant):
            continue
        known = module | _named_before(call, tree, module)
        name, default, about, *bounds = (value for part in arguments for value in _values_of(part, known))
        given = {str(part.arg): _value(part.value, known) for part in call.keywords}
        given |= dict(zip(("minimum", "maximum"), bounds, strict=False))
        if hasattr(about, "floating_point_range"):  # a ParameterDescriptor
            for range_ in about.floating_point_range:
                given |= {"minimum": range_.from_value, "maximum": range_.to_value}
            about = f"{about.description}; can be changed in flight"
        shown = _origin(tree) if isinstance(default, _Later) else f"`{default!r}`"
        rows.append((f"`{name}`", shown, cell(_values(given)), cell(str(about))))
    return rows


def _name(node: ast.AST) -> str:
    """Returns the name of a variable, or of a method that is called."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _arguments(call: ast.Call) -> list[ast.expr]:
    """Returns a declaration's arguments from the parameter's name on."""
    return call.args[isinstance(call.func, ast.Name) :]


def _named_before(call: ast.Call, tree: ast.AST, module: dict[str, Any]) -> dict[str, Any]:
    """Returns the texts and ranges that are given a name before a call, to keep lines short."""
    found: dict[str, Any] = {}
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        if not isinstance(node, ast.Assign) or node.lineno >= call.lineno or len(node.targets) != 1:
            continue
        if isinstance(node.value, (ast.Constant, ast.List)) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _value(node.value, module)
    return found


def _values_of(node: ast.expr, known: dict[str, Any]) -> Sequence[Any]:
    """Returns the values of an argument, several of a starred one."""
    return tuple(_value(node.value, known)) if isinstance(node, ast.Starred) else (_value(node, known),)


class _Later:
    """A value that is known once the node runs."""


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """Returns the value of an expression of literals and constants; a _Later where it depends on the run."""
    try:
        return eval(compile(ast.Expression(node), "<declaration>", "eval"), {}, known)
    except (NameError, AttributeError):
        return _Later()


def _origin(tree: ast.AST) -> str:
    """Returns where a file takes a default from that depends on the run: the settings of the autopilot it knows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).endswith(".settings"):
            return f"from `config/{str(node.module).split('.')[-2]}.yaml`"
    raise ValueError("a default that depends on the run, and on no settings")


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
