"""Faults of whole processes: signals, by the mission's time."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from esar_ros.faults.schedule import Kill, ProcessFault, Schedule
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core.faults.checked import checked_schedule
from esar_ros.nodes.graph.mission import MissionOptions, NodeSpec
from esar_ros.nodes.graph.progress import PREFIX


@dataclass(frozen=True)
class Strike:
    """A signal that was sent, for logs and measurements."""

    label: str  # of the process
    kind: str
    time: float  # s since the mission's start


class Processes(Protocol):
    """The supervisor that starts the processes and knows their ids."""

    def pid(self, label: str) -> int | None:
        """Process id by label, None while it is not running."""


class ProcessFaults:
    """Sends a schedule's signals when their time comes. The mission's time comes from the referee's progress lines."""

    def __init__(self, schedule: Schedule, specs: Sequence[NodeSpec], realtime: bool) -> None:
        """specs: the graph's processes. Raises UsageError for a signal to a process that is not among them."""
        struck = [(fault, _labels(fault, specs)) for fault in schedule.signals()]
        for fault, labels in struck:
            if not labels:
                of = f" of {fault.vehicle} alone" if fault.vehicle else ""
                number = schedule.faults.index(fault)
                known = ", ".join(sorted({spec.executable for spec in specs}))
                raise UsageError(
                    f"key faults.{number}: this mission has no process '{fault.process}'{of}",
                    f"its processes are {known}; those of a vehicle's own are named with its name",
                )
        self._due: list[tuple[float, ProcessFault, str]] = sorted(
            ((fault.at, fault, label) for fault, labels in struck for label in labels), key=lambda due: due[0]
        )
        self._realtime = realtime
        self._elapsed: float | None = None
        self._received_at = 0.0
        self._stopped: list[tuple[float, int]] = []  # (s steady when it goes on, pid)
        self.strikes: list[Strike] = []

    @staticmethod
    def of(options: MissionOptions, specs: Sequence[NodeSpec]) -> ProcessFaults | None:
        """Those of a mission's schedule, None when it has none. Raises UsageError for one that cannot be acted on."""
        if not options.fault:
            return None
        schedule = checked_schedule(Path(options.fault), options.vehicles, options.pace)
        try:
            return ProcessFaults(schedule, specs, options.pace == "realtime")
        except UsageError as error:
            raise UsageError(f"{options.fault}, {error}") from None

    def on_line(self, line: str) -> None:
        """Take the time from a line that a process printed."""
        if line.startswith(PREFIX):
            with suppress(ValueError, KeyError, TypeError):
                report = json.loads(line[len(PREFIX) :])
                if report["phase"] not in ("start", "join", "ended"):
                    self._elapsed, self._received_at = float(report["elapsed"]), time.monotonic()

    def now(self) -> float | None:
        """s since the mission's start; in lockstep that of the newest frame, for its time stands still at will."""
        if self._elapsed is None:
            return None
        return self._elapsed + (time.monotonic() - self._received_at if self._realtime else 0.0)

    def strike(self, processes: Processes) -> None:
        """Send what is due."""
        steady, now = time.monotonic(), self.now()
        for due in [s for s in self._stopped if s[0] <= steady]:
            self._stopped.remove(due)
            _signal(due[1], signal.SIGCONT)
        while self._due and now is not None and self._due[0][0] <= now:
            _, fault, label = self._due[0]
            pid = processes.pid(label)
            if pid is None:
                return  # being started again: strike then
            del self._due[0]
            if isinstance(fault, Kill):
                _signal(pid, signal.SIGKILL)
            else:
                _signal(pid, signal.SIGSTOP)
                self._stopped.append((steady + fault.for_, pid))
            self.strikes.append(Strike(label, fault.kind, now))

    def release(self) -> None:
        """Let every stopped process go on, so that it can be ended in order."""
        for _, pid in self._stopped:
            _signal(pid, signal.SIGCONT)
        self._stopped.clear()


def _labels(fault: ProcessFault, specs: Sequence[NodeSpec]) -> list[str]:
    """Returns the labels of the processes that a fault strikes."""
    return [
        spec.label
        for spec in specs
        if spec.executable == fault.process and fault.vehicle in ("", spec.namespace.rsplit("/", 1)[-1])
    ]


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
