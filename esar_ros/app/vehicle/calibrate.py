"""`esar calibrate`: a vehicle's braking model, from the stops in a bag or in a flight of the embedded simulator."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from esar_ros.app.arguments import Parser
from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import vehicle_messages
from esar_ros.geometry.frames import is_rotation, rotation_from_quaternion
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.settings_file import parse_yaml, validated
from esar_ros.mission.stamps import NANO, nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.safety.calibration import MIN_SPEED, Calibration, Flight, calibrate, find_stops
from esar_ros.safety.limits import Limits, changed_text, load_limits
from esar_ros.scoring.result import write_atomically

MAP = "aotai"  # over which the embedded vehicle flies
_FEW_STOPS = 5  # below which more are asked for
_NEAR_LIMIT = 0.9  # share of speed_horizontal below which faster stops are asked for
_MODEL = ("deceleration", "latency", "tau")
_NOT_FINITE = (np.nan, np.nan, np.nan)
_Rows = list[tuple[int, tuple[float, ...]]]  # stamps (ns) and numbers


def main(argv: list[str]) -> int:
    """Runs the command."""
    parser = Parser(prog="esar calibrate", description="Measure how a vehicle brakes, and the limits that follow.")
    parser.add_argument("bag", nargs="?", help="of a flight with stops (default: fly the embedded simulator's vehicle)")
    parser.add_argument("--vehicle", default="", help="its name, where a bag has several")
    parser.add_argument("--out", metavar="FILE", help="write the limits as a ROS parameter file, for --params-file")
    arguments = parser.parse_args(argv)
    rig = load_vehicle()
    if arguments.bag is None:
        from esar_ros.benchmark.engine.step_flight import fly_steps
        from esar_ros.sim.terrain.maps import load_map

        print(f"Flying steps and stops over {MAP}, about a minute", flush=True)
        flight, current, where = fly_steps(load_map(MAP), rig), load_limits(), "the embedded simulator's vehicle"
    else:
        name, flight, current = read_flight(Path(arguments.bag), arguments.vehicle)
        where = f"{name} in {arguments.bag}"
    stops = find_stops(flight)
    if not stops:
        cure = f"fly straight and steadily at {MIN_SPEED} m/s or more, stop, and stand for some seconds"
        raise UsageError(f"no stop of {where}", cure)
    age = 1.0 / rig.rates.ranges + 1.0 / rig.rates.control
    found = calibrate(stops)
    limits = found.limits(current, age)
    print("\n".join((*_table(where, found, current, limits), *_verdict(found, current, age))))
    text = _parameters(found, where, limits)
    print(f"\nLimits that cover every stop and that age, as a parameter file of governor and pilot:\n\n{text}")
    if arguments.out:
        write_atomically(Path(arguments.out), text)
    print(f"Fly with them: --params-file {arguments.out or 'FILE (--out FILE writes it)'}")
    return 0


def read_flight(bag: Path, vehicle: str = "") -> tuple[str, Flight, Limits]:
    """Returns the name of a vehicle of a bag, its flight, and its governor's limits in force. Raises UsageError."""
    motion: dict[str, _Rows] = defaultdict(list)
    commands: dict[str, _Rows] = defaultdict(list)
    changed: dict[str, str] = {}  # limits other than config/safety.yaml's, JSON
    with open_bag(bag) as opened:
        for name, topic, message in vehicle_messages(opened, (names.ODOMETRY, names.CMD_VEL_SAFE, names.SAFETY_LIMITS)):
            if topic == names.SAFETY_LIMITS:
                changed[name] = changed_text(message)
            elif topic == names.CMD_VEL_SAFE:
                v = message.twist.linear
                _note(commands[name], message, (v.x, v.y, v.z))
            else:
                p, q, v = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist.linear
                attitude = (q.w, q.x, q.y, q.z)
                rotated = is_rotation(attitude)
                velocity = rotation_from_quaternion(attitude) @ [v.x, v.y, v.z] if rotated else _NOT_FINITE
                _note(motion[name], message, (p.x, p.y, p.z, *velocity))
    known = sorted(set(motion) & set(commands))
    if not known:
        what = f"bag {bag} has no vehicle with {names.ODOMETRY} and {names.CMD_VEL_SAFE}"
        raise UsageError(what, "record with --record view")
    if vehicle not in known and (vehicle or len(known) > 1):
        what = f"no vehicle '{vehicle}'" if vehicle else "several vehicles"
        raise UsageError(f"bag {bag} has {what}", f"name one with --vehicle, {suggest(vehicle, known)}")
    name = vehicle or known[0]
    time, moved = _arrays(motion[name])
    sent, command = _arrays(commands[name])
    limits = _limits(changed.get(name, "{}"), f"{bag}, {names.SAFETY_LIMITS}")
    return name, Flight(time, moved[:, :3], moved[:, 3:], sent, command), limits


def _limits(changed: str, source: str) -> Limits:
    """Returns the package's limits with those that a governor said to be other, JSON. Raises UsageError."""
    other = parse_yaml(changed, source)
    return validated(Limits, {**load_limits().model_dump(), **other} if isinstance(other, dict) else other, source)


def _note(rows: _Rows, message: Any, values: tuple[float, ...]) -> None:
    """Appends finite values under the stamp of their message."""
    if np.isfinite(values).all():
        rows.append((nanoseconds(message.header.stamp), values))


def _arrays(rows: _Rows) -> tuple[Any, Any]:
    """Returns rising times (s, of one clock for all topics) and the numbers then, the first of each stamp."""
    ordered = dict(sorted(rows, reverse=True))
    stamps = sorted(ordered)
    return np.array(stamps) / NANO, np.array([ordered[stamp] for stamp in stamps])


def _table(where: str, found: Calibration, current: Limits, limits: Limits) -> list[str]:
    """Returns the lines of a table of the stops with their distances by the current and the measured limits."""
    lines = [
        f"Stops of {where}: speed (m/s), distance (m) from the command to rest, and the distances that limits allow",
        "",
        "  speed  towards  measured  limits in force           measured limits",
    ]
    for stop in sorted(found.stops, key=lambda stop: (stop.speed, stop.stamp)):
        towards = "level" if stop.is_level else "up" if stop.direction[2] > 0.0 else "down"
        allowed, measured = current.stopping_distance(stop.speed), limits.stopping_distance(stop.speed)
        side = "inside" if stop.distance <= allowed else "OUTSIDE"
        lines.append(
            f"  {stop.speed:5.2f}  {towards:<7}  {stop.distance:8.2f}  {allowed:8.2f}  {side:<14}  {measured:8.2f}"
        )
    return lines


def _verdict(found: Calibration, current: Limits, age: float) -> list[str]:
    """Returns the lines of the identified lag, of what the current limits miss, and of what the flight lacks."""
    taus, stops = found.taus, found.stops
    fastest = max(stop.speed for stop in stops)
    limit = "" if found.is_limit else "at least "
    lines = [
        "",
        f"tau {found.tau:.2f} s ({min(taus):.2f} to {max(taus):.2f} in single stops), delay {found.delay:.2f} s, "
        f"deceleration {limit}{found.deceleration:.1f} m/s^2; velocities differ from this model by "
        f"{found.residual:.2f} m/s (root mean square)",
        f"limits in force: {', '.join(f'{key} {getattr(current, key):g}' for key in _MODEL)}",
    ]
    for seconds, what in ((0.0, ""), (age, f" with {age:.2f} s of age of the governor's inputs")):
        over = [stop.distance + seconds * stop.speed - current.stopping_distance(stop.speed) for stop in stops]
        outside = sum(by > 0.0 for by in over)
        excess = f", by up to {max(over):.2f} m" if outside else ""
        lines.append(f"{outside} of {len(stops)} stops exceed them{what}{excess}")
    if len(stops) < _FEW_STOPS:
        lines.append(f"few stops: {len(stops)}; fly more, in each direction")
    if fastest < _NEAR_LIMIT * current.speed_horizontal:
        lines.append(f"no stop faster than {fastest:.1f} m/s; speed_horizontal is {current.speed_horizontal:g}")
    return lines


def _parameters(found: Calibration, where: str, limits: Limits) -> str:
    """Returns the content of a ROS parameter file with the limits of the braking model."""
    model = {key: getattr(limits, key) for key in _MODEL}
    comment = f"# {len(found.stops)} stops of {where}: tau {found.tau:.2f} s, delay {found.delay:.2f} s\n"
    return comment + yaml.safe_dump({"/**": {"ros__parameters": {"limits": model}}}, sort_keys=False)
