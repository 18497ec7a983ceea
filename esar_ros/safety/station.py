"""The place that a vehicle keeps in a hold, and its way back there when the wind has carried it away."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.safety.inputs import State
from esar_ros.safety.limits import Limits

_GAIN = 1.0  # 1/s, of the way back
_STRAYED = 3.0  # m, beyond which it is the position that moved


@dataclass(frozen=True)
class Station:
    """The place where a vehicle came to rest in a hold, and how far its own velocity has carried it from there."""

    place: Vector | None = None  # (3,) m, map; None: it does not hold, or has not stopped yet
    carried: Vector = field(default_factory=lambda: np.zeros(3))  # m

    def updated(self, holds: bool, state: State, step: float, limits: Limits) -> Station:
        """Returns the station a step (s) later; one where it is when it comes to rest, none where it does not hold."""
        if not holds or not state.flying:
            return Station()
        position = state.pose.position
        if self.place is None:
            stop = limits.stopping_distance(float(np.linalg.norm(state.velocity)))
            return Station(position.copy()) if stop <= limits.push_deadband else self
        if math.dist(position, self.place) > _STRAYED:
            return Station(position.copy())
        return replace(self, carried=self.carried + state.velocity * step)

    def velocity(self, position: Vector, limits: Limits) -> Vector:
        """Returns the velocity (m/s, map) from a position (m, map) back to the place; zero within the deadband."""
        if self.place is None:
            return np.zeros(3)
        to_place = self.place - position
        distance = float(np.linalg.norm(to_place))
        if distance <= limits.push_deadband:
            return np.zeros(3)
        return to_place * min(_GAIN, limits.push_speed / distance)

    def way_back(self, position: Vector) -> Vector | None:
        """Returns the way (m, map) from a position (m, map) back to the place, as far as its velocity explains it.

        A position that creeps while the velocity is zero has carried the vehicle nowhere. None: no place.
        """
        if self.place is None:
            return None
        to_place = self.place - position
        squared = float(to_place @ to_place)
        share = -float(self.carried @ to_place) / squared if squared > 0.0 else 0.0
        return to_place * min(max(share, 0.0), 1.0)
