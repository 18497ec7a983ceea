"""The site of a mission: fence, keep-out zones, ceilings, greatest speed, home."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.safety.braking import closing_speeds
from esar_ros.safety.limits import Limits
from esar_ros.safety.pace import Pace, Spell
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
from esar_ros.safety.surroundings.obstacles import NO_LIMITS, HalfSpaces

MAX_EXTENT = 20_000.0  # m from the map's origin: flights are shorter
MAX_CORNERS = 200  # of a polygon, all of which count in every decision
_MAX_PERIMETER = 8.0 * MAX_EXTENT  # m, of a square that reaches as far as a polygon may
_MIN_AREA = 1.0  # m^2
_HOMEWARD = 1200.0  # s, longer than a flight home
_ON_EDGE = 1e-3  # m, nearer than which an edge has no direction but its normal


@dataclass(frozen=True)
class Site:
    """The space and the speed that a mission allows, and its home.

    Raises UsageError when corners enclose no area, a number is not finite, or home is outside the fence or in a
    keep-out zone.
    """

    fence: NDArray[np.float64]  # (n, 2) m, map: corners, counter-clockwise
    ceiling: float  # m above ground
    home: Vector  # (3,) m, map
    keep_out: tuple[NDArray[np.float64], ...] = ()  # corners (n, 2), m, map, of polygons that are closed at any height
    top: float = math.inf  # m, map z: a ceiling above sea level
    speed: float = math.inf  # m/s, greatest in the mission's weather and light
    wind: float = math.nan  # m/s, mean wind as forecast; NaN: not known
    pace: Pace | None = None  # greatest speeds as the mission goes on; None: speed, always
    speed_home: float = math.inf  # m/s, greatest wherever weather and light get worse on the way home

    def __post_init__(self) -> None:
        object.__setattr__(self, "fence", _valid_polygon("the fence", self.fence, "give the search area as a polygon"))
        numbered = enumerate(self.keep_out, 1)
        zones = tuple(_valid_polygon(f"keep-out zone {n}", zone, "give its corners") for n, zone in numbered)
        object.__setattr__(self, "keep_out", zones)
        if not (math.isfinite(self.ceiling) and self.ceiling > 0.0):
            raise UsageError(f"the ceiling is {self.ceiling} m above ground", "it must be positive")
        if not np.isfinite(self.home).all():
            raise UsageError("home is not finite", "give the position the vehicle starts from")
        if not self.speed > 0.0:
            raise UsageError(f"the mission's greatest speed is {self.speed} m/s", "it must be positive")
        if not (math.isnan(self.wind) or 0.0 <= self.wind < math.inf):
            raise UsageError(
                f"the forecast wind is {self.wind} m/s", "give its mean speed, or NaN where it is not known"
            )
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
        wind: float = math.nan,
        pace: Pace | None = None,
    ) -> Site:
        """Returns a site whose fence is the search area (n, 2), or its convex hull with room (m) around home.

        The hull is taken where the area does not hold the room around home.
        """
        fence = np.asarray(search, dtype=np.float64)[:, :2]
        corners = home[:2] + room * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        if not all(distance_outside(fence, corner) <= 0.0 for corner in corners):
            fence = convex_hull(np.concatenate([fence, corners]))
        return Site(fence, ceiling, home, tuple(keep_out), top, speed, wind, pace)

    def at(self, elapsed: float) -> Site:
        """Returns the site with the speeds of a time (s into the mission)."""
        if self.pace is None:
            return self
        speed, home = self.pace.at(elapsed), self.pace.slowest(elapsed, elapsed + _HOMEWARD)
        same = speed == self.speed and home == self.speed_home
        return self if same else replace(self, speed=speed, speed_home=home)

    def outside(self, position: Vector) -> float:
        """Returns the horizontal distance (m) to the fence: positive outside, negative inside."""
        return distance_outside(self.fence, position[:2])

    def inside_keep_out(self, position: Vector) -> float:
        """Returns the depth (m) of a position in a keep-out zone; outside, the negative distance to the nearest."""
        return max((-distance_outside(zone, position[:2]) for zone in self.keep_out), default=-math.inf)

    def require_inside(self, position: Vector, height: float | None) -> None:
        """Raises UsageError where a vehicle at a position (m, map), height (m) above ground, would have to leave."""
        over = max(float(position[2]) - self.top, -math.inf if height is None else height - self.ceiling)
        for depth, what in (
            (self.outside(position), "outside its fence"),
            (self.inside_keep_out(position), "in one of its keep-out zones"),
            (over, "above its ceiling"),
        ):
            if depth > 0.0:
                raise UsageError(f"the vehicle is {depth:.0f} m {what}", "bring it there first")

    def is_looser_than(self, other: Site) -> bool:
        """Returns whether this site allows something that the other does not, or has its home elsewhere."""
        inside = not reaches_beyond(self.fence, other.fence)
        zones = {zone.tobytes() for zone in self.keep_out}
        dropped = any(zone.tobytes() not in zones for zone in other.keep_out)
        calmer = other.wind > self.wind or (math.isnan(self.wind) and not math.isnan(other.wind))
        higher = self.ceiling > other.ceiling or self.top > other.top or self._pace.exceeds(other._pace)
        return not inside or dropped or higher or calmer or not np.array_equal(self.home, other.home)

    @property
    def _pace(self) -> Pace:
        """The greatest speeds at any time."""
        return Pace((Spell(-math.inf, math.inf, self.speed),)) if self.pace is None else self.pace

    def fence_limits(self, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
        """Returns the limits of the fence's edges: stop fence_margin inside; from outside, come back at push_speed."""
        foot, distance = nearest_on_edges(self.fence, position[:2])
        away = foot - position[:2]
        normal = _towards(away, distance, self.fence, 1.0)
        if self.outside(position) > 0.0:
            nearest = int(np.argmin(distance))
            normal, bounds = -normal[nearest : nearest + 1], np.array([-limits.push_speed])
            if distance[nearest] <= _ON_EDGE:
                normal = outward(self.fence)[nearest : nearest + 1]
            return _level(normal, bounds)
        return _approach(normal, distance - limits.fence_margin, velocity, limits)

    def keep_out_limits(self, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
        """Returns the limits of the keep-out zones: stop fence_margin outside; from inside, leave at push_speed."""
        rows = [_zone_limits(zone, position, velocity, limits) for zone in self.keep_out]
        if not rows:
            return NO_LIMITS
        return HalfSpaces(np.concatenate([r.normals for r in rows]), np.concatenate([r.bounds for r in rows]))


def _valid_polygon(what: str, corners: NDArray[np.float64], cure: str) -> Polygon:
    """Returns the corners (n, 2) of a polygon counter-clockwise. Raises UsageError."""
    polygon = np.asarray(corners, dtype=np.float64)
    if polygon.ndim != 2 or polygon.shape[0] < 3 or polygon.shape[1] != 2 or not np.isfinite(polygon).all():
        raise UsageError(f"{what} has no three finite corners", cure)
    if not np.abs(polygon).max() <= MAX_EXTENT:
        raise UsageError(f"{what} reaches farther than {MAX_EXTENT / 1e3:.0f} km from the map's origin", cure)
    if len(polygon) > MAX_CORNERS or perimeter(polygon) > _MAX_PERIMETER:
        raise UsageError(f"{what} has {len(polygon)} corners and {perimeter(polygon) / 1e3:.0f} km of edges", cure)
    if area(polygon) < 0.0:
        polygon = polygon[::-1]
    if not area(polygon) > _MIN_AREA:
        raise UsageError(f"{what} encloses no area", cure)
    return np.ascontiguousarray(polygon)


def _zone_limits(zone: Polygon, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
    """Returns the limits of one zone's edges."""
    foot, distance = nearest_on_edges(zone, position[:2])
    away = foot - position[:2]
    normal = _towards(away, distance, zone, -1.0)
    if distance_outside(zone, position[:2]) < 0.0:
        nearest = int(np.argmin(distance))
        leave = normal[nearest] if distance[nearest] > _ON_EDGE else outward(zone)[nearest]
        return _level(-leave[None], np.array([-limits.push_speed]))
    return _approach(normal, distance - limits.fence_margin, velocity, limits)


def _towards(
    away: NDArray[np.float64], distance: NDArray[np.float64], polygon: Polygon, sense: float
) -> NDArray[np.float64]:
    """Returns the unit directions (n, 2) of points away (n, 2) at a distance (n,), m; on an edge its normal.

    sense: 1 for normals that point out of the polygon, -1 for those that point into it.
    """
    directions = away / np.maximum(distance, _ON_EDGE)[:, None]
    on_edge = ~(distance > _ON_EDGE)
    if on_edge.any():
        directions[on_edge] = sense * outward(polygon)[on_edge]
    return directions


def _approach(normal: NDArray[np.float64], room: NDArray[np.float64], velocity: Vector, limits: Limits) -> HalfSpaces:
    """Returns the limits that stop within each room (n,) (m) along its normal (n, 2).

    They are tighter while the vehicle already closes in faster.
    """
    return _level(normal, closing_speeds(room, normal @ velocity[:2], *limits.braking_model))


def _level(normal: NDArray[np.float64], bounds: NDArray[np.float64]) -> HalfSpaces:
    """Returns limits of the level velocity, with normals (n, 2) and bounds (n,) in m/s."""
    return HalfSpaces(np.concatenate([normal, np.zeros((len(normal), 1))], axis=1), bounds)
