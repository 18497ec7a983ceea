"""The search's side of an incident: when it begins, from where the drone starts, how people lie, what else is about."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from esar_ros.mission.clues import VictimPose
from esar_ros.mission.task import Distractor, Wind
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import light_points
from esar_ros.sim.catalogue import variants
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.incidents.course import Country, Incident, State
from esar_ros.suites.esarbench.incidents.walk import Points, Stage, can_rest

NEAREST, FARTHEST = 50.0, 600.0  # m, 3D, from the start to anybody
_SHAPE, _SCALE = 1.30, 305.0  # Weibull, m: its quartiles are 117, 230 and 392 m, the paper's 117, 230 and 374 m
_SLACK = 40.0  # m by which a start may miss the distance drawn
_LEVEL = math.radians(18.0)  # steepest ground that a drone is set down on
_CLEARANCE, _CLIMB = 1.8, 40.0  # m: free around the start, and so far up
_OPEN_TRIES = 60
_MONTHS = {Country.HILLS: (4, 10), Country.DESERT: (4, 10), Country.SUMMIT: (6, 8), Country.COAST: (1, 12)}
_SNOW_MONTHS = (3, 4)  # in the hills
_POSES = {
    State.FIT: {VictimPose.STANDING: 0.45, VictimPose.SITTING: 0.55},
    State.SPENT: {VictimPose.SITTING: 0.5, VictimPose.LYING: 0.35, VictimPose.COVERED: 0.15},
    State.HURT: {VictimPose.SITTING: 0.4, VictimPose.LYING: 0.6},
    State.COLD: {VictimPose.LYING: 0.6, VictimPose.COVERED: 0.4},
}
_COVERS = {LandCover.SNOW: "snow_", LandCover.FOREST: "branches_", LandCover.BLOCKFIELD: "rock_",
           LandCover.ROCK: "rock_"}  # fmt: skip
_DISTRACTORS = {
    Country.HILLS: ("rock", "log", "bush", "goat", "yak", "dog", "patch", "rubbish"),
    Country.DESERT: ("salt", "rock", "drum", "rubbish", "bush", "tarp"),
    Country.SUMMIT: ("rock", "flags", "bird", "marker", "rubbish"),
    Country.COAST: ("rock", "log", "bush", "dog", "rubbish", "tarp", "bird"),
}
_WIND = {Weather.BLIZZARD: 8.0, Weather.SANDSTORM: 8.0, Weather.THUNDERSTORM: 6.0, Weather.DUST: 6.0,
         Weather.HEAVY_RAIN: 6.0, Weather.HEAVY_SNOW: 6.0, Weather.FOG: 1.5, Weather.DENSE_FOG: 1.0}  # fmt: skip


class Times(NamedTuple):
    """Local time."""

    set_out: datetime
    search: datetime
    waited: float  # h that the last of them has not moved


class Look(NamedTuple):
    """Posture, model and jacket in which a person is found."""

    pose: VictimPose
    variant: str
    colour: str  # of the jacket


def draw_times(incident: Incident, snows: bool, random: np.random.Generator) -> Times:
    """A day of the season; searches by night happen, less often than by day."""
    first, last = _SNOW_MONTHS if snows and incident.country is Country.HILLS else _MONTHS[incident.country]
    overnight = any(mark.stage is Stage.NIGHT for walk in incident.walks for mark in walk.marks)
    hour = random.uniform(14.0, 17.0) if overnight else random.uniform(6.5, 13.5)
    day = datetime(2025, int(random.integers(first, last + 1)), int(random.integers(1, 29)))
    set_out = day + timedelta(hours=float(hour))
    stopped = set_out + timedelta(seconds=max(walk.time for walk in incident.walks))
    for _ in range(4):
        waited = float(random.uniform(1.0, 14.0))
        search = (stopped + timedelta(hours=waited)).replace(second=0, microsecond=0)
        if light_points(search) == 0 or random.random() < 0.2:
            break
    return Times(set_out, search, waited)


def resting_places(incident: Incident, random: np.random.Generator) -> list[Points] | None:
    """Returns each person's position, those who stayed together within a few metres; None where they find no room."""
    found: list[Points] = []
    for walk, size in zip(incident.walks, incident.sizes, strict=True):
        for _ in range(size):
            for spread in np.linspace(0.0 if not found else 3.0, 14.0, 30):
                at = np.round(walk.at + random.normal(0.0, spread / 1.5, 2), 2)
                apart = all(float(np.hypot(*(at - other))) > 2.5 for other in found)
                if apart and bool(can_rest(walk.place, at, walk.footing)):
                    found.append(at)
                    break
            else:
                return None
    return found


def draw_start(world: World, incident: Incident, people: list[Points], random: np.random.Generator) -> Points | None:
    """Level open ground on the way that was meant, at another landmark or near by; None where none is at a distance.

    Crews drive or walk in along tracks, so that those come first.
    """
    place, line = world.place, incident.route.line
    wanted = float(np.clip(_SCALE * random.weibull(_SHAPE), NEAREST + 5.0, FARTHEST - 10.0))
    tracks = np.concatenate([line[::3], *(other[::8] for other in place.tracks.values())])
    marked = [np.array(thing.xy) + 6.0 * _unit(random) for thing in place.structures]
    levels = [place.clearings[:, :2]] if len(place.clearings) else []
    known = np.concatenate([tracks + random.normal(0.0, 2.0, tracks.shape), *levels, np.array(marked).reshape(-1, 2)])
    anywhere = people[0] + wanted * np.stack([_unit(random) for _ in range(_OPEN_TRIES)])
    for candidates in (known, anywhere):
        away = np.stack([distances(place, at, people) for at in candidates])
        fit = (
            (np.abs(away.mean(axis=1) - wanted) < _SLACK) & (away.min(axis=1) > NEAREST) & (away.max(axis=1) < FARTHEST)
        )
        for index in random.permutation(np.flatnonzero(fit)):
            at = np.round(candidates[index], 2)
            if _can_stand(world, at):
                return np.asarray(at)
    return None


def _can_stand(world: World, at: Points) -> bool:
    place = world.place
    level = bool(place.slope(at) <= _LEVEL) and int(place.cover_at(at)) not in (LandCover.WATER, LandCover.FOREST)
    inside = float(np.abs(at).max()) < place.size / 2 - 60.0
    foot = np.array([*at, float(place.ground_height(at))])
    up = np.array([0.0, 0.0, 1.0])
    return (
        inside and level and world.contact_along(foot + (_CLEARANCE + 0.5) * up, foot + _CLIMB * up, _CLEARANCE) is None
    )


def distances(place: PlaceMap, start: Points, people: Iterable[Points]) -> list[float]:
    """m, 3D, from the start to each."""
    z = float(place.ground_height(start))
    return [math.hypot(*(at - start), float(place.ground_height(at)) - z) for at in people]


def draw_look(place: PlaceMap, at: Points, state: State, random: np.random.Generator) -> Look:
    """A pose that goes with somebody's state, and an outfit; what covers them is what lies about there."""
    poses = list(_POSES[state])
    pose = poses[int(random.choice(len(poses), p=list(_POSES[state].values())))]
    fits = list(variants(f"person_{pose.value}"))
    if pose is VictimPose.COVERED:
        cover = _COVERS.get(LandCover(int(place.cover_at(at))), "gold_")
        fits = [entry for entry in fits if "_" not in entry.variant or entry.variant.startswith(cover)]
    chosen = fits[int(random.integers(len(fits)))]
    return Look(pose, chosen.variant, chosen.colour)


def draw_wind(weather: Weather, random: np.random.Generator) -> Wind:
    """Mean wind as such weather brings it."""
    return Wind(speed=round(_WIND.get(weather, 3.0) * float(random.uniform(0.5, 1.2)), 1), direction=draw_yaw(random))


def draw_distractors(
    incident: Incident, start: Points, taken: list[Points], random: np.random.Generator
) -> tuple[Distractor, ...]:
    """Draws objects that are neither victim nor clue, anywhere within the search's reach."""
    walk, found = incident.walks[0], []
    for _ in range(int(random.integers(3, 9))):
        at = np.round(start + random.uniform(20.0, 420.0) * _unit(random), 2)
        family = f"distractor_{random.choice(_DISTRACTORS[incident.country])}"
        clear = all(float(np.hypot(*(at - other))) > 6.0 for other in taken)
        if clear and bool(can_rest(walk.place, at, walk.footing)):
            chosen = variants(family)[int(random.integers(len(variants(family))))]
            found.append(Distractor(asset=chosen.asset, position=(float(at[0]), float(at[1])), yaw=draw_yaw(random)))
    return tuple(found)


def draw_yaw(random: np.random.Generator) -> float:
    """Any heading, rad."""
    return round(float(random.uniform(-math.pi, math.pi)), 3)


def _unit(random: np.random.Generator) -> Points:
    angle = random.uniform(0.0, 2.0 * math.pi)
    return np.array([math.cos(angle), math.sin(angle)])
