"""A scenario as rules read it: values by JSON pointer, and what follows from them. Broken parts raise `Broken`."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache, cached_property
from typing import Any, NamedTuple

from esar_ros.suites.uavbench.scenarios.geometry import (
    Ball,
    Cylinder,
    Motion,
    Point,
    SelfContact,
    area,
    ball_clearance,
    cylinder_clearance,
    self_contact,
    timed,
    without_repeats,
)
from esar_ros.suites.uavbench.scenarios.taxonomy import FAMILIES, Family, canonical

MIN_AREA = 100.0  # m^2, of a fence
SLOW = 0.5  # of the greatest speed: the least at which a route is looked at
FAR = 4.0  # separations, beyond which a moving zone is only known to be farther
_MISSING = object()


class Broken(Exception):
    """A rule's input is missing or has a finding of its own, so the rule is not run."""


class Encounter(NamedTuple):
    """The least distance of a flown leg to something that moves."""

    kind: str  # where the things lie in the scenario
    number: int  # of the thing
    motion: Motion
    speed: float  # m/s, of the flight
    distance: float  # m, to its surface


class Scene:
    """A parsed scenario; broken: JSON pointers of values that are not to be used."""

    def __init__(self, data: dict[str, Any], broken: Collection[str] = ()) -> None:
        self.data = data
        self._broken = set(broken)
        self._holding = {p[:k] for p in self._broken for k in range(len(p)) if p[k] == "/"}  # what holds a broken part

    def get(self, pointer: str, default: Any = None) -> Any:
        """Returns a value, or the default where the key, or one that would hold it, is missing or null."""
        value: Any = self.data
        try:
            for part in _parts(pointer):
                value = value[part]
        except (KeyError, TypeError):
            value = None
        if self._broken:
            self._require_whole(pointer)
        return default if value is None else value

    def __getitem__(self, pointer: str) -> Any:
        """Returns a value. Raises Broken where it is missing."""
        value = self.get(pointer, _MISSING)
        if value is _MISSING:
            raise Broken(pointer)
        return value

    def _require_whole(self, pointer: str) -> None:
        """Raises Broken where a value, a part of it or what holds it is broken."""
        if pointer in self._holding:
            raise Broken(pointer)
        while pointer:
            if pointer in self._broken:
                raise Broken(pointer)
            pointer = pointer.rpartition("/")[0]

    # -- the vehicle ----------------------------------------------------------------------------

    @cached_property
    def vehicle(self) -> str:
        """The vehicle's type as a token."""
        return canonical(str(self["/uav/type"]))

    @cached_property
    def family(self) -> Family:
        """The vehicle's way of staying in the air."""
        if self.vehicle not in FAMILIES:
            raise Broken("/uav/type")
        return FAMILIES[self.vehicle]

    @cached_property
    def payload_mass(self) -> float:
        """Mass of all payloads, kg."""
        listed = self.get("/uav/payloads")
        if listed is None:
            return float(self.get("/uav/payload_mass_kg", 0.0))
        return float(sum(payload["mass_kg"] for payload in listed))

    @cached_property
    def payload_power(self) -> float:
        """Power of all payloads, W."""
        return float(sum(payload["power_W"] for payload in self.get("/uav/payloads", ())))

    @cached_property
    def max_speed(self) -> float:
        """The vehicle's greatest speed, m/s."""
        return float(self["/uav/max_speed_mps"])

    # -- time and space -------------------------------------------------------------------------

    @cached_property
    def duration(self) -> float:
        """Length of the scenario, s."""
        return float(self["/sim/dt"] * self["/sim/duration_steps"])

    @cached_property
    def corners(self) -> list[tuple[float, float]]:
        """Corners of the fence without repeats."""
        return without_repeats(self["/airspace/geofence"][0]["points"])

    @cached_property
    def has_area(self) -> bool:
        """Returns whether the fence encloses more than MIN_AREA."""
        return len(self.corners) >= 3 and abs(area(self.corners)) > MIN_AREA

    @cached_property
    def self_contact(self) -> SelfContact | None:
        """The contact of the fence with itself; None: it is simple."""
        return self_contact(self.corners)

    @cached_property
    def fence(self) -> list[tuple[float, float]]:
        """The fence, which is simple and has an area."""
        if not self.has_area or self.self_contact is not None:
            raise Broken("/airspace/geofence")
        return self.corners

    @cached_property
    def band(self) -> tuple[float, float]:
        """Least and greatest height above ground, m."""
        low, high = self["/airspace/altitude_agl_min_m"], self["/airspace/altitude_agl_max_m"]
        if low >= high:
            raise Broken("/airspace")
        return low, high

    @cached_property
    def spawn(self) -> Point:
        """The vehicle's place at t = 0, m."""
        xyz: Point = self["/spawn/xyz"]
        return xyz

    @cached_property
    def waypoints(self) -> list[Point]:
        """The waypoints, m."""
        points: list[Point] = self["/mission/waypoints"]
        return points

    @cached_property
    def route(self) -> list[Point]:
        """Spawn and waypoints, m; leg k ends at waypoint k."""
        return [self.spawn, *self.waypoints]

    @cached_property
    def length(self) -> float:
        """Length of the route, m."""
        return sum(math.dist(a, b) for a, b in zip(self.route, self.route[1:], strict=False))

    @cached_property
    def zones(self) -> list[Cylinder]:
        """No-fly zones that stand still."""
        return [_cylinder(zone) for zone in self.get("/airspace/no_fly_zones", ())]

    @cached_property
    def moving_zones(self) -> list[Cylinder]:
        """No-fly zones that move."""
        return [
            _cylinder(zone)._replace(velocity=zone["vel_xy"]) for zone in self.get("/airspace/no_fly_zones_dynamic", ())
        ]

    @cached_property
    def traffic(self) -> list[Ball]:
        """Other vehicles, as points."""
        found = []
        for other in self.get("/traffic", ()):
            heading = math.radians(other["heading_deg"])
            speed = other["speed_mps"]
            found.append(Ball(other["spawn"], 0.0, (speed * math.sin(heading), speed * math.cos(heading), 0.0)))
        return found

    @cached_property
    def obstacles(self) -> list[Ball]:
        """Balls that move."""
        return [Ball(o["center"], o["radius_m"], o["vel"]) for o in self.get("/moving_obstacles", ())]

    @cached_property
    def separation(self) -> float:
        """Separation to keep from other vehicles, m."""
        return float(self["/daa/sep_threshold_m"])

    @cached_property
    def motions(self) -> tuple[list[Motion], list[Motion]]:
        """The route flown at the greatest speed, and at SLOW of it."""
        return timed(self.route, self.max_speed), timed(self.route, SLOW * self.max_speed)

    @cached_property
    def encounters(self) -> list[Encounter]:
        """Least distances of each leg, at each of both speeds, to each thing that moves."""
        far, found = FAR * self.separation, []
        for motions, speed in zip(self.motions, (self.max_speed, SLOW * self.max_speed), strict=True):
            for motion in motions:
                for index, zone in enumerate(self.moving_zones):
                    near = cylinder_clearance(motion, zone, far)
                    found.append(Encounter("airspace/no_fly_zones_dynamic", index, motion, speed, near))
                for kind, balls in (("traffic", self.traffic), ("moving_obstacles", self.obstacles)):
                    for index, ball in enumerate(balls):
                        near = ball_clearance(motion, ball)[0]
                        found.append(Encounter(kind, index, motion, speed, near))
        return found

    @cached_property
    def phenomena(self) -> list[str]:
        """Weather phenomena as tokens."""
        return [canonical(str(token)) for token in self.get("/environment/weather/phenomena", ())]


@cache
def _parts(pointer: str) -> list[str]:
    return pointer.split("/")[1:]


def _cylinder(zone: dict[str, Any]) -> Cylinder:
    if zone["floor_m"] >= zone["ceiling_m"]:
        raise Broken("/airspace")
    return Cylinder(zone["center"], zone["radius_m"], zone["floor_m"], zone["ceiling_m"])


def numbers(data: dict[str, Any], leave_out: Collection[str]) -> set[float]:
    """Returns every number within a scenario, less those below the keys at the top to leave out."""
    found: set[float] = set()
    holders: list[Any] = [[value for key, value in data.items() if key not in leave_out]]
    while holders:
        holder = holders.pop()
        for item in holder.values() if type(holder) is dict else holder:
            kind = type(item)
            if kind is float or kind is int:
                found.add(item)
            elif kind is dict or kind is list:
                holders.append(item)
    return found
