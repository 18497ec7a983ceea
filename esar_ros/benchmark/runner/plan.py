"""Chooses what a benchmark flies: tasks, methods, and the episodes in their order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from esar_ros.benchmark.engine.conditions import task_digest, with_content
from esar_ros.benchmark.engine.suite import Suite
from esar_ros.benchmark.runner.job import Job, Plan, Settings
from esar_ros.mission import defaults
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.planning.registry import create as create_method


def choose_tasks(suite: Suite, wanted: str, limit: int | None = None) -> tuple[str, ...]:
    """Tasks by the name of a set, a file of ids (one a line), a task file, or ids with commas. Raises UsageError."""
    path = Path(wanted)
    if wanted in suite.sets:
        chosen = tuple(suite.task_set(wanted))
        if not chosen:
            raise UsageError(f"the set '{wanted}' holds no tasks", "run esar tasks make, or name another set")
    elif path.suffix == ".json":
        chosen = (str(path.resolve()),)
    elif os.path.isfile(wanted):  # False, where Path.is_file raises, for ids too long to be a name
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the list of tasks {path}: {error}", "one task id a line") from None
        chosen = tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))
    else:
        chosen = tuple(part.strip() for part in wanted.split(",") if part.strip())
    if not chosen:
        raise UsageError(f"--tasks {wanted!r} names no task", f"give ids, a file, or one of {', '.join(suite.sets)}")
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"--tasks {wanted}: a task is named twice", "name each once")
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit}", "at least 1")
    return chosen[:limit]


def make_plan(
    tasks: tuple[str, ...],
    planners: tuple[str, ...],
    seeds: int = 1,
    *,
    preset: str = "paper",
    governor: bool = True,
    odometry: Literal["true", "noisy"] = "noisy",
    detector: str = defaults.DETECTOR,
) -> Plan:
    """Episodes ordered so that any first part of them is balanced. Raises UsageError for what cannot be flown."""
    if not planners or len(set(planners)) < len(planners):
        raise UsageError(f"--planners {','.join(planners)}", "one or more different methods")
    if not 1 <= seeds <= 1000:
        raise UsageError(f"--seeds {seeds}", "between 1 and 1000")
    methods = [create_method(planner) for planner in planners]
    create_chosen(detector)  # wrong weights are told now, not by every episode
    loaded = [load_task(task) for task in tasks]
    ids = [task.id for task in loaded]
    if len(set(ids)) < len(ids):
        raise UsageError("two of the tasks have the same id", "name each once")
    digests = tuple(task_digest(task) for task in loaded)
    chosen = RunConditions(preset, governor, odometry, detector)
    conditions = tuple(
        with_content(chosen, planner, method, digests) for planner, method in zip(planners, methods, strict=True)
    )
    settings = Settings(tasks, digests, planners, seeds, conditions)
    jobs: list[Job] = []
    for repetition in range(seeds):
        for name, task, content in zip(tasks, loaded, digests, strict=True):
            for planner, its in zip(planners, conditions, strict=True):
                jobs.append(Job(len(jobs), name, task.id, content, planner, task.seed + repetition, its))
    test_tasks = sum(task.split == "test" for task in loaded)
    return Plan(settings, tuple(jobs), test_tasks, max(task.t_max for task in loaded))
