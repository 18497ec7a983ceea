"""Objects that people leave behind: for the load, for the night, by mishap, in the cold, as signs for searchers.

Each object lies where somebody was at a moment of their walk, so that its place follows from the trip alone. Other
people's older objects lie about too; they are clues as any other, and lead nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.sim.catalogue import variants
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.incidents.course import Country, Incident, State
from esar_ros.suites.esarbench.incidents.walk import Footing, Mark, Points, Stage, Walk, can_rest

_APART = 1.5  # m between any two things or people
_TRIES = 30
_PRINTS = {LandCover.SNOW: "snow", LandCover.SAND: "sand", LandCover.GOBI: "dust", LandCover.SALT: "dust",
           LandCover.CLAY: "dust", LandCover.DIRT: "mud", LandCover.GRASS: "mud", LandCover.FOREST: "mud"}  # fmt: skip
_STATES = ("covered_", "collapsed_", "spent_", "smoke_", "lying_", "broken_", "planted_", "heap_", "trousers_",
           "anchor_", "loose_", "litter_", "fallen_", "crumpled_", "rolled_")  # fmt: skip


class Kit(NamedTuple):
    """The carried objects: the variant of each kind, named as in the catalogue; absent kinds stayed at home."""

    looks: dict[ClueKind, str]


class Left(NamedTuple):
    """A thing on the ground."""

    kind: ClueKind
    variant: str
    at: Points  # (2,) m
    yaw: float  # rad
    why: str


def pack(incident: Incident, random: np.random.Generator) -> Kit:
    """Draws what people of this kind take along on such a day."""
    climbs, drives = incident.kind == "climber", incident.kind == "driver"
    light = incident.kind in ("runner", "elder")
    overnight = climbs or (not light and random.random() < 0.6)
    chances = {
        ClueKind.BACKPACK: 0.25 if light else 0.9,
        ClueKind.WATER_BOTTLE: 0.9,
        ClueKind.FOOD_WRAPPER: 0.8,
        ClueKind.CLOTHING: 0.8,
        ClueKind.TREKKING_POLE: 0.6 if incident.kind == "hiker" else 0.3,
        ClueKind.ROPE: 0.8 if climbs else 0.25 if drives else 0.1,
        ClueKind.TENT: 0.75 if overnight else 0.0,
        ClueKind.SLEEPING_BAG: 0.85 if overnight else 0.0,
        ClueKind.LIGHT: 0.4 if light else 0.7,
        ClueKind.SIGNAL_FLARE: 0.35 if climbs or drives else 0.15,
    }
    return Kit({kind: _look(kind, random) for kind, chance in chances.items() if random.random() < chance})


def leave_things(
    incident: Incident, kit: Kit, people: list[Points], dark: bool, hours_since: float, random: np.random.Generator
) -> list[Left]:
    """Returns the objects on the ground when the search begins, `hours_since` the last walker stopped; dark: then."""
    ground = _Ground(incident, people, random)
    have = dict(kit.looks)
    for walk, state in zip(incident.walks, incident.states, strict=True):
        _on_the_route(ground, walk, have)
        _at_night(ground, walk, have)
        _near_the_end(ground, walk, state, have, dark, hours_since)
    _others(ground, incident)
    return ground.left


class _Ground:
    """Placement of objects on free ground."""

    def __init__(self, incident: Incident, people: list[Points], random: np.random.Generator) -> None:
        self.random = random
        self.left: list[Left] = []
        self.place: PlaceMap = incident.walks[0].place
        self.footing: Footing = incident.walks[0].footing
        self.country = incident.country
        self._taken = list(people)

    def put(self, kind: ClueKind, variant: str, mark: Mark, heading: float, spread: float, why: str) -> bool:
        """A thing within spread (m) of where somebody was; whether it can lie there."""
        for _ in range(_TRIES):
            at = np.round(mark.at + self.random.normal(0.0, spread, 2), 2)
            clear = min(float(np.hypot(*(at - other))) for other in self._taken) > _APART
            if clear and bool(can_rest(self.place, at, self.footing)):
                self._taken.append(at)
                self.left.append(Left(kind, variant, at, heading, why))
                return True
        return False

    def drop(
        self, have: dict[ClueKind, str], kind: ClueKind, chance: float, mark: Mark, spread: float, why: str
    ) -> None:
        """Something of their kit, if they still have it and it so happens."""
        if kind in have and self.random.random() < chance:
            heading = float(self.random.uniform(-math.pi, math.pi))
            if self.put(kind, have[kind], mark, heading, spread, why):
                del have[kind]

    def prints(self, mark: Mark, heading: float, why: str) -> None:
        """Boot prints, where the ground takes them."""
        soil = _PRINTS.get(LandCover(int(self.place.cover_at(mark.at))))
        if soil is not None:
            self.put(ClueKind.FOOTPRINTS, soil, mark, heading, 0.4, why)


def _on_the_route(ground: _Ground, walk: Walk, have: dict[ClueKind, str]) -> None:
    random = ground.random
    ground.drop(have, ClueKind.TENT, 0.35, walk.marks[0], 4.0, "the camp that they set out from")
    astray = [i for i, mark in enumerate(walk.marks) if mark.stage is Stage.LOST and i > 0]
    before = [i for i, mark in enumerate(walk.marks) if mark.stage is Stage.ROUTE and i > 0][-60:]
    if not astray:
        return
    for i in random.choice(astray, size=min(len(astray), int(random.integers(0, 3))), replace=False):
        ground.prints(walk.marks[i], _heading(walk.marks, int(i)), "walked here")
    rises = [
        float(walk.place.ground_height(walk.marks[i].at) - walk.place.ground_height(walk.marks[i - 1].at))
        for i in astray
    ]
    steepest = astray[int(np.argmin(rises))]  # the steepest step down
    climb = astray[int(np.argmax(rises))]
    somewhere = int(random.choice(astray))
    rest = int(random.choice(before)) if before and random.random() < 0.4 else somewhere
    mark = walk.marks
    ground.drop(have, ClueKind.FOOD_WRAPPER, 0.55, mark[rest], 1.5, "rested and ate")
    ground.drop(have, ClueKind.TREKKING_POLE, 0.7, mark[steepest], 1.5, "slipped")
    ground.drop(have, ClueKind.ROPE, 0.6, mark[steepest], 1.5, "let themselves down")
    ground.drop(have, ClueKind.WATER_BOTTLE, 0.35, mark[somewhere], 1.0, "empty")
    late = astray[int(len(astray) * random.uniform(0.3, 0.95))]
    ground.drop(have, ClueKind.BACKPACK, 0.4, mark[climb if random.random() < 0.4 else late], 1.5, "too heavy")


def _at_night(ground: _Ground, walk: Walk, have: dict[ClueKind, str]) -> None:
    nights = [mark for mark in walk.marks if mark.stage is Stage.NIGHT]
    if not nights:
        return
    camp = nights[-1]
    for kind in (ClueKind.TENT, ClueKind.SLEEPING_BAG):
        moved_on = float(np.hypot(*(camp.at - walk.at))) > 15.0
        ground.drop(have, kind, 0.55 if moved_on else 0.95, camp, 3.0, "the night's camp")
    wood = np.isin(ground.place.cover_at(camp.at + 30.0 * _AROUND), (LandCover.FOREST, LandCover.SCRUB)).any()
    if wood and ground.random.random() < 0.5:
        ground.put(ClueKind.CAMPFIRE, "ashes", camp, 0.0, 3.0, "kept warm")


def _near_the_end(
    ground: _Ground, walk: Walk, state: State, have: dict[ClueKind, str], dark: bool, hours_since: float
) -> None:
    random, marks = ground.random, walk.marks
    end = marks[-1]
    if state is State.COLD:
        # Undressing in the last stage of the cold (Wedin et al., "Paradoxical undressing in fatal hypothermia", 1979).
        back = marks[-1 - int(random.integers(1, min(12, len(marks))))]
        ground.drop(have, ClueKind.CLOTHING, 0.75, back, 1.5, "undressed in the cold")
    elif random.random() < 0.3:
        ground.drop(have, ClueKind.CLOTHING, 1.0, end, 4.0, "laid out as a sign")
    if state is State.HURT:
        ground.drop(have, ClueKind.SLEEPING_BAG, 0.4, end, 2.5, "unpacked")
    if state is not State.COLD:
        ground.drop(have, ClueKind.LIGHT, 0.8 if dark else 0.15, end, 2.0, "lit for those who search")
        if ClueKind.SIGNAL_FLARE in have and random.random() < 0.75:
            burns = have.pop(ClueKind.SIGNAL_FLARE)
            spent = hours_since > 1.0 and random.random() < 0.6
            look = "spent_" + ("orange" if "smoke" in burns else "red") if spent else burns
            ground.put(ClueKind.SIGNAL_FLARE, look, end, 0.0, 5.0, "heard or hoped for help")
        wood = bool(np.isin(ground.place.cover_at(end.at + 30.0 * _AROUND), (LandCover.FOREST, LandCover.SCRUB)).any())
        if wood and state is not State.HURT and random.random() < 0.25:
            ground.put(ClueKind.CAMPFIRE, "small_burning" if hours_since < 6.0 else "embers", end, 0.0, 4.0, "warmth")
    ground.drop(have, ClueKind.BACKPACK, 0.6, end, 3.0, "set down")
    ground.drop(have, ClueKind.WATER_BOTTLE, 0.4, end, 2.0, "set down")
    ground.drop(have, ClueKind.FOOD_WRAPPER, 0.4, end, 2.0, "ate the last")


def _others(ground: _Ground, incident: Incident) -> None:
    """Earlier walkers' things, along the track and at its resting places; more where many walk."""
    random = ground.random
    line = incident.route.line
    near = line[np.linalg.norm(line - incident.walks[0].at, axis=1) < 600.0]
    kinds = [
        ClueKind.FOOD_WRAPPER,
        ClueKind.WATER_BOTTLE,
        ClueKind.FOOTPRINTS,
        ClueKind.CLOTHING,
        ClueKind.TREKKING_POLE,
    ]
    kinds += [ClueKind.ROPE, ClueKind.TENT] if ground.country is Country.SUMMIT else [ClueKind.CAMPFIRE]
    wanted = max(int(random.poisson(1.5)), 4 - len(ground.left))
    for _ in range(wanted if len(near) > 1 else 0):
        index = int(random.integers(1, len(near)))
        mark = Mark(near[index], 0.0, Stage.ROUTE)
        kind = kinds[int(random.integers(len(kinds)))]
        if kind is ClueKind.FOOTPRINTS:
            ground.prints(mark, math.atan2(*(near[index] - near[index - 1])[::-1]), "older")
        else:
            old = {ClueKind.CAMPFIRE: "burnt_patch", ClueKind.TENT: "collapsed_orange"}
            ground.put(kind, old.get(kind) or _look(kind, random), mark, float(random.uniform(-3.1, 3.1)), 4.0, "older")


def _look(kind: ClueKind, random: np.random.Generator) -> str:
    """Any whole and plain variant of a kind."""
    plain = [entry.variant for entry in variants(kind.value) if not entry.variant.startswith(_STATES)]
    return str(random.choice(plain))


def _heading(marks: Sequence[Mark], index: int) -> float:
    step = marks[index].at - marks[index - 1].at
    return math.atan2(step[1], step[0])


_AROUND = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
