"""A benchmark's records as logs in the authors' layout: OUT/logs/METHOD/, a folder a method and repetition."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import quote

from esar_ros.benchmark.runner.records import Record, check_suite, place_of, read_episodes
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.object_goal import UAV_ON
from esar_ros.suites.uav_on.logs import write_flight
from esar_ros.suites.uav_on.result import GoalResult

LOGS = "logs"
_CURE = "the file was changed by hand; restore it"


def is_bench(folder: Path) -> bool:
    """Returns whether a folder is one that a benchmark was written to."""
    return (folder / EPISODES).is_file()


def export_logs(folder: Path) -> dict[str, Path]:
    """Writes the logs of a benchmark's finished episodes anew; returns the folder of each method's run. Raises
    UsageError.
    """
    check_suite(folder, "uav-on", "./esar report shows it")
    runs: dict[str, Path] = {}
    for record in read_episodes(folder, GoalResult):
        where, result = place_of(folder, record.id), record.result
        if result.terms != UAV_ON.name:
            raise UsageError(f"{where}: flown on the terms of {result.terms}", "the authors' logs know UAV-ON's alone")
        name = _run_name(record, where)
        if name not in runs:
            runs[name] = folder / LOGS / quote(name, safe="@:+ ")
            shutil.rmtree(runs[name], ignore_errors=True)
        entry, frames = result.entry(where), result.log_frames()
        try:
            write_flight(runs[name], entry, frames, result.stopped, result.contact_at_stop, result.poses, result.error)
        except ValueError as error:
            raise UsageError(f"{where}: {error}", _CURE) from None
    if not runs:
        raise UsageError(f"{folder} holds no finished episode", "fly it on with the same esar bench")
    return runs


def _run_name(record: Record[GoalResult], where: str) -> str:
    """Returns the name of a method's repetition. Raises UsageError for one that could lead out of the folder of logs,
    since what is there is removed.
    """
    if not record.planner[:1].isalnum():
        raise UsageError(f"{where}: planner '{record.planner[:40]}' names no folder", _CURE)
    return record.planner + (f"_seed{record.seed}" if record.seed else "")
