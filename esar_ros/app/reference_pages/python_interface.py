"""The classes and functions that a user imports, from docstrings, signatures and the comments beside fields.

Sources are read, not imported: the page is the same where an extra such as gymnasium is not installed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from esar_ros.app.reference_pages.page import MADE, cell, table

# By title: what the part is for, and module and names, in the order in which they are read.
_PARTS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "A search method": (
        "How one is written, named and flown: [your planner](../how-to/your-planner.md).",
        {
            "planning.method": ("Method", "SupportsAsync", "HasDetails", "HasBeliefGrid"),
            "mission.observation": ("Brief", "Observation", "SeenClue", "Grid", "Teammate"),
            "geometry.camera_frame": ("CameraFrame",),
            "mission.decision": ("Decision", "Goal", "GoalType", "HeightReference", "Report", "ReportType"),
            "planning.reporting": ("ReportPolicy", "ReportingSettings", "Requirement"),
        },
    ),
    "A detector": (
        "How one is chosen, and what its files hold: [detectors](../how-to/backends.md).",
        {
            "perception.detectors.backend": (
                *("DetectorBackend", "Detection2D"),
                *("register", "names", "create", "is_eligible", "about"),
            ),
        },
    ),
    "A judge of reports": (
        "What a judge decides in a score: [metrics](metrics.md).",
        {"scoring.judge": ("Judge", "Pair", "Judgement", "LabelJudge", "OfflineJudge")},
    ),
    "A benchmark": (
        "A suite is the tasks and rules of one benchmark, to runner, report and command line.",
        {"benchmark.suite": ("Suite", "Option"), "benchmark.runner.plan": ("TaskSets",)},
    ),
    "An episode as a Gymnasium environment": (
        "Ids, tasks, actions and observations: [step by step](../how-to/your-planner.md#step-by-step-with-gymnasium).",
        {"suites.gym": ("EpisodeEnv",)},
    ),
}
_NAMED = (ast.ClassDef, ast.FunctionDef)


def python_interface_page() -> str:
    """Returns the page of the classes and functions that a user imports."""
    lines = [
        *("# Python interface", "", MADE, ""),
        "What code outside the package imports. Interfaces are protocols: a class has one by having its methods, and",
        "derives from nothing. Lengths are in m, angles in rad, times in s, frames are ENU and FLU unless a field says",
        "otherwise.",
        "",
    ]
    for title, (about, modules) in _PARTS.items():
        lines += [f"## {title}", "", about, ""]
        for module, wanted in modules.items():
            source = _source(f"esar_ros.{module}")
            found = {item.name: item for item in ast.parse(source).body if isinstance(item, _NAMED)}
            lines += [f"`from esar_ros.{module} import {', '.join(wanted)}`", ""]
            for name in wanted:
                lines += _described(found[name], source.splitlines())
    return "\n".join(lines).rstrip() + "\n"


def _source(module: str) -> str:
    """Returns a module's text; its parents are imported, it is not."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin).read_text(encoding="utf-8")


def _described(item: ast.ClassDef | ast.FunctionDef, source: list[str]) -> list[str]:
    """Returns an item's heading, its docstring, and what it has."""
    if isinstance(item, ast.FunctionDef):
        return [f"### `{item.name}`", "", f"`{_signature(item)}`", "", *_words(item), ""]
    bases = ", ".join(ast.unparse(base) for base in item.bases)
    lines = [f"### `{item.name}`" + (f" ({bases})" if bases else ""), "", *_words(item), ""]
    fields: list[tuple[str, ...]] = [
        (f"`{name}`", cell(f"`{kind}`"), cell(about)) for name, kind, about in _fields(item, source)
    ]
    head = "member|value|what" if "Enum" in bases else "field|type|what"
    lines += table(head, fields) if fields else []
    methods: list[tuple[str, ...]] = [
        (cell(f"`{_signature(part)}`"), cell(" ".join(_words(part)))) for part in _methods(item)
    ]
    return lines + (table("method|what", methods) if methods else [])


def _words(item: ast.ClassDef | ast.FunctionDef) -> list[str]:
    """Returns the lines of a docstring."""
    return inspect.cleandoc(ast.get_docstring(item) or "").splitlines()


def _fields(item: ast.ClassDef, source: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yields name, type and meaning of the fields, and of the members of an enumeration with their values."""
    for part in item.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            kind, default = ast.unparse(part.annotation), part.value
            yield part.target.id, kind, "; ".join(filter(None, (_about(part, source), _default(default))))
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            yield part.targets[0].id, ast.unparse(part.value), _about(part, source)


def _about(part: ast.stmt, source: list[str]) -> str:
    """Returns the description of a pydantic field, else the comment behind a field."""
    value = getattr(part, "value", None)
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "description" and isinstance(keyword.value, ast.Constant):
                return str(keyword.value.value)
    line = source[(part.end_lineno or part.lineno) - 1]
    return line[part.end_col_offset or 0 :].partition("#")[2].partition("# noqa")[0].strip()


def _default(value: ast.expr | None) -> str:
    """Returns a field's default in words; empty where it has to be given."""
    if value is None:
        return ""
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("field", "Field"):
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
        if "default_factory" in given:
            made = given["default_factory"].removeprefix("lambda: ")
            return f"default `{made if '(' in made else made + '()'}`"
        return f"default `{given['default']}`" if "default" in given else ""
    return f"default `{ast.unparse(value)}`"


def _methods(item: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yields the public methods and properties that say what they are, the constructor first."""
    for part in item.body:
        if isinstance(part, ast.FunctionDef) and ast.get_docstring(part) and _is_told(part.name):
            yield part


def _is_told(name: str) -> bool:
    """Returns whether a method of this name is for users."""
    return name == "__init__" or not name.startswith("_")


def _signature(item: ast.FunctionDef) -> str:
    """Returns a function's name, arguments and result; of a property its name and type."""
    result = f" -> {ast.unparse(item.returns)}" if item.returns is not None else ""
    if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in item.decorator_list):
        return f"{item.name}{result.replace(' -> ', ': ')}"
    arguments = ast.unparse(item.args).removeprefix("self").removeprefix(", ")
    return f"{item.name}({arguments}){'' if result == ' -> None' else result}"
