"""Flights of runs and stops by vehicles that are known: a first-order lag, a second-order one, and a PID cascade."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from esar_ros.safety.calibration import Flight

STEP = 0.005  # s, of the vehicle
PERIOD, SAMPLE = 10, 7  # steps between commands, and between odometry messages
RUN, STAND = 9.0, 9.0  # s
SPEEDS = (1.0, 2.0, 3.0, 4.0, 5.0)  # m/s

# Acceleration (m/s^2) of a vehicle in one STEP, by its velocity and the one asked of it (m/s).
Vehicle = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def first_order(tau: float, deceleration: float) -> Vehicle:
    """Returns a lag of tau (s) that accelerates by at most deceleration (m/s^2)."""

    def accelerate(velocity: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
        wanted: NDArray[np.float64] = (asked - velocity) / tau
        return wanted * min(1.0, deceleration / max(float(np.linalg.norm(wanted)), 1e-9))

    return accelerate


def second_order(frequency: float) -> Vehicle:
    """Returns a critically damped vehicle of a natural frequency (rad/s): from v it stops within 2 v / frequency."""
    acceleration = np.zeros(3)

    def accelerate(velocity: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal acceleration
        jerk = frequency**2 * (asked - velocity) - 2.0 * frequency * acceleration
        acceleration = acceleration + jerk * STEP
        return acceleration

    return accelerate


def cascade() -> Vehicle:
    """Returns a multicopter under a PID of its velocity, with drag, as PX4 flies one.

    The gains are the defaults of PX4's parameters MPC_XY_VEL_P_ACC, _I_ACC, _D_ACC and MC_PITCH_P; the loop of its body
    rates is a lag of 50 ms.
    """
    integral, lean, rate, acceleration = np.zeros((4, 3))  # lean: acceleration by tilt, m/s^2; rate: its change

    def accelerate(velocity: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal integral, lean, rate, acceleration
        error = asked - velocity
        integral = integral + 0.4 * error * STEP
        wanted = 1.8 * error + integral - 0.2 * acceleration
        wanted = wanted * min(1.0, 9.8 / max(float(np.linalg.norm(wanted)), 1e-9))  # 45 degrees
        rate = rate + (6.5 * (wanted - lean) - rate) / 0.05 * STEP
        lean = lean + rate * STEP
        acceleration = lean - 0.2 * velocity
        return acceleration

    return accelerate


def flown(
    vehicle: Vehicle,
    delay: float,
    speeds: tuple[float, ...] = SPEEDS,
    *,
    share: float = 1.0,
    falls: float = math.inf,
    noise: float = 0.0,
    seed: int = 1,
) -> Flight:
    """Returns a flight of runs in turning directions, each with a stop after it.

    delay: s, of each command; share: of the speed asked for that the vehicle reaches; falls: m/s^2, of the command;
    noise: m/s, of the velocity.
    """
    rng = np.random.default_rng(seed)
    commands = []
    for n, speed in enumerate(speeds):
        heading = np.array([math.cos(n), math.sin(n), 0.1 * (-1) ** n])
        ramp = np.arange(speed, 0.0, -falls * STEP) if math.isfinite(falls) else np.zeros(0)
        asked = np.concatenate([np.full(round(RUN / STEP), speed), ramp, np.zeros(round(STAND / STEP))])
        commands.append(asked[:, None] * heading / np.linalg.norm(heading))
    sent = np.concatenate(commands)
    sent = np.repeat(sent[::PERIOD], PERIOD, axis=0)[: len(sent)]  # a command holds until the next
    velocity, position = np.zeros((len(sent), 3)), np.zeros((len(sent), 3))
    late = round(delay / STEP)
    for n in range(1, len(sent)):
        change = vehicle(velocity[n - 1], share * sent[max(n - 1 - late, 0)])
        velocity[n] = velocity[n - 1] + change * STEP
        position[n] = position[n - 1] + velocity[n] * STEP
    time = 50.0 + np.arange(len(sent), dtype=np.float64) * STEP
    measured = velocity[::SAMPLE] + rng.normal(0.0, 1.0, velocity[::SAMPLE].shape) * noise
    return Flight(time[::SAMPLE], position[::SAMPLE], measured, time[::PERIOD], sent[::PERIOD])
