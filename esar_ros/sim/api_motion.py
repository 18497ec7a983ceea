"""Motion commands: answered when done, false when pre-empted."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector, ned_to_enu
from esar_ros.sim.api import Context, Session, method
from esar_ros.sim.api_values import ApiError, duration, number, point_ned, vector3, yaw_enu
from esar_ros.sim.autopilot import (
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
from esar_ros.sim.drone import Drone
from esar_ros.sim.dynamics import ATTITUDE, ATTITUDE_THROTTLE, RATE_THROTTLE, VELOCITY

HOME_SPEED = 5.0  # m/s
FORWARD_ONLY = 1  # AirSim's DrivetrainType


class MotionApi:
    """AirSim's multirotor commands for simple_flight."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @method("takeoff")
    def takeoff(self, session: Session, timeout: Any, vehicle: Any = "") -> Any:
        """Climb 3 m; in the air already: hover."""
        drone = self._ready(vehicle)
        if not drone.grounded:
            return self._hover(drone)
        goal = drone.position + np.array([0.0, 0.0, TAKEOFF_HEIGHT])
        return self._run(drone, GoTo(goal, TAKEOFF_SPEED, Heading(), self._by(timeout)))

    @method("land")
    def land(self, session: Session, timeout: Any, vehicle: Any = "") -> Any:
        return self._run(self._ready(vehicle), Land(self._by(timeout)))

    @method("goHome")
    def go_home(self, session: Session, timeout: Any, vehicle: Any = "") -> Any:
        """Above the place of arming, at the present height."""
        drone = self._ready(vehicle)
        goal = np.array([drone.home[0], drone.home[1], drone.position[2]])
        return self._run(drone, GoTo(goal, HOME_SPEED, Heading(), self._by(timeout)))

    @method("hover")
    def hover(self, session: Session, vehicle: Any = "") -> bool:
        return self._hover(self._ready(vehicle))

    @method("cancelLastTask")
    def cancel(self, session: Session, vehicle: Any = "") -> None:
        self._context.drone(vehicle).autopilot.cancel()

    @method("moveByVelocity")
    def velocity(
        self, session: Session, vx: Any, vy: Any, vz: Any, time: Any, train: Any, yaw: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = ned_to_enu([number(vx, "vx"), number(vy, "vy"), number(vz, "vz")])
        return self._run(drone, Fly(VELOCITY, values, _heading(train, yaw), self._until(time)))

    @method("moveByVelocityZ")
    def velocity_z(
        self, session: Session, vx: Any, vy: Any, z: Any, time: Any, train: Any, yaw: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = ned_to_enu([number(vx, "vx"), number(vy, "vy"), 0.0])
        height = self._height(z, drone)
        return self._run(drone, Fly(VELOCITY, values, _heading(train, yaw), self._until(time), height))

    @method("moveByVelocityBodyFrame")
    def velocity_body(
        self, session: Session, vx: Any, vy: Any, vz: Any, time: Any, train: Any, yaw: Any, vehicle: Any = ""
    ) -> Any:
        """Forward, right, down of the heading at the time of the call."""
        drone = self._ready(vehicle)
        values = _ahead(drone, vx, vy, number(vz, "vz"))
        return self._run(drone, Fly(VELOCITY, values, _heading(train, yaw), self._until(time)))

    @method("moveByVelocityZBodyFrame")
    def velocity_z_body(
        self, session: Session, vx: Any, vy: Any, z: Any, time: Any, train: Any, yaw: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = _ahead(drone, vx, vy, 0.0)
        height = self._height(z, drone)
        return self._run(drone, Fly(VELOCITY, values, _heading(train, yaw), self._until(time), height))

    @method("moveToPosition")
    def position(
        self,
        session: Session,
        x: Any,
        y: Any,
        z: Any,
        speed: Any,
        timeout: Any,
        train: Any,
        yaw: Any,
        lookahead: Any = -1.0,
        adaptive: Any = 1.0,
        vehicle: Any = "",
    ) -> Any:
        drone = self._ready(vehicle)
        goal = point_ned(x, y, z, drone.offset)
        return self._run(drone, GoTo(goal, _speed(speed), _heading(train, yaw), self._by(timeout)))

    @method("moveToGPS")
    def gps(
        self,
        session: Session,
        latitude: Any,
        longitude: Any,
        altitude: Any,
        speed: Any,
        timeout: Any,
        train: Any,
        yaw: Any,
        lookahead: Any = -1.0,
        adaptive: Any = 1.0,
        vehicle: Any = "",
    ) -> Any:
        drone = self._ready(vehicle)
        goal = self._context.origin.to_enu(
            number(latitude, "latitude"), number(longitude, "longitude"), number(altitude, "altitude")
        )
        return self._run(drone, GoTo(goal, _speed(speed), _heading(train, yaw), self._by(timeout)))

    @method("moveToZ")
    def to_z(
        self,
        session: Session,
        z: Any,
        speed: Any,
        timeout: Any,
        yaw: Any,
        lookahead: Any = -1.0,
        adaptive: Any = 1.0,
        vehicle: Any = "",
    ) -> Any:
        drone = self._ready(vehicle)
        goal = np.array([drone.position[0], drone.position[1], self._height(z, drone)])
        return self._run(drone, GoTo(goal, _speed(speed), _heading(0, yaw), self._by(timeout)))

    @method("moveOnPath")
    def path(
        self,
        session: Session,
        points: Any,
        speed: Any,
        timeout: Any,
        train: Any,
        yaw: Any,
        lookahead: Any = -1.0,
        adaptive: Any = 1.0,
        vehicle: Any = "",
    ) -> Any:
        drone = self._ready(vehicle)
        if not isinstance(points, list) or not points:
            raise ApiError("path must hold at least one point")
        legs = [ned_to_enu(vector3(p, f"path[{i}]")) + drone.offset for i, p in enumerate(points)]
        ahead = number(lookahead, "lookahead")
        return self._run(drone, Path(legs, _speed(speed), _heading(train, yaw), self._by(timeout), ahead))

    @method("rotateToYaw")
    def rotate(self, session: Session, yaw: Any, timeout: Any, margin: Any, vehicle: Any = "") -> Any:
        drone = self._ready(vehicle)
        goal = yaw_enu(math.radians(number(yaw, "yaw")))
        return self._run(drone, Rotate(goal, math.radians(number(margin, "margin")), self._by(timeout)))

    @method("rotateByYawRate")
    def spin(self, session: Session, rate: Any, time: Any, vehicle: Any = "") -> Any:
        drone = self._ready(vehicle)
        return self._run(drone, Spin(-math.radians(number(rate, "yaw_rate")), self._until(time)))

    @method("moveByRollPitchYawZ")
    def roll_pitch_yaw_z(
        self, session: Session, roll: Any, pitch: Any, yaw: Any, z: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = _attitude(roll, pitch, 0.0)
        return self._run(drone, Fly(ATTITUDE, values, _to_yaw(yaw), self._until(time), self._height(z, drone)))

    @method("moveByRollPitchYawThrottle")
    def roll_pitch_yaw_throttle(
        self, session: Session, roll: Any, pitch: Any, yaw: Any, throttle: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        values = _attitude(roll, pitch, _throttle(throttle))
        return self._run(self._ready(vehicle), Fly(ATTITUDE_THROTTLE, values, _to_yaw(yaw), self._until(time)))

    @method("moveByRollPitchYawrateThrottle")
    def roll_pitch_rate_throttle(
        self, session: Session, roll: Any, pitch: Any, yaw_rate: Any, throttle: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        values = _attitude(roll, pitch, _throttle(throttle))
        return self._run(self._ready(vehicle), Fly(ATTITUDE_THROTTLE, values, _at_rate(yaw_rate), self._until(time)))

    @method("moveByRollPitchYawrateZ")
    def roll_pitch_rate_z(
        self, session: Session, roll: Any, pitch: Any, yaw_rate: Any, z: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = _attitude(roll, pitch, 0.0)
        return self._run(drone, Fly(ATTITUDE, values, _at_rate(yaw_rate), self._until(time), self._height(z, drone)))

    @method("moveByAngleRatesZ")
    def rates_z(
        self, session: Session, roll: Any, pitch: Any, yaw_rate: Any, z: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        drone = self._ready(vehicle)
        values = _attitude(roll, pitch, 0.0)
        heading = _at_rate(yaw_rate)
        return self._run(drone, Fly(RATE_THROTTLE, values, heading, self._until(time), self._height(z, drone)))

    @method("moveByAngleRatesThrottle")
    def rates_throttle(
        self, session: Session, roll: Any, pitch: Any, yaw_rate: Any, throttle: Any, time: Any, vehicle: Any = ""
    ) -> Any:
        values = _attitude(roll, pitch, _throttle(throttle))
        return self._run(self._ready(vehicle), Fly(RATE_THROTTLE, values, _at_rate(yaw_rate), self._until(time)))

    def _ready(self, vehicle: Any) -> Drone:
        drone = self._context.drone(vehicle)
        if not drone.api_control:
            raise ApiError(f"{drone.name}: API control is off: call enableApiControl(true) first")
        if not drone.armed:
            raise ApiError(f"{drone.name} is not armed: call armDisarm(true) first")
        return drone

    def _run(self, drone: Drone, motion: Motion) -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def done(outcome: bool) -> None:
            if not future.done():  # the client may have left
                future.set_result(outcome)

        drone.command(motion, done)
        return future

    def _hover(self, drone: Drone) -> bool:
        drone.autopilot.cancel()
        return True

    def _until(self, seconds: Any) -> float:
        return self._context.simulation.clock.now + duration(seconds, "duration")

    def _by(self, seconds: Any) -> float:
        return self._context.simulation.clock.now + duration(seconds, "timeout_sec")

    def _height(self, z: Any, drone: Drone) -> float:
        return float(drone.offset[2]) - number(z, "z")


def _speed(value: Any) -> float:
    speed = number(value, "velocity")
    if speed <= 0.0:
        raise ApiError(f"velocity must be positive, is {speed:g}")
    return speed


def _throttle(value: Any) -> float:
    throttle = number(value, "throttle")
    if not 0.0 <= throttle <= 1.0:
        raise ApiError(f"throttle must be in [0, 1], is {throttle:g}")
    return throttle


def _heading(train: Any, yaw_mode: Any) -> Heading:
    """AirSim's drivetrain and yaw_mode; its angles are degrees, clockwise from north."""
    if not isinstance(yaw_mode, dict):
        raise ApiError("yaw_mode must be an object with is_rate and yaw_or_rate")
    value = math.radians(number(yaw_mode.get("yaw_or_rate", 0.0), "yaw_mode.yaw_or_rate"))
    is_rate = bool(yaw_mode.get("is_rate", True))
    if train == FORWARD_ONLY:
        return Heading(Turn.FORWARD, 0.0 if is_rate else -value)
    return Heading(Turn.RATE, -value) if is_rate else Heading(Turn.ANGLE, yaw_enu(value))


def _to_yaw(yaw: Any) -> Heading:
    """Heading of the attitude commands: rad, clockwise from north."""
    return Heading(Turn.ANGLE, yaw_enu(number(yaw, "yaw")))


def _at_rate(rate: Any) -> Heading:
    return Heading(Turn.RATE, -number(rate, "yaw_rate"))


def _attitude(roll: Any, pitch: Any, third: float) -> Vector:
    """Roll and pitch (or their rates), FRD on the wire: the official client negates pitch and yaw."""
    return np.array([number(roll, "roll"), -number(pitch, "pitch"), third])


def _ahead(drone: Drone, forward: Any, right: Any, down: float) -> Vector:
    ahead, left = number(forward, "vx"), -number(right, "vy")
    cos, sin = math.cos(drone.yaw), math.sin(drone.yaw)
    return np.array([cos * ahead - sin * left, sin * ahead + cos * left, -down])
