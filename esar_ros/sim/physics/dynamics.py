"""Quadrotor flight: 6 degrees of freedom under a velocity -> attitude -> rate cascade, 500 Hz.

World ENU, body FLU, SI units. Limits are those of AirSim's simple_flight autopilot; the cascade's
integral term holds the set-point against steady wind. Pure functions of the state: the same
inputs give the same bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.sim.clock import STEP

GRAVITY: Final = 9.80665  # m/s^2

# What a set-point's three first numbers mean.
VELOCITY = 0  # m/s, world
ATTITUDE = 1  # roll, pitch (rad, FLU: right side down, nose down), vertical velocity (m/s)
ATTITUDE_THROTTLE = 2  # roll, pitch (rad), throttle 0..1
RATE_THROTTLE = 3  # roll rate, pitch rate (rad/s), throttle 0..1
MOTORS = 4  # duty 0..1 of the front right, rear left and front left motor; the rear right's stands in `yaw`

# What the airframe's motors do when they are set one by one (mass 2 kg, arm 0.23 m, inertia 0.02 kg m^2).
_TURN, _TWIST = 150.0, 9.0  # rad/s^2 of roll and pitch by thrust, of yaw by drag, one pair full, the other off
_ROTATION_DRAG = 5.0  # 1/s, of body rates that no controller holds

# Where in the state each quantity begins.
_POSITION, _VELOCITY, _QUATERNION, _RATES, _THRUST, _INTEGRAL = 0, 3, 6, 10, 13, 14
_FORCE, _ACCELERATION, _TURNING, _SIZE = 17, 20, 23, 26  # specific force (body), acceleration (world), angular (body)


class Limits(NamedTuple):
    """Limits of the autopilot's demands, and its gains; AirSim simple_flight's defaults."""

    tilt: float = math.radians(32.7)  # rad
    rate: float = 2.5  # rad/s, about each body axis
    climb_acceleration: float = 4.0  # m/s^2
    sink_acceleration: float = 5.0  # m/s^2
    thrust: float = 2.0 * GRAVITY  # m/s^2, full throttle
    drag_linear: float = 0.10  # 1/s
    drag_quadratic: float = 0.015  # 1/m
    gain_velocity: float = 2.2  # 1/s, horizontal
    gain_climb: float = 3.5  # 1/s
    gain_integral: float = 0.8  # 1/s^2, of both
    gain_attitude: float = 6.0  # 1/s, tilt
    gain_heading: float = 2.5  # 1/s
    lag_rate: float = 0.04  # s, of roll and pitch rate
    lag_yaw_rate: float = 0.10  # s


DEFAULTS = Limits()
_SLOW_INTEGRAL = 0.02  # 1/s^2; PX4 reaches 70 to 90 % of the speed asked for in 3 to 5 s


def limits_of(velocity_tau: float | None) -> Limits:
    """Returns the limits of a vehicle whose velocity follows set-points with a time constant (s); None: AirSim's own.

    At 1.1 s it follows steps, reversals and stops as PX4 1.17 in SITL was measured to; steady wind moves it for longer.
    """
    if velocity_tau is None:
        return DEFAULTS
    gain = 1.0 / velocity_tau
    return Limits(gain_velocity=gain, gain_climb=gain, gain_integral=_SLOW_INTEGRAL)


@dataclass
class SetPoint:
    """Set-point of the cascade: three values by mode, and a heading (rad) or its rate (rad/s)."""

    mode: int = VELOCITY
    values: Vector = field(default_factory=lambda: np.zeros(3))
    yaw: float = 0.0
    yaw_is_rate: bool = True

    def as_array(self) -> NDArray[np.float64]:
        """The numbers in the order the kernel reads them."""
        return np.array([self.mode, *self.values, float(self.yaw_is_rate), self.yaw])


@njit(cache=True, nogil=True)
def _clamp(value: float, low: float, high: float) -> float:
    return min(high, max(low, value))


@njit(cache=True, nogil=True)
def _rotation(q, out):  # type: ignore[no-untyped-def]
    """3x3 body-to-world matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@njit(cache=True, nogil=True)
def _fly(state, setpoint, limits, wind, dt, steps):  # type: ignore[no-untyped-def]
    """Advances the state in place by `steps` steps of dt (s) under one set-point."""
    gravity = 9.80665
    tau_thrust = 0.05
    tilt, rate_max, thrust_max = limits.tilt, limits.rate, limits.thrust
    slope = math.tan(tilt)
    mode, value, yaw_is_rate, yaw = int(setpoint[0]), setpoint[1:4], setpoint[4] > 0.5, setpoint[5]
    rotation = np.empty((3, 3))
    wish = np.empty(3)
    for _ in range(steps):
        p, v, q = state[_POSITION:_VELOCITY], state[_VELOCITY:_QUATERNION], state[_QUATERNION:_RATES]
        w, integral, force = state[_RATES:_THRUST], state[_INTEGRAL:_FORCE], state[_FORCE:_ACCELERATION]
        acceleration, turning = state[_ACCELERATION:_TURNING], state[_TURNING:_SIZE]
        _rotation(q, rotation)
        heading = math.atan2(rotation[1, 0], rotation[0, 0])
        roll_rate, pitch_rate, thrust = 0.0, 0.0, 0.0
        if mode <= ATTITUDE_THROTTLE:
            if mode == VELOCITY:
                for k in range(3):
                    error = value[k] - v[k]
                    gain = limits.gain_climb if k == 2 else limits.gain_velocity
                    if abs(error) < 2.0:  # steady wind, not the transient, is the integral's work
                        integral[k] = _clamp(integral[k] + limits.gain_integral * error * dt, -4.0, 4.0)
                    wish[k] = gain * error + integral[k]
                wish[2] = gravity + _clamp(wish[2], -limits.sink_acceleration, limits.climb_acceleration)
                level = math.hypot(wish[0], wish[1])
                max_level = slope * wish[2]
                if level > max_level:
                    wish[0] *= max_level / level
                    wish[1] *= max_level / level
            else:
                roll = _clamp(value[0], -tilt, tilt)
                pitch = _clamp(value[1], -tilt, tilt)
                # Thrust axis of a body at this heading, rolled right by `roll`, nose down by `pitch`.
                forward = math.tan(pitch)
                left = -math.tan(roll) / math.cos(pitch)
                wish[0] = math.cos(heading) * forward - math.sin(heading) * left
                wish[1] = math.sin(heading) * forward + math.cos(heading) * left
                wish[2] = 1.0
                if mode == ATTITUDE:
                    error = value[2] - v[2]
                    if abs(error) < 2.0:
                        integral[2] = _clamp(integral[2] + limits.gain_integral * error * dt, -4.0, 4.0)
                    lift = gravity + _clamp(
                        limits.gain_climb * error + integral[2], -limits.sink_acceleration, limits.climb_acceleration
                    )
                    for k in range(3):
                        wish[k] *= lift
            size = math.sqrt(wish[0] ** 2 + wish[1] ** 2 + wish[2] ** 2)
            # Tilt error: the rotation that carries the thrust axis onto the wish, in the body frame.
            bx = (rotation[0, 0] * wish[0] + rotation[1, 0] * wish[1] + rotation[2, 0] * wish[2]) / size
            by = (rotation[0, 1] * wish[0] + rotation[1, 1] * wish[1] + rotation[2, 1] * wish[2]) / size
            bz = (rotation[0, 2] * wish[0] + rotation[1, 2] * wish[1] + rotation[2, 2] * wish[2]) / size
            sine = math.hypot(bx, by)
            angle = math.atan2(sine, bz)
            scale = limits.gain_attitude * (angle / sine if sine > 1e-9 else 1.0)
            roll_rate = _clamp(-scale * by, -rate_max, rate_max)
            pitch_rate = _clamp(scale * bx, -rate_max, rate_max)
            # Thrust lifts what is wished even while the body still leans.
            thrust = size * max(bz, 0.5) if mode < ATTITUDE_THROTTLE else value[2] * thrust_max
            if mode == VELOCITY:
                thrust = wish[2] / max(rotation[2, 2], 0.5)
        elif mode == RATE_THROTTLE:
            roll_rate = _clamp(value[0], -rate_max, rate_max)
            pitch_rate = _clamp(value[1], -rate_max, rate_max)
            thrust = value[2] * thrust_max
        if mode == MOTORS:
            # Quad X: the front right and rear left rotors turn counter-clockwise and so push the body clockwise.
            right_front, left_rear, left_front, right_rear = value[0], value[1], value[2], yaw
            thrust = (right_front + left_rear + left_front + right_rear) * thrust_max / 4.0
            turning[0] = _TURN * (left_front + left_rear - right_front - right_rear) / 2.0 - _ROTATION_DRAG * w[0]
            turning[1] = _TURN * (left_rear + right_rear - left_front - right_front) / 2.0 - _ROTATION_DRAG * w[1]
            turning[2] = _TWIST * (left_front + right_rear - right_front - left_rear) / 2.0 - _ROTATION_DRAG * w[2]
        else:
            if yaw_is_rate:
                yaw_rate = yaw
            else:
                turn = yaw - heading
                turn -= 2.0 * math.pi * math.floor((turn + math.pi) / (2.0 * math.pi))
                yaw_rate = limits.gain_heading * turn
            yaw_rate = _clamp(yaw_rate, -rate_max, rate_max)
            turning[0] = (roll_rate - w[0]) / limits.lag_rate
            turning[1] = (pitch_rate - w[1]) / limits.lag_rate
            turning[2] = (yaw_rate - w[2]) / limits.lag_yaw_rate

        state[_THRUST] += (_clamp(thrust, 0.0, thrust_max) - state[_THRUST]) * dt / tau_thrust
        for k in range(3):
            w[k] += turning[k] * dt
        # Quaternion kinematics: q' = q * (0, w) / 2, then back to unit length.
        q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
        h = 0.5 * dt
        q[0] = q0 - h * (q1 * w[0] + q2 * w[1] + q3 * w[2])
        q[1] = q1 + h * (q0 * w[0] + q2 * w[2] - q3 * w[1])
        q[2] = q2 + h * (q0 * w[1] + q3 * w[0] - q1 * w[2])
        q[3] = q3 + h * (q0 * w[2] + q1 * w[1] - q2 * w[0])
        norm = math.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
        for k in range(4):
            q[k] /= norm
        _rotation(q, rotation)
        rx, ry, rz = v[0] - wind[0], v[1] - wind[1], v[2] - wind[2]
        drag = limits.drag_linear + limits.drag_quadratic * math.sqrt(rx * rx + ry * ry + rz * rz)
        fx = rotation[0, 2] * state[_THRUST] - drag * rx
        fy = rotation[1, 2] * state[_THRUST] - drag * ry
        fz = rotation[2, 2] * state[_THRUST] - drag * rz
        for k in range(3):
            force[k] = rotation[0, k] * fx + rotation[1, k] * fy + rotation[2, k] * fz
        acceleration[0], acceleration[1], acceleration[2] = fx, fy, fz - gravity
        for k in range(3):
            v[k] += acceleration[k] * dt
            p[k] += v[k] * dt


class Quadrotor:
    """The airframe's motion; its owner keeps it out of the ground and of obstacles."""

    def __init__(self, pose: Pose, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.state = np.zeros(_SIZE)
        self.rest(pose)

    @property
    def limits(self) -> Limits:
        """Limits of the cascade's demands, and its gains."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits

    def rest(self, pose: Pose) -> None:
        """Stand still at a pose with idle motors."""
        self.state[:] = 0.0
        self.state[_POSITION : _POSITION + 3] = pose.position
        self.state[_QUATERNION : _QUATERNION + 4] = pose.quaternion
        self.state[_FORCE : _FORCE + 3] = pose.rotation.T @ np.array([0.0, 0.0, GRAVITY])

    def float_at(self, pose: Pose) -> None:
        """Hover still at a pose."""
        self.rest(pose)
        self.state[_THRUST] = GRAVITY

    def advance(self, setpoint: NDArray[np.float64], wind: Vector, steps: int) -> None:
        """Advances by `steps` steps of 2 ms under a set-point (SetPoint.as_array) and wind (m/s, world)."""
        _fly(self.state, setpoint, self._limits, wind, STEP, steps)

    def fall(self, wind: Vector, steps: int) -> None:
        """Motors off: gravity and drag alone."""
        dead = np.array([RATE_THROTTLE, 0.0, 0.0, 0.0, 1.0, 0.0])
        _fly(self.state, dead, self._limits, wind, STEP, steps)

    @property
    def position(self) -> Vector:
        """m, world; a view into the state."""
        return self.state[_POSITION : _POSITION + 3]

    @property
    def velocity(self) -> Vector:
        """m/s, world; a view into the state."""
        return self.state[_VELOCITY : _VELOCITY + 3]

    @property
    def quaternion(self) -> Vector:
        """Body to world; a view into the state."""
        return self.state[_QUATERNION : _QUATERNION + 4]

    @property
    def rates(self) -> Vector:
        """rad/s, body; a view into the state."""
        return self.state[_RATES : _RATES + 3]

    @property
    def thrust(self) -> float:
        """Specific thrust in m/s^2."""
        return float(self.state[_THRUST])

    @property
    def specific_force(self) -> Vector:
        """Specific force that an accelerometer measures, m/s^2, body; a view into the state."""
        return self.state[_FORCE : _FORCE + 3]

    @property
    def acceleration(self) -> Vector:
        """m/s^2, world; a view into the state."""
        return self.state[_ACCELERATION : _ACCELERATION + 3]

    @property
    def angular_acceleration(self) -> Vector:
        """rad/s^2, body; a view into the state."""
        return self.state[_TURNING : _TURNING + 3]

    @property
    def pose(self) -> Pose:
        """A copy of position and attitude."""
        return Pose(self.position.copy(), self.quaternion.copy())

    @property
    def yaw(self) -> float:
        """Heading in rad, 0 = east, counter-clockwise."""
        w, x, y, z = self.quaternion
        return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
