"""A benchmark's records as files in the authors' layout: OUT/results/benchmark_METHOD_TIME.jsonl and trajectories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from esar_ros.benchmark.report.bench_results import suite_of
from esar_ros.benchmark.runner.store import EPISODES, read_episodes
from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.files.results import Key, ResultLine, write_results
from esar_ros.suites.rescuebench.result import parse_rescue_result
from esar_ros.suites.rescuebench.suite import NAME

RESULTS = "results"
_CURE = "the file was changed by hand; restore it"
_ODD = re.compile(r"[^\w.-]")


def is_bench(path: Path) -> bool:
    """Returns whether a path is the folder of a benchmark."""
    return (path / EPISODES).is_file()


def export_results(folder: Path) -> dict[str, Path]:
    """Writes the results of a benchmark's finished episodes anew; returns each method's file. Raises UsageError."""
    suite = suite_of([folder])
    if suite != NAME:
        raise UsageError(f"{folder} is a benchmark of suite {suite}", "./esar report shows it")
    lines: dict[str, list[ResultLine]] = {}
    poses: dict[str, dict[Key, Sequence[Sequence[float]]]] = {}
    times: dict[str, str] = {}
    for record in read_episodes(folder):
        where = f"{folder / EPISODES}, episode {record['id']}"
        result = parse_rescue_result(record.get("result"), where)
        planner, finished = _planner_and_time(record, where)
        times.setdefault(planner, finished)
        lines.setdefault(planner, []).append(result.line)
        if result.line.key in poses.setdefault(planner, {}):
            raise UsageError(f"{where}: a second point of its level and number", "export runs of one file of points")
        poses[planner][result.line.key] = result.poses
    if not lines:
        raise UsageError(f"{folder} holds no finished episode", "go on with the same esar bench")
    if len({_ODD.sub("_", planner) for planner in lines}) < len(lines):
        raise UsageError(f"{folder}: names of methods that differ in signs alone", "report them one by one")
    return {
        planner: write_results(folder / RESULTS, _ODD.sub("_", planner), times[planner], lines[planner], poses[planner])
        for planner in lines
    }


def _planner_and_time(record: dict[str, Any], where: str) -> tuple[str, str]:
    """Returns a record's planner and when it was finished, as names of files have it. Raises UsageError."""
    try:
        digits = re.sub(r"\D", "", str(record["timing"]["finished"]))[:14]
        return str(record["planner"]), f"{digits[:8]}_{digits[8:]}"
    except (KeyError, TypeError):
        raise UsageError(f"{where}: no planner, or no time", _CURE) from None
