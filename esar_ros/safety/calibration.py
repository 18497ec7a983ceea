"""The braking model of a vehicle, identified from the stops of a flight: lag, delay and deceleration.

A stop begins where the commanded velocity begins to fall and ends where the vehicle has come to rest. Where the command
falls at once, its distance is the path flown in between. Where it falls slowly, the integral of the command is
subtracted from that path: what remains for a first-order lag is v * (tau + delay) in both cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.safety.limits import Limits

MIN_SPEED = 0.75  # m/s; slower stops drown in the odometry's noise
_AT_REST = 0.1  # m/s; the integrator of an autopilot lets it creep on below that for seconds
_ZERO_COMMAND = 0.05  # m/s
_MAX_DURATION = 20.0  # s, of a stop
_CREEP_TIME = 3.0  # s after it is at rest, in which the vehicle may creep farther
_MAX_DELAY = 1.0  # s
_MIN_TAU, _MAX_TAU = 0.02, 5.0  # s; more is no valid limit
_STEADY_TIME = 0.5  # s before a stop, in which the speed changes by no more than
_STEADY_SHARE = 0.15  # of itself
_MIN_COSINE = 0.95  # of the angle between velocity and command
_BEFORE = 0.3  # s of flight before a stop that take part in the fit
_STEP = 0.02  # s
_STARTS = (0.3, 1.0, 2.5)  # s, of tau; the fit begins at each
_LIMITED_SHARE = 0.8  # a limit of the deceleration is believed where it leaves less than this share of the squares

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Flight:
    """The commands to a vehicle and its motion, along the axes of the map; a command holds until the next.

    Times (n,) are in s and rise; positions, velocities and commands (n, 3) are in m and m/s.
    """

    time: Times
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    command_time: Times
    command: NDArray[np.float64]


@dataclass(frozen=True)
class Stop:
    """One stop: speed (m/s) and direction (3,) at its beginning, distance (m) to rest.

    measured (n,): speed in that direction, m/s, at steps of _STEP. commanded (m,): integral of the command in that
    direction, m, scaled to the share of it that was flown, at the same steps from _MAX_DELAY earlier on.
    """

    stamp: float  # s
    speed: float
    direction: Vector
    distance: float
    measured: NDArray[np.float64]
    commanded: NDArray[np.float64]

    @property
    def is_level(self) -> bool:
        """True when the stop was flown across rather than up or down."""
        return abs(float(self.direction[2])) < 0.5


@dataclass(frozen=True)
class Calibration:
    """The lag that fits the stops best: tau and delay, s, and deceleration, m/s^2.

    deceleration: its limit where is_limit, else the greatest that the stops needed; taus: of each stop by itself, s;
    residual: root mean square of the velocities' residuals, m/s.
    """

    stops: tuple[Stop, ...]
    taus: tuple[float, ...]
    tau: float
    delay: float
    deceleration: float
    is_limit: bool
    residual: float

    def limits(self, current: Limits, age: float) -> Limits:
        """Returns the current limits with a braking model that covers every stop, rounded to the safe side.

        The deceleration is never raised. age: s, of the governor's inputs and of its command, in front of the delay.
        Raises UsageError where no tau covers every stop.
        """
        tau, latency = _up(self.tau, 0.05), _up(age + self.delay, 0.05)
        limited = min(current.deceleration, _down(self.deceleration, 0.1))
        deceleration = limited if self.is_limit else current.deceleration
        while tau <= _MAX_TAU:
            limits = current.model_copy(update={"deceleration": deceleration, "latency": latency, "tau": tau})
            if all(stop.distance + stop.speed * age <= limits.stopping_distance(stop.speed) for stop in self.stops):
                return limits
            tau = _up(tau + 0.05, 0.05)
        raise UsageError(f"no tau up to {_MAX_TAU:g} s covers every stop", "check the odometry, and fly in calm air")


def calibrate(stops: Sequence[Stop]) -> Calibration:
    """Returns the least-squares fit of the braking model to the velocities of the level stops; of all where none is.

    A limit of the deceleration is part of the model only where the residuals are clearly larger without it.
    """
    level = [stop for stop in stops if stop.is_level] or stops
    free = min((_fit(level, (tau, 1.1)) for tau in _STARTS), key=lambda fit: float(fit.cost))
    bound = min((_fit(level, (tau, 1.1, 4.0)) for tau in _STARTS), key=lambda fit: float(fit.cost))
    is_limit = bool(bound.cost < _LIMITED_SHARE * free.cost)
    best = bound if is_limit else free
    tau, delay = float(best.x[0]), float(best.x[1]) - 1.0
    deceleration = float(best.x[2]) if is_limit else max(stop.speed for stop in level) / tau
    taus = tuple(_tau_of(stop, tau, delay, deceleration) for stop in stops)
    residual = math.sqrt(2.0 * best.cost / len(best.fun))
    return Calibration(tuple(stops), taus, tau, delay, deceleration, is_limit, residual)


def _fit(stops: Sequence[Stop], start: tuple[float, ...]) -> OptimizeResult:
    """Returns the fit that begins at tau (s), delay + 1 s and, where there is one, a limit of the deceleration (m/s^2).

    The 1 s makes the relative step of the derivative by the delay one _STEP.
    """
    number = len(start)
    return least_squares(
        lambda x: _residuals(stops, x[0], x[1] - 1.0, x[2] if number > 2 else math.inf),
        start,
        bounds=((_MIN_TAU, 1.0, 0.3)[:number], (_MAX_TAU, 1.0 + _MAX_DELAY, 15.0)[:number]),
        x_scale=(0.5, 0.1, 3.0)[:number],
        diff_step=(1e-3, _STEP, 1e-3)[:number],
    )


def find_stops(flight: Flight) -> list[Stop]:
    """Returns the stops from MIN_SPEED on that begin in steady flight along the command and end at rest."""
    speed = np.linalg.norm(flight.command, axis=1)
    halts = np.flatnonzero((speed[1:] <= _ZERO_COMMAND) & (speed[:-1] > _ZERO_COMMAND)) + 1
    found = []
    for halt in halts:
        onset = int(halt) - 1
        while onset > 0 and speed[onset - 1] > speed[onset] + 1e-3:
            onset -= 1
        again = np.flatnonzero(speed[halt:] > _ZERO_COMMAND)
        end = flight.command_time[halt + again[0]] if len(again) else math.inf
        stop = _stop(flight, onset, float(flight.command_time[halt]), float(end))
        if stop is not None:
            found.append(stop)
    return found


def _stop(flight: Flight, onset: int, halted: float, end: float) -> Stop | None:
    """Returns the stop whose command falls after index onset, is zero from halted (s) on, and no longer at end (s)."""
    began = float(flight.command_time[onset + 1])
    last = min(began + _MAX_DURATION, end, float(flight.time[-1]))
    earliest = max(float(flight.time[0]) + _STEADY_TIME, float(flight.command_time[0]) + _BEFORE + _MAX_DELAY)
    if began < earliest:
        return None
    velocity = _at(flight.time, flight.velocity, np.array([began - _STEADY_TIME, began]))
    speed = float(np.linalg.norm(velocity[1]))
    commanded = float(np.linalg.norm(flight.command[onset]))
    if speed < MIN_SPEED or abs(speed - float(np.linalg.norm(velocity[0]))) > _STEADY_SHARE * speed:
        return None
    direction = velocity[1] / speed
    if float(flight.command[onset] @ direction) < _MIN_COSINE * commanded:
        return None
    time = np.arange(began - _BEFORE, last, _STEP)
    measured = _at(flight.time, flight.velocity, time) @ direction
    resting = np.flatnonzero((measured <= _AT_REST) & (time >= halted))
    if not len(resting):
        return None
    rest = int(resting[0])
    path = np.append(time[(time >= halted) & (time <= time[rest] + _CREEP_TIME)], began)
    along = _at(flight.time, flight.position, path) @ direction
    # The share of the command that is flown is not all of it, for example against the air's drag.
    asked = (flight.command @ direction) * (speed / commanded)
    changes = np.append(flight.command_time, flight.command_time[-1] + _MAX_DURATION)
    integral = np.concatenate([[0.0], np.cumsum(asked * np.diff(changes))])
    begins, ends = np.interp([began, halted], changes, integral)
    distance = float(along[:-1].max() - along[-1]) - float(ends - begins)
    steps = np.arange(time[0] - _MAX_DELAY, time[rest] + 2.0 * _STEP, _STEP)
    return Stop(began, speed, direction, distance, measured[: rest + 1], np.interp(steps, changes, integral))


def _at(time: Times, values: NDArray[np.float64], wanted: Times) -> NDArray[np.float64]:
    """Returns values (n, 3) at other times (m,), interpolated: (m, 3)."""
    return np.stack([np.interp(wanted, time, column) for column in values.T], axis=1)


def _residuals(stops: Sequence[Stop], tau: float, delay: float, deceleration: float) -> NDArray[np.float64]:
    """Returns the model's velocities less the measured ones, of all stops together, m/s."""
    return np.concatenate([_follow(stop, tau, delay, deceleration) - stop.measured for stop in stops])


def _tau_of(stop: Stop, tau: float, delay: float, deceleration: float) -> float:
    """Returns the tau (s) that fits one stop, with delay (s) and deceleration (m/s^2) as given."""

    def residuals(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return _residuals([stop], float(x[0]), delay, deceleration)

    return float(least_squares(residuals, (tau,), bounds=(_MIN_TAU, _MAX_TAU), diff_step=1e-3).x[0])


def _follow(stop: Stop, tau: float, delay: float, deceleration: float) -> NDArray[np.float64]:
    """Returns the speeds (n,) of the model in a stop, m/s."""
    steps = np.arange(len(stop.measured) + 1) * _STEP
    known = np.arange(len(stop.commanded)) * _STEP - _MAX_DELAY
    asked = np.diff(np.interp(steps - delay, known, stop.commanded)) / _STEP  # mean of each step
    speed = np.empty(len(asked))
    _respond(asked, stop.speed, tau, deceleration, speed)
    return speed


@njit(cache=True, nogil=True)
def _respond(asked, start, tau, deceleration, speed):  # type: ignore[no-untyped-def]
    """Writes the speeds (m/s) of a first-order lag of tau (s), limited to deceleration (m/s^2), step by step."""
    share, most = -math.expm1(-_STEP / tau), deceleration * _STEP
    now = start
    for n in range(len(asked)):
        speed[n] = now
        now += min(max(share * (asked[n] - now), -most), most)


def _up(value: float, to: float) -> float:
    """Returns the value rounded up to a multiple of `to`."""
    return round(math.ceil(value / to - 1e-9) * to, 6)


def _down(value: float, to: float) -> float:
    """Returns the value rounded down to a multiple of `to`."""
    return round(math.floor(value / to + 1e-9) * to, 6)
