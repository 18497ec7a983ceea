"""Templates about the way: distances and times on the route (style 2), others in the air (style 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from esar_ros.suites.uavbench.mcq.make.drafts import GIVEN, Draft, drawn
from esar_ros.suites.uavbench.scenarios.describe import plain as g
from esar_ros.suites.uavbench.scenarios.scene import Scene

_WIND, _FROM = "/environment/weather/wind_mps", "/environment/weather/wind_dir_deg"
_AXES = "Coordinates are metres east, north and up"
_CLOCK = "angles are clockwise from north"
_NEAR, _FAR = 5.0, 5000.0  # m, of a closest approach that is asked about


def route_length(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Time to a waypoint along the route in still air."""
    if len(scene.waypoints) < 2:
        return
    legs = rng.randint(2, len(scene.waypoints))
    speed = drawn(rng, 0.4 * scene.max_speed, 0.95 * scene.max_speed)
    points = scene.route[: legs + 1]
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    level = [math.dist(a[:2], b[:2]) for a, b in pairwise(points)]
    if not sum(lengths) > 0.0:
        return
    yield Draft(
        2,
        f"{_AXES}. In still air the vehicle flies from its start straight from waypoint to waypoint at {g(speed)} m/s. "
        f"After how many seconds does it reach waypoint {legs}?",
        "s",
        sum(lengths) / speed,
        "sum(d) / v",
        {
            **{f"/mission/waypoints/{i}": list(point) for i, point in enumerate(scene.waypoints[:legs])},
            "/spawn/xyz": list(scene.spawn),
            f"{GIVEN}/speed_mps": speed,
        },
        {
            "heights forgotten": sum(level) / speed,
            "straight line in place of the route": math.dist(points[0], points[-1]) / speed,
            "last leg forgotten": sum(lengths[:-1]) / speed,
            "first leg forgotten": sum(lengths[1:]) / speed,
            "top speed in place of the one given": sum(lengths) / scene.max_speed,
            "sides added in place of diagonals": sum(
                sum(abs(p - q) for p, q in zip(a, b, strict=True)) for a, b in pairwise(points)
            ) / speed,
        },
        f"waypoint {legs}",
    )  # fmt: skip


def leg_with_wind(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Time of a leg with wind: the vehicle crabs so that it stays on the straight line."""
    wind, come_from = scene[_WIND], scene[_FROM]
    legs = [i for i in range(len(scene.waypoints)) if math.dist(scene.route[i][:2], scene.route[i + 1][:2]) > 20.0]
    if wind < 2.0 or not legs:
        return
    leg = rng.choice(legs)
    a, b = scene.route[leg], scene.route[leg + 1]
    way = math.dist(a[:2], b[:2])
    speed = drawn(rng, max(1.4 * wind, 0.4 * scene.max_speed), max(2.5 * wind, scene.max_speed))
    towards = math.radians(come_from + 180.0)
    east, north = (b[0] - a[0]) / way, (b[1] - a[1]) / way
    along = wind * (math.sin(towards) * east + math.cos(towards) * north)
    across = wind * (math.sin(towards) * north - math.cos(towards) * east)
    if abs(across) >= 0.9 * speed or abs(along) < 0.1 * wind:
        return
    still = math.sqrt(speed**2 - across**2)
    if still + along < 0.2 * speed:
        return
    where = "its start" if leg == 0 else f"waypoint {leg}"
    misread = math.radians(come_from + 180.0)
    misread_along = wind * (math.cos(misread) * east + math.sin(misread) * north)
    misread_across = wind * (math.cos(misread) * north - math.sin(misread) * east)
    yield Draft(
        2,
        f"{_AXES}, {_CLOCK}. With the mean wind described, the same at every height, the vehicle flies from {where} to "
        f"waypoint {leg + 1} at {g(speed)} m/s through the air and heads so that it stays above the straight line "
        "between them. Counting level distance alone, how many seconds does it take?",
        "s",
        way / (still + along),
        "d / (sqrt(v^2 - across^2) + along)",
        {
            "/spawn/xyz" if leg == 0 else f"/mission/waypoints/{leg - 1}": list(a[:2]),
            f"/mission/waypoints/{leg}": list(b[:2]),
            _WIND: wind, _FROM: come_from, f"{GIVEN}/speed_mps": speed,
        },
        {
            "wind forgotten": way / speed,
            "wind taken towards where it comes from": way / (still - along),
            "crosswind forgotten": way / (speed + along),
            "wind taken as straight from behind": way / (speed + wind),
            "wind taken as straight ahead": way / (speed - wind),
            "angles taken counter-clockwise from east": way / (
                math.sqrt(max(0.0, speed**2 - misread_across**2)) + misread_along
            ),
        },
        f"leg {leg}",
    )  # fmt: skip


def closest_approach(scene: Scene, rng: Random) -> Iterator[Draft]:
    """Least distance to another vehicle, and when, both flying straight on."""
    traffic = scene.get("/traffic", ())
    if not traffic:
        return
    index = rng.randrange(len(traffic))
    other = traffic[index]
    target = rng.randrange(len(scene.waypoints))
    start, first = scene.spawn, scene.waypoints[target]
    ahead = math.dist(start, first)
    speed = drawn(rng, 0.3 * scene.max_speed, scene.max_speed)
    if ahead < 1.0 or other["speed_mps"] <= 0.0:
        return
    own = [speed * (q - p) / ahead for p, q in zip(start, first, strict=True)]
    turn = math.radians(other["heading_deg"])
    theirs = [other["speed_mps"] * math.sin(turn), other["speed_mps"] * math.cos(turn), 0.0]
    misread = [other["speed_mps"] * math.cos(turn), other["speed_mps"] * math.sin(turn), 0.0]
    apart = [q - p for p, q in zip(start, other["spawn"], strict=True)]
    time, least = _closest(apart, own, theirs)
    if time < 2.0 or not _NEAR < least < _FAR or math.hypot(*apart) < 1.1 * least:
        return
    described = "the other vehicle" if len(traffic) == 1 else f"other vehicle {index + 1} of those listed"
    scene_text = (
        f"{_AXES}, {_CLOCK}. At t = 0 the vehicle leaves its start at {g(speed)} m/s straight towards waypoint "
        f"{target + 1} and flies straight on past it; {described} flies level as described from t = 0."
    )
    inputs = {
        "/spawn/xyz": list(start), f"/mission/waypoints/{target}": list(first), f"{GIVEN}/speed_mps": speed,
        f"/traffic/{index}/spawn": list(other["spawn"]), f"/traffic/{index}/speed_mps": other["speed_mps"],
        f"/traffic/{index}/heading_deg": other["heading_deg"],
    }  # fmt: skip
    level = [*apart[:2], 0.0]
    alone, wrong = _closest(apart, own, [0.0, 0.0, 0.0]), _closest(apart, own, misread)
    against = _closest(apart, own, [-v for v in theirs])
    flat = _closest(level, [*own[:2], 0.0], theirs)
    resting = _closest(apart, [0.0, 0.0, 0.0], theirs)
    found = {
        "the other's motion forgotten": alone,
        "angles taken counter-clockwise from east": wrong,
        "the other taken to come from its heading": against,
        "heights forgotten": flat,
        "own motion forgotten": resting,
    }
    distances = {name: pair[1] for name, pair in found.items()} | {"distance at t = 0": math.hypot(*apart)}
    times = {name: pair[0] for name, pair in found.items()} | {"time to the waypoint": ahead / speed}
    if rng.random() < 0.5:
        question = f"{scene_text} What is the least distance between the two (m)?"
        yield Draft(5, question, "m", least, "least |r + (u - v) t| over t > 0", inputs, distances, described)
    else:
        question = f"{scene_text} After how many seconds are the two nearest to each other?"
        yield Draft(5, question, "s", time, "-(r (u - v)) / |u - v|^2", inputs, times, described)


def _closest(apart: list[float], own: list[float], theirs: list[float]) -> tuple[float, float]:
    """Time (s, from 0 on) and distance (m) of the closest approach of two that fly straight on."""
    relative = [b - a for a, b in zip(own, theirs, strict=True)]
    square = sum(v * v for v in relative)
    time = max(0.0, -sum(r * v for r, v in zip(apart, relative, strict=True)) / square) if square > 0.0 else 0.0
    return time, math.hypot(*(r + v * time for r, v in zip(apart, relative, strict=True)))
