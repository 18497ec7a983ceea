"""Templates about what a flight showed (style 10): clearance to zones, separation from others, energy left.

The answer is the flight's, not a formula's. A question is asked only where a plain calculation from the description
comes so near to it that the same option is meant: gusts and margins decide the other flights, and no reader knows them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import parse_json, read_text
from esar_ros.suites.uavbench.mcq.make.drafts import GIVEN, Draft
from esar_ros.suites.uavbench.scenarios.describe import plain as g
from esar_ros.suites.uavbench.scenarios.flights.files import read_flight
from esar_ros.suites.uavbench.scenarios.geometry import (
    Ball,
    Cylinder,
    Point,
    ball_clearance,
    clearance,
    timed,
)
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.scene import Scene

STYLE = 10
AGREEMENT = 0.05  # options stand a factor of 1.12 apart or more: so near to the flight's value, no other is nearer
_LEAST = 5.0  # m, of a distance that is asked about
_LEAST_USED = 0.2  # share of the battery
_LARGEST = 1 << 20  # bytes of a result
_FLIGHT = "This flight took place in a simulator under a safety governor that had no reason to turn back."
_AXES = "Coordinates are metres east, north and up, angles are clockwise from north"

Flight = Mapping[str, Any]
Template = Callable[[Scene, Random], Iterator[Draft]]


def read_flights(folder: Path) -> dict[str, Flight]:
    """Returns the flights of `scenarios fly --out` by the digest of their scenario. Raises UsageError."""
    run = parse_json(read_text(folder / "run.json", _LARGEST, "run"), str(folder / "run.json"))
    if not isinstance(run, dict) or not (run.get("governor") and run.get("told")):
        raise UsageError(f"--flights {folder}: not of flights under the governor", "fly them with --governor on")
    found: dict[str, Flight] = {}
    for path in sorted((folder / "flights").glob("*.json")):
        flight = read_flight(path)
        if flight["status"] == "flown" and not flight["as_multirotor"]:
            found[flight["hash"]] = flight
    return found


def flown_templates(flights: Mapping[str, Flight]) -> tuple[Template, ...]:
    """Returns the templates; they ask about scenarios that were flown and say nothing of others."""

    def bound(template: Callable[[Scene, Flight], Iterator[Draft]]) -> Template:
        def ask(scene: Scene, rng: Random) -> Iterator[Draft]:
            flight = flights.get(digest(scene.data))
            if flight is not None:
                yield from template(scene, flight)

        ask.__name__ = template.__name__
        return ask

    return tuple(map(bound, (flown_clearance, flown_separation, flown_energy)))


def flown_clearance(scene: Scene, flight: Flight) -> Iterator[Draft]:
    """Least distance to a no-fly zone on a route that was flown to its end."""
    value = flight["metrics"]["min_nfz_slant_m"] or 0.0
    if not flight["metrics"]["mission_success"] or value < _LEAST or scene.moving_zones:
        return
    zones, last = scene.zones, scene.waypoints[-1]

    def least(zones: Sequence[Cylinder]) -> float:
        legs = pairwise(scene.route)
        return min(clearance(zone, a, b, math.inf) for a, b in legs for zone in zones)

    if not _agrees(least(zones), value):
        return
    heights = ", ".join(f"{g(zone.floor)} to {g(zone.ceiling)}" for zone in zones)
    flat = [zone._replace(floor=-math.inf, ceiling=math.inf) for zone in zones]
    yield Draft(
        STYLE,
        f"{_FLIGHT} The vehicle flew straight from waypoint to waypoint and reached them all. The no-fly zones reach "
        f"in height, in the order described, from {heights} metres. What was the least distance (m) to a zone's "
        "surface?",
        "m",
        value,
        "flown: min_nfz_slant_m",
        {
            **_route(scene),
            **{f"/airspace/no_fly_zones/{i}/center": list(zone.center) for i, zone in enumerate(zones)},
            **{f"/airspace/no_fly_zones/{i}/radius_m": zone.radius for i, zone in enumerate(zones)},
            f"{GIVEN}/heights_m": [height for zone in zones for height in (zone.floor, zone.ceiling)],
        },
        {
            "distance to the axis in place of the surface": least([zone._replace(radius=0.0) for zone in flat]),
            "legs forgotten, waypoints alone": min(zone.distance(p) for zone in zones for p in scene.route),
            "distance at the start": min(zone.distance(scene.spawn) for zone in zones),
            "distance at the last waypoint": min(zone.distance(last) for zone in zones),
            "heights forgotten": least(flat),
            "radius taken for the diameter": least([zone._replace(radius=0.5 * zone.radius) for zone in zones]),
        },
    )


def flown_separation(scene: Scene, flight: Flight) -> Iterator[Draft]:
    """Least distance to other vehicles on a route that was flown to its end in a stated time."""
    value, seconds = flight["metrics"]["daa_min_separation_m"] or 0.0, flight["seconds"]
    if not flight["metrics"]["mission_success"] or value < _LEAST or scene.obstacles:
        return
    others = scene.traffic

    def least(time: float, others: Sequence[Ball], route: Sequence[Point]) -> float:
        """The least distance on a route that takes a time (s); infinite where it leads nowhere."""
        length = sum(math.dist(a, b) for a, b in pairwise(route))
        if not length * time > 0.0:
            return math.inf
        speed = length / time
        return min(ball_clearance(motion, other)[0] for motion in timed(route, speed) for other in others)

    if not _agrees(least(seconds, others, scene.route), value):
        return
    misread = [other._replace(velocity=(other.velocity[1], other.velocity[0], 0.0)) for other in others]
    resting = [other._replace(velocity=(0.0, 0.0, 0.0)) for other in others]
    yield Draft(
        STYLE,
        f"{_FLIGHT} {_AXES}. The vehicle flew straight from waypoint to waypoint, evenly fast, and reached the last "
        f"one after {g(seconds)} s; what else is in the air flew level as described from t = 0. What was the least "
        "distance (m) to another vehicle?",
        "m",
        value,
        "flown: daa_min_separation_m",
        {
            **_route(scene),
            **{
                f"/traffic/{i}/{key}": other[key]
                for i, other in enumerate(scene["/traffic"])
                for key in ("spawn", "speed_mps", "heading_deg")
            },
            f"{GIVEN}/seconds": seconds,
        },
        {
            "distance at t = 0": min(math.dist(scene.spawn, other.center) for other in others),
            "others' motion forgotten": least(seconds, resting, scene.route),
            "angles taken counter-clockwise from east": least(seconds, misread, scene.route),
            "top speed in place of the time given": least(scene.length / scene.max_speed, others, scene.route),
            "time budget in place of the time given": least(scene["/mission/time_budget_s"], others, scene.route),
            "straight line in place of the route": least(seconds, others, [scene.spawn, scene.waypoints[-1]]),
        },
    )


def flown_energy(scene: Scene, flight: Flight) -> Iterator[Draft]:
    """Energy left at the end of a flight of a stated length."""
    left, seconds = flight["metrics"]["battery_ending_Wh"], flight["seconds"]
    if scene["/uav/energy_source"] != "battery" or not left > 0.0:
        return
    battery, power = scene["/uav/battery_Wh"], scene["/uav/battery_model/hover_power_W"] + scene.payload_power
    used = power * seconds / 3600.0
    if used < _LEAST_USED * battery or not _agrees(battery - used, left):
        return
    reserve, budget = scene["/uav/reserve_fraction"] * battery, scene["/mission/time_budget_s"]
    yield Draft(
        STYLE,
        f"This flight took place in a simulator, with a full battery at its start, and ended after {g(seconds)} s. The "
        f"vehicle hovers on {g(power)} W, all its consumers included, and flying, at the speeds that it kept, took "
        "much the same. How many Wh were left at the end?",
        "Wh",
        left,
        "flown: battery_ending_Wh",
        {"/uav/battery_Wh": battery, f"{GIVEN}/seconds": seconds, f"{GIVEN}/power_W": power},
        {
            "energy used in place of what is left": battery - left,
            "reserve taken off": left - reserve,
            "reserve in place of what is left": reserve,
            "time budget in place of the time flown": battery - power * budget / 3600.0,
            "energy used taken off twice": 2.0 * left - battery,
            "half the power, as in a descent": battery - 0.5 * used,
        },
    )


def _agrees(expected: float, value: float) -> bool:
    """Returns whether a plain calculation leads to a flight's value."""
    return abs(expected - value) <= AGREEMENT * value


def _route(scene: Scene) -> dict[str, list[float]]:
    """Returns start and waypoints by their pointers."""
    return {
        "/spawn/xyz": list(scene.spawn),
        **{f"/mission/waypoints/{i}": list(point) for i, point in enumerate(scene.waypoints)},
    }
