"""Chooses what a benchmark flies: tasks, and the episodes in their order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from esar_ros.benchmark.runner.job import Job, Settings
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import is_path


class TaskSets(Protocol):
    """The sets of tasks of a suite."""

    @property
    def sets(self) -> Sequence[str]:
        """Names of its sets of tasks."""
        ...

    def task_set(self, name: str) -> Sequence[str]:
        """Returns the ids of a set's tasks in the order in which they are flown."""
        ...

    def task_file(self, path: str) -> Sequence[str]:
        """Returns what `plan` takes for the tasks of a JSON file. Raises UsageError."""
        ...


def choose_tasks(suite: TaskSets, wanted: str, limit: int | None = None) -> tuple[str, ...]:
    """Tasks by the name of a set, a file of ids (one a line), a task file, or ids with commas. Raises UsageError.

    Of several sets with commas, one of each follows the other, so that any first part of them is balanced.
    """
    path = Path(wanted)
    names = [part.strip() for part in wanted.split(",") if part.strip()]
    if names and all(name in suite.sets for name in names):
        sets = [suite.task_set(name) for name in names]
        for name, tasks in zip(names, sets, strict=True):
            if not tasks:
                raise UsageError(f"the set '{name}' holds no tasks", "run esar tasks make, or name another set")
        chosen = tuple(task for row in zip_longest(*sets) for task in row if task is not None)
    elif path.suffix in (".json", ".jsonl"):
        chosen = tuple(suite.task_file(str(path.resolve())))
    elif os.path.isfile(wanted):  # False, where Path.is_file raises, for ids too long to be a name
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the list of tasks {path}: {error}", "one task id a line") from None
        chosen = tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))
    elif is_path(wanted) and not {",", "#"} & set(wanted):  # FILE#EPISODE is for the suite to read
        raise UsageError(f"cannot read the list of tasks {path}: no file of that name", "check the path")
    else:
        chosen = tuple(names)
    if not chosen:
        raise UsageError(f"--tasks {wanted!r} names no task", f"give ids, a file, or one of {', '.join(suite.sets)}")
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"--tasks {wanted}: a task is named twice", "name each once")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit}", "at least 1")
    return chosen[:limit]


def check_counts(planners: Sequence[str], seeds: int) -> None:
    """Raises UsageError unless there are different methods and a possible number of seeds."""
    if not planners or len(set(planners)) < len(planners):
        raise UsageError(f"--planners {','.join(planners)}", "one or more different methods")
    if not 1 <= seeds <= 1000:
        raise UsageError(f"--seeds {seeds}", "between 1 and 1000")


def balanced_jobs(settings: Settings, ids: Sequence[str], seeds: Sequence[int]) -> tuple[Job, ...]:
    """Returns the episodes, ordered so that any first part of them is balanced.

    ids, seeds: of each task. Raises UsageError where two tasks have the same id.
    """
    if len(set(ids)) < len(ids):
        raise UsageError("two of the tasks have the same id", "name each once")
    jobs: list[Job] = []
    for repetition in range(settings.seeds):
        for name, id, digest, seed in zip(settings.tasks, ids, settings.digests, seeds, strict=True):
            for planner, conditions in zip(settings.planners, settings.conditions, strict=True):
                jobs.append(Job(len(jobs), name, id, digest, planner, seed + repetition, conditions))
    return tuple(jobs)
