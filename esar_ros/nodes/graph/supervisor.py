"""Run a mission graph where ROS launch is not installed: start, watch, restart and end processes."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.environment import graph_environment
from esar_ros.mission.system.processes import die_with_parent, how_it_ended
from esar_ros.mission.system.system_errors import system_error
from esar_ros.mission.system.truth_token import ON_STANDARD_INPUT
from esar_ros.nodes.graph.mission import BAD_INPUT, NodeSpec
from esar_ros.nodes.graph.process_faults import ProcessFaults
from esar_ros.nodes.graph.progress import PREFIX

# s a process gets to end after SIGINT, before SIGKILL, on a busy machine: the one that has a score to write (it needs a
# second or two on a quiet one), and the others. launch/mission.launch.py gives the same.
GRACE_CLOSING, GRACE = 60.0, 20.0
MAX_RESTARTS = 5
START = (sys.executable, "-u", "-m", "esar_ros.nodes.graph.start")
LAST_WORDS = 1.0  # s to wait for what an ended process printed
ERROR_PREFIXES = ("esar: ", "sim: ")  # how a process says in one line what was wrong with its input


def parameters_file(spec: NodeSpec, folder: Path) -> Path:
    """Write a process's parameters as a ROS parameter file for every node in it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{spec.label}.yaml"
    path.write_text(yaml.safe_dump({"/**": {"ros__parameters": spec.parameters}}, sort_keys=True), encoding="utf-8")
    return path


def command(spec: NodeSpec, folder: Path, params_file: str = "", log_level: str = "info") -> list[str]:
    """Command line of one process."""
    if not spec.ros:
        return [*START, "esar_ros.sim.server", *spec.arguments]
    arguments = [*START, spec.main_module, "--ros-args"]
    if spec.namespace:
        arguments += ["-r", f"__ns:={spec.namespace}"]
    for topic, name in spec.remap.items():
        arguments += ["-r", f"{topic}:={name}"]
    arguments += ["--params-file", str(parameters_file(spec, folder))]
    if params_file:
        arguments += ["--params-file", params_file]
    return [*arguments, "--log-level", log_level]


@dataclass
class _Process:
    spec: NodeSpec
    command: list[str]
    log: IO[bytes]
    popen: subprocess.Popen[bytes] | None = None
    reader: threading.Thread | None = None
    restarts: int = 0
    restart_at: float = 0.0
    complaint: str = ""  # last one-line error it printed
    tail: list[str] = field(default_factory=list)

    @property
    def last_words(self) -> str:
        """The last line it printed that is not for machines."""
        words = [line for line in self.tail if not line.startswith(PREFIX)]
        return words[-1] if words else "it said nothing"


class Supervisor:
    """Processes of one mission. `on_line(label, line)` gets every line they print."""

    def __init__(
        self,
        specs: Sequence[NodeSpec],
        logs: Path,
        params_file: str = "",
        log_level: str = "info",
        on_line: Callable[[str, str], None] = lambda label, line: None,
        token: str = "",
        faults: ProcessFaults | None = None,
    ) -> None:
        try:
            logs.mkdir(parents=True, exist_ok=True)
            self._processes = [
                _Process(spec, command(spec, logs, params_file, log_level), (logs / f"{spec.label}.log").open("wb"))
                for spec in specs
            ]
        except OSError as error:
            what = f"cannot write {logs}"
            raise (
                system_error(error, what) or UsageError(f"{what}: {error.strerror}", "choose another --out")
            ) from None
        self._token = token  # opens ground truth; only for those that may know it
        self._on_line = on_line
        self.faults = faults  # signals to send
        self.failure = ""  # one line: what ended the mission, where it failed
        self._cause = ""  # the same for the result, without this machine's paths
        self.restarted: list[str] = []  # labels, in order
        self.killed: list[str] = []  # labels of those that did not end when told to
        self.unwritten = ""  # one line: why logs are incomplete

    def start(self) -> None:
        """Start every process."""
        for process in self._processes:
            self._launch(process)

    def poll(self) -> int | None:
        """Look after the processes; the exit code once the mission is over, else None.

        Raises UsageError with a process's own words when one refuses its input.
        """
        if self.faults is not None:
            self.faults.strike(self)
        for process in self._processes:
            if process.popen is None:
                if time.monotonic() >= process.restart_at:
                    self._launch(process)
                continue
            code = process.popen.poll()
            if code is None:
                continue
            if process.reader is not None:
                process.reader.join(LAST_WORDS)
            if code == BAD_INPUT and process.complaint and not (process.spec.optional and process.restarts):
                self._cause = f"{process.spec.label}: {process.complaint}"
                raise UsageError(f"{self._cause} (see {process.log.name})")
            if process.spec.ends_mission and code == 0:
                return 0
            if process.spec.optional and process.restarts >= MAX_RESTARTS:
                self._on_line(process.spec.label, f"{how_it_ended(code)}, the mission goes on without it")
                process.popen, process.restart_at = None, math.inf
                continue
            if not process.spec.restart or process.restarts >= MAX_RESTARTS:
                often = f", {process.restarts + 1} times" if process.restarts else ""
                self._cause = f"{process.spec.label} {how_it_ended(code)}{often}: {process.last_words}"
                self.failure = f"{self._cause} (see {process.log.name})"
                return 1
            process.restarts += 1
            process.popen = None
            process.restart_at = time.monotonic() + 0.2 * process.restarts
            self.restarted.append(process.spec.label)
            self._on_line(process.spec.label, f"{how_it_ended(code)}, starting it again")
        return None

    def pid(self, label: str) -> int | None:
        """Process id by label, None while it is not running."""
        for process in self._processes:
            if process.spec.label == label and process.popen is not None and process.popen.poll() is None:
                return process.popen.pid
        return None

    def stop(self) -> None:
        """End everything: the one that closes the bag first, the simulator last; `killed` gets who had to be killed.

        Who scores the mission is told on standard input which process failed, where one did.
        """
        if self.faults is not None:
            self.faults.release()
        for process in self._processes:
            self._tell_cause(process)
        self._end([p for p in self._processes if p.spec.ends_mission], GRACE_CLOSING)
        self._end([p for p in self._processes if not p.spec.ends_mission and p.spec.ros], GRACE)
        self._end([p for p in self._processes if not p.spec.ros], GRACE)
        for process in self._processes:
            if process.reader is not None:
                process.reader.join(LAST_WORDS)
            try:
                process.log.close()
            except OSError as error:  # the disk is full: the file is closed all the same
                self._lose(process, error)

    def _tell_cause(self, process: _Process) -> None:
        pipe = process.popen.stdin if process.popen is not None else None
        if pipe is None or pipe.closed:
            return
        with suppress(OSError), pipe:
            if self._cause:
                pipe.write(self._cause.encode() + b"\n")

    def _end(self, processes: Sequence[_Process], grace: float) -> None:
        alive = [(p, p.popen) for p in processes if p.popen is not None and p.popen.poll() is None]
        for _, popen in alive:
            popen.send_signal(signal.SIGINT)
        limit = time.monotonic() + grace
        for process, popen in alive:
            try:
                popen.wait(max(0.05, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                popen.kill()
                popen.wait()
                self.killed.append(process.spec.label)

    def _lose(self, process: _Process, error: OSError) -> None:
        what = f"the logs are incomplete: cannot write {process.log.name}"
        self.unwritten = self.unwritten or str(system_error(error, what) or f"{what}: {error.strerror}")

    def _launch(self, process: _Process) -> None:
        process.complaint = ""
        # On standard input, since others can read a process's environment.
        source = ON_STANDARD_INPUT if self._token and process.spec.truth else ""
        process.popen = subprocess.Popen(
            process.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **graph_environment(process.spec.images), **process.spec.truth_environment(source)},
            start_new_session=True,  # a terminal's Ctrl-C reaches the supervisor alone, which ends all in order
            preexec_fn=die_with_parent,
        )
        assert process.popen.stdin is not None
        with suppress(BrokenPipeError):
            if source:
                process.popen.stdin.write(self._token.encode() + b"\n")
                process.popen.stdin.flush()
            if not (source and process.spec.ends_mission):  # it is told at the end what has failed
                process.popen.stdin.close()
        process.reader = threading.Thread(target=self._drain, args=(process, process.popen), daemon=True)
        process.reader.start()

    def _drain(self, process: _Process, popen: subprocess.Popen[bytes]) -> None:
        assert popen.stdout is not None
        for raw in popen.stdout:
            try:
                process.log.write(raw)
                process.log.flush()
            except ValueError:  # closed while the last lines came in
                return
            except OSError as error:  # what it says is heard all the same, and its pipe must not run full
                self._lose(process, error)
            line = raw.decode("utf-8", "replace").rstrip()
            for prefix in ERROR_PREFIXES:
                if line.startswith(prefix):
                    process.complaint = line[len(prefix) :]
            if line:
                process.tail = [*process.tail[-4:], line]
                if self.faults is not None:
                    self.faults.on_line(line)
                self._on_line(process.spec.label, line)
