"""The wind's disturbance of the flight: the part of the measured velocity that no output explains.

However slowly an autopilot follows, without overshoot its velocity stays between standstill and the outputs of the last
seconds. The part beyond is the disturbance. Level only: ground, and lift at take-off, change the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector

_RESPONSE_TIME = 4.0  # s of outputs that explain a velocity; a PX4 quadrotor that turns round is at 80 % by then
_BIN = 0.5  # s of outputs that are kept as one
_TIME_CONSTANT = 5.0  # s, of the mean
_GUST_TIME = 4.0  # s, half of what a level gust lasts 15 m above ground: L / V = 93 m / 12 m/s (MIL-F-8785C, 3.7.3)


@dataclass(frozen=True)
class WindDisturbance:
    """The mean square of the velocity that no output explains, and the outputs of the last seconds."""

    stamp: float | None = None  # s
    outputs: tuple[tuple[float, Vector, Vector], ...] = ()  # per bin: start (s), minimum and maximum (2,), m/s, map
    mean_square: float = 0.0  # m^2/s^2

    @property
    def rms(self) -> float:
        """Root mean square (m/s)."""
        return math.sqrt(self.mean_square)

    def drift(self, most: float) -> float:
        """Returns the distance (m) by which a gust carries the vehicle, whose drift is at most `most` (m/s)."""
        return _GUST_TIME * min(self.rms, most)

    def updated(self, stamp: float, velocity: Vector, output: Vector) -> WindDisturbance:
        """Returns the disturbance after a velocity (m/s, map) measured at a stamp (s) while the vehicle flew output."""
        if self.stamp is None or not 0.0 <= stamp - self.stamp <= _RESPONSE_TIME:
            # Taken over in motion, the vehicle flies on for a while as somebody else commanded.
            low, high = np.minimum(output[:2], velocity[:2]), np.maximum(output[:2], velocity[:2])
            return WindDisturbance(stamp, ((stamp, low, high),))
        bins = tuple(each for each in self.outputs if stamp - each[0] <= _RESPONSE_TIME + _BIN)
        if bins and stamp - bins[-1][0] < _BIN:
            start, low, high = bins[-1]
            bins = (*bins[:-1], (start, np.minimum(low, output[:2]), np.maximum(high, output[:2])))
        else:
            bins = (*bins, (stamp, output[:2].copy(), output[:2].copy()))
        low = np.minimum(0.0, np.min([each[1] for each in bins], axis=0))
        high = np.maximum(0.0, np.max([each[2] for each in bins], axis=0))
        beyond = np.maximum(0.0, np.maximum(velocity[:2] - high, low - velocity[:2]))
        kept = math.exp(-(stamp - self.stamp) / _TIME_CONSTANT)
        return WindDisturbance(stamp, bins, kept * self.mean_square + (1.0 - kept) * float(beyond @ beyond))
