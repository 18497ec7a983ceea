"""Workers on this machine: started, watched, and started again when they die, hang or take too long."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.records import Flown
from esar_ros.benchmark.runner.worker import Episode, Finished, Ready, work, worker_environment
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.processes import cpu_seconds

START_IDLE = 60.0  # s without any work of a worker that starts, after which it is taken to hang
EPISODES_A_WORKER = 50  # then it is replaced: graphics drivers leak
LAST_WORDS = 5.0  # s for a worker that hung up to end by itself, so that its exit code is known
LOOK = 0.5  # s between looks at the clock
BLAMED = 0.5  # of an episode's limit: what one call of the method must have lasted for the rest to be its fault


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job. flown: its part of the record; else the reason, and whether the method was at fault.

    ends: see Finished.
    """

    job: Job
    flown: Flown | None
    reason: str = ""
    trace: str = ""
    agent: bool = False
    wall: float = 0.0  # s
    ends: bool = False


class Pool(Protocol):
    """Pool of workers that fly episodes, several at a time."""

    @property
    def room(self) -> int:
        """Number of jobs it can take on."""
        ...

    def start(self, job: Job) -> None:
        """Begin an episode."""
        ...

    def finished(self) -> list[Outcome]:
        """Returns the jobs that have ended; waits a moment when none has. Raises UsageError if no worker can fly."""
        ...

    def close(self) -> None:
        """End everything at once."""
        ...


class _Worker:
    """One process and the job it is at."""

    def __init__(self, context: Any, episode: Episode) -> None:
        ours, theirs = context.Pipe()
        self.pipe: Connection = ours
        self.in_agent = context.Value("d", 0.0, lock=False)
        self.process = context.Process(target=work, args=(theirs, episode, self.in_agent), daemon=True)
        with _environment(worker_environment()):
            self.process.start()
        theirs.close()
        self.ready = False
        self.job: Job | None = None
        self.since = time.monotonic()
        self.flown = 0
        self._work: float | None = None  # s of CPU time when last looked at
        self._worked_at = self.since

    def give(self, job: Job) -> None:
        """Send a job."""
        self.job, self.since = job, time.monotonic()
        self.flown += 1
        if self.ready:
            self._send()

    def receive(self) -> Ready | Finished | None:
        """Returns the worker's next message, None when its process is gone."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Ready) and not message.trouble:
            self.ready, self.since = True, time.monotonic()
            if self.job is not None:
                self._send()
        return message  # type: ignore[no-any-return]

    def idle(self, now: float) -> float:
        """Returns for how long (s) the process has used no CPU time; now: of the monotonic clock."""
        work = cpu_seconds(self.process.pid) if self.process.pid else None
        if work != self._work:
            self._work, self._worked_at = work, now
        return now - self._worked_at

    def _send(self) -> None:
        with suppress(OSError):  # it is gone; receive() returns None
            self.pipe.send(self.job)

    def end(self, patience: float = 0.0) -> int | None:
        """End the process after patience (s); its exit code if it has ended by itself."""
        self.process.join(patience)
        code = self.process.exitcode
        if code is None:
            self.process.kill()
            self.process.join()
        self.pipe.close()
        return code


class LocalPool:
    """Worker processes of this machine (spawned: graphics do not survive a fork)."""

    def __init__(self, count: int, episode: Episode, limit: float) -> None:
        """limit: s of wall time an episode may take."""
        self._context = multiprocessing.get_context("spawn")
        self._count, self._episode, self._limit = count, episode, limit
        self._workers: list[_Worker] = []
        self._ended: list[Outcome] = []

    @property
    def room(self) -> int:
        """Number of jobs it can take on."""
        return self._count - sum(worker.job is not None for worker in self._workers)

    def start(self, job: Job) -> None:
        """Give the job to an idle worker, or to a new one."""
        worker = next((w for w in self._workers if w.job is None), None)
        if worker is None:
            worker = _Worker(self._context, self._episode)
            self._workers.append(worker)
        worker.give(job)

    def finished(self) -> list[Outcome]:
        """Ended episodes; a worker that dies, hangs or takes too long costs its own episode alone."""
        by_pipe = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(by_pipe), LOOK):
            worker = by_pipe[pipe]  # type: ignore[index]
            message = worker.receive()
            if message is None:
                self._lost(worker)
            elif isinstance(message, Ready) and message.trouble:
                raise UsageError(message.trouble, "see ./esar doctor")
            elif isinstance(message, Finished):
                self._done(worker, message)
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.job is not None and worker.ready and now - worker.since > self._limit:
                self._give_up(worker, f"the episode took more than {self._limit:g} s")
            elif worker.job is not None and not worker.ready and worker.idle(now) > START_IDLE:
                self._give_up(worker, f"the worker did nothing for {START_IDLE:g} s while it started")
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Kill every worker."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _done(self, worker: _Worker, message: Finished) -> None:
        assert worker.job is not None
        wall = time.monotonic() - worker.since
        outcome = Outcome(worker.job, message.flown, message.reason, message.trace, wall=wall, ends=message.ends)
        self._ended.append(outcome)
        worker.job = None
        if message.flown is None or worker.flown >= EPISODES_A_WORKER:
            self._dismiss(worker)  # after trouble the next episode gets a fresh process

    def _lost(self, worker: _Worker) -> None:
        agent = bool(worker.in_agent.value)
        job, wall = worker.job, time.monotonic() - worker.since
        code = self._dismiss(worker, LAST_WORDS)
        if job is None:
            return
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        where = " inside the planner" if agent else ""
        self._ended.append(Outcome(job, None, f"the worker ended {how}{where}", agent=agent, wall=wall))

    def _give_up(self, worker: _Worker, reason: str) -> None:
        now, since = time.monotonic(), worker.in_agent.value
        agent = since > 0.0 and now - since >= BLAMED * self._limit
        job, wall = worker.job, now - worker.since
        assert job is not None
        self._dismiss(worker)
        where = " and was inside the planner" if agent else ""
        self._ended.append(Outcome(job, None, f"{reason}{where}", agent=agent, wall=wall))

    def _dismiss(self, worker: _Worker, patience: float = 0.0) -> int | None:
        self._workers.remove(worker)
        return worker.end(patience)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Variables for a process started meanwhile; what a person has set stays."""
    added = [name for name in variables if name not in os.environ]
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
