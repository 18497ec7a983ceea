"""Scenes of the detector's images: objects on the ground of the benchmark's events, conditions, camera poses.

Everything is drawn from one seed: a scene is a pure function of (seed, split, map, number).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rpy
from esar_ros.mission.clues import KINDS, PERSON, ClueKind, VictimPose
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.map_files import known_maps, settlement_maps, shipped_maps
from esar_ros.mission.names import HIGH, LOW
from esar_ros.mission.task_files import benchmark_event, benchmark_index
from esar_ros.mission.vehicle import Vehicle
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.sim.catalogue import Entry, catalogue
from esar_ros.suites.esarbench.tasks.ground import Site, steepest
from esar_ros.suites.esarbench.tasks.stories import load_story, story_ids

SEED = 2026
LIGHTS = {"day": 0.6, "twilight": 0.2, "night": 0.2}  # shares of scenes
_FIVES = {"day": ((85, 204),), "twilight": ((72, 83), (205, 216)), "night": ((217, 287), (0, 71))}  # since midnight
BANDS = ((5.0, 30.0), (30.0, 60.0), (60.0, 120.0))  # m
FAIR_SHARE = 0.5  # of scenes
FLIGHT_LIGHTS = {"day": 0.45, "twilight": 0.3, "night": 0.25}  # of flights: foul weather and dusk are what deceives
FLIGHT_FAIR_SHARE = 0.3
PLAIN = 4  # every fourth of the scenes that are learned from is drawn in low quality: missions may be flown so, too
_REACH = 32.0  # m about a scene's middle on which things are put
_STRAY = 60.0  # m, standard deviation of a scene's middle from a point of its event
_PERSONS, _DISTRACTORS = 5, 9
_TWICE = frozenset({ClueKind.WATER_BOTTLE, ClueKind.FOOD_WRAPPER, ClueKind.TREKKING_POLE, ClueKind.ROPE, ClueKind.LIGHT,
                    ClueKind.FOOTPRINTS, ClueKind.BACKPACK, ClueKind.CLOTHING})  # fmt: skip
_ABSENT = {ClueKind.SIGNAL_FLARE.value: 0.5}  # chance that a kind is not there: flares outshine all else; others:
_OFTEN_ABSENT = 0.15
_HELD_OUT_SHARE = 0.4  # of a test set's things
_APART = 2.4  # m
_TILT = math.radians(4.0)  # standard deviation of roll and pitch in flight
_DOWN = math.radians(55.0)  # depression from which the down camera is the one that looks
_MIN_PIXELS = 8.0  # expected, of a target at the farthest range it is looked at from
_FLIGHT_REACH = 200.0  # m about an event's point from which a flight's images are taken
_FLIGHT_HEIGHTS = (10.0, 45.0)  # m above ground, low ones more often
_FOCAL = 320.0  # px, of the vehicle's images
_NIGHT_REACH = {"campfire", "signal_flare", "light"}


@dataclass(frozen=True)
class Split:
    """A part of the data set: which events' ground, which looks."""

    name: str
    events: str  # "dev" or "test" events of the benchmark
    held_out: bool  # whether looks kept from training occur
    number: int  # in seeds
    empty: float = 0.12  # share of scenes that hold distractors alone
    flight: bool = False  # bare ground, as all four cameras of a vehicle that searches see it
    small: bool = False  # images of 320x240, in which rain, noise and far things are not those of a halved image
    learnt: bool = False  # whether a network learns from it, rather than being chosen or measured by it


SPLITS = {
    s.name: s
    for s in (
        Split("train", "dev", False, 1, learnt=True),
        Split("val", "dev", False, 2),
        Split("test", "test", True, 3),
        Split("views", "dev", False, 4, learnt=True),  # whole frames that the second stage learns from
        Split("empty", "dev", False, 5, empty=1.0, learnt=True),  # the same, of what a search mostly sees
        Split("empty-val", "dev", False, 6, empty=1.0),
        Split("empty-test", "test", True, 7, empty=1.0),
        Split("flights", "dev", False, 8, flight=True, learnt=True),  # the second stage learns from it, too
        Split("flights-val", "dev", False, 9, flight=True),
        Split("small-views", "dev", False, 10, small=True, learnt=True),  # and as fast missions see all that
        Split("small-empty", "dev", False, 11, empty=1.0, small=True, learnt=True),
        Split("small-flights", "dev", False, 12, flight=True, small=True, learnt=True),
        Split("small-flights-val", "dev", False, 13, flight=True, small=True),
        Split("small-val", "dev", False, 14, small=True),
    )
}


@dataclass(frozen=True)
class Placed:
    """A thing on the ground."""

    entry: Entry
    xy: tuple[float, float]
    yaw: float


@dataclass(frozen=True)
class Shot:
    """One image."""

    camera: str
    body: Pose  # base_link in the map
    target: int | None  # index of the thing it is aimed at
    time: float  # s since the weather's flight began


@dataclass(frozen=True)
class Scene:
    """Objects in one place under one sky, and the camera poses."""

    id: str
    map: str
    weather: Weather
    light: str
    local_time: datetime
    quality: str  # of the images, one of mission.names.QUALITIES
    wind: tuple[float, float]
    things: tuple[Placed, ...]
    shots: tuple[Shot, ...]


def draw_scene(split: Split, site: Site, rig: Vehicle, number: int, shots: int, seed: int = SEED) -> Scene:
    """A scene of a split on a site's map. Raises UsageError where the map has no event of the split."""
    map_id = site.place.id
    _event_points(map_id, split.events)
    # Not among known_maps(): what a person has imported must not change the data set.
    place = sorted([*shipped_maps(), *settlement_maps()]).index(map_id)
    rng = np.random.default_rng([seed, split.number, place, number])
    weather, light = _conditions(map_id, split.flight, rng)
    local_time = datetime(2024, 1, 1) + timedelta(days=int(rng.integers(366)), minutes=5 * _fives(light, rng))
    speed, towards = float(rng.uniform(0.0, 8.0)), float(rng.uniform(-math.pi, math.pi))
    things: tuple[Placed, ...] = ()
    if split.flight:
        cameras = list(rig.cameras)
        taken = [_flight_shot(split.events, site, cameras[n % len(cameras)], rng) for n in range(shots)]
    else:
        middle = _middle(map_id, split.events, site, rng)
        empty = bool(rng.random() < split.empty)
        things = _things(split, site, middle, empty, rng)
        drawn = (_shot(site, rig, things, middle, light, split.name == "train", rng) for _ in range(4 * shots))
        taken = [shot for shot in drawn if shot is not None][:shots]
    wind = (speed * math.cos(towards), speed * math.sin(towards))
    quality = LOW if split.learnt and number % PLAIN == PLAIN - 1 else HIGH
    return Scene(f"{map_id}-{number:04d}", map_id, weather, light, local_time, quality, wind, things, tuple(taken))


@cache
def weathers_of(map_id: str) -> tuple[Weather, ...]:
    """Returns the weathers of a map's stories."""
    stories = [load_story(id) for id in story_ids()]
    return tuple(w for w in Weather if any(w in story.weathers for story in stories if story.map == map_id))


@cache
def _event_points(map_id: str, split: str) -> tuple[tuple[float, float], ...]:
    """Ground points (m) of a map's events: where people and clues lie, places, ways."""
    points: list[tuple[float, float]] = []
    for id, entry in benchmark_index()["events"].items():
        if entry["map"] != map_id or entry["split"] != split:
            continue
        event = benchmark_event(id)
        points += [(x, y) for x, y in event["places"].values()]
        points += [(x, y) for line in event["lines"].values() for x, y in line[::3]]
        for snapshot in event["snapshots"]:
            points += [tuple(thing["position"]) for key in ("victims", "clues") for thing in snapshot[key]]
    if not points:
        raise UsageError(f"map {map_id}: the benchmark has no {split} event there", suggest(map_id, known_maps()))
    return tuple(points)


def _conditions(map_id: str, flight: bool, rng: np.random.Generator) -> tuple[Weather, str]:
    known = weathers_of(map_id)
    fair = [w for w in known if w.family is WeatherFamily.FAIR]
    foul = [w for w in known if w.family is not WeatherFamily.FAIR]
    pool = fair if rng.random() < (FLIGHT_FAIR_SHARE if flight else FAIR_SHARE) else foul
    weather = pool[int(rng.integers(len(pool)))]
    lights = FLIGHT_LIGHTS if flight else LIGHTS
    return weather, str(rng.choice(list(lights), p=list(lights.values())))


def _fives(light: str, rng: np.random.Generator) -> int:
    steps = [step for low, high in _FIVES[light] for step in range(low, high + 1)]
    return steps[int(rng.integers(len(steps)))]


def _middle(map_id: str, events: str, site: Site, rng: np.random.Generator) -> tuple[float, float]:
    points = _event_points(map_id, events)
    half = site.place.size / 2 - 130.0
    while True:
        x, y = np.array(points[int(rng.integers(len(points)))]) + rng.normal(0.0, _STRAY, 2)
        if max(abs(x), abs(y)) < half and site.nearest((x, y), 30.0, within=15.0) is not None:
            return float(x), float(y)


def _things(
    split: Split, site: Site, middle: tuple[float, float], empty: bool, rng: np.random.Generator
) -> tuple[Placed, ...]:
    families: list[str] = []
    if not empty:
        poses = [pose.value for pose in VictimPose]
        families += [f"{PERSON}_{poses[int(rng.integers(len(poses)))]}" for _ in range(_PERSONS)]
        families += [kind.value for kind in ClueKind for _ in range(2 if kind in _TWICE else 1)]
    others = sorted({e.family for e in catalogue() if e.kind == "distractor"})
    families += [others[int(rng.integers(len(others)))] for _ in range(_DISTRACTORS)]
    placed: list[Placed] = []
    for family in families:
        if rng.random() < _ABSENT.get(family, _OFTEN_ABSENT):
            continue
        entry = _look(family, split.held_out, rng)
        for _ in range(4):
            away, angle = _REACH * math.sqrt(float(rng.uniform())), float(rng.uniform(-math.pi, math.pi))
            at = (middle[0] + away * math.cos(angle), middle[1] + away * math.sin(angle))
            xy = site.nearest(at, steepest(site.place.id, entry.kind), within=8.0)
            if xy is not None and all(math.dist(xy, other.xy) >= _APART for other in placed):
                placed.append(Placed(entry, xy, float(rng.uniform(-math.pi, math.pi))))
                break
    return tuple(placed)


def _look(family: str, held_out: bool, rng: np.random.Generator) -> Entry:
    known = [e for e in catalogue() if e.family == family and not e.held_out]
    kept = [e for e in catalogue() if e.family == family and e.held_out] if held_out else []
    pool = kept if kept and rng.random() < _HELD_OUT_SHARE else known
    return pool[int(rng.integers(len(pool)))]


def farthest(entry: Entry, light: str) -> float:
    """Range (m) at which something still covers a few pixels."""
    sides = sorted(entry.size)[1:]
    area = 0.35 * sides[0] * sides[1]
    reach = _FOCAL * math.sqrt(area / _MIN_PIXELS)
    if light == "night" and entry.kind in _NIGHT_REACH and entry.lit:
        reach *= 2.0
    return min(max(reach, 8.0), BANDS[-1][1])


def _shot(
    site: Site,
    rig: Vehicle,
    things: Sequence[Placed],
    middle: tuple[float, float],
    light: str,
    near: bool,
    rng: np.random.Generator,
) -> Shot | None:
    """A pose from which the target lies in some camera's image; None where none was found."""
    kinds = sorted({thing.entry.kind for thing in things if thing.entry.kind in KINDS})
    kinds += [PERSON] if PERSON in kinds else []  # people twice: they are what is looked for
    target: int | None = None
    if kinds and rng.random() < 0.92:
        kind = kinds[int(rng.integers(len(kinds)))]
        options = [n for n, thing in enumerate(things) if thing.entry.kind == kind]
        target = options[int(rng.integers(len(options)))]
        xy = things[target].xy
    elif things:
        xy = things[int(rng.integers(len(things)))].xy
    else:
        xy = middle
    point = site.stand(xy) + (0.0, 0.0, 0.3)
    if near:
        max_range = farthest(things[target].entry, light) if target is not None else BANDS[-1][1]
        low, high = BANDS[0][0], max(max_range, 10.0)
    else:
        low, high = BANDS[int(rng.integers(len(BANDS)))]
    away = math.exp(float(rng.uniform(math.log(low), math.log(high))))
    dip = math.asin(min(1.0, float(rng.uniform(0.12, 1.0)) * min(1.0, 60.0 / away)))
    bearing = float(rng.uniform(-math.pi, math.pi))
    flat = away * math.cos(dip)
    eye = point + (flat * math.cos(bearing), flat * math.sin(bearing), away * math.sin(dip))
    if not _flyable(site, eye):
        return None
    camera = "down" if dip > _DOWN else ("front", "left", "right")[int(rng.integers(3))]
    ahead = math.pi + bearing - math.radians(rig.cameras[camera].yaw_deg)
    yaw = float(rng.uniform(-math.pi, math.pi)) if camera == "down" else ahead + float(rng.uniform(-0.62, 0.62))
    body = _in_flight(eye, yaw, rng)
    if target is not None:
        _, inside = rig.image.model.project(_in_optical(body.compose(rig.cameras[camera].pose), point))
        if not inside:
            return None
    return Shot(camera, body, target, float(rng.uniform(0.0, 600.0)))


def _flight_shot(events: str, site: Site, camera: str, rng: np.random.Generator) -> Shot:
    """An image of a vehicle on its way, near a point of the split's events."""
    points = _event_points(site.place.id, events)
    while True:
        away, angle = _FLIGHT_REACH * math.sqrt(float(rng.uniform())), float(rng.uniform(-math.pi, math.pi))
        x, y = points[int(rng.integers(len(points)))]
        ground = site.stand((x + away * math.cos(angle), y + away * math.sin(angle)))
        eye = ground + (0.0, 0.0, math.exp(float(rng.uniform(*np.log(_FLIGHT_HEIGHTS)))))
        if _flyable(site, eye):
            body = _in_flight(eye, float(rng.uniform(-math.pi, math.pi)), rng)
            return Shot(camera, body, None, float(rng.uniform(0.0, 600.0)))


def _flyable(site: Site, eye: Vector) -> bool:
    """Returns whether a vehicle can be there: on the map, above the ground, in no plant."""
    half = site.place.size / 2 - 5.0
    if max(abs(eye[0]), abs(eye[1])) > half or eye[2] < float(site.place.ground_height(eye[:2])) + 2.5:
        return False
    return site.world.contact(eye, 1.0) is None


def _in_flight(eye: Vector, yaw: float, rng: np.random.Generator) -> Pose:
    """base_link with the roll and pitch that flying takes."""
    roll, pitch = (float(np.clip(rng.normal(0.0, _TILT), -0.2, 0.2)) for _ in range(2))
    return Pose(eye, quaternion_from_rpy(roll, pitch, yaw))


def _in_optical(camera: Pose, point: Vector) -> Vector:
    return np.asarray((point - camera.position) @ camera.rotation)
