"""Course of a trip that goes wrong: who set out, by which mechanism they lost the route, and where that left them.

The mechanisms are those that search managers name (Koester, "Lost Person Behavior", 2008; Hill, "The psychology of
lost", 1998): a fork missed, a bend walked through, a short cut, water followed down, sight lost, a climb for a view,
the way mistaken for the way back, shelter sought, a fall, foraging off the way, walking until stuck.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.incidents.routes import Route, draw_route
from esar_ros.suites.esarbench.incidents.walk import (
    CLIMBER,
    STRIDE,
    WALKER,
    Mark,
    Points,
    Stage,
    Walk,
    downhill,
    drifting,
    onward,
    towards,
    uphill,
)

_SHELTER = (LandCover.FOREST, LandCover.ROCK, LandCover.BLOCKFIELD, LandCover.CLAY)


class Country(Enum):
    """Kind of country, which decides who goes there and how they get lost."""

    HILLS = "hills"
    DESERT = "desert"
    SUMMIT = "summit"
    COAST = "coast"


class State(Enum):
    """Condition of the people when the search begins."""

    FIT = "fit"
    SPENT = "spent"
    HURT = "hurt"
    COLD = "cold"


@dataclass(frozen=True)
class Incident:
    """A trip that went wrong, from setting out to where everybody stays."""

    country: Country
    kind: str  # of person: hiker, runner, forager, elder, driver or climber
    mechanism: str
    route: Route
    walks: tuple[Walk, ...]  # one for those who stayed together; two where they parted
    sizes: tuple[int, ...]  # people at the end of each
    states: tuple[State, ...]  # of each
    seen: Mark  # the last time that others saw them


def country_of(place: PlaceMap) -> Country:
    """By what lies on its ground."""
    share = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    if share[LandCover.SNOW] + share[LandCover.ICE] > 0.5:
        return Country.SUMMIT
    if share[LandCover.SALT] + share[LandCover.GOBI] + share[LandCover.SAND] > 0.5:
        return Country.DESERT
    return Country.HILLS if place.water_level is None else Country.COAST


PEOPLE: dict[Country, dict[str, float]] = {
    Country.HILLS: {"hiker": 0.5, "runner": 0.2, "forager": 0.3},
    Country.DESERT: {"driver": 0.6, "hiker": 0.4},
    Country.SUMMIT: {"climber": 1.0},
    Country.COAST: {"hiker": 0.4, "runner": 0.15, "forager": 0.15, "elder": 0.3},
}
_FITNESS = {"runner": 1.5, "elder": 0.6, "climber": 0.5}


class _Trip(NamedTuple):
    """Input of a mechanism."""

    walk: Walk
    route: Route
    left: int  # vertex of the route at which they leave it
    length: float  # m that they go off it


def _missed_fork(trip: _Trip) -> None:
    fork = next(fork for fork in trip.route.forks if fork.vertex == trip.left)
    trip.walk.follow(fork.wrong[: int(trip.length * 0.7 / STRIDE)], Stage.LOST)
    # Seen too late to walk back, they cut across to where the right way should be.
    trip.walk.roam(towards(_further(trip, 250.0)), trip.length * 0.5, 1.2)


def _straight_on(trip: _Trip) -> None:
    trip.walk.roam(onward, trip.length * 0.65, 1.6)
    if trip.walk.random.random() < 0.5:
        trip.walk.roam(_off(towards(_further(trip, -80.0)), trip.walk.random.normal(0.0, 0.7)), trip.length * 0.4, 1.2)


def _short_cut(trip: _Trip) -> None:
    error = trip.walk.random.choice([-1.0, 1.0]) * trip.walk.random.uniform(0.3, 1.0)
    trip.walk.roam(_off(towards(_further(trip, trip.length * 1.3)), error), trip.length, 2.0)


def _down_the_water(trip: _Trip) -> None:
    trip.walk.roam(downhill, trip.length, 1.8)


def _no_sight(trip: _Trip) -> None:
    trip.walk.heading += trip.walk.random.normal(0.0, 0.8)
    trip.walk.roam(drifting, trip.length * 1.4, 1.0)


def _for_a_view(trip: _Trip) -> None:
    trip.walk.roam(uphill, trip.length * 0.5, 1.6)
    trip.walk.heading += trip.walk.random.uniform(-2.0, 2.0)
    trip.walk.roam(downhill, trip.length * 0.6, 0.9)


def _turned_round(trip: _Trip) -> None:
    back = trip.route.line[: trip.left][::-1][: int(trip.length / STRIDE)]
    trip.walk.wait(900.0, Stage.ROUTE)
    trip.walk.follow(back, Stage.LOST)
    trip.walk.roam(onward, trip.length * 0.4, 1.2)


def _to_shelter(trip: _Trip) -> None:
    walk = trip.walk
    around = walk.at + np.array(
        [(r * math.cos(a), r * math.sin(a)) for r in np.arange(30.0, 400.0, 15.0) for a in np.arange(0.0, 6.28, 0.35)]
    )
    # What one sees through bad weather is only some of what there is.
    seen = walk.random.random(len(around)) < 0.25
    good = around[np.isin(walk.place.cover_at(around), _SHELTER) & seen & walk.place.contains(around)]
    if len(good):
        walk.roam(towards(good[0]), float(np.hypot(*(good[0] - walk.at))), 2.5)
    else:
        walk.roam(downhill, trip.length * 0.6, 1.5)


def _fell(trip: _Trip) -> None:
    trip.walk.heading = downhill(trip.walk)
    trip.walk.roam(downhill, trip.walk.random.uniform(20.0, 120.0), 3.0)


def _foraged(trip: _Trip) -> None:
    for _ in range(int(trip.walk.random.integers(3, 6))):
        trip.walk.heading += trip.walk.random.uniform(-2.2, 2.2)
        trip.walk.roam(onward, trip.length * trip.walk.random.uniform(0.15, 0.5), 0.6)
        trip.walk.wait(trip.walk.random.uniform(300.0, 1500.0), Stage.LOST)


def _until_stuck(trip: _Trip) -> None:
    trip.walk.heading += trip.walk.random.normal(0.0, 0.5)
    trip.walk.roam(onward, trip.length * 1.3, 3.0)


MECHANISMS: dict[str, Callable[[_Trip], None]] = {
    "missed-fork": _missed_fork,
    "straight-on": _straight_on,
    "short-cut": _short_cut,
    "down-the-water": _down_the_water,
    "no-sight": _no_sight,
    "for-a-view": _for_a_view,
    "turned-round": _turned_round,
    "to-shelter": _to_shelter,
    "fell": _fell,
    "foraged": _foraged,
    "until-stuck": _until_stuck,
}


def live_through(place: PlaceMap, weather: Weather, random: np.random.Generator) -> Incident | None:
    """Draws a trip in the weather of that day; None where it ends on ground on which nobody can stay."""
    country = country_of(place)
    kinds = PEOPLE[country]
    kind = str(random.choice(list(kinds), p=list(kinds.values())))
    route = draw_route(place, random)
    mechanism = _draw_mechanism(kind, country, weather, route, random)
    footing = CLIMBER if country is Country.SUMMIT else WALKER
    walk = Walk(place, footing, random, route.line[0], 0.0, fitness=_FITNESS.get(kind, 1.0))
    left = int(random.integers(15, max(16, int(len(route.line) * 0.8))))
    if mechanism == "missed-fork":
        left = route.forks[int(random.integers(len(route.forks)))].vertex
    walk.follow(route.line[: left + 1], Stage.ROUTE)
    seen = walk.marks[max(0, len(walk.marks) - 1 - int(random.exponential(140.0) / STRIDE))]

    size = 1 if kind == "elder" else int(random.choice([1, 2, 3], p=[0.62, 0.28, 0.10]))
    other = _parting(walk, size, random)
    length = float(np.clip(random.lognormal(math.log(300.0), 0.5), 90.0, 800.0))
    MECHANISMS[mechanism](_Trip(walk, route, left, length))
    if random.random() < 0.4:
        _spend_a_night(walk, route, left, mechanism != "fell" and random.random() < 0.6)
    walks = (walk,) if other is None else (walk, other)
    if not all([each.settle() for each in walks]):
        return None
    sizes = (size,) if other is None else (size - 1, 1)
    states = tuple(_state(each, mechanism, weather, country) for each in walks)
    if other is not None:
        states = (states[0], State.HURT)
    return Incident(country, kind, mechanism, route, walks, sizes, states, seen)


def _parting(walk: Walk, size: int, random: np.random.Generator) -> Walk | None:
    """One who could not go on and was left near the way while the rest went for help."""
    if size == 1 or random.random() < 0.5:
        return None
    stayed = replace(walk, marks=list(walk.marks))
    stayed.wait(1800.0, Stage.ROUTE)
    if random.random() < 0.5:  # who waits alone does not always wait where they were told to
        stayed.roam(uphill if random.random() < 0.5 else downhill, random.uniform(20.0, 150.0), 1.0)
    return stayed


def _spend_a_night(walk: Walk, route: Route, left: int, goes_on: bool) -> None:
    """Dark overtakes them; in the morning some go on, not always wisely."""
    walk.settle()
    walk.wait(14.0 * 3600.0, Stage.NIGHT)
    if goes_on:
        goal = towards(route.line[min(left, len(route.line) - 1)])
        want = [downhill, uphill, goal, onward][int(walk.random.integers(4))]
        walk.roam(want, walk.random.uniform(40.0, 260.0), 1.3)


def _draw_mechanism(kind: str, country: Country, weather: Weather, route: Route, random: np.random.Generator) -> str:
    clear = weather.family is WeatherFamily.FAIR
    weights = {
        "missed-fork": 2.5 if route.forks else 0.0,
        "straight-on": 1.2,
        "short-cut": 1.4,
        "down-the-water": 0.3 if country in (Country.DESERT, Country.SUMMIT) else 1.4,
        "no-sight": 0.2 if clear else 2.5,
        "for-a-view": 0.8,
        "turned-round": 0.9,
        "to-shelter": 0.3 if clear else 1.4,
        "fell": 0.1 if country is Country.DESERT else 1.1,
        "foraged": 5.0 if kind == "forager" else 0.0,
        "until-stuck": 5.0 if kind == "elder" else 0.0,
    }
    total = sum(weights.values())
    return str(random.choice(list(weights), p=[weight / total for weight in weights.values()]))


def _state(walk: Walk, mechanism: str, weather: Weather, country: Country) -> State:
    if mechanism == "fell":
        return State.HURT
    cold = country is Country.SUMMIT or weather.family in (WeatherFamily.SNOW, WeatherFamily.RAIN)
    night = any(mark.stage is Stage.NIGHT for mark in walk.marks)
    chances = {State.FIT: 0.35, State.SPENT: 0.35, State.HURT: 0.2, State.COLD: 0.5 if cold and night else 0.1}
    total = sum(chances.values())
    return list(chances)[int(walk.random.choice(len(chances), p=[chance / total for chance in chances.values()]))]


def _further(trip: _Trip, metres: float) -> Points:
    """A point of the route so far beyond where they left it."""
    index = trip.left + int(metres / STRIDE)
    return np.asarray(trip.route.line[min(max(index, 0), len(trip.route.line) - 1)])


def _off(want: Callable[[Walk], float], error: float) -> Callable[[Walk], float]:
    """A heading judged wrongly by an angle (rad)."""
    return lambda walk: want(walk) + error
