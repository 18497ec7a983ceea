"""A real mission for tests: the graph under the supervisor, on real DDS, in the embedded simulator."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esar_ros.mission.resources import resource
from esar_ros.nodes.graph.mission import TRUTH_DETECTOR, MissionOptions, mission_graph
from esar_ros.nodes.graph.progress import PREFIX
from esar_ros.nodes.graph.supervisor import Supervisor


@dataclass(frozen=True)
class Flown:
    """A mission that was flown to its end."""

    task: Path
    out: Path
    result: dict[str, Any]
    restarted: list[str]


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """All of a result but what says how long it took."""
    return {key: value for key, value in result.items() if key != "timing"}


def write_short_task(folder: Path, t_max: float, name: str = "short") -> Path:
    """The demo task with less time."""
    task = json.loads((resource("config/tasks") / "aotai-first.json").read_text(encoding="utf-8"))
    task |= {"id": name, "t_max": t_max}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Flight:
    """Runs a mission in a thread of its own; everything it printed is kept."""

    def __init__(self, out: Path, task: Path, **options: Any) -> None:
        self.out = out
        self.options = MissionOptions(
            task=str(task), seed=7, out=str(out), preset="fast", port=free_port(), progress=True,
            log_level="warn", **{"map": "aotai", "planner": "fbe", "detector": TRUTH_DETECTOR, **options},
        )  # fmt: skip
        self.lines: list[tuple[str, str]] = []
        self.code: int | None = None
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self.token = secrets.token_hex(8)
        self.supervisor = Supervisor(
            mission_graph(self.options),
            out / "logs",
            on_line=lambda label, line: self.lines.append((label, line)),
            token=self.token,
        )
        # Processes are started here: their death signal is tied to the thread that started them.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.supervisor.start()
            while self.code is None and not self._stop.is_set():
                self.code = self.supervisor.poll()
                time.sleep(0.05)
        except BaseException as error:
            self.error = error
        finally:
            self.supervisor.stop()

    def progress(self) -> dict[str, Any]:
        """The referee's newest progress line."""
        told = [line for label, line in list(self.lines) if line.startswith(PREFIX)]
        return json.loads(told[-1][len(PREFIX) :]) if told else {}

    def wait_until(self, elapsed: float, seconds: float = 120.0) -> None:
        """Wait until the mission clock shows at least so much."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            now = self.progress()
            if now.get("phase") not in (None, "join", "ended") and now["elapsed"] >= elapsed:
                return
            if not self._thread.is_alive():
                break
            time.sleep(0.02)
        raise AssertionError(f"the mission did not come to {elapsed} s: {self.tail()}")

    def finish(self, seconds: float = 240.0) -> dict[str, Any]:
        """Wait for the end; the result."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            self.abort()
            raise AssertionError(f"the mission did not end: {self.tail()}")
        if self.error is not None:
            raise self.error
        assert self.code == 0, self.tail()
        return json.loads((self.out / "result.json").read_text(encoding="utf-8"))

    def abort(self) -> None:
        self._stop.set()
        self._thread.join(30.0)

    def tail(self) -> str:
        logs = [f"{path.name}: {path.read_text()[-600:]}" for path in sorted((self.out / "logs").glob("*.log"))]
        return "\n".join(logs)
