"""Locations and reading of task files (JSON): single tasks, and the benchmark's events.

An event file holds once what its fifty tasks share: config/tasks/benchmark/<event>.json, with index.json beside them
(order, sets, checksums). Needs the standard library alone, since `ros2 launch` reads tasks too.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from os.path import isfile  # of names that are too long, too
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, nearest, suggest
from esar_ros.mission.resources import resource

TASK_DIRECTORY = "config/tasks"
BENCHMARK_DIRECTORY = "config/tasks/benchmark"
INDEX = "index.json"
EVENT_SCHEMA = "esar-event/1"
INDEX_SCHEMA = "esar-task-index/1"
TASK_SCHEMA = "esar-task/1"
LARGEST = 1 << 20  # bytes of one file; a task takes some thousand
_CURE = "mend the file"
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")


def is_path(name: str) -> bool:
    """Returns whether a name that a person gives is a file's: it has a folder, or an ending such as .txt."""
    return "/" in name or _ENDING.search(name) is not None


def is_text_file(brief: str) -> bool:
    """Returns whether a brief that a person gives is a file's name, and not the words themselves."""
    return isfile(brief) or (is_path(brief) and len(brief.split()) == 1)


def read_text(path: Path, largest: int = LARGEST, what: str = "task") -> str:
    """Text of a small regular file, never more than `largest` bytes of it. Raises UsageError, which calls the file
    `what`."""
    try:
        if not path.is_file():
            raise UsageError(f"cannot read {what} {path}: no file of that name", "check the path")
        with path.open("rb") as file:
            data = file.read(largest + 1)
            size = max(len(data), path.stat().st_size)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {what} {path}: {error}", "check the path") from None
    if size > largest:
        raise UsageError(f"cannot read {what} {path}: {size / 1e6:.1f} MB", f"at most {largest / 1e6:.1f} MB are read")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {what} {path}: not UTF-8 text at byte {error.start}", _CURE) from None


def parse_json(text: str, source: str) -> Any:
    """JSON without a key twice or bottomless nesting. Raises UsageError naming source, line or key.

    NaN and infinity pass, so that the model can name their key when it refuses them.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise UsageError(f"{source}, key {key[:60]}: written twice in one object", _CURE)
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise UsageError(f"{source}, line {error.lineno}: not JSON: {error.msg}", _CURE) from None
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply", _CURE) from None
    except ValueError as error:  # a whole number of thousands of digits
        raise UsageError(f"{source}: {str(error)[:120]}", _CURE) from None


@lru_cache(maxsize=1)
def benchmark_index() -> dict[str, Any]:
    """config/tasks/benchmark/index.json: seed, events with checksums, order, mini. Raises UsageError."""
    path = resource(BENCHMARK_DIRECTORY) / INDEX
    index = parse_json(read_text(path), str(path))
    if not isinstance(index, dict) or index.get("schema") != INDEX_SCHEMA:
        raise UsageError(f"{path}, key schema: not {INDEX_SCHEMA}", "restore it, or run esar tasks make")
    return index


@lru_cache(maxsize=16)
def benchmark_event(event: str) -> dict[str, Any]:
    """An event file whose bytes have the index's checksum. Raises UsageError."""
    entry = benchmark_index()["events"].get(event)
    if entry is None:
        raise UsageError(f"unknown event '{event}'", suggest(event, benchmark_index()["events"]))
    path = resource(BENCHMARK_DIRECTORY) / f"{event}.json"
    text = read_text(path)
    if hashlib.sha256(text.encode()).hexdigest() != entry["sha256"]:
        raise UsageError(f"{path}: differs from its checksum in {INDEX}", "restore it, or run esar tasks make")
    data = parse_json(text, str(path))
    if data.get("schema") != EVENT_SCHEMA:
        raise UsageError(f"{path}, key schema: not {EVENT_SCHEMA}", "restore it, or run esar tasks make")
    return dict(data)


def event_tasks(event: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the tasks of an event file by id, each in the format of a single task's file."""
    return {
        task["id"]: {
            "schema": TASK_SCHEMA,
            "map": event["map"],
            "event": event["id"],
            "snapshot": snapshot["id"],
            "split": event["split"],
            **task,
            **{key: snapshot[key] for key in ("victims", "clues", "distractors")},
        }
        for snapshot in event["snapshots"]
        for task in snapshot["tasks"]
    }


def demo_tasks() -> dict[str, Path]:
    """Files directly in config/tasks by id."""
    return {path.stem: path for path in sorted(resource(TASK_DIRECTORY).glob("*.json"))}


def find_task(name: str) -> tuple[dict[str, Any], str]:
    """A task's JSON object, unchecked, and what to call it in errors: by id, or by a file's path.

    Raises UsageError.
    """
    if is_path(name):
        return _object(Path(name))
    demo = demo_tasks()
    if name in demo:
        return _object(demo[name])
    event, events = name.rsplit("-", 2)[0], benchmark_index()["events"]
    tasks: dict[str, dict[str, Any]] = {}
    if (like := nearest(event, events)) is not None:
        tasks = event_tasks(benchmark_event(like))
        if name in tasks:
            return tasks[name], f"task {name}"
    few = f"{', '.join(demo)} and those of esar tasks list; or give a .json file"
    raise UsageError(f"unknown task '{name[:80]}'", suggest(name, (*demo, *tasks), few))


def _object(path: Path) -> tuple[dict[str, Any], str]:
    data = parse_json(read_text(path), str(path))
    if not isinstance(data, dict):
        raise UsageError(f"{path}, key the task: not an object", f"it must follow {TASK_SCHEMA}")
    return data, str(path)
