"""Arguments of launch/mission.launch.py, and the mission that they describe.

`ros2 launch` runs in the distribution's own Python, while the nodes may live in a virtual environment. So this
module and what it imports need the standard library alone; the referee checks the task's file in full.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from esar_ros.mission.errors import SEED_MAX, UsageError, nearest
from esar_ros.mission.names import PRESETS, QUALITIES
from esar_ros.mission.system.incident_files import planned_flight
from esar_ros.mission.task_files import find_task, is_path
from esar_ros.nodes.graph.mission import (
    ENDS,
    LOG_LEVELS,
    NO_PORT,
    ODOMETRIES,
    PACES,
    RECORDS,
    SENSINGS,
    WORLDS,
    MissionOptions,
    vehicle_names,
)

AIRSIM_PORT = 41451
OWN_TASK = "task.json"  # in the results' folder
MEANT = 0.8  # likeness from which an unknown argument is taken for a misspelt one: others have arguments too
SIGNALS = ("kill", "stop", "rpc_hang")  # kinds of faults that only the supervisor of `esar mission` can inject
SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_DEFAULT = MissionOptions()


@dataclass(frozen=True)
class Argument:
    """One launch argument; launch knows only strings."""

    default: str
    about: str
    choices: tuple[str, ...] = ()  # empty: whatever


ARGUMENTS = {
    "namespace": Argument(
        "", "namespace of the whole graph, with the vehicles' below; a second mission needs another domain"
    ),
    "vehicles": Argument(",".join(_DEFAULT.vehicles), "how many vehicles, or their names separated by commas"),
    "params_file": Argument("", "ROS parameter file that overrides the graph's parameters"),
    "use_sim_time": Argument("true", "true: nodes take the time from /clock"),
    "planner": Argument(_DEFAULT.planner, "search method"),
    "task": Argument("", f"task id, or path of a task file; empty: {_DEFAULT.task}"),
    "incident": Argument("", "folder of an incident: its planned sortie is flown, on its map; not scored"),
    "sortie": Argument("", "of that incident: name of the sortie; empty: the first"),
    "brief": Argument("", "text file of a search of your own, in place of a task; not scored"),
    "map": Argument("", "of that search: an id of esar maps"),
    "start": Argument("", "of that search: LAT,LON of the drone, degrees WGS 84; empty: the map's centre"),
    "t_max": Argument("", f"of that search: s to search; empty: {_DEFAULT.t_max:g}"),
    "seed": Argument("-1", "random seed; -1: the task's"),
    "out": Argument(_DEFAULT.out, "folder for the results; earlier ones in it move to its earlier/"),
    "world": Argument(_DEFAULT.world, "what is flown in", WORLDS),
    "pace": Argument(_DEFAULT.pace, "who moves time", PACES),
    "preset": Argument(_DEFAULT.preset, "pictures: paper (640x480) or fast (320x240)", tuple(PRESETS)),
    "quality": Argument(_DEFAULT.quality, "of the pictures of the embedded simulator", QUALITIES),
    "detector": Argument(_DEFAULT.detector, "clue detector backend"),
    "governor": Argument("true", "false: the safety governor only watches"),
    "keep_out": Argument("", "YAML file of zones not to be entered; empty: none"),
    "fault": Argument("", "YAML schedule of faults to inject, without signals to processes; empty: none"),
    "odometry": Argument(_DEFAULT.odometry, "of simulated vehicles: off as an estimator's, or true", ODOMETRIES),
    "sensing": Argument(
        _DEFAULT.sensing, "camera driver, detector and mapper in one process, or one process each", SENSINGS
    ),
    "end": Argument(_DEFAULT.end, "what a vehicle does after the mission", ENDS),
    # A mission without a bag has no score to check and no report.
    "record": Argument(_DEFAULT.record, "what the bag keeps", tuple(r for r in RECORDS if r != "none")),
    "rviz": Argument("false", "true: open RViz on the vehicle, or on the first two, with robot_state_publisher"),
    "view": Argument(str(NO_PORT), f"port of the live page; {NO_PORT}: no page, 0: a free port"),
    "foxglove": Argument(str(NO_PORT), f"port of the server for Foxglove; {NO_PORT}: none, 0: a free port"),
    "cot": Argument("", "HOST:PORT told as CoT (ATAK) where vehicles are and what they report; empty: nobody"),
    "log_level": Argument(_DEFAULT.log_level, "of the nodes' logs", LOG_LEVELS),
    "host": Argument(_DEFAULT.host, "of the AirSim server; the address that the embedded simulator listens on"),
    "port": Argument("0", f"of the AirSim server; 0: {AIRSIM_PORT}, and a free one for the embedded simulator"),
}


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Raises UsageError where a name is so like a known one that it was meant; launch ignores unknown arguments.

    Other names pass: a launch file that includes this one has arguments of its own.
    """
    for name in given:
        meant = None if name in known else nearest(name, known, MEANT)
        if meant:
            raise UsageError(f"unknown launch argument {name}", f"did you mean {meant}?")


def options_from(values: Mapping[str, str]) -> MissionOptions:
    """The mission that launch arguments describe; values must have every key of ARGUMENTS. Raises UsageError."""
    if values["incident"] or values["sortie"]:
        values = _of_incident(values)
    task, task_map, task_seed = _own_task(values) if values["brief"] else _task(values["task"] or _DEFAULT.task)
    for name in ("map", "start", "t_max"):
        if values[name] and not values["brief"]:
            raise UsageError(f"{name} without brief", "a task has its own; brief:=FILE is for yours")
    if values["params_file"] and not Path(values["params_file"]).is_file():
        raise UsageError(f"params_file {values['params_file']} is no file", "check the path")
    if values["keep_out"] and not Path(values["keep_out"]).is_file():
        raise UsageError(f"keep_out {values['keep_out']} is no file", "check the path")
    if values["fault"]:
        _check_faults(Path(values["fault"]))
    seed = _whole("seed", values["seed"], -1, SEED_MAX)
    options = MissionOptions(
        task=task,
        planner=values["planner"],
        map=task_map,
        brief=str(Path(values["brief"]).resolve()) if values["brief"] else "",
        start=values["start"],
        incident=str(Path(values["incident"]).resolve()) if values["incident"] else "",
        t_max=_seconds(values["t_max"]) if values["t_max"] else _DEFAULT.t_max,
        seed=task_seed if seed < 0 else seed,
        out=str(Path(values["out"]).resolve()),
        world=values["world"],
        pace=values["pace"],
        preset=values["preset"],
        quality=values["quality"],
        vehicles=vehicle_names(values["vehicles"]),
        namespace=values["namespace"],
        params_file=str(Path(values["params_file"]).resolve()) if values["params_file"] else "",
        use_sim_time=_switch("use_sim_time", values["use_sim_time"]),
        record=values["record"],
        detector=values["detector"],
        governor=_switch("governor", values["governor"]),
        odometry=values["odometry"],
        sensing=values["sensing"],
        keep_out=str(Path(values["keep_out"]).resolve()) if values["keep_out"] else "",
        fault=str(Path(values["fault"]).resolve()) if values["fault"] else "",
        end=values["end"],
        rviz=_switch("rviz", values["rviz"]),
        view=_whole("view", values["view"], NO_PORT, 65535),
        foxglove=_whole("foxglove", values["foxglove"], NO_PORT, 65535),
        cot=values["cot"],
        log_level=values["log_level"],
        host=values["host"],
        port=_port(values["host"], _whole("port", values["port"], 0, 65535), values["world"]),
    )
    options.check()
    return options


def _switch(name: str, value: str) -> bool:
    try:
        return SWITCH[value.strip().lower()]
    except KeyError:
        raise UsageError(f"{name} '{value}' is neither true nor false", "write true or false") from None


def _seconds(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise UsageError(f"t_max '{value}' is no time", "give seconds")
    return number


def _whole(name: str, value: str, low: int, high: int) -> int:
    try:
        number = int(value)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise UsageError(f"{name} '{value}' is out of range", f"give a whole number from {low} to {high}")
    return number


def _port(host: str, wanted: int, world: str) -> int:
    if wanted or world != "embedded":
        return wanted or AIRSIM_PORT
    with socket.socket() as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise UsageError(f"host {host}: {error.strerror}", "choose an address of this machine") from None
        return int(probe.getsockname()[1])


def _check_faults(path: Path) -> None:
    """The nodes read the schedule in full; what takes a supervisor is refused here."""
    if not path.is_file():
        raise UsageError(f"fault {path} is no file", "check the path")
    for kind in SIGNALS:
        if re.search(rf"\bkind['\"]?\s*:\s*['\"]?{kind}\b", path.read_text(encoding="utf-8", errors="replace")):
            raise UsageError(f"{path}: launch sends no signals, so that {kind} is not injected", "use esar mission")


def _of_incident(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the arguments of a search of one's own that flies an incident's sortie."""
    if not values["incident"]:
        raise UsageError("sortie without incident", "name the folder: incident:=DIR")
    if values["planner"] != _DEFAULT.planner:
        raise UsageError(f"planner {values['planner']} and incident", "an incident's sortie is flown as it was planned")
    for name in ("task", "brief", "map", "start", "t_max"):
        if values[name]:
            raise UsageError(f"{name} and incident", "give one of them")
    flight = planned_flight(Path(values["incident"]), values["sortie"])
    own = {"brief": flight.brief, "map": flight.map, "start": flight.start, "t_max": f"{flight.t_max:g}"}
    return {**values, **own, "planner": flight.planner}


def _own_task(values: Mapping[str, str]) -> tuple[str, str, int]:
    """Returns the same of a search of one's own; the task's file is written before the nodes start."""
    if values["task"]:
        raise UsageError("task and brief", "give one of them")
    if not Path(values["brief"]).is_file():
        raise UsageError(f"brief {values['brief']} is no file", "check the path")
    if not values["map"]:
        raise UsageError("brief without map", "say where: an id of esar maps")
    return str(Path(values["out"]).resolve() / OWN_TASK), values["map"], 0


def _task(name: str) -> tuple[str, str, int]:
    """Returns the task as passed to its node (id, or absolute path), its map and its seed."""
    if is_path(name):
        name = str(Path(name).resolve())
    task, source = find_task(name)
    try:
        return name, str(task["map"]), int(task["seed"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{source} is no task: {error!r}", "mend the file") from None
