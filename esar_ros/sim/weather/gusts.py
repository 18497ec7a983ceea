"""Turbulence on top of the mean wind: Dryden's spectra at low altitude (MIL-F-8785C, 3.7.3).

Filters are driven by seeded noise at whole control steps, so that the same seed gives the same gusts however time
is cut. Frozen turbulence: the field drifts past the vehicle at its airspeed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.clock import CONTROL_STEPS, STEP
from esar_ros.sim.sensor_noise import Noise

FOOT = 0.3048  # m
MIN_HEIGHT, MAX_HEIGHT = 3.0, 305.0  # m, between which the model holds
MIN_AIRSPEED = 1.0  # m/s
CALM = 1e-3  # m/s; below there are no gusts
_BLOCK = 64  # control steps whose noise is drawn at once
_ROOT3 = math.sqrt(3.0)
_INTERVAL = CONTROL_STEPS * STEP  # s


class Gusts:
    """The turbulence that one vehicle meets."""

    def __init__(self, seed: int, vehicle: str) -> None:
        self._noise = Noise(seed, vehicle, "gusts")
        self._block = -1
        self._white: NDArray[np.float64] = np.zeros((_BLOCK, 3))
        # Unit variance: along the wind; across and up each a first and a second filter stage.
        self._along, self._across, self._up = 0.0, [0.0, 0.0], [0.0, 0.0]

    def next(self, tick: int, mean: Vector, airspeed: float, height: float, gustiness: float) -> Vector:
        """Turbulent velocity (m/s, ENU) of a control step; mean wind (m/s, ENU), height (m above ground).

        gustiness: factor on the wind that the turbulence is of.
        """
        east, north, _ = mean.tolist()  # plain floats: a hundred steps a second are not worth an array's overhead
        speed = math.hypot(east, north)
        if speed < CALM:
            return np.zeros(3)
        block, row = divmod(tick, _BLOCK)
        if block != self._block:
            self._block, self._white = block, self._noise.normal(block, 3 * _BLOCK).reshape(_BLOCK, 3)
        level, vertical, length_scale, vertical_length_scale = dryden(speed * gustiness, height)
        airspeed = max(airspeed, MIN_AIRSPEED)
        n_along, n_across, n_up = self._white[row].tolist()
        keep = math.exp(-_INTERVAL * airspeed / length_scale)
        self._along = keep * self._along + math.sqrt(1.0 - keep * keep) * n_along
        u = level * self._along
        v = level * _lateral(self._across, n_across, _INTERVAL * airspeed / length_scale)
        w = vertical * _lateral(self._up, n_up, _INTERVAL * airspeed / vertical_length_scale)
        ahead_x, ahead_y = east / speed, north / speed
        return np.array([u * ahead_x - v * ahead_y, u * ahead_y + v * ahead_x, w])


def dryden(speed: float, height: float) -> tuple[float, float, float, float]:
    """Standard deviations (m/s) level and vertical, and length scales (m) level and vertical.

    speed: mean wind, m/s; height above ground, m.
    """
    feet = min(max(height, MIN_HEIGHT), MAX_HEIGHT) / FOOT
    shape = 0.177 + 0.000823 * feet
    vertical = 0.1 * speed
    return vertical / shape**0.4, vertical, feet / shape**1.2 * FOOT, feet * FOOT


def _lateral(stages: list[float], white: float, share: float) -> float:
    """Unit-variance output of (1 + sqrt(3) T s) / (1 + T s)^2 after share = dt / T; updates its two stages."""
    keep = math.exp(-share)
    second = keep * stages[1] + (1.0 - keep) * stages[0]
    stages[0] = keep * stages[0] + math.sqrt(1.0 - keep * keep) * white
    stages[1] = second
    return (_ROOT3 * stages[0] + (1.0 - _ROOT3) * stages[1]) / math.sqrt(2.0)
