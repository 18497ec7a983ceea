"""Sets of tasks by the paper's names of the levels, and tasks by id or by file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.rescue import RescuePoint
from esar_ros.mission.resources import resource
from esar_ros.mission.run_conditions import digest
from esar_ros.suites.rescuebench.files.points import PointEntry, checkout_around, read_points
from esar_ros.suites.rescuebench.files.tracks import PATTERN, tracks_of

FOLDER = "config/tasks/rescuebench"
MINI = "mini"  # of the split dev: every level, in places that no other set has
SETS = (MINI, "L1", "L2", "L3", "L4", "L5")


@dataclass(frozen=True, eq=False)
class RescueTask:
    """A task and its point."""

    id: str
    entry: PointEntry
    split: str  # test; of the set mini and of a file: dev
    checkout: Path | None = None  # of the public code, whose tracks its place is made from; None: a place of our own

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
        """Of the point, and of the tracks that its place is made from; one of our own is made from its name."""
        if self.checkout is None:
            return digest(self.document)
        return digest({**self.document, "tracks": _content(tracks_of(self.checkout, self.point.place))})


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
            cure = suggest(task, SETS, f"{', '.join(SETS)}, SET-NUMBER, or a file of points")
            raise UsageError(f"unknown task '{task[:60]}'", cure)
    entries = _entries(Path(path) if mark else set_file(name))
    if not number.isdecimal() or int(number) >= len(entries):
        raise UsageError(f"no point '{number[:20]}' of {path or name}", f"they are 0 to {len(entries) - 1}")
    entry = entries[int(number)]
    if not mark:
        return RescueTask(f"{name}-{entry.point.number}", entry, "dev" if name == MINI else "test")
    checkout = checkout_around(Path(path))
    if checkout is not None and not tracks_of(checkout, entry.point.place).is_dir():
        checkout = None
    return RescueTask(f"{Path(path).stem}-{entry.point.number}", entry, "dev", checkout)


def tasks_of_file(path: str) -> Sequence[str]:
    """Returns the names of the tasks of a file of points, as `find_task` takes them.

    Raises UsageError, also for a task in a place that is not here.
    """
    from esar_ros.suites.rescuebench.own_points import kind_and_seed

    names = [f"{path}#{entry.point.number}" for entry in _entries(Path(path))]
    for task in map(find_task, names):
        if task.checkout is None:
            kind_and_seed(task.point.place)
    return names


@cache
def _content(folder: Path) -> str:
    """SHA-256 of the files of a folder. Raises UsageError."""
    whole = hashlib.sha256()
    try:
        for path in sorted(folder.glob(PATTERN)):
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise UsageError(f"cannot read the tracks in {folder}: {error.strerror}", "mend the checkout") from None
    return whole.hexdigest()


@cache
def _entries(path: Path) -> tuple[PointEntry, ...]:
    return read_points(path)
