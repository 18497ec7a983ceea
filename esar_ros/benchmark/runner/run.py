"""Runs a benchmark: distributes its episodes, records each once, and resumes where it was interrupted.

An agent's error is recorded at once; an error of the infrastructure (a crash, a hang, a full memory) is tried once
more. Both then score 0 with their reason. An episode that a killed run had not recorded is flown again: episodes depend
on their job alone, so the results are those of an undisturbed run.
"""

from __future__ import annotations

import errno
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esar_ros.benchmark.runner.job import AGENT_ERROR, INFRASTRUCTURE_ERROR, OK, Job, Plan
from esar_ros.benchmark.runner.records import Flown, Record, Status, make_record, parse_episodes
from esar_ros.benchmark.runner.store import Store
from esar_ros.benchmark.runner.time_left import TimeLeft
from esar_ros.benchmark.runner.worker_pool import Outcome, Pool
from esar_ros.mission.errors import UsageError

ATTEMPTS = 2  # of an episode that fails through no fault of the method
FULL_DISK_PATIENCE = 60.0  # s to wait for space before giving up
FULL_DISK_LOOK = 2.0  # s between attempts
TRACES = "errors.log"
Failure = Callable[[Job, Status, str, float], Flown]


@dataclass
class Progress:
    """Progress of a benchmark."""

    total: int
    done: int  # earlier runs' included
    errors: int = 0  # of this run
    flown: int = 0  # by this run
    seconds: float = 0.0  # of wall time, this run
    left: tuple[float, float] | None = None  # s until the end, from and to; None before an episode has ended
    note: str = ""

    @property
    def rate(self) -> float:
        """Episodes an hour in this run."""
        return 3600.0 * self.flown / self.seconds if self.flown and self.seconds > 0.0 else 0.0


def run(plan: Plan, store: Store, pool: Pool, show: Callable[[Progress], None], failure: Failure) -> Progress:
    """Flies what is not done yet; failure makes the record of an episode that could not be flown.

    Raises UsageError when it cannot go on; everything recorded so far stays.
    """
    began = time.monotonic()
    waiting = deque(job for job in plan.jobs if job.id not in store.done)
    progress = Progress(len(plan.jobs), len(plan.jobs) - len(waiting))
    attempts: dict[str, int] = {}
    begun: dict[Job, float] = {}  # when each that flies was
    time_left, workers = TimeLeft(plan.time_limits), max(pool.room, 1)
    tasks = {job.id: job.task for job in plan.jobs}
    for record in parse_episodes(store.folder, store.earlier, dict):
        _take_time(time_left, record, tasks)
    show(progress)
    try:
        while waiting or begun:
            while waiting and pool.room > 0:
                job = waiting.popleft()
                attempts[job.id] = attempts.get(job.id, 0) + 1
                pool.start(job)
                begun[job] = time.monotonic()
            for outcome in pool.finished():
                begun.pop(outcome.job, None)
                if outcome.trace:
                    _note_trace(store.folder, outcome)
                _check_conditions(outcome)
                if outcome.flown is None and not outcome.agent and attempts[outcome.job.id] < ATTEMPTS:
                    waiting.appendleft(outcome.job)
                    continue
                record = _record(outcome, attempts[outcome.job.id], store.settings_hash, failure)
                _append(store, record, progress, show)
                _take_time(time_left, record, tasks)
                progress.done += 1
                progress.flown += 1
                progress.errors += record.status != OK
            now = time.monotonic()
            progress.seconds = now - began
            flying = {job: now - since for job, since in begun.items()}
            progress.left = time_left.range(tuple(waiting), flying, workers)
            show(progress)
    finally:
        pool.close()
    return progress


def _take_time(time_left: TimeLeft, record: Record[Any], tasks: Mapping[str, str]) -> None:
    """Takes what a record tells of its episode's time; tasks: Job.task by the episode's id."""
    time_left.ended(tasks.get(record.id, ""), record.planner, record.timing.wall, record.timing.simulated)


def _record(outcome: Outcome, attempts: int, settings_hash: str, failure: Failure) -> Record[Any]:
    """Returns an episode's record."""
    job, flown = outcome.job, outcome.flown
    if flown is None:
        flown = failure(job, AGENT_ERROR if outcome.agent else INFRASTRUCTURE_ERROR, outcome.reason, outcome.wall)
    return make_record(job, flown, attempts, settings_hash)


def _check_conditions(outcome: Outcome) -> None:
    """Raises UsageError when an episode was flown under other conditions, or of another task, than planned.

    Settings that were broken meanwhile are other conditions too.
    """
    if outcome.ends:
        raise UsageError(f"{outcome.job.id} cannot be flown: {outcome.reason}", "the same command then goes on")
    if outcome.flown is not None and outcome.flown.conditions is not None:
        changed = outcome.job.conditions.difference(outcome.flown.conditions)
        if outcome.flown.task_digest not in (None, outcome.job.task_digest):
            changed = changed or "its task was changed meanwhile"
        if changed:
            raise UsageError(
                f"{outcome.job.id} was flown under other conditions than the benchmark's ({changed})",
                "take the change back and give the same command, or choose another --out",
            )


def _append(store: Store, record: Record[Any], progress: Progress, show: Callable[[Progress], None]) -> None:
    """Write an episode down; on a full disk wait a while for space. Raises UsageError."""
    until = time.monotonic() + FULL_DISK_PATIENCE
    while True:
        try:
            store.append(record.model_dump(mode="json", by_alias=True))
            progress.note = ""
            return
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or time.monotonic() > until:
                raise UsageError(
                    f"cannot write {store.folder}: {error.strerror}", "make room; the same command then goes on"
                ) from None
        progress.note = "the disk is full: waiting for space"
        show(progress)
        time.sleep(FULL_DISK_LOOK)


def _note_trace(folder: Path, outcome: Outcome) -> None:
    """Keep what went wrong for people; results do not depend on it."""
    try:
        with (folder / TRACES).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{outcome.job.id}\n{outcome.trace}\n")
    except OSError:
        pass
