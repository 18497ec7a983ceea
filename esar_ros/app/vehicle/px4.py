"""`esar px4`: PX4's home of a task, a drawing server's vehicle kept where PX4's is, where vehicles are, a landing, and
whether parameters are safe; the last three of ArduPilot, too.
"""

from __future__ import annotations

import argparse
import math
import os
import struct
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from esar_ros.app.arguments import Parser
from esar_ros.bridges.airsim.client import DEFAULT_PORT
from esar_ros.bridges.ardupilot.link import lock_port, refuse_taken
from esar_ros.bridges.ardupilot.parameters import findings as copter_findings
from esar_ros.bridges.px4.parameters import Finding, Grade, findings
from esar_ros.mission.errors import UsageError, install
from esar_ros.mission.task import load_task
from esar_ros.nodes.graph.mission import AUTOPILOTS, MAX_VEHICLES, PX4, MissionOptions, vehicle_names
from esar_ros.suites.esarbench.deployer import start_of

_ASKED = ("arm", "disarm", "take-off", "hand-over", "hold", "return", "land", "clear")
_HIGHEST = 120.0  # m
HEARD_WITHIN = 10.0  # s until a vehicle has said something
SILENT_FOR = 3.0  # s without a parameter until those that lack are asked for
ASKED = 5  # times
NEAR, FLAT = 200.0, 3.0  # m around a start, and m by which its ground may fall where a simulator's is a plane
_INTEGER = 6  # MAV_PARAM_TYPE_INT32: the value's bytes are an integer's
_COLUMNS = 5  # of a file of parameters: system, component, name, value, type
_LARGEST = 1_000_000  # bytes of such a file; a vehicle's has some 60,000


def main(argv: list[str]) -> int:
    """Runs the command."""
    parser = Parser(prog="esar px4", description="Prepare PX4, simulated or on a vehicle, to be flown by this graph.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    home = verbs.add_parser("home", help='PX4_HOME_* of a task\'s start, for SITL: eval "$(./esar px4 home TASK)"')
    home.add_argument("task", help="id, or a .json file")
    home.add_argument("--vehicle", type=int, default=1, metavar="K", help="the K-th of them, from 1 (default: 1)")
    home.add_argument("--of", type=int, default=1, metavar="N", help="vehicles that fly it, side by side (default: 1)")
    mirror = verbs.add_parser("mirror", help="keep the vehicles of a server that draws where PX4's are, until stopped")
    mirror.add_argument("--host", default="127.0.0.1", help="of the AirSim server (default: %(default)s)")
    mirror.add_argument("--port", type=int, default=DEFAULT_PORT, help="of the AirSim server (default: %(default)s)")
    mirror.add_argument("--vehicles", default="uav1", help="as the mission's (default: uav1)")
    mirror.add_argument("--namespace", default="", help="as the mission's (default: none)")
    for verb, about in (
        ("where", "say where vehicles are, and whether they are armed; exit code 1 if one is in the air"),
        ("land", "land vehicles where they are, and disarm them: the autopilot alone does it, no mission need run"),
    ):
        direct = verbs.add_parser(verb, help=about)
        direct.add_argument("--vehicles", default="uav1", help="as the mission's (default: uav1)")
        _add_autopilot(direct)
    ask = verbs.add_parser("ask", help="ask the bridge of a running graph, as ROS's own action tools do")
    ask.add_argument(
        "what",
        choices=_ASKED,
        help="take-off is the autopilot's own; hand-over: obey this graph; land: come down and disarm; "
        "clear: end what the governor has latched",
    )
    ask.add_argument("--height", type=float, default=5.0, metavar="M", help="of a take-off (default: %(default)g)")
    ask.add_argument("--vehicle", default="uav1", help="whose bridge (default: %(default)s)")
    ask.add_argument("--namespace", default="", help="as the mission's (default: none)")
    check = verbs.add_parser("check", help="name each parameter of a vehicle that is unsafe; exit code 1 if any is")
    check.add_argument("file", nargs="?", type=Path, help="as a ground station saves them (.params)")
    check.add_argument("--connect", metavar="ADDRESS", help="ask the vehicle over MAVLink, e.g. udpin:0.0.0.0:14550")
    check.add_argument("--system-id", type=int, help="the one that commands go to (default: not checked)")
    _add_autopilot(check)
    arguments = parser.parse_args(argv)
    if arguments.verb == "home":
        return _home(arguments.task, arguments.vehicle, arguments.of)
    if arguments.verb == "ask":
        return _ask(arguments.what, arguments.height, arguments.vehicle, arguments.namespace)
    if arguments.verb in ("where", "land"):
        return _direct(arguments.verb, arguments.vehicles, arguments.autopilot)
    return _mirror(arguments) if arguments.verb == "mirror" else _check(arguments)


def _add_autopilot(parser: argparse.ArgumentParser) -> None:
    about = "whose; ardupilot: ArduCopter over MAVLink, flown in SITL alone (default: %(default)s)"
    parser.add_argument("--autopilot", default=PX4, choices=AUTOPILOTS, help=about)


def _direct(verb: str, vehicles: str, autopilot: str) -> int:
    names = vehicle_names(vehicles)
    MissionOptions(world=autopilot, pace="realtime", vehicles=names).check()
    if autopilot == PX4:
        from esar_ros.nodes.px4 import direct, messages

        messages.ensure()
        where, land = direct.where, direct.land
    else:
        from esar_ros.bridges.ardupilot.direct import land, where
    return (land if verb == "land" else where)(names, lambda words: print(words, flush=True))


def _ask(what: str, height: float, vehicle: str, namespace: str) -> int:
    from esar_ros.nodes.px4.asking import ask

    if not (math.isfinite(height) and 0.0 < height <= _HIGHEST):
        raise UsageError(f"--height {height:g}", f"metres, above 0 and at most {_HIGHEST:g}")
    (name,) = vehicle_names(vehicle)[:1]
    options = MissionOptions(world=PX4, pace="realtime", vehicles=(name,), namespace=namespace)
    options.check()
    return ask(f"{options.root}/{name}", what, height, lambda words: print(words, flush=True))


def _mirror(arguments: argparse.Namespace) -> int:
    from esar_ros.nodes.px4_mirror import mirror

    options = MissionOptions(
        world=PX4, pace="realtime", vehicles=vehicle_names(arguments.vehicles), namespace=arguments.namespace,
        host=arguments.host, port=arguments.port,
    )  # fmt: skip
    options.check()
    return mirror([f"{options.root}/{vehicle}" for vehicle in options.vehicles], options.host, options.port)


def _home(name: str, vehicle: int, count: int) -> int:
    from esar_ros.sim.terrain.maps import load_map

    if not 1 <= vehicle <= count <= MAX_VEHICLES:
        raise UsageError(f"vehicle {vehicle} of {count}", f"give 1 to --of, at most {MAX_VEHICLES}")
    task = load_task(name)
    place = load_map(task.map)
    east, north = start_of(task, vehicle - 1, count)
    height = float(place.ground_height([east, north]))
    latitude, longitude, altitude = place.origin.to_geodetic([east, north, height])
    grid = np.stack(np.meshgrid(*(centre + np.linspace(-NEAR, NEAR, 41) for centre in (east, north))), axis=-1)
    fall = height - float(np.min(place.ground_height(grid.reshape(-1, 2))))
    if fall > FLAT:
        print(
            f"esar: within {NEAR:.0f} m the ground falls to {fall:.0f} m below the start: a simulator whose ground is "
            "a plane, as PX4's SIH, takes a vehicle below it for landed and stops its motors; take one of map lop_nur",
            file=sys.stderr,
        )
    print(f"export PX4_HOME_LAT={latitude:.8f} PX4_HOME_LON={longitude:.8f} PX4_HOME_ALT={altitude:.2f}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    if (arguments.file is None) == (arguments.connect is None):
        raise UsageError("whose parameters is not said", "give a file of them, or --connect ADDRESS")
    if arguments.file is not None:
        values, source = read_parameters(arguments.file), str(arguments.file)
    else:
        values, source = ask_parameters(arguments.connect, arguments.autopilot), arguments.connect
    judge = findings if arguments.autopilot == PX4 else copter_findings
    found = judge(values, arguments.system_id)
    _print(found, source, len(values))
    return 1 if any(finding.grade is Grade.UNSAFE for finding in found) else 0


def _print(found: list[Finding], source: str, count: int) -> None:
    console = Console(highlight=False)
    unsafe = sum(finding.grade is Grade.UNSAFE for finding in found)
    if found:
        table = Table("parameter", "is", "", "why, and what to set", box=None, pad_edge=False)
        for finding in found:
            value = "-" if finding.value is None else f"{finding.value:g}"
            table.add_row(finding.name, value, finding.grade.value, finding.text)
        console.print(table)
    console.print(f"{source}: {count} parameters, {unsafe} unsafe, {len(found) - unsafe} to look at", soft_wrap=True)


def read_parameters(path: Path) -> dict[str, float]:
    """Returns the parameters in a ground station's file, by name. Raises UsageError, naming file and line."""
    cure = "give a file of parameters as a ground station saves it: system component name value type, a line each"
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path}: larger than a file of parameters", cure)
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", "check the path") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a text", cure) from None
    values: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0]  # ArduPilot's tools say behind a value why it is so
        if not line.strip():
            continue
        parts = line.split()
        try:
            if len(parts) == _COLUMNS:
                name, value = parts[2], float(parts[3])
            else:  # as ArduPilot's ground stations write it: NAME,VALUE
                name, number_text = line.replace(",", " ").split()
                value = float(number_text)
        except ValueError:
            raise UsageError(f"{path}, line {number}: '{line.strip()[:40]}' is no parameter", cure) from None
        if not math.isfinite(value):
            raise UsageError(f"{path}, line {number}: {name} is {value}", cure)
        if values.setdefault(name, value) != value:
            raise UsageError(f"{path}, line {number}: {name} twice, with other values", "save one vehicle's alone")
    if not values:
        raise UsageError(f"{path}: {'no parameter in it' if lines else 'the file is empty'}", cure)
    return values


def ask_parameters(address: str, autopilot: str = PX4) -> dict[str, float]:
    """Returns the parameters of the vehicle at a MAVLink address, by name. Nothing is set. Raises UsageError."""
    if autopilot != PX4:
        refuse_taken(address)
    port = lock_port(address)
    try:
        return _asked(address, autopilot)
    finally:
        if port is not None:
            os.close(port)


def _asked(address: str, autopilot: str) -> dict[str, float]:
    try:
        from pymavlink import mavutil
    except ImportError:
        raise UsageError("--connect needs pymavlink", install("mavlink")) from None
    try:
        link = mavutil.mavlink_connection(address, source_system=254)
    except ModuleNotFoundError:
        raise UsageError(f"--connect {address}: a serial port needs pyserial", install("mavlink")) from None
    except Exception as error:  # whatever its kinds of links raise
        raise UsageError(f"--connect {address}: {error}", "e.g. udpin:0.0.0.0:14550, or a serial port") from None
    try:
        if link.wait_heartbeat(timeout=HEARD_WITHIN) is None:
            raise UsageError(
                f"--connect {address}: nobody speaks MAVLink there", "connect the vehicle, or another port"
            )
        values: dict[int, tuple[str, float]] = {}
        count = 0
        link.mav.param_request_list_send(link.target_system, 1)
        for _ in range(ASKED):
            last = time.monotonic()
            while time.monotonic() - last < SILENT_FOR and not 0 < count <= len(values):
                message = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=0.5)
                if message is None or message.get_srcSystem() != link.target_system:
                    continue
                count, last = int(message.param_count), time.monotonic()
                if int(message.param_index) < count:
                    values[int(message.param_index)] = (str(message.param_id), _value(message, autopilot))
            lacking = [index for index in range(count) if index not in values]
            if count and not lacking:
                return dict(values.values())
            for index in lacking:
                link.mav.param_request_read_send(link.target_system, 1, b"", index)
            if not count:
                link.mav.param_request_list_send(link.target_system, 1)
    finally:
        link.close()
    raise UsageError(f"--connect {address}: {len(values)} of {count} parameters came", "a better link, or a file")


def _value(message: object, autopilot: str) -> float:
    """Returns a PARAM_VALUE's value: PX4 sends the bytes of an integer in the place of a float, ArduPilot its value."""
    value = float(message.param_value)  # type: ignore[attr-defined]
    if autopilot == PX4 and int(message.param_type) == _INTEGER:  # type: ignore[attr-defined]
        return float(struct.unpack("<i", struct.pack("<f", value))[0])
    return value
