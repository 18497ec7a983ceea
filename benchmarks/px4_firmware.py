"""PX4 itself, built by somebody: instances of its SITL, their agent, and what their own logs say of a flight.

The firmware's log is a witness that does not pass through this graph: its modes, arming, velocities and true positions
(of the SIH quadrotor's simulation) are read from the `.ulg` that it writes from arming to disarming.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError

CLI = (sys.executable, "-u", "-m", "esar_ros.app.cli")
MODES = {1: "altitude", 2: "position", 3: "mission", 4: "hold", 5: "return", 12: "descend", 13: "termination",
         14: "offboard", 17: "take-off", 18: "land", 23: "external"}  # fmt: skip
ARMED = 2  # arming_state
STANDS = 0.3  # m/s, slower than which a vehicle stands
PARAMETERS: dict[str, float] = {"SIM_BAT_DRAIN": 86400}  # what docs/how-to/px4.md asks for, and no more
READY = "Ready for takeoff"
_PORT = 8888


class Firmware:
    """One instance of PX4's SITL with the SIH quadrotor."""

    def __init__(self, build: Path, folder: Path, instance: int, home: Mapping[str, str], changed: Mapping[str, float]):
        """Starts it in `folder`; `home` holds PX4_HOME_*, `changed` parameters by name."""
        self.build, self.instance, self.folder = build, instance, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        values = {**PARAMETERS, **changed}
        name = {"PX4_UXRCE_DDS_NS": f"px4_{instance}"} if instance else {}
        environment = {
            **{key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"},
            "PX4_SIMULATOR": "sihsim", "PX4_SIM_MODEL": "sihsim_quadx", **home, **name,
            **{f"PX4_PARAM_{key}": f"{value:g}" for key, value in values.items()},
        }  # fmt: skip
        start = ("-i", str(instance), "-d", "-s", "etc/init.d-posix/rcS")
        command = [str(build / "bin/px4"), *start, str(build / "etc")]
        with (folder / "px4.log").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def wait_ready(self, patience: float = 60.0) -> None:
        """Waits until its checks before a flight pass."""
        end = time.monotonic() + patience
        while READY not in (self.folder / "px4.log").read_text(encoding="utf-8", errors="replace"):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"PX4 was not ready in {patience:g} s: {self.folder / 'px4.log'}")
            time.sleep(0.2)

    def run(self, name: str, *words: str) -> str:
        """Returns what one of its commands prints."""
        command = [str(self.build / "bin" / f"px4-{name}"), "--instance", str(self.instance), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=30).stdout

    def listen(self, topic: str) -> dict[str, str]:
        """Returns the fields of the newest message of a topic, as printed."""
        return dict(re.findall(r"^ *(\w+): (.*?)(?: \(.*)?$", self.run("listener", topic, "-n", "1"), re.MULTILINE))

    def status(self) -> tuple[str, bool, float]:
        """Returns its mode, whether it is armed, and the seconds of its own clock."""
        found = self.listen("vehicle_status")
        if "nav_state" not in found:
            return "", False, 0.0
        mode = MODES.get(int(found["nav_state"]), f"mode {found['nav_state']}")
        return mode, int(found["arming_state"]) == ARMED, int(found["timestamp"]) * 1e-6

    def height(self) -> float:
        """Returns the height above where its estimator began (m)."""
        return -float(self.listen("vehicle_local_position").get("z", "nan"))

    def clock(self) -> float:
        """Returns the seconds of its own clock, now: those of a message that is 4 ms old at most."""
        found = self.listen("vehicle_angular_velocity")
        return int(found.get("timestamp", "0")) * 1e-6

    def stop(self) -> Path | None:
        """Ends it and returns its last log, if it wrote one."""
        end(self.process)
        return max(self.folder.glob("log/*/*.ulg"), default=None, key=lambda path: path.stat().st_mtime)


def end(process: subprocess.Popen[bytes], patience: float = 10.0) -> None:
    """Ends a process, by SIGINT and after `patience` seconds by SIGKILL."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def start_agent(program: Path, log: Path) -> subprocess.Popen[bytes]:
    """Starts the agent that carries PX4's topics to DDS."""
    with log.open("ab") as out:
        command = [str(program), "udp4", "-p", str(_PORT)]
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def home_of(task: str, vehicle: int = 1, count: int = 1) -> dict[str, str]:
    """Returns PX4_HOME_* of a task's start, as `esar px4 home` prints them."""
    command = [*CLI, "px4", "home", task, "--vehicle", str(vehicle), "--of", str(count)]
    words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return dict(word.split("=", 1) for word in words if "=" in word)


def version(build: Path) -> str:
    """Returns the firmware's release and commit, from the header that its build makes."""
    header = next(build.rglob("build_git_version.h"), None)
    if header is None or not (build / "bin/px4").is_file():
        raise UsageError(f"{build}: not a build of PX4's SITL; it holds bin/px4 (make px4_sitl_default)")
    found = dict(re.findall(r'#define (\w+) +"?([^"\n]*)', header.read_text(encoding="utf-8")))
    return f"PX4 {found.get('PX4_GIT_TAG_STR', '?')}, commit {found.get('PX4_GIT_VERSION_STR', '?')[:10]}"


@dataclass(frozen=True)
class Log:
    """A flight by the firmware's own log: times in s of its clock."""

    modes: list[tuple[float, str]]  # each change
    armed: list[tuple[float, bool]]
    times: NDArray[np.float64]  # of the true positions and speeds
    positions: NDArray[np.float64]  # (N, 3), m, NED
    speeds: NDArray[np.float64]  # (N,), m/s
    asked: tuple[NDArray[np.float64], NDArray[np.float64]]  # times and speeds (m/s) of velocity set-points

    def modes_after(self, moment: float) -> list[tuple[str, float]]:
        """Returns the modes from a moment on, each with the seconds until it came."""
        return [(mode, at - moment) for at, mode in self.modes if at > moment]

    def zero_after(self, moment: float) -> float | None:
        """Returns the seconds until a set-point of zero; the log holds five a second."""
        times, speeds = self.asked
        after = (times > moment) & (speeds < 0.01)
        return float(times[after][0] - moment) if after.any() else None

    def way_after(self, moment: float, within: float = 20.0) -> tuple[float, float] | None:
        """Returns the speed at a moment and the way (m) until it stands; none where that takes too long."""
        here = (self.times >= moment) & (self.times <= moment + within)
        speeds, places = self.speeds[here], self.positions[here]
        slow = np.flatnonzero(speeds < STANDS)
        if not len(slow):
            return None
        steps = np.linalg.norm(np.diff(places[: slow[0] + 1], axis=0), axis=1)
        return float(speeds[0]), float(steps.sum())

    def landing(self) -> float | None:
        """Returns how far from where it was armed it was disarmed (m, level); none where it was not."""
        on = [at for at, armed in self.armed if armed]
        off = [at for at, armed in self.armed if not armed and on and at > on[0]]
        if not off:
            return None
        first, last = (
            self.positions[np.searchsorted(self.times, at).clip(0, len(self.times) - 1)] for at in (on[0], off[-1])
        )
        return float(np.hypot(*(last - first)[:2]))

    def flown(self) -> float:
        """Returns the way flown (m)."""
        return float(np.linalg.norm(np.diff(self.positions[::10], axis=0), axis=1).sum())

    def top(self) -> float:
        """Returns the greatest height above the lowest place (m)."""
        return float(np.ptp(self.positions[:, 2]))


def read_log(path: Path) -> Log:
    """Reads a log of PX4."""
    from pyulog import ULog

    wanted = ["vehicle_status", "vehicle_local_position_groundtruth", "trajectory_setpoint"]
    log = ULog(str(path), wanted)
    data: dict[str, Any] = {found.name: found.data for found in log.data_list}
    status, truth = data["vehicle_status"], data["vehicle_local_position_groundtruth"]
    set_points = data.get(
        "trajectory_setpoint", {"timestamp": np.zeros(0), **{f"velocity[{i}]": np.zeros(0) for i in range(3)}}
    )
    at = status["timestamp"] * 1e-6
    velocity = np.stack([truth[key] for key in ("vx", "vy", "vz")], axis=1)
    asked = np.stack([set_points[f"velocity[{i}]"] for i in range(3)], axis=1)
    return Log(
        [(float(at[i]), MODES.get(int(mode), f"mode {mode}")) for i, mode in _changes(status["nav_state"])],
        [(float(at[i]), int(state) == ARMED) for i, state in _changes(status["arming_state"])],
        truth["timestamp"] * 1e-6,
        np.stack([truth[key] for key in "xyz"], axis=1).astype(float),
        np.linalg.norm(velocity, axis=1),
        (set_points["timestamp"] * 1e-6, np.linalg.norm(asked, axis=1)),
    )


def _changes(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yields index and value wherever a value differs from the one before."""
    for index, value in enumerate(values):
        if index == 0 or value != values[index - 1]:
            yield index, value
