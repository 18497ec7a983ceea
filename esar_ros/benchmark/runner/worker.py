"""A worker: a process that flies one episode after another and reports the outcome of each."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from multiprocessing.connection import Connection
from typing import Any, Protocol

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.records import EpisodeTiming, Flown
from esar_ros.mission.errors import UsageError, one_line
from esar_ros.mission.system.processor import processor_kind
from esar_ros.planning.agent_call import BrokenSettings

_PR_SET_PDEATHSIG = 1
_ENVIRONMENT = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LP_NUM_THREADS": "0"}


class Episode(Protocol):
    """Flight of one episode; a suite's `episode.py` implements it."""

    def prepare(self) -> None:
        """Checks that this machine can fly. Raises UsageError."""

    def run(self, job: Job, in_agent: Callable[[bool], None]) -> Flown:
        """Fly; raises whatever went wrong that is not the method's fault."""


@dataclass(frozen=True)
class Ready:
    """The worker can fly; or why not."""

    trouble: str = ""


@dataclass(frozen=True)
class Finished:
    """One episode: its part of the record, or why it was not flown and where that happened.

    ends: settings are broken, so that the run is not to go on.
    """

    flown: Flown | None
    reason: str = ""
    trace: str = ""
    ends: bool = False


def worker_environment() -> dict[str, str]:
    """Variables for one busy thread a worker: more of them only wait for each other."""
    return dict(_ENVIRONMENT)


def work(pipe: Connection, episode: Episode, in_agent: Any) -> None:
    """Serve jobs until the pipe closes.

    in_agent: shared number, since when the method has the word (s, monotonic clock of the machine), 0 while it has not.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        return  # the runner died before the line above
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the runner, which ends its workers

    def tell(inside: bool) -> None:
        in_agent.value = time.monotonic() if inside else 0.0

    try:
        try:
            episode.prepare()
        except UsageError as error:
            pipe.send(Ready(str(error)))
            return
        pipe.send(Ready())
        while True:
            job = pipe.recv()
            tell(False)
            pipe.send(fly_job(episode, job, tell))
    except (EOFError, OSError):
        sys.exit(0)


def fly_job(episode: Episode, job: Job, tell: Callable[[bool], None]) -> Finished:
    """Flies one episode; nothing that it raises ends the worker."""
    try:
        flown = episode.run(job, tell)
        return Finished(flown, trace=flown.trace)
    except BrokenSettings as error:
        return Finished(None, str(error), ends=True)
    except Exception as error:
        words = one_line(str(error))
        reason = words if isinstance(error, UsageError) else f"{type(error).__name__}: {words}".rstrip(": ")
        return Finished(None, reason[:500], traceback.format_exc())


def timing(wall: float, cpu: float, simulated: float) -> EpisodeTiming:
    """Returns the part of a record that depends on the machine. wall, cpu, simulated: s."""
    return EpisodeTiming(
        wall=round(wall, 3),
        cpu=round(cpu, 3),
        simulated=round(simulated, 3),
        peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        host=socket.gethostname(),
        pid=os.getpid(),
        finished=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        processor=processor_kind(),
    )
