"""Coordinates in a brief: latitude and longitude, UTM and MGRS, with the accuracy that is told beside them.

What has the form of coordinates is found here, and read by pygeodesy (degrees, minutes, seconds after ISO 6709; UTM and
MGRS after Karney, Transverse Mercator with an accuracy of a few nanometers, 2011). WGS 84 is taken for granted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pygeodesy.dms import parseDMS  # type: ignore[import-untyped]

from esar_ros.geometry.coordinates import read_mgrs, read_utm
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.observation import Brief
from esar_ros.planning.belief.brief.facts import (
    STATED_SPREAD,
    Content,
    Direction,
    Distance,
    Fix,
    Move,
    Passage,
    Reference,
    StartFact,
)
from esar_ros.planning.belief.brief.lexicon import UNITS, word_set
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.search_area import contains

_ANGLE = (
    r"[-+]?\d{1,3}(?:\.\d{1,12})?\s?(?:[°d]|deg(?:rees?)?\b)?"
    r"(?:\s?(?<=[°d\s])\d{1,2}(?:\.\d{1,12})?\s?['m]?(?:\s?(?<=['m\s])\d{1,2}(?:\.\d{1,12})?\s?(?:\"|'')?)?)?"
)
_SIDED = rf"(?:{_ANGLE}\s?[NSEW]\b|\b[NSEW]\s?{_ANGLE}(?!\.?\d))"
_LABEL = r"(?:lat(?:itude)?|lon(?:g(?:itude)?)?|lng)\.?\s?[:=]?\s?"
_FOUND = re.compile(
    r"(?:\b(?:UTM|MGRS|GPS|WGS[- ]?84)[:\s]{1,2})?(?:"
    r"(?P<mgrs>\b\d{1,2}\s?[C-HJ-NP-X]\s?[A-HJ-NP-Z]{2}\s?(?:\d{2,5}\s\d{2,5}|\d{4,10})\b)|"
    r"(?P<utm>\b(?P<zone>\d{1,2})\s?(?P<band>[C-HJ-NP-X])[\s,]{1,2}E?\s?(?P<east>\d{6}(?:\.\d{1,6})?)\s?m?\s?"
    r"E?[\s,/]{1,3}N?\s?(?P<north>\d{6,7}(?:\.\d{1,6})?)(?:\s?m?\s?N\b)?)|"
    rf"(?P<sided>(?:{_LABEL})?(?P<one>{_SIDED})\s{{0,3}}[,;/]?\s{{0,3}}(?:and\s)?(?:{_LABEL})?(?P<other>{_SIDED}))|"
    rf"(?P<bare>(?<![\w.])(?:{_LABEL})?(?P<first>[-+]?\d{{1,3}}\.\d{{3,12}})°?"
    rf"(?:[,;/]\s{{0,3}}|\s{{1,3}})(?:and\s)?(?:{_LABEL})?"
    r"(?P<second>[-+]?\d{1,3}\.\d{3,12})°?(?!\w|\.\d))|"
    r"(?P<half>(?<![\w.])[-+]?\d{1,3}\.\d{3,12}\s?°?\s?[NSEW]\b)|"
    r"(?P<words>///[^\W\d_]{2,30}\.[^\W\d_]{2,30}\.[^\W\d_]{2,30}))",
)
_SIGNS = str.maketrans({"′": "'", "’": "'", "″": '"', "”": '"', "“": '"', "º": "°", "˚": "°", "−": "-", "\u00a0": " "})
_PRECISE = re.compile(r"\.\d{3}|[°d'\"]|deg|\d\s\d{1,2}\b")  # what 300N has not, which is a way
_NUMBER = r"(\d{1,6}(?:\.\d{1,6})?)\s?(" + "|".join(sorted(UNITS, key=len, reverse=True)) + r")\b"
_ACCURACY = re.compile(
    r"[\s,;:(]{0,3}(?:[^\W\d_]+[\s:=]{1,2}){0,3}?(?:accura\w+|error|uncertaint\w+|radius|precision|cep|within|circle|"
    rf"more or less|give or take|±|\+\s?/?\s?-)[\s:=~]{{0,3}}(?:[^\W\d_]+\s){{0,2}}?{_NUMBER}|"
    rf"[\s,;:(]{{0,3}}{_NUMBER}\s(?:accura\w+|error|radius|cep)\b",
    re.IGNORECASE,
)
RADIUS = 1.51  # of a circle that holds 68 % of a round normal distribution, in standard deviations of one axis
SURE = 15.0  # m, standard deviation of coordinates beside which no accuracy is told: a phone's
_MOST = 100  # coordinates of a text that are read; the others are left over
_SAME_PLACE = 200.0  # m, from the vehicle's start: coordinates said to be its own
_FLOWN = 20_000.0  # m
_OWN, _THEIRS = frozenset("VHZY"), frozenset("PQ")  # tags of words of the vehicle, and of those who are sought
_SIGNALS = word_set("ping pings pinged phone phones cell mobile signal beacon plb elt epirb sos locator tracker")
_ARC = 111_000.0  # m, a degree of latitude


@dataclass(frozen=True)
class Ground:
    """Ground on which coordinates are placed: the map's origin, the vehicle's start, and the area that is searched."""

    origin: Origin
    home: Vector  # (2,) m, map
    area: NDArray[np.float64] | None = None  # (N, 2) m, map, corners; None: not known

    def place(self, latitude: float, longitude: float) -> Vector:
        """Returns where a point (degrees) lies, (2,) m, map."""
        return self.origin.to_enu(latitude, longitude, self.origin.altitude)[:2]

    def holds(self, place: Vector) -> bool:
        """Returns whether a place (2,) m lies in the area, or, where none is known, as near as a drone flies."""
        if self.area is None:
            return bool(np.linalg.norm(place - self.home) <= _FLOWN)
        return contains(self.area, place)


def ground_of(brief: Brief) -> Ground:
    """Returns what the coordinates of a mission's brief are placed by."""
    return Ground(Origin(*brief.origin), np.asarray(brief.home, dtype=np.float64)[:2], np.asarray(brief.area))


class Coordinates(NamedTuple):
    """Coordinates as they stand in a text."""

    start: int  # characters
    end: int
    points: tuple[tuple[float, float], ...]  # latitude and longitude (degrees) that they may mean; empty: none
    sigma: float  # m, standard deviation of each axis
    swapped: tuple[float, float] | None = None  # what they mean with latitude and longitude exchanged
    beside: tuple[int, int] | None = None  # characters that tell the accuracy


def found_in(text: str) -> list[Coordinates]:
    """Returns the coordinates of a text in order."""
    plain = text.translate(_SIGNS)
    out: list[Coordinates] = []
    for match in _FOUND.finditer(plain):
        if match["sided"] and not (_PRECISE.search(match["one"]) and _PRECISE.search(match["other"])):
            continue
        points = tuple(_points(match)) if len(out) < _MOST else ()
        is_pair = bool(match["sided"] or match["bare"])
        turned = [(b, a) for a, b in points if abs(b) <= 90.0] if is_pair else []
        told = _ACCURACY.match(plain, match.end())
        sigma = max(_resolution(match), SURE)
        if told is not None:
            number, unit = next((told[n + 1], told[n + 2]) for n in (0, 2) if told[n + 1])
            how, size = UNITS[unit.lower()]
            sigma = max(float(number) * size / RADIUS, 1.0) if how != "walked" else sigma
        valid = tuple(point for point in points if abs(point[0]) <= 90.0 and abs(point[1]) <= 180.0)
        span = told.span() if told is not None else None
        out.append(Coordinates(*match.span(), valid, sigma, turned[0] if turned else None, span))
    return out


def _points(match: re.Match[str]) -> Iterator[tuple[float, float]]:
    """Yields what matched coordinates may mean, degrees; none where they are not valid."""
    try:
        if match["mgrs"]:
            yield read_mgrs(" ".join(_spaced(match["mgrs"])))
        elif match["utm"]:
            band = match["band"]
            for hemisphere in "NS" if band == "S" else "N" if band >= "N" else "S":  # S: a band, or the south
                yield read_utm(int(match["zone"]), hemisphere, float(match["east"]), float(match["north"]))
        elif match["sided"]:
            first, second = _degrees(match["one"]), _degrees(match["other"])
            is_turned = bool(set(match["one"].upper()) & set("EW")) and bool(set(match["other"].upper()) & set("NS"))
            yield (second, first) if is_turned else (first, second)
        elif match["bare"]:
            yield float(match["first"]), float(match["second"])
    except (ValueError, ArithmeticError):
        return


def _spaced(text: str) -> Iterator[str]:
    """Yields the parts of an MGRS reference: zone and band, square, easting and northing."""
    plain = re.sub(r"\s", "", text)
    head = re.match(r"\d+[A-Z]{3}", plain)
    assert head is not None
    digits = plain[head.end() :]
    pair = re.search(r"(\d+)\s(\d+)$", text)
    half = len(pair[1]) if pair and len(pair[1]) + len(pair[2]) == len(digits) else len(digits) // 2
    if 2 * half != len(digits):
        raise ValueError(text)
    yield from (head[0][:-2], head[0][-2:], digits[:half], digits[half:])


def _degrees(text: str) -> float:
    """Returns the degrees of one side of a pair, "34°00'04\\"N" or "N 34.0012"; raises ValueError."""
    side = next(letter for letter in text if letter in "NSEW")
    plain = re.sub(r"deg(?:rees?)?|d", "°", text.replace(side, "")).replace("m", "'").strip()
    parts = plain if "°" in plain or " " not in plain else plain.replace(" ", "°", 1)
    return float(parseDMS(f"{parts}{side}", suffix="NSEW"))


def _resolution(match: re.Match[str]) -> float:
    """Returns the standard deviation (m) that the number of digits leaves."""
    if match["mgrs"]:
        return float(10.0 ** (5 - len("".join(_digits(match["mgrs"]))) // 2)) / math.sqrt(12.0)
    if match["utm"]:
        return 1.0
    decimals = [len(places) for places in re.findall(r"\.(\d+)", match[0])]
    parts = min(len(re.findall(r"\d+(?:\.\d+)?", match[side] or "")) for side in ("one", "other")) or 1
    return _ARC / 60.0 ** (parts - 1) * 10.0 ** -min(decimals, default=0) / math.sqrt(12.0)


def _digits(text: str) -> list[str]:
    head = re.match(r"\d{1,2}\s?[A-Z]\s?[A-Z]{2}", text)
    return re.findall(r"\d", text[head.end() if head else 0 :])


def ground_told(
    points: Sequence[Coordinates], sentences: Sequence[Sequence[Item]], ground: Ground | None
) -> Ground | None:
    """Returns the ground of a brief: the one that is known, else that around the coordinates told of the vehicle.

    sentences: the other words of the sentence of each.
    """
    if ground is not None:
        return ground
    for one, items in zip(points, sentences, strict=True):
        tags = {item.tag for item in items}
        if tags & _OWN and not tags & _THEIRS and one.points:
            return Ground(Origin(*one.points[0], 0.0), np.zeros(2))
    return None


def placed(one: Coordinates, text: str, items: Sequence[Item], ground: Ground | None, move: Move) -> Passage:
    """Returns what coordinates are read as; items: the other words of their sentence; move: what these say of them.

    They are used where they lie in the search area and their sentence tells of somebody, a clue or a phone.
    """

    def left(why: str) -> Passage:
        return Passage(one.start, one.end, None, Content.COORDINATES, why)

    if not one.points:
        return left("they are not valid, or one of two is lacking")
    if ground is None:
        return left("it is not known where the drone starts: esar brief --start LAT,LON")
    places = [ground.place(*point) for point in one.points]
    place = next((place for place in places if ground.holds(place)), None)
    if place is None:
        is_swapped = one.swapped is not None and ground.holds(ground.place(*one.swapped))
        return left("latitude and longitude seem exchanged" if is_swapped else "they lie outside the search area")
    east, north = place - ground.home
    tags = {item.tag for item in items}
    is_theirs = bool(tags & _THEIRS or move.kinds or move.persons or _SIGNALS & {item.low for item in items})
    if tags & _OWN:
        off = math.hypot(east, north)
        if is_theirs or off > _SAME_PLACE + 2.0 * one.sigma:
            return left(
                "they may be the drone's or somebody else's" if is_theirs else f"the drone starts {off:.0f} m off"
            )
        return Passage(one.start, one.end, StartFact(text[one.start : one.end], None, None), Content.COORDINATES)
    if not is_theirs:
        return left("it is not told who or what is there")
    fix = Fix(float(east), float(north), one.sigma)
    way = Distance(math.hypot(east, north), STATED_SPREAD), Direction(math.atan2(north, east))
    fact = replace(move, distance=way[0], direction=way[1], reference=Reference.VEHICLE, fix=fix)
    return Passage(one.start, one.end, fact, Content.COORDINATES)


def masked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Returns a text of the same length with blanks where spans stand, so that nothing else is read there."""
    parts, at = [], 0
    for start, end in sorted(spans):
        parts += [text[at:start], re.sub(r"[^\n]", " ", text[max(start, at) : end])]
        at = max(end, at)
    return "".join([*parts, text[at:]])
