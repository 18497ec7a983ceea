"""Missions and faults on PX4 itself: `python benchmarks/px4_sitl.py BUILD --agent PROGRAM [ROW ...] [--page]`.

BUILD is a build of PX4's SITL that somebody made (it holds bin/px4), PROGRAM its Micro XRCE-DDS agent. Each row starts
agent, firmware, a server that draws, the mirror and `esar mission --world px4`, as docs/how-to/px4.md says, brings
something about, and reads from the firmware's own log what it did. Rows that are flown are kept in --out and not flown
again; --page writes all that are there. In real time: a row takes two to eight minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from page import Table, add_page, end_with, measured_code, write_page
from px4_firmware import CLI, Firmware, Log, end, home_of, read_log, start_agent, version

from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import load_task

TASK = "lop-yu-2-05"  # its ground lies nowhere lower than its start: below that SIH, whose ground is flat, has landed
SECONDS = 300.0  # of a mission, in place of the task's half an hour
SETTLED = 25.0  # s in offboard before anything is brought about: it flies at its search speed
LIMIT = 900.0  # s, of a mission
OURS = ("offboard", "external")  # modes in which it obeys this graph
_OUT = Path("out/px4_sitl")


class Flight:
    """The processes of one row: agent, firmware, server, mirror, mission."""

    def __init__(self, row: Row, build: Path, agent: Path, folder: Path) -> None:
        self.row, self.folder, self._agent_program = row, folder, agent
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randrange(1, 101))
        self.started = time.monotonic()
        task = folder / "task.json"
        shortened = load_task(TASK).model_copy(update={"t_max": SECONDS})
        task.write_text(shortened.model_dump_json(by_alias=True), encoding="utf-8")
        self.agent = start_agent(agent, folder / "agent.log")
        self.port = _free_port()
        self._beside: list[subprocess.Popen[bytes]] = []
        self.firmware = [
            Firmware(build, folder / f"px4_{k}", k, home_of(TASK, k + 1, row.vehicles), row.parameters)
            for k in range(row.vehicles)
        ]
        names = ",".join(self.names)
        self._start("sim", "sim", "--map", load_task(TASK).map, "--port", str(self.port), "--vehicles", names)
        for instance in self.firmware:
            instance.wait_ready()
        _wait_for(lambda: _answers(self.port), 120.0, "the server that draws")
        self._start("mirror", "px4", "mirror", "--port", str(self.port), "--vehicles", names)
        self.mission = self._start(
            "mission", "mission", "--world", "px4", "--task", str(task), "--port", str(self.port),
            "--out", str(folder / "out"), "--end", row.end, "--vehicles", names, "--detector", row.detector,
            *row.options,
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """Names of the vehicles."""
        return [f"uav{k + 1}" for k in range(self.row.vehicles)]

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen([*CLI, *words], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self._beside.append(process)
        return process

    def kill(self, executable: str) -> None:
        """Kills a node of the mission, as a crash would."""
        for child in psutil.Process(self.mission.pid).children(recursive=True):
            if any(executable in word for word in child.cmdline()):
                child.kill()
                return
        raise RuntimeError(f"no process of the mission is a {executable}")

    def restart_agent(self, after: float = 3.0) -> None:
        """Kills the agent and starts it again after some seconds."""
        self.agent.kill()
        self.agent.wait()
        time.sleep(after)
        self.agent = start_agent(self._agent_program, self.folder / "agent.log")

    def ask(self, verb: str) -> tuple[int, str]:
        """Returns exit code and words of `esar px4 where` or `land`."""
        command = [*CLI, "px4", verb, "--vehicles", ",".join(self.names)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL)
        return done.returncode, (done.stdout + done.stderr).strip()

    def stop(self) -> list[Path | None]:
        """Ends all, the mission first, and returns the firmware's logs."""
        for process in reversed(self._beside):
            end(process, 60.0)
        logs = [instance.stop() for instance in self.firmware]
        end(self.agent)
        return logs


@dataclass(frozen=True)
class Row:
    """One flight: how it is set up, what is brought about, and for how long it is watched after that."""

    name: str
    what: str
    bring: Callable[[Flight], None] | None = None
    watch: float = 60.0  # s after that, until the mission is interrupted
    end: str = "return_land"
    vehicles: int = 1
    parameters: Mapping[str, float] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    detector: str = "esar_yolo"
    beside: Callable[[Flight, threading.Event], None] | None = None  # a thread that runs until the event


def _stick(flight: Flight, over: threading.Event) -> None:
    """A ground station with a joystick in the middle; it falls silent when the row brings its loss about."""
    from pymavlink import mavutil

    os.environ["MAVLINK20"] = "1"
    link = mavutil.mavlink_connection("udpout:127.0.0.1:18570", source_system=255)
    while not over.wait(0.1):
        link.mav.manual_control_send(1, 0, 0, 500, 0, 0)
        link.mav.heartbeat_send(6, 8, 0, 0, 4)


def _set(**parameters: float) -> Callable[[Flight], None]:
    def bring(flight: Flight) -> None:
        for name, value in parameters.items():
            flight.firmware[0].run("param", "set", name, f"{value:g}")

    return bring


def _mode(name: str) -> Callable[[Flight], None]:
    return lambda flight: print(flight.firmware[0].run("commander", "mode", name), end="")


def _nothing(flight: Flight) -> None:
    """It is brought about by parameters from the start, or beside it."""


_FENCE = {"GF_MAX_HOR_DIST": 60.0, "GF_ACTION": 2}
_STICKS = {"COM_RC_IN_MODE": 1, "NAV_RCL_ACT": 2, "COM_RCL_EXCEPT": 0}
EXTERNAL = "/**:\n  ros__parameters:\n    mode: external\n"
ROWS = {
    row.name: row
    for row in (
        *(Row(f"mission {k}", "the documented commands, to the end") for k in (1, 2, 3)),
        Row("hold", "ends in hold; then `esar px4 land`", end="hold"),
        Row("bridge killed", "the bridge is killed by SIGKILL", lambda flight: flight.kill("px4_bridge")),
        Row("governor killed", "the governor is killed by SIGKILL", lambda flight: flight.kill("safety_governor")),
        Row("agent killed", "the agent is killed, and started again after 3 s", lambda flight: flight.restart_agent()),
        Row("a person: hold", "a person switches to hold", _mode("auto:loiter")),
        Row("a person: land", "a person switches to land", _mode("auto:land"), watch=90.0),
        Row("external mode", "a mode of its own in place of offboard; its bridge is killed",
            lambda flight: flight.kill("px4_bridge"), parameters={"COM_MODE_ARM_CHK": 1},
            options=("--params-file", "EXTERNAL")),
        Row("two vehicles", "two, to the end, with pictures of 320x240", vehicles=2, options=("--preset", "fast")),
        Row("remote control lost", "sticks fall silent (NAV_RCL_ACT 2)", _nothing, watch=120.0, parameters=_STICKS,
            beside=_stick),
        Row("satellites lost", "no satellite is used any more", _set(SIM_GPS_USED=0)),
        Row("fence", "PX4's own fence at 60 m, action hold", _nothing, watch=180.0, parameters=_FENCE),
        Row("critical battery", "its charge falls to 4 % within a minute (COM_LOW_BAT_ACT 3)",
            _set(SIM_BAT_MIN_PCT=4, SIM_BAT_DRAIN=60), watch=150.0, parameters={"COM_LOW_BAT_ACT": 3}),
    )
}  # fmt: skip


def fly(row: Row, build: Path, agent: Path, folder: Path) -> dict[str, Any]:
    """Flies a row and returns its figures; all that it wrote stays in its folder."""
    parameters = folder.parent / "external.yaml"
    parameters.write_text(EXTERNAL, encoding="utf-8")
    options = tuple(str(parameters) if word == "EXTERNAL" else word for word in row.options)
    row = Row(**{**row.__dict__, "options": options})
    flight = Flight(row, build, agent, folder)
    figures: dict[str, Any] = {"row": row.name, "task": TASK, "what": row.what, "moment": None}
    silent = threading.Event()
    if row.beside is not None:
        threading.Thread(target=row.beside, args=(flight, silent), daemon=True).start()
    try:
        _fly(flight, figures, silent)
    finally:
        silent.set()
        logs = flight.stop()
    found = [read_log(log) for log in logs if log is not None]
    return {**figures, **_of_log(found, figures["moment"]), **_of_result(folder / "out"), "commit": measured_code()}


def _fly(flight: Flight, figures: dict[str, Any], silent: threading.Event) -> None:
    row, first = flight.row, flight.firmware[0]

    def flies() -> bool:
        mode, armed, _ = first.status()
        return (armed and mode in OURS) or flight.mission.poll() is not None

    _wait_for(flies, 120.0, "offboard")
    if row.bring is None:
        _wait_for(lambda: flight.mission.poll() is not None, LIMIT, "the end of the mission")
    else:
        end_of_watch = time.monotonic() + SETTLED
        _wait_for(lambda: time.monotonic() > end_of_watch or flight.mission.poll() is not None, SETTLED + 5, "")
        figures["moment"] = first.clock()
        silent.set()
        row.bring(flight)
        limit = time.monotonic() + row.watch
        while time.monotonic() < limit and flight.mission.poll() is None:
            time.sleep(0.5)
        for _ in range(2):  # the first asks while it is in the air, the second ends
            if flight.mission.poll() is None:
                flight.mission.send_signal(signal.SIGINT)
                time.sleep(8.0)
    try:
        figures["exit"] = flight.mission.wait(120.0)
    except subprocess.TimeoutExpired:
        figures["exit"] = "did not end"
    code, words = flight.ask("where")
    figures["where"] = words.splitlines()
    if code:
        figures["landed by"] = flight.ask("land")[1].splitlines()
        _wait_for(lambda: not any(one.status()[1] for one in flight.firmware), 120.0, "a landing", must=False)
    figures["armed at the end"] = any(one.status()[1] for one in flight.firmware)


def _of_log(logs: list[Log], moment: float | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "flown_m": [round(log.flown(), 1) for log in logs],
        "top_m": [round(log.top(), 1) for log in logs],
        "landing_m": [log.landing() and round(log.landing() or 0.0, 2) for log in logs],
        "to_offboard_s": [_to_offboard(log) for log in logs],
    }
    if moment is not None and logs:
        log = logs[0]
        found["modes"] = [(mode, round(after, 2)) for mode, after in log.modes_after(moment)]
        found["zero_s"] = log.zero_after(moment)
        found["way"] = log.way_after(moment)
    return found


def _to_offboard(log: Log) -> float | None:
    on = next((at for at, armed in log.armed if armed), None)
    flies = [at for at, mode in log.modes if mode in OURS and on is not None and at >= on - 2.0]
    return None if on is None or not flies else round(flies[0] - on, 2)


def _of_result(out: Path) -> dict[str, Any]:
    """Returns what the result says, and whether the bag's score is that of the flight."""
    path = out / "result.json"
    if not path.is_file():
        return {"end": "no result"}
    result = json.loads(path.read_text(encoding="utf-8"))
    bag = next(iter(sorted(out.rglob("*.mcap"))), None)
    again = out / "again.json"
    if bag is not None:
        subprocess.run([*CLI, "score", str(bag.parent), "--json", str(again)], capture_output=True, timeout=300)
    metrics = result.get("metrics", {})
    scored = json.loads(again.read_text(encoding="utf-8")) if again.is_file() else {}
    differs = [key for key, value in metrics.items() if scored.get("metrics", {}).get(key) != value]
    return {
        "end": result.get("end"), "end_text": result.get("end_text"), "metrics": metrics,
        "safety": result.get("safety"),
        "same score": not differs if scored else None, "differs": differs,
    }  # fmt: skip


def page(kept: Sequence[dict[str, Any]], firmware: str) -> None:
    """Writes all rows that were flown."""
    whole = [row for row in kept if row["moment"] is None]
    brought = [row for row in kept if row["moment"] is not None]
    missions = Table(
        ("row", "end", "RS (%)", "found", "interventions", "hold (% of the time)", "flown (m)",
         "arming to its mode (s)",
         "landed from where it was armed (m)", "same score by the bag"),
        [_whole(row) for row in whole], "Whole missions",
        "RS and the rest are the referee's; way, landing and times are of the firmware's own log.",
    )  # fmt: skip
    faults = Table(
        ("row", "brought about", "PX4's modes after it (s)", "zero set-point (s)",
         "from (m/s), way until it stands (m)",
         "the mission's end", "breaches, crash", "same score by the bag", "at the end"),
        [_brought(row) for row in brought], "Faults",
        "Times are of the firmware's own log; set-points stand in it five times a second. Where it hovered at the end, "
        "`esar px4 land` landed it after what is shown.",
    )  # fmt: skip
    commits = ", ".join(sorted({row["commit"] for row in kept}))
    about = (
        "PX4's own SITL with its SIH quadrotor, its agent, the embedded simulator as the server that draws, the "
        "mirror, and `./esar mission --world px4` with its defaults on a shared machine of two cores."
    )
    tasks = ", ".join(sorted({row["task"] for row in kept}))
    conditions = {"firmware": firmware, "flown by commit": commits, "tasks": tasks}
    write_page(__file__, "Flown on PX4's SITL", about, conditions, [missions, faults])


def _whole(row: dict[str, Any]) -> tuple[Any, ...]:
    metrics, safety = row.get("metrics", {}), row.get("safety") or {}
    return (
        row["row"], row.get("end_text") or row["end"], 100.0 * metrics.get("rs", float("nan")),
        f"{metrics.get('victims_found', 0)} of {metrics.get('victims', 0)}, "
        f"{metrics.get('clues_located', 0)} of {metrics.get('clues', 0)} clues",
        metrics.get("interventions"), 100.0 * safety.get("modes", {}).get("hold", 0.0), _list(row["flown_m"]),
        _list(row["to_offboard_s"]), _list(row["landing_m"]), _same(row),
    )  # fmt: skip


def _brought(row: dict[str, Any]) -> tuple[Any, ...]:
    metrics, safety, way = row.get("metrics", {}), row.get("safety") or {}, row.get("way")
    down = "armed" if row["armed at the end"] else "disarmed"
    return (
        row["row"], row["what"], ", ".join(f"{mode} {after:g}" for mode, after in row["modes"]) or "none",
        row["zero_s"], "-" if way is None else f"{way[0]:.2f}, {way[1]:.2f}", row.get("end_text") or row["end"],
        f"{safety.get('breaches', '-')}, {'crashed' if metrics.get('crashed') else 'none'}", _same(row),
        f"{row['where'][-1].split(' at ')[0] if row['where'] else 'silent'}; at last {down}",
    )  # fmt: skip


def _list(values: Sequence[float | None]) -> str:
    return ", ".join("-" if value is None else f"{value:g}" for value in values)


def _same(row: dict[str, Any]) -> str:
    same = row.get("same score")
    return "-" if same is None else "yes" if same else f"**no: {', '.join(row['differs'])}**"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait_for(true: Callable[[], bool], patience: float, what: str, must: bool = True) -> None:
    limit = time.monotonic() + patience
    while not true():
        if time.monotonic() > limit:
            if must and what:
                raise RuntimeError(f"{what} did not come in {patience:g} s")
            return
        time.sleep(0.25)


def _folder(name: str) -> str:
    return name.replace(" ", "_").replace(":", "")


def main() -> int:
    """Flies what is asked for and is not there, and prints each row as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, metavar="BUILD", help="of PX4's SITL, with bin/px4 and etc")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"default: all; {', '.join(ROWS)}")
    parser.add_argument("--agent", type=Path, required=True, metavar="PROGRAM", help="MicroXRCEAgent")
    parser.add_argument("--out", type=Path, default=_OUT, help="(default: %(default)s)")
    add_page(parser)
    arguments = parser.parse_intermixed_args()
    if unknown := [name for name in arguments.rows if name not in ROWS]:
        raise UsageError(f"no row {unknown[0]!r}; there are: {', '.join(ROWS)}")
    firmware, out = version(arguments.build.resolve()), arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in arguments.rows or ROWS:
        folder = out / _folder(name)
        kept = folder / "row.json"
        if not kept.is_file():
            print(f"{name} ...", flush=True)
            figures = {
                **fly(ROWS[name], arguments.build.resolve(), arguments.agent.resolve(), folder),
                "firmware": firmware,
            }
            kept.write_text(json.dumps(figures, indent=1), encoding="utf-8")
        print(kept.read_text(encoding="utf-8"), flush=True)
    if arguments.page:
        found = (out / _folder(name) / "row.json" for name in ROWS)
        page([json.loads(path.read_text(encoding="utf-8")) for path in found if path.is_file()], firmware)
    return 0


if __name__ == "__main__":
    end_with(main)
