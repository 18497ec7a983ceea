"""The separation of the mission's vehicles, which each of them keeps by half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import FARTHEST, FASTEST, Vector
from esar_ros.safety.limits import Limits
from esar_ros.safety.obstacles import NO_LIMITS, HalfSpaces


@dataclass(frozen=True)
class OtherVehicle:
    """The last report of another vehicle."""

    stamp: float  # s
    position: Vector  # (3,) m, map
    velocity: Vector  # (3,) m/s, map

    def is_finite(self) -> bool:
        """Returns whether the report can be used: finite, and possible for a vehicle on Earth."""
        near = np.abs(self.position).max() < FARTHEST and np.abs(self.velocity).max() < FASTEST
        return bool(np.isfinite(self.stamp) and near)


def gaps(others: Sequence[OtherVehicle], position: Vector, now: float, limits: Limits) -> list[tuple[Vector, float]]:
    """Returns direction to and least possible distance (m) of each vehicle, however it moved since its report.

    For limits.traffic_age it may have gone on at its reported speed; one that is silent for longer is taken to stand
    there.
    """
    found = []
    for other in others:
        away = other.position - position
        distance = float(np.linalg.norm(away))
        direction = away / distance if distance > 1e-6 else np.array([0.0, 0.0, 1.0])
        age = min(max(now - other.stamp, 0.0), limits.traffic_age)
        found.append((direction, distance - float(np.linalg.norm(other.velocity)) * age))
    return found


def separation_limits(gap: Sequence[tuple[Vector, float]], velocity: Vector, limits: Limits) -> HalfSpaces:
    """Returns the limits by which each vehicle stops within half the room between them, or backs off where too near.

    gap: direction to and distance (m) of each other vehicle; velocity: of this one, m/s, map.
    """
    if not gap:
        return NO_LIMITS
    normals = np.array([direction for direction, _ in gap])
    bounds = []
    for direction, distance in gap:
        room = 0.5 * (distance - limits.separation)
        if room < -0.5 * limits.push_deadband:
            bounds.append(-min(limits.push_speed, -room))
        else:
            bounds.append(limits.closing_speed(room, float(direction @ velocity)))
    return HalfSpaces(normals, np.array(bounds))
