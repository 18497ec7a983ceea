"""The separation of the mission's vehicles, which each of them keeps by half, and their layers of height.

While reports come the half of the distance is enough. A vehicle that falls silent stops, and then climbs or sinks
straight into its own layer, as each does that does not hear the others: so it is within reach of its last report, at
any height, or anywhere in its layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import FARTHEST, FASTEST, Vector, magnitude
from esar_ros.safety.limits import STANDING, Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.obstacles import NO_LIMITS, HalfSpaces

_LAYER_GAIN = 1.0  # 1/s, of the climb to the middle of a layer
_PADS = 30.0  # m from home, within which the mission's vehicles start and land
_UNDER_CEILING = 5.0  # m that a layer lies below the ceiling at least


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


@dataclass(frozen=True)
class Team:
    """The place of a vehicle among those of its mission."""

    rank: int = 0  # among their names in alphabetical order
    size: int = 1  # vehicles of the mission

    @staticmethod
    def of(vehicle: str, others: Sequence[str]) -> Team:
        """Returns the place of a vehicle beside others, the same whichever of them asks."""
        return Team(sum(other < vehicle for other in others), 1 + len(others))

    def in_layer(self, height: float, limits: Limits, ceiling: float = math.inf) -> float:
        """Returns a height (m above ground) that all vehicles are to have, raised into this one's layer.

        It remains below a ceiling (m above ground), where vehicles that do not fit share the highest.
        """
        most = max(height, ceiling - _UNDER_CEILING)
        return min(height + self.rank * limits.layer_spacing, most)


def layer_height(site: Site, ground: float, limits: Limits) -> float | None:
    """Returns the height (m above ground) of a vehicle's layer over ground at map z (m): that of its return.

    None: the ceiling is too low for it.
    """
    fits = limits.return_height <= min(site.ceiling, site.top - ground) - _UNDER_CEILING
    return limits.return_height if fits else None


def gaps(others: Sequence[OtherVehicle], position: Vector, now: float, limits: Limits) -> list[tuple[Vector, float]]:
    """Returns direction to and least possible distance (m) of each vehicle, however it moved since its report.

    For limits.traffic_age it may have gone on, and sped up. One that is silent for longer has then stopped, and may be
    at any height: its distance is level, and no less than what is a breach, since it may be elsewhere.
    """
    found = []
    for other in others:
        silent = is_silent(other, now, limits)
        away = other.position - position
        if silent:
            away[2] = 0.0
        distance = magnitude(away)
        nowhere = np.array([1.0, 0.0, 0.0]) if silent else np.array([0.0, 0.0, 1.0])
        direction = away / distance if distance > 1e-6 else nowhere
        gap = distance - _reach(magnitude(other.velocity), now - other.stamp, limits)
        found.append((direction, max(gap, 2.0 * limits.body_radius) if silent else gap))
    return found


def _reach(speed: float, age: float, limits: Limits) -> float:
    """Returns the distance (m) that a vehicle reported at a speed (m/s) may have come in the time (s) since."""
    top = max(speed, limits.speed_horizontal)
    going = min(max(age, 0.0), limits.traffic_age)
    gaining = min(going, (top - speed) / limits.acceleration)
    last = speed + limits.acceleration * gaining
    gone = 0.5 * (speed + last) * gaining + last * (going - gaining)
    return gone + min(last * max(age - going, 0.0), limits.stopping_distance(last))


def is_silent(other: OtherVehicle, now: float, limits: Limits) -> bool:
    """Returns whether a vehicle's last report is too old for it to be known where the vehicle is."""
    return now - other.stamp > limits.traffic_age


def in_the_air(others: Sequence[OtherVehicle], site: Site | None, now: float, limits: Limits) -> list[OtherVehicle]:
    """Returns the vehicles that may be flying: none whose charge cannot last, or that fell silent standing at home."""
    return [
        other
        for other in others
        if not is_silent(other, now, limits)
        or (now - other.stamp <= limits.endurance and not (site is not None and _has_landed(other, site, limits)))
    ]


def _has_landed(other: OtherVehicle, site: Site, limits: Limits) -> bool:
    away = other.position - site.home
    near = math.hypot(away[0], away[1]) <= _PADS and abs(float(away[2])) <= limits.floor
    return near and magnitude(other.velocity) <= STANDING


def layer_velocity(asked: Vector, above: float, limits: Limits) -> Vector:
    """Returns the velocity (m/s, map) that flies in the layer, or straight into it first.

    asked: of which the level part is left, the slower the nearer the edge; above: m from the layer's middle.
    """
    half = 0.5 * (limits.layer_spacing - limits.separation)  # m, at the edge of which layers are separation apart
    level = math.hypot(asked[0], asked[1])
    speed = min(level, limits.speed_horizontal * min(max(2.0 * (1.0 - abs(above) / half), 0.0), 1.0))
    climb = min(max(-_LAYER_GAIN * above, -limits.speed_down), limits.speed_up)
    return np.array([*(asked[:2] * (speed / max(level, 1e-9))), climb])


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
