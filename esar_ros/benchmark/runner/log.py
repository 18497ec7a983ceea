"""Runs on the test split are logged and counted: in the benchmark's folder, and in a list of the user's own."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import esar_ros
from esar_ros.benchmark.runner.job import Plan
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import PACKAGE

LOG = "test_runs.jsonl"
SCHEMA = "esar-test-run/1"


def state_directory() -> Path:
    """Folder for what must not be made again: $XDG_STATE_HOME/esar_ros."""
    return Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")) / PACKAGE


def log_test_run(plan: Plan, folder: Path, settings_hash: str) -> int | None:
    """Logs that test tasks are flown; returns how many such runs this user has begun, None without test tasks.

    A resumed run counts once. Raises UsageError where the lists cannot be written.
    """
    if not plan.test_tasks:
        return None
    own, of_user = folder / LOG, state_directory() / LOG
    known = [entry for entry in _entries(own) if entry.get("settings_hash") == settings_hash]
    if known:
        return int(known[-1]["count"])
    settings = plan.settings
    entry = {
        "schema": SCHEMA,
        "begun": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "count": len(_entries(of_user)) + 1,
        "test_tasks": plan.test_tasks,
        "suite": settings.suite,
        "planners": list(settings.planners),
        "seeds": settings.seeds,
        "settings_hash": settings_hash,
        "version": esar_ros.__version__,
        "folder": str(folder.resolve()),
    }
    _add(of_user, entry)
    _add(own, entry | {"folder": folder.resolve().name})  # last: only it says that the run is counted; it is passed on
    return int(entry["count"])  # type: ignore[call-overload]


def _entries(path: Path) -> list[dict[str, Any]]:
    """Entries of a list; lines torn by a crash count too, as runs of which nothing more is known."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    entries: list[dict[str, Any]] = []
    for line in lines:
        try:
            entries.append(dict(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            entries.append({})
    return entries


def _add(path: Path, entry: dict[str, Any]) -> None:
    line = (json.dumps(entry, sort_keys=True) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UsageError(f"cannot log the test run in {path}: {error.strerror}", "make it writable") from None
