"""Where and how fast the vehicle may fly in one mission: fence, keep-out zones, ceilings, home."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.safety.braking import allowed_speed
from esar_ros.safety.limits import Limits
from esar_ros.safety.obstacles import NO_LIMITS, HalfSpaces
from esar_ros.safety.polygons import (
    Polygon,
    area,
    convex_hull,
    distance_outside,
    nearest_on_edges,
    outward,
    perimeter,
    reaches_beyond,
)

WIDEST = 20_000.0  # m from the map's origin: flights are shorter
MAX_CORNERS = 200  # of a polygon, which is looked at whole in every decision


@dataclass(frozen=True)
class Site:
    """Fence corners (n, 2) counter-clockwise, m, map frame; ceiling in m above ground; home (3,) m, map frame.

    keep_out: polygons not to be entered, from the ground up. top: greatest z (m, map), from a ceiling above sea
    level. speed: m/s, greatest in the mission's weather and light. Raises UsageError when corners enclose no area,
    a number is not finite, or home is outside the fence or in a keep-out zone.
    """

    fence: NDArray[np.float64]
    ceiling: float
    home: Vector
    keep_out: tuple[NDArray[np.float64], ...] = ()
    top: float = math.inf
    speed: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "fence", _sound("the fence", self.fence, "give the search area as a polygon"))
        zones = [_sound(f"keep-out zone {n}", zone, "give its corners") for n, zone in enumerate(self.keep_out, 1)]
        object.__setattr__(self, "keep_out", tuple(zones))
        if not (math.isfinite(self.ceiling) and self.ceiling > 0.0):
            raise UsageError(f"the ceiling is {self.ceiling} m above ground", "it must be positive")
        if not np.isfinite(self.home).all():
            raise UsageError("home is not finite", "give the position the vehicle starts from")
        if not self.speed > 0.0:
            raise UsageError(f"the mission's greatest speed is {self.speed} m/s", "it must be positive")
        if self.outside(np.asarray(self.home)) > 0.0:
            raise UsageError("home lies outside the fence", "start inside the search area or widen it")
        if self.inside_keep_out(np.asarray(self.home)) > 0.0:
            raise UsageError("home lies in a keep-out zone", "start elsewhere or mend the zone")
        if not self.top > float(self.home[2]):
            raise UsageError(f"home lies {self.home[2] - self.top:.0f} m above the ceiling above sea level", "raise it")

    @staticmethod
    def covering(
        search: NDArray[np.float64],
        ceiling: float,
        home: Vector,
        room: float = 30.0,
        keep_out: Sequence[NDArray[np.float64]] = (),
        top: float = math.inf,
        speed: float = math.inf,
    ) -> Site:
        """Site whose fence is the search area (n, 2), or its convex hull with room (m) about home if home needs it."""
        fence = np.asarray(search, dtype=np.float64)[:, :2]
        corners = home[:2] + room * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        if not all(distance_outside(fence, corner) <= 0.0 for corner in corners):
            fence = convex_hull(np.concatenate([fence, corners]))
        return Site(fence, ceiling, home, tuple(keep_out), top, speed)

    def outside(self, position: Vector) -> float:
        """Horizontal distance (m) to the fence: positive outside, negative inside."""
        return distance_outside(self.fence, position[:2])

    def inside_keep_out(self, position: Vector) -> float:
        """How deep (m) a position lies in a keep-out zone; negative: how far from the nearest."""
        return max((-distance_outside(zone, position[:2]) for zone in self.keep_out), default=-math.inf)

    def must_hold(self, position: Vector, height: float | None) -> None:
        """Raises UsageError where a vehicle at a position (m, map), height (m) above ground, would have to leave."""
        over = max(float(position[2]) - self.top, -math.inf if height is None else height - self.ceiling)
        for deep, what in (
            (self.outside(position), "outside its fence"),
            (self.inside_keep_out(position), "in one of its keep-out zones"),
            (over, "above its ceiling"),
        ):
            if deep > 0.0:
                raise UsageError(f"the vehicle is {deep:.0f} m {what}", "bring it there first")

    def looser_than(self, other: Site) -> bool:
        """Whether this site allows something the other does not, or leads home elsewhere."""
        inside = not reaches_beyond(self.fence, other.fence)
        zones = {zone.tobytes() for zone in self.keep_out}
        dropped = any(zone.tobytes() not in zones for zone in other.keep_out)
        higher = self.ceiling > other.ceiling or self.top > other.top or self.speed > other.speed
        return not inside or dropped or higher or not np.array_equal(self.home, other.home)

    def fence_limits(self, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
        """Limits of the fence's edges: stop fence_margin inside; from outside, come back at push_speed."""
        foot, distance = nearest_on_edges(self.fence, position[:2])
        away = foot - position[:2]
        normal = np.where(distance[:, None] > 1e-3, away / np.maximum(distance, 1e-3)[:, None], outward(self.fence))
        if self.outside(position) > 0.0:
            nearest = int(np.argmin(distance))
            normal, bounds = -normal[nearest : nearest + 1], np.array([-limits.push_speed])
            if distance[nearest] <= 1e-3:
                normal = outward(self.fence)[nearest : nearest + 1]
            return _level(normal, bounds)
        return _approach(normal, distance - limits.fence_margin, velocity, limits)

    def keep_out_limits(self, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
        """Limits of the keep-out zones' edges: stop fence_margin outside; from inside, leave at push_speed."""
        rows = [_zone_limits(zone, position, velocity, limits) for zone in self.keep_out]
        if not rows:
            return NO_LIMITS
        return HalfSpaces(np.concatenate([r.normals for r in rows]), np.concatenate([r.bounds for r in rows]))


def _sound(what: str, corners: NDArray[np.float64], cure: str) -> Polygon:
    """Corners as a counter-clockwise polygon. Raises UsageError."""
    polygon = np.asarray(corners, dtype=np.float64)
    if polygon.ndim != 2 or polygon.shape[0] < 3 or polygon.shape[1] != 2 or not np.isfinite(polygon).all():
        raise UsageError(f"{what} has no three finite corners", cure)
    if not np.abs(polygon).max() <= WIDEST:
        raise UsageError(f"{what} reaches farther than {WIDEST / 1e3:.0f} km from the map's origin", cure)
    if len(polygon) > MAX_CORNERS or perimeter(polygon) > 8.0 * WIDEST:
        raise UsageError(f"{what} has {len(polygon)} corners and {perimeter(polygon) / 1e3:.0f} km of edges", cure)
    if area(polygon) < 0.0:
        polygon = polygon[::-1]
    if not area(polygon) > 1.0:
        raise UsageError(f"{what} encloses no area", cure)
    return np.ascontiguousarray(polygon)


def _zone_limits(zone: Polygon, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
    foot, distance = nearest_on_edges(zone, position[:2])
    away = foot - position[:2]
    normal = np.where(distance[:, None] > 1e-3, away / np.maximum(distance, 1e-3)[:, None], -outward(zone))
    if distance_outside(zone, position[:2]) < 0.0:
        nearest = int(np.argmin(distance))
        leave = normal[nearest] if distance[nearest] > 1e-3 else outward(zone)[nearest]
        return _level(-leave[None], np.array([-limits.push_speed]))
    return _approach(normal, distance - limits.fence_margin, velocity, limits)


def _approach(normal: NDArray[np.float64], room: NDArray[np.float64], velocity: Vector, limits: Limits) -> HalfSpaces:
    """Stop within each room (m) along its normal; harder while closing faster than that already."""
    allowed = np.array([allowed_speed(r, limits.deceleration, limits.latency) for r in room])
    closing = normal @ velocity[:2]
    return _level(normal, np.where(closing > allowed, np.maximum(0.0, 2.0 * allowed - closing), allowed))


def _level(normal: NDArray[np.float64], bounds: NDArray[np.float64]) -> HalfSpaces:
    return HalfSpaces(np.concatenate([normal, np.zeros((len(normal), 1))], axis=1), bounds)
