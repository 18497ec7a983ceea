"""Plain words for where, when and what: compass points, distances as people guess them, landmarks, ground, weather."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from esar_ros.mission.weather import Weather
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.suites.esarbench.incidents.course import Country
from esar_ros.suites.esarbench.incidents.walk import Points

_COMPASS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
_LANDMARKS = {
    "structure_sign": "the signpost", "structure_cairn": "the cairn", "structure_hut/stone": "the stone hut",
    "structure_hut/ruin": "the ruined hut", "structure_hut": "the hut", "structure_flags": "the prayer flags",
    "structure_tomb": "the tomb", "structure_tower": "the relay mast", "structure_shrine": "the shrine",
    "structure_pier": "the pier", "structure_boat": "the old boat", "structure_tent_platform": "the camp platform",
    "structure_marker": "the marker post", "structure_trig": "the survey pillar",
}  # fmt: skip
_AT, _ON = 45.0, 30.0  # m within which one is at a landmark, on a track
_TRACKS = {"trail": "the crest trail", "abruzzi": "the Abruzzi route", "tomb_path": "the path to the tomb"}
_GROUND = {
    LandCover.GRASS: "on open grass", LandCover.ROCK: "on bare rock", LandCover.SNOW: "on snow",
    LandCover.SAND: "on soft sand", LandCover.DIRT: "on bare earth", LandCover.FOREST: "among trees",
    LandCover.BLOCKFIELD: "among big loose stones", LandCover.WATER: "by water", LandCover.SALT: "on hard salt crust",
    LandCover.GOBI: "on gravel", LandCover.CLAY: "among clay humps", LandCover.ICE: "on blue ice",
    LandCover.SCRUB: "in thick scrub", LandCover.PAVED: "on paving",
}  # fmt: skip
_SKY = {
    Weather.CLEAR: "clear", Weather.PARTLY_CLOUDY: "fair with some cloud", Weather.OVERCAST: "grey and dry",
    Weather.LIGHT_RAIN: "drizzling", Weather.HEAVY_RAIN: "pouring", Weather.THUNDERSTORM: "thundering",
    Weather.LIGHT_SNOW: "snowing a little", Weather.HEAVY_SNOW: "snowing hard", Weather.BLIZZARD: "blowing a blizzard",
    Weather.FOG: "foggy", Weather.DENSE_FOG: "so foggy that one sees a few dozen steps",
    Weather.SANDSTORM: "blowing a sandstorm", Weather.DUST: "hazy with dust",
}  # fmt: skip
NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # women, men
    "china": (
        ("Lin Yue", "Zhao Min", "He Jing", "Tang Xia", "Su Wen", "Deng Li", "Luo Qian", "Peng Yan"),
        ("Chen Bo", "Guo Feng", "Ma Jun", "Xie Lei", "Han Tao", "Fang Hao", "Cao Ning", "Shi Kun"),
    ),
    "abroad": (
        ("Ingrid Moen", "Paola Ricci", "Samina Shah", "Kate Doyle", "Eva Novak"),
        ("Tomas Berg", "Ali Raza", "Jan Kowal", "Diego Vidal", "Pemba Tamang", "Luc Moreau"),
    ),
}


class Pronouns(NamedTuple):
    """Pronouns for the missing."""

    they: str
    them: str
    their: str
    were: str
    have: str


HE = Pronouns("he", "him", "his", "was", "has")
SHE = Pronouns("she", "her", "her", "was", "has")
THEY = Pronouns("they", "them", "their", "were", "have")


def compass(offset: Points) -> str:
    """The nearest of eight points."""
    return _COMPASS[round(math.atan2(offset[1], offset[0]) / (math.pi / 4)) % 8]


def guessed(distance: float, random: np.random.Generator) -> str:
    """A distance (m) as people say it: rounded, or in minutes on foot."""
    if distance < 90.0:
        return str(random.choice(["less than a hundred metres", "a stone's throw"]))
    guess = distance * float(random.lognormal(0.0, 0.12))
    if random.random() < 0.3:
        return f"some {_number(max(2, round(guess / 50.0)))} minutes' walk"
    step = 50 if guess < 400.0 else 100
    return f"{random.choice(['about', 'roughly', 'perhaps'])} {max(step, round(guess / step) * step)} metres"


def where(point: Points, start: Points, place: PlaceMap, random: np.random.Generator) -> str:
    """Returns the location of a point in words for somebody who stands at the start."""
    name, offset = landmark(point, place), point - start
    if float(np.hypot(*offset)) < 40.0:
        return f"{name}, right by where you take off" if name else "right by where you take off"
    away = f"{guessed(float(np.hypot(*offset)), random)} {compass(offset)} of where you take off"
    return f"{name}, {away}" if name else away


def landmark(point: Points, place: PlaceMap) -> str:
    """Returns the structure or track that a point is at or on, in words; empty where there is none."""
    for thing in place.structures:
        if float(np.hypot(*(np.array(thing.xy) - point))) < _AT:
            family = thing.asset.split("/")[0]
            return "at " + _LANDMARKS.get(thing.asset, _LANDMARKS.get(family, "the old structure"))
    for name, line in place.tracks.items():
        if float(np.linalg.norm(line - point, axis=1).min()) < _ON:
            return "on " + track(name)
    return ""


def track(name: str) -> str:
    """A track's name in a sentence."""
    return _TRACKS.get(name, f"the {name.replace('_', ' ')}")


def ground(point: Points, place: PlaceMap) -> str:
    """Returns the land cover at a point in words."""
    return _GROUND[LandCover(int(place.cover_at(point)))]


def sky(weather: Weather) -> str:
    """After "it was"."""
    return _SKY[weather]


def clock(time: datetime) -> str:
    """To the quarter of an hour, as people remember it."""
    return f"{_quarter(time):%H:%M}"


def day(time: datetime, now: datetime) -> str:
    """Returns a day relative to now; a time that rounds to midnight belongs to the day after."""
    days = (_quarter(now).date() - _quarter(time).date()).days
    return ("today", "yesterday", "the day before yesterday")[days] if days < 3 else f"{_number(days)} days ago"


def _quarter(time: datetime) -> datetime:
    """The nearest quarter of an hour."""
    later = time + timedelta(minutes=7.5)
    return later.replace(minute=later.minute // 15 * 15, second=0, microsecond=0)


def among(country: Country) -> str:
    """Returns the list from which people's names are drawn there."""
    return "abroad" if country is Country.SUMMIT else "china"


def listed(items: list[str]) -> str:
    """a, b and c."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def with_article(noun: str) -> str:
    """a or an."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def _number(n: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[n] if n < len(words) else str(n)
