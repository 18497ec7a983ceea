"""Checks of `esar doctor PATH`: faults in a bag, a result, a benchmark's folder or a ROS parameter file."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import esar_ros
from esar_ros.app.checks.finding import Check
from esar_ros.app.checks.symptoms import examine
from esar_ros.bags.facts import facts_of_bag
from esar_ros.benchmark.runner.job import INFRASTRUCTURE_ERROR
from esar_ros.benchmark.runner.records import planned_episodes, read_episodes, read_settings
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.nodes.graph.parameter_file import read_parameter_file

OF_RCLPY = ("use_sim_time", "start_type_description_service")


def examine_path(path: Path) -> list[Check]:
    """Findings about whatever lies there. Raises UsageError where it is nothing known."""
    if not path.exists():
        raise UsageError(f"nothing at {path}", "check the path")
    if path.suffix in (".yaml", ".yml") and path.name != "metadata.yaml":
        return [ignored_parameters(path)]
    if path.suffix in (".json", ".jsonl"):
        return [not_a_number([path]), other_thresholds([path])]
    if path.is_file() or any(path.glob("*.mcap")) or any(path.glob("*.db3")):
        return examine(facts_of_bag(path))
    results = [file for name in ("result.json", EPISODES) if (file := path / name).is_file()]
    if not results and not (path / "bag").is_dir():
        raise UsageError(f"{path} is no bag, mission, benchmark or parameter file", "see esar doctor --help")
    checks = [not_a_number(results), other_thresholds(results)] if results else []
    if (path / EPISODES).is_file():
        checks.append(unfinished(path))
    if (path / "bag").is_dir():
        checks += examine(facts_of_bag(path / "bag"))
    return checks


def not_a_number(files: list[Path]) -> Check:
    """NaN or infinity in results: one such poisons every mean."""
    bad = []
    for file in files:
        for number, line in enumerate(_documents(file), 1):
            wrong: list[str] = []
            try:
                json.loads(line, parse_constant=wrong.append)
            except (ValueError, RecursionError):
                bad.append(f"{file.name} document {number} is no JSON")
            if wrong:
                bad.append(f"{file.name} document {number} holds {wrong[0]}")
    cure = "fly that episode again, and report by ./esar report, which never averages what is no number"
    return Check("finite numbers", not bad, "; ".join(bad[:3]) or "all are", cure if bad else "")


def other_thresholds(files: list[Path]) -> Check:
    """Results whose success criteria are not this installation's: they cannot be compared with new ones."""
    ours = json.loads(load_thresholds().model_dump_json())
    bad: dict[str, str] = {}
    for file in files:
        for line in _documents(file):
            for name, value in _thresholds(line).items():
                if name in ours and ours[name] != value:
                    bad[name] = f"{file.name}: {name} {value} (here {ours[name]})"
    cure = "score the bags again with one setting: ./esar score BAG --error-m E; see docs/reference/metrics.md"
    return Check("success criteria", not bad, "; ".join(bad.values()) or "as here", cure if bad else "")


def unfinished(folder: Path) -> Check:
    """A benchmark that was ended by one crash, or lacks episodes."""
    try:
        planned = planned_episodes(read_settings(folder))
    except UsageError:
        planned = 0
    if not planned:
        return Check("episodes", False, "bench.json is missing or broken", "run ./esar bench into a new folder")
    try:
        statuses = [record.status for record in read_episodes(folder, dict)]
    except UsageError as error:
        return Check("episodes", False, str(error), "every other command refuses the folder until then")
    failed = statuses.count(INFRASTRUCTURE_ERROR)
    detail = f"{len(statuses)} of {planned} flown, {failed} failed for the machine's sake"
    ok = len(statuses) == planned and not failed
    return Check("episodes", ok, detail, "" if ok else f"./esar bench --out {folder} with the same flags goes on")


def ignored_parameters(path: Path) -> Check:
    """Parameters that no node declares: ROS takes them without a word and ignores them."""
    known = declared_parameters()
    bad = [name for name in _parameters(read_parameter_file(path)) if name not in known]
    cure = "see docs/reference/parameters.md for the names"
    return Check(
        "parameters obeyed", not bad, f"no node declares {', '.join(bad)}" if bad else "all", cure if bad else ""
    )


def declared_parameters() -> set[str]:
    """Names of all parameters that the package's nodes declare, from their source."""
    names = set(OF_RCLPY)
    for file in Path(esar_ros.__path__[0], "nodes").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                place = {"declare": 1, "declare_parameter": 0}.get(called, -1)
                name = node.args[place] if 0 <= place < len(node.args) else None
                if isinstance(name, ast.Constant):
                    names.add(str(name.value))
    return names


def _parameters(content: Any) -> list[str]:
    """Names below every ros__parameters."""
    if not isinstance(content, dict):
        return []
    found = [str(name) for name in content.get("ros__parameters") or ()]
    return found + [name for key, inner in content.items() if key != "ros__parameters" for name in _parameters(inner)]


def _documents(file: Path) -> list[str]:
    """Texts of a .json file (one) or a .jsonl file (one a line). Raises UsageError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}", "check the path") from None
    return [line for line in text.splitlines() if line.strip()] if file.suffix == ".jsonl" else [text]


def _thresholds(line: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
        found = document.get("thresholds") or document.get("result", {}).get("thresholds", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
