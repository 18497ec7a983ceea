"""`esar mission`: fly one task with the whole graph and show the scorecard."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import signal
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from esar_ros.app import prepare, rerun
from esar_ros.app.arguments import ON_OFF, Parser, on_off, shown
from esar_ros.app.brief import CORRECT, unread_in, with_correction
from esar_ros.app.checks.outside import PATIENCE, wait_for_outside
from esar_ros.app.parting import Parting
from esar_ros.app.progress import ProgressLine, parse
from esar_ros.app.results import TASK, ResultsFolder
from esar_ros.mission.briefing import make_brief
from esar_ros.mission.errors import SEED_MAX, UsageError
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.names import PRESETS, QUALITIES
from esar_ros.mission.system.incident_files import FLIGHTS, file_stem, planned_flight
from esar_ros.mission.task import Task, parse_task
from esar_ros.mission.task_files import is_path
from esar_ros.mission.vehicle import load_vehicle, overridden
from esar_ros.nodes.core.node_names import SIMULATOR
from esar_ros.nodes.graph.mission import (
    AUTOPILOTS,
    ENDS,
    LOG_LEVELS,
    NO_PORT,
    ODOMETRIES,
    PACES,
    PX4,
    RECORDS,
    WORLDS,
    MissionOptions,
    mission_graph,
    vehicle_names,
)
from esar_ros.nodes.graph.parameter_file import read_parameter_file
from esar_ros.nodes.graph.process_faults import ProcessFaults
from esar_ros.nodes.graph.progress import REPORT, SERVING, WAIT, Progress
from esar_ros.nodes.graph.shared_memory import sweep
from esar_ros.nodes.graph.supervisor import Supervisor
from esar_ros.nodes.px4 import messages
from esar_ros.perception.detectors.chosen import about_chosen, absolute, create_chosen, create_thermal
from esar_ros.perception.detectors.real_pictures import real_flight_warning
from esar_ros.planning.method import ReadsByRules
from esar_ros.planning.registry import create as create_planner
from esar_ros.safety.conditions import load_keep_out
from esar_ros.safety.site import Site
from esar_ros.scoring.result import write_atomically
from esar_ros.sim.server import STAGE
from esar_ros.suites.esarbench.deployer import start_of
from esar_ros.suites.esarbench.own_search import own_task
from esar_ros.suites.esarbench.tasks.validation import load_valid_task

POLL = 0.1  # s
VIEW_PORT = 8643  # beside the simulator's own page
FOXGLOVE_PORT = 8765  # where Foxglove looks
INTERRUPTED = 130
WAIT_MAX = 3600.0  # s
_ROS_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of `esar mission`; the same words as the launch file's arguments."""
    default = MissionOptions()
    add = parser.add_argument_group("what to fly").add_argument
    add("--task", help=f"task id, or path of a task file (default: {default.task})")
    add("--planner", default=default.planner, help="search method (default: %(default)s)")
    add("--detector", default=default.detector, help="clue detector, NAME or NAME:FILE (default: %(default)s)")
    add("--vehicles", default=",".join(default.vehicles), help="how many, or names by commas (default: %(default)s)")
    add("--seed", type=int, default=None, help="random seed (default: the task's)")
    about = f"(default: {default.end}, of an incident's sortie {ENDS[-1]})"
    add("--end", default=None, choices=ENDS, help=f"after the mission: hold, or return and land {about}")
    add("--correct", default="", metavar="WORDS", help=CORRECT)

    add = parser.add_argument_group("a search of your own, without a task and not scored").add_argument
    add("--brief", default="", metavar="FILE", help="text file with what is known of who is missing, or the words")
    add("--map", default="", metavar="MAP", help="where: an id of esar maps (esar maps import makes your own)")
    add("--start", default="", metavar="LAT,LON", help="of the drone, degrees WGS 84 (default: the map's centre)")
    add(
        "--incident", default="", metavar="DIR", help="folder of esar incident: its planned sortie is flown, on its map"
    )
    add("--sortie", default="", metavar="NAME", help="of that incident (default: the first)")
    add("--t-max", type=float, metavar="S", help=f"s to search (default: {default.t_max:g})")

    add = parser.add_argument_group("the world").add_argument
    add("--world", default=default.world, choices=WORLDS, help="what is flown in (default: %(default)s)")
    add("--pace", default=None, choices=PACES, help="who moves time (default: lockstep; realtime for an autopilot)")
    add("--preset", default=default.preset, choices=tuple(PRESETS), help="images: paper 640x480, fast 320x240")
    add("--quality", default=default.quality, choices=QUALITIES, help="of the images of the embedded simulator")
    add("--odometry", default=default.odometry, choices=ODOMETRIES, help="off as an estimator's (default), or true")
    add("--host", default=default.host, help="AirSim server, for world airsim")
    add("--port", type=int, default=0, help="of the simulator (default: a free one; 41451 for world airsim)")
    about = "for what a world needs and somebody else starts: an autopilot, a server (default: %(default)g)"
    add("--wait", type=float, default=PATIENCE, metavar="S", help=f"s to wait {about}")

    add = parser.add_argument_group("results").add_argument
    about = f"(default: {default.out}, of an incident's sortie in {FLIGHTS}/ of its folder)"
    add("--out", default=None, help=f"folder for the results {about}")
    add("--record", default=default.record, choices=RECORDS[1:], help="what the bag keeps (default: %(default)s)")

    add = parser.add_argument_group("watching").add_argument
    for flag, port, about in (
        ("--view", VIEW_PORT, "serve a page to watch it"),
        ("--foxglove", FOXGLOVE_PORT, "serve Foxglove"),
    ):
        about = f"{about} (default port: {port}; docs/how-to/watch.md)"
        add(flag, type=int, nargs="?", const=port, default=NO_PORT, metavar="PORT", help=about)
    add("--cot", default="", metavar="HOST:PORT", help="tell ATAK there where vehicles are and what they report (UDP)")

    add = parser.add_argument_group("safety and faults").add_argument
    add("--governor", type=on_off, default="on", choices=ON_OFF, help="off: it only watches (default: %(default)s)")
    add("--keep-out", default="", metavar="FILE", help="YAML file of zones not to be entered")
    add("--fault", default="", metavar="FILE", help="YAML schedule of faults to inject (docs/how-to/faults.md)")

    add = parser.add_argument_group("the ROS graph").add_argument
    add("--namespace", default="", help="namespace of the whole graph")
    add("--params-file", default="", metavar="FILE", help="ROS parameter file that overrides the graph's parameters")
    add("--log-level", default="warn", choices=LOG_LEVELS, help="of the nodes' logs (default: %(default)s)")
    rerun.add_arguments(parser.add_argument_group("an episode of a benchmark again"))


def options_from(arguments: argparse.Namespace) -> tuple[MissionOptions, Task]:
    """Checked choices and the task they are about. Raises UsageError."""
    if arguments.incident or arguments.sortie:
        _adopt_incident(arguments)
    out = Path(arguments.out or MissionOptions.out).resolve()
    t_max = MissionOptions.t_max if arguments.t_max is None else arguments.t_max
    if arguments.brief:
        if arguments.task is not None:
            raise UsageError("--task and --brief", "give one of them")
        task = own_task(arguments.brief, arguments.map, arguments.start, t_max, arguments.world)
        named = str(out / TASK)
    else:
        for flag, value in (("--map", arguments.map), ("--start", arguments.start), ("--t-max", arguments.t_max)):
            if value not in ("", None):
                raise UsageError(f"{flag} without --brief", "a task has its own; --brief FILE is for yours")
        named = arguments.task or MissionOptions.task
        task = load_valid_task(named)
        named = str(Path(named).resolve()) if is_path(named) else named
    create_chosen(arguments.detector)  # wrong weights or classes are told before take-off
    create_thermal(arguments.detector)
    create_planner(arguments.planner)  # a wrong name, bad parameters, no model to ask: told before take-off
    if arguments.params_file:
        read_parameter_file(Path(arguments.params_file))
    vehicles = vehicle_names(arguments.vehicles)
    if arguments.keep_out:
        _check_zones(Path(arguments.keep_out), task, len(vehicles))
    for what, name in (
        *(("vehicle", vehicle) for vehicle in vehicles),
        *(("namespace", part) for part in arguments.namespace.strip("/").split("/") if part),
    ):
        if not _ROS_NAME.fullmatch(name):
            raise UsageError(f"{what} '{name}' is no ROS name", "use letters, digits and underscores")
    embedded = arguments.world == "embedded"
    options = MissionOptions(
        task=named,
        planner=arguments.planner,
        map=task.map,
        brief=arguments.brief,
        start=arguments.start,
        incident=str(Path(arguments.incident).resolve()) if arguments.incident else "",
        t_max=t_max,
        seed=task.seed if arguments.seed is None else arguments.seed,
        out=str(out),
        world=arguments.world,
        pace=arguments.pace or ("realtime" if arguments.world in AUTOPILOTS else "lockstep"),
        preset=arguments.preset,
        quality=arguments.quality,
        vehicles=vehicles,
        namespace=arguments.namespace,
        params_file=str(Path(arguments.params_file).resolve()) if arguments.params_file else "",
        record=arguments.record,
        detector=absolute(arguments.detector),
        governor=arguments.governor == "on",
        odometry=arguments.odometry,
        keep_out=str(Path(arguments.keep_out).resolve()) if arguments.keep_out else "",
        fault=str(Path(arguments.fault).resolve()) if arguments.fault else "",
        end=arguments.end or MissionOptions.end,
        log_level=arguments.log_level,
        view=arguments.view,
        foxglove=arguments.foxglove,
        cot=arguments.cot,
        host=arguments.host,
        port=_port(arguments.port, arguments.host, embedded),
        progress=True,
    )
    if not 0 <= options.seed <= SEED_MAX:
        raise UsageError(f"seed {options.seed} is out of range", f"give a whole number from 0 to {SEED_MAX}")
    options.check()
    for name in ("view", "foxglove"):  # now, while no results are moved aside
        if getattr(options, name) > 0:
            _port(getattr(options, name), "127.0.0.1", True, f"--{name}")
    if options.fault:
        ProcessFaults.of(options, mission_graph(options))
    return options, task


def _adopt_incident(arguments: argparse.Namespace) -> None:
    """Sets the flags of a search of one's own to those of an incident's sortie. Raises UsageError."""
    if not arguments.incident:
        raise UsageError("--sortie without --incident", "name the folder: --incident DIR")
    if arguments.planner != MissionOptions().planner:
        raise UsageError(f"--planner {arguments.planner} and --incident", "its sortie is flown as it was planned")
    given = {"--task": arguments.task, "--brief": arguments.brief, "--map": arguments.map, "--start": arguments.start}
    for flag, value in (given | {"--t-max": arguments.t_max}).items():
        if value not in ("", None):
            raise UsageError(f"{flag} and --incident", "give one of them")
    flight = planned_flight(Path(arguments.incident), arguments.sortie)
    arguments.brief, arguments.map, arguments.start = flight.brief, flight.map, flight.start
    arguments.t_max, arguments.planner = flight.t_max, flight.planner
    arguments.end = arguments.end or ENDS[-1]
    arguments.out = arguments.out or os.path.join(arguments.incident, FLIGHTS, file_stem(flight.sortie))


def _check_zones(file: Path, task: Task, vehicles: int) -> None:
    """Raises UsageError for keep-out zones that the governor would refuse once the graph runs."""
    zones = load_keep_out(file)
    place = map_extent(task.map)  # its ground, which may still have to be drawn, decides nothing here
    for index in range(vehicles):
        home = np.array([*start_of(task, index, vehicles), 0.0])
        brief = make_brief(task, place, task.id, 1, home)
        try:
            Site.covering(brief.area, brief.ceiling, home, keep_out=[zone.polygon(place.origin) for zone in zones])
        except UsageError as error:
            raise UsageError(f"{file}: {error}") from None


def _port(wanted: int, host: str, embedded: bool, flags: str = "--port or --host") -> int:
    if not 0 <= wanted < 65536:
        raise UsageError(f"port {wanted} is no TCP port", "choose 1..65535, or 0 for a free one")
    if not embedded:
        return wanted or 41451
    with socket.socket() as probe:
        try:
            # As the simulator does: what an ended connection holds is no obstacle.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, wanted))
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no name of a machine"
            raise UsageError(f"port {wanted} on {host}: {why}", f"choose another {flags}") from None
        return int(probe.getsockname()[1])


def fly(options: MissionOptions, line: ProgressLine) -> int:
    """Run the graph until the mission's end. 0 ended, 1 a process failed, 130 interrupted. Raises UsageError."""
    out = Path(options.out)
    newest = [Progress("start", text="simulator, bridge, sensing, pilot, governor, planner, referee")]

    def on_line(label: str, text: str) -> None:
        progress = parse(text)
        if progress is not None and progress.phase == WAIT:
            newest[0] = replace(newest[0], text=progress.text)
        elif progress is not None and progress.phase == REPORT:
            line.note(progress.text)
        elif progress is not None:
            newest[0] = progress
        elif label == SIMULATOR and text.startswith(STAGE):
            newest[0] = Progress("start", text=text)
        elif text.startswith(("ended with", "was ended by")):
            line.note(f"{label} {text}")
        elif text.startswith(SERVING):
            line.note(text)

    sweep()
    token = secrets.token_hex(16)
    graph = mission_graph(options)
    supervisor = Supervisor(
        graph,
        out / "logs",
        options.params_file,
        options.log_level,
        on_line,
        token,
        ProcessFaults.of(options, graph),
    )
    interrupted: list[int] = []  # signals
    parting = Parting(options.vehicles, line.note, options.world) if options.world in AUTOPILOTS else None

    def interrupt(signum: int, frame: object) -> None:
        interrupted.append(signum)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    code: int | None = None
    try:
        supervisor.start()
        while code is None and not interrupted:
            line.show(newest[0])
            time.sleep(POLL)
            code = supervisor.poll()
            if interrupted == [signal.SIGINT] and parting is not None and not parting.may_end():
                interrupted.remove(signal.SIGINT)
    finally:
        supervisor.stop()
        line.show(newest[0])
        if parting is not None:
            parting.tell()
        line.close()
        sweep()
        for number, handler in before.items():
            signal.signal(number, handler)
    if supervisor.failure:
        print(f"esar: {supervisor.failure}", file=sys.stderr, flush=True)
    if supervisor.unwritten:
        print(f"esar: {supervisor.unwritten}", file=sys.stderr, flush=True)
    for label in supervisor.killed:
        print(f"esar: {label} did not end when told to and was killed (see its log)", file=sys.stderr, flush=True)
    if interrupted:
        return INTERRUPTED
    return int(code or bool(supervisor.killed))


def _await_outside(options: MissionOptions, patience: float, line: ProgressLine) -> None:
    """Waits for what a world needs beside the graph. Raises UsageError when it has not come within patience (s)."""
    if not 0.0 <= patience <= WAIT_MAX:
        raise UsageError(f"--wait {patience:g}", f"give 0 to {WAIT_MAX:g} seconds")
    try:
        wait_for_outside(
            options.world, options.host, options.port, options.vehicles, patience,
            lambda text: line.show(Progress("outside", text=text)),
        )  # fmt: skip
    finally:
        line.close()


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar mission", description="Fly one task and show its scorecard.")
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    earlier = rerun.adopt(arguments, {name: parser.get_default(name) for name in rerun.DECIDED})
    options, task = options_from(arguments)
    given = arguments.out or MissionOptions.out
    line = ProgressLine()
    _await_outside(options, arguments.wait, line)
    results = ResultsFolder(Path(options.out))
    results.prepare()
    told = task.prompt
    if arguments.correct.strip():  # flown and scored as a task of its own, which lies beside its result
        prompt = with_correction(told, arguments.correct)
        task = parse_task(
            task.model_copy(update={"prompt": prompt}).model_dump_json(by_alias=True), "the corrected task"
        )
        options = replace(options, task=str((results.path / TASK).resolve()))
    if options.task == str((results.path / TASK).resolve()):
        write_atomically(Path(options.task), task.model_dump_json(by_alias=True, indent=1))
    if options.world == PX4:
        if not messages.is_current():
            line.note("Building px4_msgs, once, which takes a minute or two")
        messages.ensure()
    print(f"Mission {task.id} on {task.map}: {options.planner}, seed {options.seed}, {options.world}, {options.pace}")
    print(f"  {task.prompt}\n", flush=True)
    if words := overridden(load_vehicle(), options.preset):
        print(f"! {words}\n", flush=True)
    method = create_planner(options.planner)
    reads = isinstance(method, ReadsByRules) and method.reads_by_rules
    if reads and (unread := unread_in(task, told)):
        print("  Not read of it by the rules of belief, which search the wider (esar brief asks what to decide):")
        print("".join(f"    {words}\n" for words in unread), flush=True)
    if options.world in AUTOPILOTS:
        print(f"! {real_flight_warning(about_chosen(options.detector))}\n", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logs = results.path / "logs"
    try:
        log = logs / "prepare.log"
        prepare.ensure(task.map, lambda text: line.show(Progress("prepare", text=text)), log, options.quality)
    except KeyboardInterrupt:
        line.close()
        print("Interrupted before the mission began", file=sys.stderr)
        return INTERRUPTED
    code = fly(options, line)
    if code == INTERRUPTED:
        where = shown(results.path, given)
        if (results.path / "result.json").is_file():
            print(f"Interrupted. What was flown is in {where}; esar report {where} draws it", file=sys.stderr)
        else:
            print("Interrupted before the mission began", file=sys.stderr)
        return code
    if (results.path / "result.json").is_file() and (results.path / "bag").is_dir():
        from esar_ros.benchmark.report.mission_report import show_mission

        result = show_mission(results.path)
        if result.error is not None:
            print(f"esar: {result.error}", file=sys.stderr)
            code = code or 1
        if earlier is not None:
            print(rerun.verdict(earlier, results.path / "result.json"))
    return code
