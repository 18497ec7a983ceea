"""Whether the wind has the vehicle: by how much its measured velocity leaves what it was given.

However slowly an autopilot follows, without overshoot its velocity stays between standing still and what it was given
of late. What it is beyond, nobody has asked for. Level only: ground, and lift at take-off, change the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector

_OF_LATE = 4.0  # s; a PX4 quadrotor that turns round has come to 80 % of it by then
_PIECE = 0.5  # s of given velocities that are kept as one
_MEMORY = 5.0  # s, of the mean


@dataclass(frozen=True)
class Blown:
    """The root mean square (m/s) of the velocity that nobody has asked for."""

    stamp: float | None = None  # s
    given: tuple[tuple[float, Vector, Vector], ...] = ()  # since when (s), and least and greatest (2,) of a piece
    square: float = 0.0  # m^2/s^2

    @property
    def speed(self) -> float:
        """m/s."""
        return math.sqrt(self.square)

    def measured(self, stamp: float, velocity: Vector, given: Vector) -> Blown:
        """After a velocity (m/s, map) at a stamp (s), while `given` was what the vehicle was to fly."""
        if self.stamp is None or not 0.0 <= stamp - self.stamp <= _OF_LATE:
            # Taken over in motion, it flies on for a while as somebody else has asked.
            low, high = np.minimum(given[:2], velocity[:2]), np.maximum(given[:2], velocity[:2])
            return Blown(stamp, ((stamp, low, high),))
        pieces = tuple(piece for piece in self.given if stamp - piece[0] <= _OF_LATE + _PIECE)
        if pieces and stamp - pieces[-1][0] < _PIECE:
            since, low, high = pieces[-1]
            pieces = (*pieces[:-1], (since, np.minimum(low, given[:2]), np.maximum(high, given[:2])))
        else:
            pieces = (*pieces, (stamp, given[:2].copy(), given[:2].copy()))
        low = np.minimum(0.0, np.min([piece[1] for piece in pieces], axis=0))
        high = np.maximum(0.0, np.max([piece[2] for piece in pieces], axis=0))
        beyond = np.maximum(0.0, np.maximum(velocity[:2] - high, low - velocity[:2]))
        kept = math.exp(-(stamp - self.stamp) / _MEMORY)
        return Blown(stamp, pieces, kept * self.square + (1.0 - kept) * float(beyond @ beyond))
