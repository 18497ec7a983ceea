"""AirSim's motion commands, one function each: checked arguments in, a motion of the autopilot out.

Arguments come in AirSim's order, frames and units (NED and FRD, yaw clockwise from north, degrees where AirSim
has them); motions are ENU and rad.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector, ned_to_enu
from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.airsim_api.values import ApiError, duration, number, vector3, yaw_enu
from esar_ros.sim.physics.autopilot import (
    TAKEOFF_HEIGHT,
    TAKEOFF_SPEED,
    Fly,
    GoTo,
    Heading,
    Land,
    Motion,
    Path,
    Rotate,
    Spin,
    Turn,
)
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.dynamics import ATTITUDE, ATTITUDE_THROTTLE, RATE_THROTTLE, VELOCITY
from esar_ros.sim.physics.manual_control import Manual, Motors

HOME_SPEED = 5.0  # m/s
FORWARD_ONLY = 1  # AirSim's DrivetrainType
STICK_RANGE = 10_000.0  # AirSim divides sticks by it

Parser = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Flight:
    """Vehicle state available to a command while it is turned into a motion."""

    drone: Drone
    now: float  # s
    origin: Origin

    def height(self, z: float) -> float:
        """Map-frame z of a NED z of the vehicle."""
        return float(self.drone.offset[2]) - z

    def point(self, x: float, y: float, z: float) -> Vector:
        """Map-frame point of NED coordinates of the vehicle."""
        return ned_to_enu([x, y, z]) + self.drone.offset

    def ahead(self, forward: float, right: float, up: float) -> Vector:
        """Map-frame vector of one relative to the present heading."""
        cos, sin = math.cos(self.drone.yaw), math.sin(self.drone.yaw)
        return np.array([cos * forward + sin * right, sin * forward - cos * right, up])


@dataclass(frozen=True)
class Command:
    """A command's arguments in order, each with its check, the defaults of those that may be left out, and the rest."""

    arguments: Mapping[str, Parser]
    defaults: Mapping[str, Any]
    make: Callable[..., Motion]


COMMANDS: dict[str, Command] = {}
_DEFAULTS = {"lookahead": -1.0, "adaptive_lookahead": 1.0}

Maker = Callable[..., Motion]


def _command(name: str, **arguments: Parser) -> Callable[[Maker], Maker]:
    def register(make: Maker) -> Maker:
        defaults = {key: value for key, value in _DEFAULTS.items() if key in arguments}
        COMMANDS[name] = Command(arguments, defaults, make)
        return make

    return register


def _as_it_is(value: Any, name: str) -> Any:
    return value


def _positive(value: Any, name: str) -> float:
    speed = number(value, name)
    if speed <= 0.0:
        raise ApiError(f"{name} must be positive, is {speed:g}")
    return speed


def _share(value: Any, name: str) -> float:
    share = number(value, name)
    if not 0.0 <= share <= 1.0:
        raise ApiError(f"{name} must be in [0, 1], is {share:g}")
    return share


def _degrees(value: Any, name: str) -> float:
    return math.radians(number(value, name))


def _points(value: Any, name: str) -> list[Vector]:
    if not isinstance(value, list) or not value:
        raise ApiError(f"{name} must hold at least one point")
    return [ned_to_enu(vector3(point, f"{name}[{i}]")) for i, point in enumerate(value)]


def _yaw_mode(value: Any, name: str) -> tuple[bool, float]:
    """Returns whether a yaw mode is a rate, and its value clockwise, rad or rad/s."""
    if not isinstance(value, dict):
        raise ApiError(f"{name} must be an object with is_rate and yaw_or_rate")
    return bool(value.get("is_rate", True)), _degrees(value.get("yaw_or_rate", 0.0), f"{name}.yaw_or_rate")


def _heading(drivetrain: Any, yaw_mode: tuple[bool, float]) -> Heading:
    is_rate, value = yaw_mode
    if drivetrain == FORWARD_ONLY:
        return Heading(Turn.FORWARD, 0.0 if is_rate else -value)
    return Heading(Turn.RATE, -value) if is_rate else Heading(Turn.ANGLE, yaw_enu(value))


_NOSE: dict[str, Parser] = {"drivetrain": _as_it_is, "yaw_mode": _yaw_mode}
_AHEAD: dict[str, Parser] = {"lookahead": number, "adaptive_lookahead": number}
_LEG: dict[str, Parser] = {"velocity": _positive, "timeout_sec": duration} | _NOSE | _AHEAD
_LEAN: dict[str, Parser] = {"roll": number, "pitch": number}


@_command("takeoff", timeout_sec=duration)
def takeoff(flight: Flight, timeout: float) -> Motion:
    """Climb 3 m; in the air already: hover."""
    if not flight.drone.grounded:
        return GoTo(flight.drone.position.copy(), HOME_SPEED, Heading(), flight.now + timeout)
    goal = flight.drone.position + np.array([0.0, 0.0, TAKEOFF_HEIGHT])
    return GoTo(goal, TAKEOFF_SPEED, Heading(), flight.now + timeout)


@_command("land", timeout_sec=duration)
def land(flight: Flight, timeout: float) -> Motion:
    """Straight down."""
    return Land(flight.now + timeout)


@_command("goHome", timeout_sec=duration)
def go_home(flight: Flight, timeout: float) -> Motion:
    """Above the place of arming, at the present height."""
    x, y, _ = flight.drone.home
    goal = np.array([x, y, flight.drone.position[2]])
    return GoTo(goal, HOME_SPEED, Heading(), flight.now + timeout)


@_command("moveByVelocity", vx=number, vy=number, vz=number, duration=duration, **_NOSE)
def velocity(flight: Flight, vx: float, vy: float, vz: float, time: float, train: Any, yaw: Any) -> Motion:
    """World NED."""
    return Fly(VELOCITY, ned_to_enu([vx, vy, vz]), _heading(train, yaw), flight.now + time)


@_command("moveByVelocityZ", vx=number, vy=number, z=number, duration=duration, **_NOSE)
def velocity_z(flight: Flight, vx: float, vy: float, z: float, time: float, train: Any, yaw: Any) -> Motion:
    """World NED at a height."""
    values = ned_to_enu([vx, vy, 0.0])
    return Fly(VELOCITY, values, _heading(train, yaw), flight.now + time, flight.height(z))


@_command("moveByVelocityBodyFrame", vx=number, vy=number, vz=number, duration=duration, **_NOSE)
def velocity_body(flight: Flight, vx: float, vy: float, vz: float, time: float, train: Any, yaw: Any) -> Motion:
    """Forward, right, down of the heading at the time of the call."""
    return Fly(VELOCITY, flight.ahead(vx, vy, -vz), _heading(train, yaw), flight.now + time)


@_command("moveByVelocityZBodyFrame", vx=number, vy=number, z=number, duration=duration, **_NOSE)
def velocity_z_body(flight: Flight, vx: float, vy: float, z: float, time: float, train: Any, yaw: Any) -> Motion:
    """The same at a height."""
    return Fly(VELOCITY, flight.ahead(vx, vy, 0.0), _heading(train, yaw), flight.now + time, flight.height(z))


@_command("moveToPosition", x=number, y=number, z=number, **_LEG)
def to_position(flight: Flight, x: float, y: float, z: float, speed: float, timeout: float, *rest: Any) -> Motion:
    """Straight there."""
    return GoTo(flight.point(x, y, z), speed, _heading(*rest[:2]), flight.now + timeout)


@_command("moveToGPS", latitude=number, longitude=number, altitude=number, **_LEG)
def to_gps(flight: Flight, north: float, east: float, up: float, speed: float, timeout: float, *rest: Any) -> Motion:
    """Degrees, and m above mean sea level."""
    return GoTo(flight.origin.to_enu(north, east, up), speed, _heading(*rest[:2]), flight.now + timeout)


@_command("moveToZ", z=number, velocity=_positive, timeout_sec=duration, yaw_mode=_yaw_mode, **_AHEAD)
def to_z(flight: Flight, z: float, speed: float, timeout: float, yaw: Any, *ahead: float) -> Motion:
    """Straight up or down."""
    x, y, _ = flight.drone.position
    return GoTo(np.array([x, y, flight.height(z)]), speed, _heading(0, yaw), flight.now + timeout)


@_command("moveOnPath", path=_points, **_LEG)
def on_path(
    flight: Flight, path: list[Vector], speed: float, timeout: float, train: Any, yaw: Any, ahead: float, _: float
) -> Motion:
    """Along straight legs."""
    legs = [point + flight.drone.offset for point in path]
    return Path(legs, speed, _heading(train, yaw), flight.now + timeout, ahead)


@_command("moveByManual", vx_max=number, vy_max=number, z_min=number, duration=duration, **_NOSE)
def manual(flight: Flight, vx: float, vy: float, z: float, time: float, train: Any, yaw: Any) -> Motion:
    """By the sticks that moveByRC sets: pitch forward, roll right, throttle up."""
    drone = flight.drone
    full = np.array([vy, -vx, -z]) / STICK_RANGE
    turn = -math.radians(100.0 / STICK_RANGE)
    return Manual(lambda: drone.stick, full, drone.yaw, _heading(train, yaw), turn, flight.now + time)


@_command("rotateToYaw", yaw=_degrees, timeout_sec=duration, margin=_degrees)
def rotate(flight: Flight, yaw: float, timeout: float, margin: float) -> Motion:
    """On the spot."""
    return Rotate(yaw_enu(yaw), margin, flight.now + timeout)


@_command("rotateByYawRate", yaw_rate=_degrees, duration=duration)
def spin(flight: Flight, rate: float, time: float) -> Motion:
    """On the spot."""
    return Spin(-rate, flight.now + time)


@_command(
    "moveByMotorPWMs",
    front_right_pwm=_share,
    rear_left_pwm=_share,
    front_left_pwm=_share,
    rear_right_pwm=_share,
    duration=duration,
)
def motors(flight: Flight, one: float, two: float, three: float, four: float, time: float) -> Motion:
    """Each motor by its duty."""
    return Motors((one, two, three, four), flight.now + time)


def _attitude_command(name: str, mode: int, nose: Callable[[float], Heading], yaw: str, last: str) -> None:
    """One of the six commands by roll, pitch, yaw or its rate, and a height or a throttle.

    FRD on the wire: the official client negates pitch and yaw.
    """

    def make(flight: Flight, roll: float, pitch: float, turn: float, lift: float, time: float) -> Motion:
        by_height = last == "z"
        values = np.array([roll, -pitch, 0.0 if by_height else lift])
        return Fly(mode, values, nose(turn), flight.now + time, flight.height(lift) if by_height else None)

    parsers = _LEAN | {yaw: number, last: number if last == "z" else _share, "duration": duration}
    COMMANDS[name] = Command(parsers, {}, make)


def _to_yaw(yaw: float) -> Heading:
    return Heading(Turn.ANGLE, yaw_enu(yaw))


def _at_rate(rate: float) -> Heading:
    return Heading(Turn.RATE, -rate)


_attitude_command("moveByRollPitchYawZ", ATTITUDE, _to_yaw, "yaw", "z")
_attitude_command("moveByRollPitchYawThrottle", ATTITUDE_THROTTLE, _to_yaw, "yaw", "throttle")
_attitude_command("moveByRollPitchYawrateZ", ATTITUDE, _at_rate, "yaw_rate", "z")
_attitude_command("moveByRollPitchYawrateThrottle", ATTITUDE_THROTTLE, _at_rate, "yaw_rate", "throttle")
_attitude_command("moveByAngleRatesZ", RATE_THROTTLE, _at_rate, "yaw_rate", "z")
_attitude_command("moveByAngleRatesThrottle", RATE_THROTTLE, _at_rate, "yaw_rate", "throttle")
