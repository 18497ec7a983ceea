"""MapScores of priors: distance rings alone, the words, the POA of an incident, and terrain in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Floats, Place, PlaceKind, Position
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.laying import CELL
from esar_ros.incident.prior.mixing import BY_WORDS, mix, parts_of
from esar_ros.incident.prior.terrain import Terrain
from esar_ros.mission.briefing import AREA_MARGIN
from esar_ros.planning.belief.map_score import map_score
from esar_ros.planning.methods.patterns.lost_persons import Distances
from esar_ros.sim.terrain.maps import PlaceMap

LEVEL = 3000.0  # m, half of the least side of a search area that nobody states
RINGS, WORDS, POA = "rings", "brief", "brief and rings"


class Searched(NamedTuple):
    """A map's ground by cells, and which of them are searched."""

    ground: Ground
    inside: NDArray[np.bool_]  # (H, W)


def searched(place: PlaceMap) -> Searched:
    """Returns the ground of a map that the simulator draws, with a grid whose axes are the map's."""
    half = place.size / 2.0
    count = int(place.size / CELL)
    middle = CELL * (np.arange(count) + 0.5) - count * CELL / 2.0
    at = np.stack(np.meshgrid(middle, middle[::-1]), axis=-1)
    origin = place.origin
    crs = f"+proj=aeqd +lat_0={origin.latitude} +lon_0={origin.longitude} +datum=WGS84 +units=m"
    heights = np.asarray(place.ground_height(at), dtype=np.float64) + origin.altitude
    ground = Ground(heights, -count * CELL / 2.0, count * CELL / 2.0, CELL, crs, 1.0)
    return Searched(ground, np.abs(at).max(axis=-1) < half - AREA_MARGIN)


def level(origin: Origin, farthest: float) -> Searched:
    """Returns level ground about a place of which no map is known, as wide as a find (m off it, along an axis) asks."""
    count = 2 * int(max(LEVEL, 1.5 * farthest) / CELL)
    crs = f"+proj=aeqd +lat_0={origin.latitude} +lon_0={origin.longitude} +datum=WGS84 +units=m"
    ground = Ground(np.zeros((count, count)), -count * CELL / 2.0, count * CELL / 2.0, CELL, crs, 1.0)
    return Searched(ground, np.ones((count, count), bool))


def ipp_at(ground: Ground, place: Vector) -> Place:
    """Returns an initial planning point at a place (2,) m east and north of the grid."""
    return Place("IPP", PlaceKind.IPP, Position(*ground.to_geodetic(float(place[0]), float(place[1]))))


class Kind(NamedTuple):
    """By what a prior is laid."""

    by_words: float
    terrain: Terrain


def without_terrain() -> dict[str, Kind]:
    """Returns rings alone, the words where they say where somebody went, and both."""
    bare = Terrain()
    return {RINGS: Kind(0.0, bare), WORDS: Kind(1.0, bare), POA: Kind(BY_WORDS, bare)}


def kinds_of_prior(terrain: Terrain) -> dict[str, Kind]:
    """Returns the priors that are compared: those without any terrain, and with one kind of terrain more each."""
    kinds = without_terrain()
    for name, own in (
        ("slope", replace(terrain, drained=None, offset=None)),
        ("drainages", replace(terrain, factor=None, offset=None)),
        ("trails", replace(terrain, factor=None, drained=None)),
    ):
        kinds[f"with {name}"] = Kind(BY_WORDS, own)  # of ground that has none of it: as without
    return kinds


def scores(
    words: str, home: Vector, on: Searched, found: Vector, distances: Distances, kinds: Mapping[str, Kind]
) -> dict[str, float]:
    """Returns the MapScore of each kind of prior. home: of the IPP, found: where somebody was found; (2,) m, grid."""
    parts = parts_of(words, ipp_at(on.ground, home), on.ground, distances)
    return {name: score(mix(parts, kind.terrain, kind.by_words).cells, on, found) for name, kind in kinds.items()}


def score(cells: Floats, on: Searched, found: Vector) -> float:
    """Returns the MapScore of probabilities (H, W) where somebody was found at a place (2,) m, grid."""
    column = int((found[0] - on.ground.west) // on.ground.cell)
    row = int((on.ground.north - found[1]) // on.ground.cell)
    return map_score(cells[on.inside], float(cells[row, column]))
