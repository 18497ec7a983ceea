"""The first probability of area (POA) of an incident: by the words, by the statistics of lost people, by terrain."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter  # type: ignore[import-untyped]

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Area, AreaKind, Floats, Place
from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.terrain import Terrain, weighed
from esar_ros.planning.belief.brief.coordinates import Ground as BriefGround
from esar_ros.planning.belief.brief.facts import BriefFacts
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.prior import PriorSettings, sample
from esar_ros.planning.methods.patterns.lost_persons import Distances

BY_WORDS = 0.5
"""Share of the prior that follows the words, where they say where somebody went; the rest follows the statistics.
Assumed, not published."""
SAMPLES = 20_000  # lines by the words
SEGMENT = 300.0  # m, side of a segment: some nine hectares, a quarter of an hour's flight or an hour on foot
_BLUR = 20.0  # m, of the density of samples


class Prior(NamedTuple):
    """POA; all sums to 1."""

    cells: Floats  # (H, W) probability in each cell of the ground
    rest: float  # anywhere else
    by_words: float  # share that follows the words
    facts: BriefFacts  # what was read


class Parts(NamedTuple):
    """The parts of a prior, before terrain is counted: each sums to 1 with what lies beyond the ground."""

    by_distance: Floats  # (H, W)
    by_words: Floats | None  # (H, W); None: they do not say where anybody went
    facts: BriefFacts


def lay_prior(words: str, ipp: Place, ground: Ground, distances: Distances, terrain: Terrain, seed: int = 0) -> Prior:
    """Returns the POA of somebody last known at the initial planning point, by the cells of the ground.

    ground: coarse enough that a cell is a place to search, 20 m or so; distances: of people of the subject's kind.
    """
    return mix(parts_of(words, ipp, ground, distances, seed), terrain)


def parts_of(words: str, ipp: Place, ground: Ground, distances: Distances, seed: int = 0) -> Parts:
    """Returns the densities by distance and by the words, blurred by the error of the initial planning point."""
    position, sigma = ipp.position, ipp.sigma or 0.0
    middle = ground.to_grid(position.latitude, position.longitude)
    rows, columns = ground.heights.shape
    east = ground.west + ground.cell * (np.arange(columns) + 0.5) - middle[0]
    north = ground.north - ground.cell * (np.arange(rows) + 0.5) - middle[1]
    away = np.hypot(*np.meshgrid(east, north))
    by_distance = distances.density(np.maximum(away, ground.cell / 2.0)) * ground.cell**2
    by_distance *= _mass_near(distances, by_distance, away)
    if sigma > 0.0:
        by_distance = gaussian_filter(by_distance, sigma / ground.cell, mode="constant")
    origin = Origin(position.latitude, position.longitude, 0.0)
    facts = parse_brief(words, BriefGround(origin, np.zeros(2)))
    if not facts.moves:
        return Parts(by_distance, None, facts)
    random = np.random.default_rng(seed)
    ends = sample(facts, None, np.zeros(2), PriorSettings(samples=SAMPLES), random).ends
    ends = ends + random.normal(0.0, max(sigma, 1e-9), ends.shape)
    turned = ground.convergence(position.latitude, position.longitude)
    return Parts(by_distance, _density(ends, ground, middle, turned), facts)


def mix(parts: Parts, terrain: Terrain, by_words: float = BY_WORDS) -> Prior:
    """Returns the POA. by_words: the share that follows the words, where they say where somebody went."""
    cells = weighed(parts.by_distance, terrain)
    share = 0.0
    if parts.by_words is not None:
        share = by_words
        cells = (1.0 - share) * cells + share * parts.by_words
    within = float(cells.sum())
    if terrain.factor is not None:
        cells = cells * terrain.factor
        cells *= within / max(float(cells.sum()), 1e-300)  # who is not there is on the ground about it
    return Prior(cells, 1.0 - within, share, parts.facts)


def _mass_near(distances: Distances, cells: Floats, away: Floats) -> float:
    """Returns the factor by which cells within the farthest whole circle hold what the statistics say of it.

    The density has a peak at its middle that cells of some metres do not resolve.
    """
    edge = float(min(away[0].min(), away[-1].min(), away[:, 0].min(), away[:, -1].min()))
    inside = float(cells[away <= edge].sum())
    return float(distances.within(np.array(edge))) / inside if edge > 0.0 and inside > 0.0 else 1.0


def _density(ends: Floats, ground: Ground, middle: tuple[float, float], convergence: float) -> Floats:
    """Returns the share of places (S, 2), m true east and north of the middle, in each cell."""
    c, s = math.cos(math.radians(convergence)), math.sin(math.radians(convergence))
    x = middle[0] + c * ends[:, 0] - s * ends[:, 1]
    y = middle[1] + s * ends[:, 0] + c * ends[:, 1]
    column = np.floor((x - ground.west) / ground.cell).astype(int)
    row = np.floor((ground.north - y) / ground.cell).astype(int)
    rows, columns = ground.heights.shape
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    counted = np.zeros(ground.heights.shape)
    np.add.at(counted, (row[inside], column[inside]), 1.0 / len(ends))
    return np.asarray(gaussian_filter(counted, _BLUR / ground.cell, mode="constant"))


def segments(poa: Floats, ground: Ground, inside: NDArray[np.bool_] | None = None) -> list[Area]:
    """Returns squares that part the ground, each with its POA: A1 in the north-west, letters eastward.

    inside: (H, W) cells that are searched; squares without any are left out. None: all.
    """
    rows, columns = poa.shape
    step = max(1, round(SEGMENT / ground.cell))
    searched = np.ones(poa.shape, bool) if inside is None else inside
    found = []
    for number, top in enumerate(range(0, rows, step)):
        for letter, left in enumerate(range(0, columns, step)):
            block = np.s_[top : top + step, left : left + step]
            if not searched[block].any():
                continue
            bottom, right = min(top + step, rows), min(left + step, columns)
            corners = ((left, top), (right, top), (right, bottom), (left, bottom))
            outline = [_degrees(ground, column, row) for column, row in corners]
            name = f"{_letters(letter)}{number + 1}"
            found.append(Area(name, AreaKind.SEGMENT, np.array(outline), poa=float(poa[block].sum())))
    return found


def _degrees(ground: Ground, column: int, row: int) -> tuple[float, float]:
    """Returns longitude and latitude of a corner of a cell."""
    x, y = ground.west + ground.cell * column, ground.north - ground.cell * row
    return ground.to_geodetic(x, y)[::-1]


def _letters(number: int) -> str:
    """Returns A to Z, AA, AB, ..."""
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
