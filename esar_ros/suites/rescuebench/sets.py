"""Sets of tasks by the paper's names of the levels, and tasks by id or by file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint
from esar_ros.mission.resources import resource
from esar_ros.mission.run_conditions import digest
from esar_ros.suites.rescuebench.files.points import PointEntry, read_points

FOLDER = "config/tasks/rescuebench"
SETS = ("L1", "L2", "L3", "L4", "L5")


@dataclass(frozen=True, eq=False)
class RescueTask:
    """A task and its point."""

    id: str
    entry: PointEntry
    split: str  # test; of a file: dev

    @property
    def point(self) -> RescuePoint:
        """The point."""
        return self.entry.point

    @property
    def document(self) -> dict[str, Any]:
        """The point as its file has it."""
        return dict(self.entry.document)

    @property
    def digest(self) -> str:
        """Of the point; its place is made from its name."""
        return digest(self.document)


def set_file(name: str) -> Path:
    """Returns the file of a set's points."""
    return resource(FOLDER) / f"own_{name.lower()}.jsonl"


def task_ids(name: str) -> tuple[str, ...]:
    """Returns the ids of a set's tasks, one of each place after another, so that any first part of them is balanced."""
    places: dict[str, list[str]] = {}
    for entry in _entries(set_file(name)):
        places.setdefault(entry.point.place, []).append(f"{name}-{entry.point.number}")
    longest = max(map(len, places.values()))
    return tuple(row[turn] for turn in range(longest) for row in places.values() if turn < len(row))


def find_task(task: str) -> RescueTask:
    """Returns a task by its id SET-NUMBER, or by FILE.jsonl#NUMBER. Raises UsageError."""
    path, mark, number = task.rpartition("#")
    if not mark:
        name, _, number = task.rpartition("-")
        if name not in SETS:
            known = f"give a set ({', '.join(SETS)}), SET-NUMBER, or a file of points"
            raise UsageError(f"unknown task '{task[:60]}'", known)
    entries = _entries(Path(path) if mark else set_file(name))
    if not number.isdecimal() or int(number) >= len(entries):
        raise UsageError(f"no point '{number[:20]}' of {path or name}", f"they are 0 to {len(entries) - 1}")
    entry = entries[int(number)]
    return RescueTask(f"{Path(path).stem if mark else name}-{entry.point.number}", entry, "dev" if mark else "test")


def tasks_of_file(path: str) -> Sequence[str]:
    """Returns the names of the tasks of a file of points, as `find_task` takes them. Raises UsageError."""
    return [f"{path}#{entry.point.number}" for entry in _entries(Path(path))]


@cache
def _entries(path: Path) -> tuple[PointEntry, ...]:
    return read_points(path)
