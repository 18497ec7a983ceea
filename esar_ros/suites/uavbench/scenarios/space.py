"""Checks G and F: where the route goes, what it meets, and how near others are at the start."""

from __future__ import annotations

import math
from collections.abc import Iterator

from esar_ros.suites.uavbench.scenarios.constraints import Told
from esar_ros.suites.uavbench.scenarios.findings import ERROR, NOTE, WARNING
from esar_ros.suites.uavbench.scenarios.geometry import (
    Point,
    crosses,
    leaves,
    outside,
    soonest_within,
)
from esar_ros.suites.uavbench.scenarios.scene import MIN_AREA, SLOW, Scene

INSTANT = 1.0  # s, before which a total failure leaves nothing to fly
_SITES = ("/landing/preferred_sites", "/landing/emergency_sites")
_SLACK = 1e-6  # m, of heights


def fence(scene: Scene) -> Told:
    """G1: the fence is a simple polygon with an area."""
    pointer = "/airspace/geofence/0"
    if len(scene.corners) >= 3 and (contact := scene.self_contact) is not None:
        (a, b), (c, d) = contact.one, contact.other
        deed = "crosses" if contact.crossing else "touches"
        edges = f"the edges {_xy(a)} to {_xy(b)} and {_xy(c)} to {_xy(d)}"
        yield ERROR, pointer, f"{deed} itself at {_xy(contact.at)}: {edges}"
    elif not scene.has_area:
        yield ERROR, pointer, f"encloses less than {MIN_AREA:g} m^2"


def inside_fence(scene: Scene) -> Told:
    """G2: spawn, waypoints and landing sites lie inside the fence."""
    for pointer, point in (*_stops(scene), *_sites(scene)):
        if outside(scene.fence, point):
            yield ERROR, pointer, f"{_xy(point)} lies outside the fence"


def inside_band(scene: Scene) -> Told:
    """G3: spawn and waypoints lie in the altitude band; a spawn may stand on the ground."""
    low, high = scene.band
    for pointer, point in _stops(scene):
        on_ground = pointer == "/spawn/xyz" and abs(point[2]) <= _SLACK
        if not on_ground and not low - _SLACK <= point[2] <= high + _SLACK:
            yield ERROR, pointer, f"z {point[2]:g} must be in the altitude band {low:g} to {high:g} m"


def sites_below_band(scene: Scene) -> Told:
    """G3: landing sites lie below the band (a note: the paper puts them within it, its files on the ground)."""
    low, high = scene.band
    for key in _SITES:
        heights = [site[2] for site in scene.get(key, ())]
        if heights and min(heights) < low - _SLACK:
            yield NOTE, key, f"lie below the altitude band {low:g} to {high:g} m, as sites on the ground do"
        if heights and max(heights) > high + _SLACK:
            yield ERROR, key, f"lie above the altitude band {low:g} to {high:g} m"


def outside_zones(scene: Scene) -> Told:
    """G4: spawn, waypoints and landing sites lie in no zone."""
    for pointer, point in (*_stops(scene), *_sites(scene)):
        for index, zone in enumerate(scene.zones):
            if zone.distance(point) == 0.0:
                yield ERROR, pointer, f"lies in no_fly_zones/{index}"


def legs_clear(scene: Scene) -> Told:
    """G5: no leg goes through a zone; legs from or to a waypoint inside it are not told again."""
    for pointer, a, b in _legs(scene):
        for index, zone in enumerate(scene.zones):
            if zone.distance(a) > 0.0 and zone.distance(b) > 0.0 and crosses(zone, a, b):
                yield ERROR, pointer, f"the leg that ends here goes through no_fly_zones/{index}"


def legs_inside(scene: Scene) -> Told:
    """G7: no leg between points inside the fence leaves it on its way, as it can where the fence has a bay."""
    for pointer, a, b in _legs(scene):
        if not outside(scene.fence, a) and not outside(scene.fence, b) and leaves(scene.fence, a, b):
            yield ERROR, pointer, "the leg that ends here leaves the fence"


def meetings(scene: Scene) -> Told:
    """G6: the route flown from t = 0 at greatest or half speed meets nothing that moves and F has not told."""
    met: dict[tuple[str, str], list[float]] = {}
    for kind, index, motion, speed, distance in scene.encounters:
        least = scene.separation if kind == "traffic" else 0.0
        if distance < least or distance <= 0.0:
            met.setdefault((_pointer(scene, motion.b), f"/{kind}/{index}"), []).append(speed)
    if not met:
        return
    told = {pointer for rule in (apart_at_start, time_to_collision) for _, pointer, _ in rule(scene)}
    for (pointer, what), speeds in met.items():
        if what not in told:
            at = " and ".join(f"{speed:g}" for speed in speeds)
            yield WARNING, pointer, f"the leg that ends here meets {what[1:]} at {at} m/s"


def apart_at_start(scene: Scene) -> Told:
    """F1: at t = 0 vehicles keep the separation."""
    places = [scene.spawn, *(other.center for other in scene.traffic)]
    for index in range(1, len(places)):
        near = min(math.dist(places[index], other) for other in places[:index])
        if near < scene.separation:
            yield ERROR, f"/traffic/{index - 1}", f"starts {near:.3g} m from another, below {scene.separation:g} m"


def swarm_apart(scene: Scene) -> Told:
    """F1: a swarm's own least distance is no smaller than the separation."""
    if scene.get("/swarm/enabled", False) and scene["/swarm/size"] > 1:
        least = scene["/swarm/inter_uav_sep_min_m"]
        if least < scene.separation:
            yield ERROR, "/swarm/inter_uav_sep_min_m", f"{least:g} m is below sep_threshold_m {scene.separation:g} m"


def time_to_collision(scene: Scene) -> Told:
    """F2: at no speed from half to the greatest does a vehicle come within the separation before ttc_threshold_s."""
    threshold = scene["/daa/ttc_threshold_s"]
    for index, other in enumerate(scene.traffic):
        if math.dist(other.center, scene.spawn) < scene.separation:
            continue  # F1
        met = soonest_within(scene.route, SLOW * scene.max_speed, scene.max_speed, other, scene.separation)
        if met is not None and met[0] < threshold:
            text = f"is nearer than {scene.separation:g} m after {met[0]:.3g} s at {met[1]:.3g} m/s"
            yield ERROR, f"/traffic/{index}", text


def instant_failure(scene: Scene) -> Told:
    """F3: nothing fails wholly at the start."""
    for index, fault in enumerate(scene.get("/faults", ())):
        if fault["t_s"] < INSTANT:
            severity = ERROR if fault["severity"] >= 1.0 else WARNING
            yield severity, f"/faults/{index}/t_s", f"{fault['type']} at {fault['t_s']:g} s leaves nothing to fly"


def _xy(p: Point) -> str:
    return f"({p[0]:g}, {p[1]:g})"


def _stops(scene: Scene) -> Iterator[tuple[str, Point]]:
    yield "/spawn/xyz", scene.spawn
    for index, waypoint in enumerate(scene.waypoints):
        yield f"/mission/waypoints/{index}", waypoint


def _sites(scene: Scene) -> Iterator[tuple[str, Point]]:
    for key in _SITES:
        for index, site in enumerate(scene.get(key, ())):
            yield f"{key}/{index}", site


def _legs(scene: Scene) -> Iterator[tuple[str, Point, Point]]:
    for index in range(len(scene.waypoints)):
        yield f"/mission/waypoints/{index}", scene.route[index], scene.route[index + 1]


def _pointer(scene: Scene, end: Point) -> str:
    """Returns the waypoint that a leg ends at, by identity: waypoints may lie on each other."""
    return next(f"/mission/waypoints/{i}" for i, waypoint in enumerate(scene.waypoints) if waypoint is end)
