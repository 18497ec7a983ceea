"""A benchmark's records as files in the authors' layout: OUT/results/benchmark_METHOD_TIME.jsonl and trajectories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from esar_ros.benchmark.runner.records import check_suite, place_of, read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.files.results import Key, ResultLine, write_results
from esar_ros.suites.rescuebench.result import RescueResult
from esar_ros.suites.rescuebench.suite import NAME

RESULTS = "results"
_ODD = re.compile(r"[^\w.-]")


def is_bench(path: Path) -> bool:
    """Returns whether a path is the folder of a benchmark."""
    return (path / EPISODES).is_file()


def export_results(folder: Path) -> dict[str, Path]:
    """Writes the results of a benchmark's finished episodes anew; returns each method's file. Raises UsageError."""
    check_suite(folder, NAME, "./esar report shows it")
    lines: dict[str, list[ResultLine]] = {}
    poses: dict[str, dict[Key, Sequence[Sequence[float]]]] = {}
    times: dict[str, str] = {}
    for record in read_episodes(folder, RescueResult):
        where, planner, result = place_of(folder, record.id), record.planner, record.result
        times.setdefault(planner, _in_name(record.timing.finished))
        lines.setdefault(planner, []).append(result.public_line)
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


def _in_name(time: str) -> str:
    """Returns a time (ISO 8601) as names of files have it."""
    digits = re.sub(r"\D", "", time)[:14]
    return f"{digits[:8]}_{digits[8:]}"
