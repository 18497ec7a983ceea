"""A benchmark's records as logs in the authors' layout: OUT/logs/METHOD/, a folder a method and repetition."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from esar_ros.benchmark.report.bench_results import suite_of
from esar_ros.benchmark.runner.store import EPISODES, read_episodes
from esar_ros.mission.errors import UsageError
from esar_ros.suites.uav_on.logs import write_flight
from esar_ros.suites.uav_on.result import parse_goal_result

LOGS = "logs"
_CURE = "the file was changed by hand; restore it"


def is_bench(folder: Path) -> bool:
    """Returns whether a folder is one that a benchmark was written to."""
    return (folder / EPISODES).is_file()


def export_logs(folder: Path) -> dict[str, Path]:
    """Writes the logs of a benchmark's finished episodes anew; returns the folder of each method's run. Raises
    UsageError.
    """
    suite = suite_of([folder])
    if suite != "uav-on":
        raise UsageError(f"{folder} is a benchmark of suite {suite}", "./esar report shows it")
    runs: dict[str, Path] = {}
    for record in read_episodes(folder):
        where = f"{folder / EPISODES}, episode {record['id']}"
        name = _run_name(record, where)
        if name not in runs:
            runs[name] = folder / LOGS / quote(name, safe="@:+ ")
            shutil.rmtree(runs[name], ignore_errors=True)
        result = parse_goal_result(record.get("result"), where)
        entry, frames = result.entry(where), result.log_frames()
        try:
            write_flight(runs[name], entry, frames, result.stopped, result.contact_at_stop, result.poses, result.error)
        except ValueError as error:
            raise UsageError(f"{where}: {error}", _CURE) from None
    if not runs:
        raise UsageError(f"{folder} holds no finished episode", "fly it on with the same esar bench")
    return runs


def _run_name(record: dict[str, Any], where: str) -> str:
    """Returns the name of a method's repetition. Raises UsageError for one that could lead out of the folder of logs,
    since what is there is removed.
    """
    try:
        planner, seed = str(record["planner"]), int(record["seed"])
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{where}: no planner, or no seed", _CURE) from None
    if not planner[:1].isalnum():
        raise UsageError(f"{where}: planner '{planner[:40]}' names no folder", _CURE)
    return planner + (f"_seed{seed}" if seed else "")
