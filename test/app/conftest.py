"""`esar` as a person starts it: a process of its own, in a session, DDS domain and environment of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from esar_ros.nodes.graph.shared_memory import FOLDER, PREFIXES
from helpers.ros_domain import free_domain

MARKER = "ESAR_TEST_MARKER"


@dataclass(frozen=True)
class Ended:
    """Outcome of a command, with its streams."""

    code: int
    out: str
    err: str
    seconds: float  # from the signal, or from the start

    def one_line(self) -> str:
        """The only line on the error stream."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


class Command:
    """One running `esar VERB ...`."""

    def __init__(self, folder: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
        self._out, self._err = folder / "stdout", folder / "stderr"
        self._marker = uuid.uuid4().hex
        self._began = time.monotonic()
        self._segments: set[tuple[str, int]] = set()
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "esar_ros.app.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "ROS_DOMAIN_ID": str(free_domain())} | {MARKER: self._marker, **environment},
                start_new_session=True,
            )

    def wait_for(self, text: str, seconds: float = 120.0) -> None:
        """Until it has printed a text."""
        limit = time.monotonic() + seconds
        while text not in self._out.read_text(encoding="utf-8"):
            assert self.process.poll() is None, f"it ended: {self.said()}"
            assert time.monotonic() < limit, f"never said '{text}': {self.said()}"
            time.sleep(0.1)

    def said(self) -> str:
        """Everything it printed."""
        return self._out.read_text(encoding="utf-8") + self._err.read_text(encoding="utf-8")

    def send(self, number: signal.Signals) -> None:
        """A signal to the command alone, as a terminal's Ctrl-C reaches no process that it started."""
        self.look_at_segments()
        self._began = time.monotonic()
        self.process.send_signal(number)

    def end(self, seconds: float = 120.0) -> Ended:
        """Wait for its end."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s: {self.said()}") from None
        took = time.monotonic() - self._began
        return Ended(code, self._out.read_text(encoding="utf-8"), self._err.read_text(encoding="utf-8"), took)

    def processes(self) -> list[int]:
        """Ids of the processes it started that live, its own among them."""
        wanted = f"{MARKER}={self._marker}".encode()
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def look_at_segments(self) -> None:
        """Note which segments of Fast DDS its processes hold now."""
        for pid in self.processes():
            try:
                lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
            except OSError:
                continue
            for line in lines:
                *_, inode, path = line.split(None, 5) if line.count("/") else ("", "0", "")
                name = Path(path).name
                if path.startswith(f"{FOLDER}/") and name.startswith(PREFIXES):
                    self._segments.add((name, int(inode)))

    @property
    def held(self) -> set[tuple[str, int]]:
        """Name and inode (other missions use the same names) of the segments noted so far."""
        return self._segments

    def left_behind(self) -> set[tuple[str, int]]:
        """Segments of it that still exist."""
        there = set()
        for path in FOLDER.iterdir():
            with suppress(OSError):
                there.add((path.name, path.stat().st_ino))
        return self._segments & there

    def kill(self) -> None:
        """End every process of it."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


Esar = Callable[..., Command]


@pytest.fixture
def esar(tmp_path: Path) -> Iterator[Esar]:
    """esar(*arguments, **environment): a started command; whatever is left of it at the end is killed."""
    started: list[Command] = []

    def start(*arguments: str, **environment: str) -> Command:
        folder = tmp_path / f"command{len(started)}"
        folder.mkdir()
        started.append(Command(folder, arguments, environment))
        return started[-1]

    yield start
    for command in started:
        command.kill()
