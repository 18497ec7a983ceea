"""`ros2 launch` as a process, and stand-ins for the nodes that tell how they were started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import yaml

from esar_ros.mission.resources import resource

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLES = [
    line.split()[0] for line in (ROOT / "scripts/executables.txt").read_text().splitlines() if line[0] != "#"
]

MODEL = "robot_state_publisher"

# A stand-in's Python: keeps what is asked of `-m MODULE`, as the report is; to prepare for `nosuch` is refused.
PYTHON = """#!/bin/sh
[ "$1" != -u ] || shift
if [ "$1 $2" = "-m esar_ros.app.prepare" ]; then
  case " $* " in *" nosuch "*) echo "esar: unknown planner nosuch"; exit 2;; esac
  echo "$3" > {here}/prepared; exit 0
fi
if [ "$1" = -m ]; then
  shift; echo "$@" > {here}/report; read code < {here}/report_code; exit $code
fi
exec {python} -S -E "$@"
"""

# A stand-in for a node: tells its command line and environment, then ends as the plan says: an exit code a start,
# taken once as many processes as planned have started; without one, it ends on SIGINT.
NODE = """#!{here}/python3
import json, os, signal, sys, time
here = {here!r}
ends = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda n, frame: ends.append(n))
name = os.path.basename(sys.argv[0])
plan = json.load(open(here + "/plan.json"))
label = "-".join([w[6:].strip("/").replace("/", "-") for w in sys.argv if w.startswith("__ns:=/") and w[7:]] + [name])
number = len([f for f in os.listdir(here + "/told") if f.startswith(label + ".")])
with open(here + "/told/" + label + "." + str(number) + ".part", "w") as told:
    json.dump({{"argv": sys.argv[1:], "environment": dict(os.environ), "pid": os.getpid()}}, told)
os.rename(told.name, told.name.replace(".part", ".json"))
code = (plan["codes"].get(label, []) + [None] * 99)[number]
while not ends or label in plan["deaf"]:
    time.sleep(0.01)
    if code is not None and len([f for f in os.listdir(here + "/told") if f.endswith("json")]) >= plan["processes"]:
        sys.exit(code)
with open(here + "/ended", "a") as ended:
    ended.write(label + " " + signal.Signals(ends[0]).name + "\\n")
"""


class Launched:
    """A running `ros2 launch` in a session of its own."""

    def __init__(
        self, folder: Path, arguments: dict[str, str], environment: dict[str, str], terminal: bool, file: str
    ) -> None:
        """file: launch/<file>.launch.py."""
        self._file = folder / "launch.log"
        self._ends: list[int] = list(os.openpty()) if terminal else []
        command = ["ros2", "launch", str(resource(f"launch/{file}.launch.py"))]
        with self._file.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *(f"{name}:={value}" for name, value in arguments.items())],
                stdin=self._ends[1] if terminal else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, "ROS_HOME": str(folder), "TMPDIR": str(folder), **environment},
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self._file.read_text(errors="replace")

    def finish(self, seconds: float = 60.0) -> int:
        """Wait for the end; the exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the launch did not end: {self.output[-3000:]}") from None

    def interrupt(self) -> None:
        """Ctrl-C: a terminal sends SIGINT to all processes in the foreground."""
        os.killpg(self.process.pid, signal.SIGINT)

    def left(self) -> list[str]:
        """Processes of the launch that are still there."""
        found = []
        for process in psutil.process_iter(["pid", "cmdline", "status"]):
            try:
                if os.getsid(process.pid) == self.process.pid and process.info["status"] != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.info["cmdline"] or []))
            except ProcessLookupError:
                continue
        return found

    def clear(self) -> None:
        """End whatever is left, for the sake of other tests."""
        if self.left():
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for end in self._ends:
            os.close(end)


Launch = Callable[..., Launched]


class StandIns:
    """An ament prefix with stand-ins for the executables of esar_ros, and for those of ROS that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "told").mkdir(parents=True)
        self._write("python3", PYTHON.format(here=folder, python=sys.executable))
        for package, names in (("esar_ros", EXECUTABLES), ("rviz2", ["rviz2"]), (MODEL, [MODEL])):
            self._write(f"share/ament_index/resource_index/packages/{package}", "")
            for name in names:
                self._write(f"lib/{package}/{name}", NODE.format(here=str(folder)))

    def environment(self) -> dict[str, str]:
        """Variables that make ROS look here first."""
        rest = os.environ.get("AMENT_PREFIX_PATH") or sys.prefix
        return {"AMENT_PREFIX_PATH": f"{self.folder}{os.pathsep}{rest}"}

    def plan(self, processes: int, codes: dict[str, list[int]], report_code: int = 0, deaf: Sequence[str] = ()) -> None:
        """Exit codes by label, one a start, taken once `processes` processes were started; others run until SIGINT.

        deaf: labels of those that do not end on any signal but SIGKILL.
        """
        (self.folder / "plan.json").write_text(json.dumps({"processes": processes, "codes": codes, "deaf": list(deaf)}))
        (self.folder / "report_code").write_text(f"{report_code}\n")

    def told(self, label: str, number: int = 0) -> dict[str, Any]:
        """Returns the argv, environment and pid with which a process was started the number-th time."""
        return json.loads((self.folder / "told" / f"{label}.{number}.json").read_text())

    def starts(self) -> dict[str, int]:
        """Returns the number of starts by label."""
        labels = [path.name.split(".")[0] for path in (self.folder / "told").glob("*.json")]
        return {label: labels.count(label) for label in labels}

    def wait_for(self, processes: int, seconds: float = 30.0) -> None:
        """Waits until `processes` processes were started."""
        limit = time.monotonic() + seconds
        while len(list((self.folder / "told").glob("*.json"))) < processes:
            assert time.monotonic() < limit, self.starts()
            time.sleep(0.02)

    def ended(self) -> list[str]:
        """Labels and signals of those that ended on a signal, in order."""
        path = self.folder / "ended"
        return path.read_text().splitlines() if path.is_file() else []

    def report(self) -> str:
        """Arguments of the report's command; empty when there was none."""
        path = self.folder / "report"
        return path.read_text().strip() if path.is_file() else ""

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def parameters(argv: list[str]) -> dict[str, Any]:
    """ROS parameters for every node in a process, from its command line."""
    merged: dict[str, Any] = {}
    for flag, value in pairwise(argv):
        if flag == "--params-file":
            merged |= yaml.safe_load(Path(value).read_text())["/**"]["ros__parameters"]
    return merged
