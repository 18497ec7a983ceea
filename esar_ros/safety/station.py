"""A hold: the place that a vehicle keeps, its way back there when the wind has carried it away, and what is near.

Without ranges it still backs off from what the last scan showed, and flies where that scan showed the air to be free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, magnitude
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.inputs import Findings, RangeImageData, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.surroundings.observed_space import ObservedSpace
from esar_ros.safety.surroundings.scene import Scene

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
            stop = limits.stopping_distance(magnitude(state.velocity))
            return Station(position.copy()) if stop <= limits.push_deadband else self
        if math.dist(position, self.place) > _STRAYED:
            return Station(position.copy())
        return replace(self, carried=self.carried + state.velocity * step)

    def way(self, position: Vector) -> Vector:
        """Returns the way (m, map) from a position (m, map) back to the place; none where there is no place."""
        return np.zeros(3) if self.place is None else self.place - position

    def way_back(self, position: Vector) -> Vector:
        """Returns the same way as far as the velocity explains it."""
        return -_explained(-self.way(position), self.carried)


@dataclass(frozen=True)
class LastScan:
    """The newest scan that could be trusted, and how far the vehicle's velocity has carried it from there."""

    image: RangeImageData | None = None
    place: Vector = field(default_factory=lambda: np.zeros(3))  # m, map
    carried: Vector = field(default_factory=lambda: np.zeros(3))  # m

    def updated(self, image: RangeImageData | None, state: State, step: float) -> LastScan:
        """Returns the newest scan a step (s) later; image: one that can be trusted, None: there is none."""
        if image is not None:
            return LastScan(image, state.pose.position)
        return replace(self, carried=self.carried + state.velocity * step)

    def seen_from(self, position: Vector) -> RangeImageData | None:
        """Returns the scan as it lies about a position (m, map) as far as the velocity explains that; None: no scan.

        A position that creeps takes along what the scan showed.
        """
        if self.image is None:
            return None
        moved = position - self.place
        pose = self.image.pose
        crept = moved - _explained(moved, self.carried)
        return replace(self.image, pose=Pose(pose.position + crept, pose.quaternion))


def _explained(moved: Vector, carried: Vector) -> Vector:
    """Returns the part of a move of the position (m, map) that the integral of the velocity (m, map) explains.

    A position that creeps while the velocity is zero has carried the vehicle nowhere.
    """
    squared = float(moved @ moved)
    share = float(carried @ moved) / squared if squared > 0.0 else 0.0
    return moved * min(max(share, 0.0), 1.0)


def stay(
    envelope: Envelope, station: Station, last_scan: LastScan, state: State, scene: Scene, findings: Findings
) -> Vector:
    """Returns the velocity (m/s, map) of a hold: back to its station, and off what is near."""
    limits, way_back = envelope.limits, station.way_back(scene.position)
    held, way = replace(scene, way_back=way_back), station.way(scene.position)
    if scene.image is None:
        way, image = way_back, last_scan.seen_from(scene.position)
        observed = ObservedSpace(scene.position, image, scene.window, limits.own_radius)
        held = replace(held, image=image, observed=observed)
    distance = magnitude(way)
    back = way * min(_GAIN, limits.push_speed / distance) if distance > limits.push_deadband else np.zeros(3)
    return envelope.keep(back, state, held, findings)
