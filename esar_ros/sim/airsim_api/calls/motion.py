"""Motion commands: answered when done, false when pre-empted."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.motion_commands import COMMANDS, Command, Flight
from esar_ros.sim.airsim_api.values import ApiError, number
from esar_ros.sim.physics.autopilot import POSITION_GAIN
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.dynamics import DEFAULTS
from esar_ros.sim.physics.manual_control import Stick

_EMPTY = inspect.Parameter.empty
GAIN_RANGE = (0.7, 1.5)  # of AirSim's default; within it every combination settles on its goal

Reply = asyncio.Future[bool] | Future[bool]


def _reply_of_loop() -> Reply:
    return asyncio.get_running_loop().create_future()


class MotionApi:
    """AirSim's multirotor commands for simple_flight."""

    def __init__(self, context: Context, new_reply: Callable[[], Reply] = _reply_of_loop) -> None:
        """new_reply: makes what a command answers with, once it is done; in the running loop by default."""
        self._context, self._new_reply = context, new_reply
        for name, command in COMMANDS.items():
            setattr(self, f"command_{name}", self._serve(name, command))

    @method("hover")
    def hover(self, session: Session, vehicle: Any = "") -> bool:
        """Stop, and stay where the vehicle comes to rest."""
        self._ready(vehicle).autopilot.cancel()
        return True

    @method("cancelLastTask")
    def cancel(self, session: Session, vehicle: Any = "") -> None:
        """The running command answers false."""
        self._context.drone(vehicle).autopilot.cancel()

    @method("moveByRC")
    def sticks(self, session: Session, rc: Any, vehicle: Any = "") -> None:
        """Set the remote control's sticks; moveByManual flies by them."""
        if not isinstance(rc, dict):
            raise ApiError("rcdata must be an object with roll, pitch, yaw, throttle, timestamp and is_valid")
        roll, pitch, yaw, throttle = (number(rc.get(key, 0.0), f"rcdata.{key}") for key in _STICKS)
        stamp = number(rc.get("timestamp", 0), "rcdata.timestamp") * 1e-9
        self._context.drone(vehicle).stick = Stick(roll, pitch, yaw, throttle, stamp, bool(rc.get("is_valid", False)))

    @method("setAngleRateControllerGains")
    def rate_gains(self, session: Session, kp: Any, ki: Any, kd: Any, vehicle: Any = "") -> None:
        """Roll, pitch, yaw. Only the proportional gains count, as multiples of AirSim's defaults; so do the others'."""
        level, yaw = _multiples(kp, (0.25, 0.25, 0.25))
        self._tune(vehicle, lag_rate=DEFAULTS.lag_rate / level, lag_yaw_rate=DEFAULTS.lag_yaw_rate / yaw)

    @method("setAngleLevelControllerGains")
    def level_gains(self, session: Session, kp: Any, ki: Any, kd: Any, vehicle: Any = "") -> None:
        level, yaw = _multiples(kp, (2.5, 2.5, 2.5))
        self._tune(vehicle, gain_attitude=DEFAULTS.gain_attitude * level, gain_heading=DEFAULTS.gain_heading * yaw)

    @method("setVelocityControllerGains")
    def velocity_gains(self, session: Session, kp: Any, ki: Any, kd: Any, vehicle: Any = "") -> None:
        level, climb = _multiples(kp, (0.2, 0.2, 2.0))
        self._tune(vehicle, gain_velocity=DEFAULTS.gain_velocity * level, gain_climb=DEFAULTS.gain_climb * climb)

    @method("setPositionControllerGains")
    def position_gains(self, session: Session, kp: Any, ki: Any, kd: Any, vehicle: Any = "") -> None:
        level, _ = _multiples(kp, (0.25, 0.25, 0.25))
        self._context.drone(vehicle).position_gain = POSITION_GAIN * level

    def _serve(self, name: str, command: Command) -> Callable[..., Reply]:
        """The command as a method of the interface: its arguments, then the vehicle's name."""

        def run(session: Session, *values: Any) -> Reply:
            given = [*values, *(defaults[key] for key in names[len(values) :])]
            drone = self._ready(given.pop())
            parsed = [parse(value, key) for (key, parse), value in zip(command.arguments.items(), given, strict=True)]
            context = self._context
            flight = Flight(drone, context.simulation.clock.now, context.origin)
            reply = self._new_reply()

            def done(outcome: bool) -> None:
                if not reply.done():  # the client may have left
                    reply.set_result(outcome)

            drone.command(command.make(flight, *parsed), done)
            return reply

        names = (*command.arguments, "vehicle_name")
        defaults = dict(command.defaults) | {"vehicle_name": ""}
        signature = inspect.Signature(
            [
                inspect.Parameter(key, inspect.Parameter.POSITIONAL_ONLY, default=defaults.get(key, _EMPTY))
                for key in ("session", *names)
            ]
        )
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__doc__ = command.make.__doc__
        return method(name)(run)

    def _ready(self, vehicle: Any) -> Drone:
        drone = self._context.drone(vehicle)
        if not drone.api_control:
            raise ApiError(f"{drone.name}: API control is off: call enableApiControl(true) first")
        if not drone.armed:
            raise ApiError(f"{drone.name} is not armed: call armDisarm(true) first")
        return drone

    def _tune(self, vehicle: Any, **gains: float) -> None:
        body = self._context.drone(vehicle).body
        body.limits = body.limits._replace(**gains)


_STICKS = ("roll", "pitch", "yaw", "throttle")


def _multiples(gains: Any, usual: tuple[float, float, float]) -> tuple[float, float]:
    """Gains about or along x, y and z as multiples of AirSim's defaults: the mean of the first two, and the third."""
    if not isinstance(gains, (list, tuple)) or len(gains) != 3:
        raise ApiError("gains must be three numbers")
    x, y, z = (number(gain, "gain") / default for gain, default in zip(gains, usual, strict=True))
    low, high = GAIN_RANGE
    if not (low <= min(x, y, z) and max(x, y, z) <= high):
        raise ApiError(f"gains must be between {low:g} and {high:g} times AirSim's defaults {usual}")
    return (x + y) / 2.0, z
