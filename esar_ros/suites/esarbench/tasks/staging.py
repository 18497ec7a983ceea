"""A story put on its map: where each place, line, person, thing and distractor of its snapshots comes to lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.sim.assets.meshes import assets
from esar_ros.suites.esarbench.tasks.ground import Points, Site, point_on, steepest
from esar_ros.suites.esarbench.tasks.stories import Moment, Spot, Story
from esar_ros.suites.esarbench.tasks.things import describe, make_of

Spot2 = tuple[float, float]

APART = {PERSON: 2.5, "tent": 3.5}  # m that things keep from each other; others:
_APART = 2.0
_FARTHEST = 60.0  # m that a thing is moved from where the story has it, at most
_SEEN = 4  # viewpoints that must see a person or thing, at least
DISTRACTORS = (5, 9)  # a snapshot, least and most
_DISTRACTOR_GAP = 18.0  # m to people and clues: a report of one is no report of the other
# Distractors that belong on each map, by what follows distractor_; the simulator's variants of them are drawn from.
_BELONG = {
    "aotai": (
        "log",
        "rock",
        "bush",
        "rubbish/bag",
        "yak",
        "goat",
        "sign",
        "tarp/",
        "cairn",
        "patch/lichen",
        "bird/crow",
    ),
    "lop_nur": ("rock", "salt", "rubbish", "drum", "tarp/", "marker", "bush/dry", "bird/vulture", "cairn"),
    "k2": ("rock", "cairn", "flags", "patch/snow", "tarp/", "bird/chough", "marker", "rubbish/scrap"),
    "dapeng": ("log", "rock", "bush", "rubbish", "dog", "sign", "tarp/", "drum", "bird/gull", "goat"),
}


@dataclass(frozen=True)
class Staged:
    """One snapshot as it lies on the map, in the form event files have; positions in m."""

    victims: tuple[dict[str, Any], ...]
    clues: tuple[dict[str, Any], ...]
    distractors: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Stage:
    """A story on its map."""

    story: Story
    places: dict[str, Spot2]
    lines: dict[str, Points]
    snapshots: tuple[Staged, ...]


def stage(story: Story, site: Site, seed: int) -> Stage:
    """Lay a story out. Raises UsageError where the map has no ground for a place or thing."""
    places: dict[str, Spot2] = {}
    for name, place in story.places.items():
        spot = site.nearest(place.near, place.slope, place.on)
        if spot is None:
            raise UsageError(f"story {story.id}, place {name}: no fitting ground near {place.near}", "move it")
        places[name] = spot
    lines = {name: site.walk([places[stop] for stop in stops]) for name, stops in story.lines.items()}
    snapshots = tuple(
        _stage_moment(story, moment, site, places, lines, np.random.default_rng([seed, number]))
        for number, moment in enumerate(story.snapshots)
    )
    return Stage(story, places, lines, snapshots)


def _stage_moment(
    story: Story,
    moment: Moment,
    site: Site,
    places: dict[str, Spot2],
    lines: dict[str, Points],
    rng: np.random.Generator,
) -> Staged:
    taken: list[tuple[Spot2, float]] = []

    def put(spot: Spot, kind: str, words: str) -> tuple[Spot2, float]:
        apart = APART.get(kind, _APART)
        for attempt in range(40):
            wanted, heading = _aim(spot, places, lines, rng, spread=1.0 + 0.15 * attempt)
            found = site.nearest(wanted, steepest(story.map, kind), within=6.0 + attempt)
            if found is None or any(math.dist(found, other) < max(apart, gap) for other, gap in taken):
                continue
            if int(site.seen_from(found).sum()) >= _SEEN:
                taken.append((found, apart))
                return found, heading
        raise UsageError(f"story {story.id}: no ground for {words} at {spot.place or spot.line}", "move it")

    victims = []
    for id, person in moment.victims.items():
        xy, _ = put(person.spot, PERSON, id)
        victims.append(
            {
                "id": id,
                "name": story.people[id].name,
                "position": list(xy),
                "yaw": round(float(rng.uniform(-math.pi, math.pi)), 2),
                "pose": person.pose.value,
                "variant": make_of(
                    f"{PERSON}_{person.pose.value}", story.people[id].wears, story.map, rng, story.split == "test"
                ),
            }
        )
    clues = []
    for number, thing in enumerate(moment.clues, 1):
        xy, heading = put(thing.spot, thing.kind.value, thing.kind.value)
        # Prints point along the way; other things lie as they fell.
        variant = make_of(thing.kind.value, thing.variant, story.map, rng, story.split == "test")
        yaw = heading if thing.kind.value == "footprints" else float(rng.uniform(-math.pi, math.pi))
        clues.append(
            {
                "id": f"clue-{number}",
                "kind": thing.kind.value,
                "description": describe(thing.kind, variant, int(rng.integers(8))),
                "position": list(xy),
                "yaw": round(yaw, 2),
                "variant": variant,
            }
        )
    return Staged(tuple(victims), tuple(clues), _distractors(story, site, [xy for xy, _ in taken], rng))


def _aim(
    spot: Spot, places: dict[str, Spot2], lines: dict[str, Points], rng: np.random.Generator, spread: float
) -> tuple[Spot2, float]:
    """Returns the scattered point (m) of a spot, and a heading (rad): its line's, else the scatter's."""
    radius = spot.radius * spread * math.sqrt(float(rng.uniform()))
    if spot.line:
        (x, y), heading = point_on(lines[spot.line], spot.share)
        aside = heading + math.copysign(math.pi / 2, float(rng.uniform(-1.0, 1.0)))
        return (x + radius * math.cos(aside), y + radius * math.sin(aside)), heading
    angle = float(rng.uniform(-math.pi, math.pi))
    x, y = places[spot.place]
    return (x + radius * math.cos(angle), y + radius * math.sin(angle)), angle


def _distractors(story: Story, site: Site, things: list[Spot2], rng: np.random.Generator) -> tuple[dict[str, Any], ...]:
    """Things of the place about the story's ground, none so near a clue that one report could mean both."""
    belonging = tuple(f"distractor_{word}" for word in _BELONG.get(story.map, ()))
    # Of the dev events nothing that detectors are not trained on.
    known = sorted(
        name
        for name, asset in assets().items()
        if name.startswith(belonging) and "/" in name and (story.split == "test" or not asset.held_out)
    )
    if not known:
        return ()
    centre, reach = np.mean(things, axis=0), 60.0 + float(np.ptp(np.array(things), axis=0).max()) / 2
    placed: list[dict[str, Any]] = []
    spots = list(things)
    count = int(rng.integers(DISTRACTORS[0], DISTRACTORS[1] + 1))
    for _ in range(20 * count):
        if len(placed) == count:
            break
        angle, away = float(rng.uniform(-math.pi, math.pi)), reach * math.sqrt(float(rng.uniform()))
        wanted = (float(centre[0] + away * math.cos(angle)), float(centre[1] + away * math.sin(angle)))
        asset = known[int(rng.integers(len(known)))]
        xy = site.nearest(wanted, steepest(story.map, "rope"), within=10.0)
        if xy is None or min(math.dist(xy, other) for other in spots) < _DISTRACTOR_GAP:
            continue
        spots.append(xy)
        placed.append({"asset": asset, "position": list(xy), "yaw": round(float(rng.uniform(-3.14, 3.14)), 2)})
    return tuple(placed)
