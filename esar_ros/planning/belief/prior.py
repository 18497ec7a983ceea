"""Prior of the missing people's positions, before anything is seen: walked lines sampled from the brief.

A hypothesis is a line that somebody walked, from the landmark by which the start is given through the places that the
brief mentions to where the person is. Its uncertainty is what words leave open: a compass word of eight means 22.5
degrees to either side, a round distance its rounding, "a few minutes" a factor. A share of the people is not where the
words lead: on the route there, beyond it, or anywhere around; these shares are assumed, not published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.ndimage import gaussian_filter  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.belief.brief.facts import BriefFacts, Direction, Distance, Move, Reference, StartFact
from esar_ros.planning.search_area import distance_to_edge

_OCTANT = math.radians(22.5)  # a word of eight directions leaves this much to either side
_SHORT_SHARE = 0.8  # of those who are said not to have reached a place that lie before it
_SHORT_FACTOR = 2.0  # longer than a way from a place: it is the rest of a way to it
_CELL, _BLUR = 20.0, 1.0  # m, cells: as fine as the area of a prior is measured
_FARTHEST = 15000.0  # m from the start: as far as cells of that size reach; they grow with what is told to be farther
_UNMEASURED = 0.5  # weight of a reading without any distance, beside one that has some
_TOLD = 1.5  # times as far as the farthest way told reaches what may be searched
_EVENLY = 0.5  # of the doubt that comes of the brief lies evenly over all that is searched
_MOST = 0.95  # of the prior that does not follow a brief of which something is known
_DRAWS = 4  # for each place in an area, of its bounding box
_ELSEWHERE = 0.5  # probability that a landmark is not near where a vehicle starts of whose start nothing is told
_NODES = 8  # of a line at most; longer stories keep their last places


class PriorSettings(StrictModel):
    """Trust in the brief's words. Shares add up to less than one; the rest is at the last place given."""

    samples: int = Field(default=6000, ge=100, description="hypotheses for each missing person")
    unknown_way: float = Field(default=150.0, gt=0, description="m, median of a way whose length is not told")
    unknown_spread: float = Field(default=0.7, gt=0, description="standard deviation of its logarithm")
    near: float = Field(default=30.0, gt=0, description="m, standard deviation of what is said to be close to a place")
    on_the_way: float = Field(default=0.2, ge=0, lt=1, description="share that is on the line, not at its end")
    beyond: float = Field(default=0.1, ge=0, lt=1, description="share that went on")
    astray: float = Field(default=0.15, ge=0, lt=1, description="share that is anywhere around")
    astray_way: float = Field(default=250.0, gt=0, description="m, median way of those")
    astray_spread: float = Field(default=0.8, gt=0, description="standard deviation of its logarithm")
    doubt: float = Field(default=0.05, ge=0, lt=1, description="share that is where it would be without a brief")
    doubt_unread: float = Field(
        default=0.3, ge=0, lt=1, description="added to it where nothing of a brief is understood"
    )
    doubt_adrift: float = Field(
        default=0.6, ge=0, lt=1, description="added to it where all that is understood counts from places not located"
    )
    anywhere: float = Field(
        default=1500.0, gt=0, description="m around the start that are searched, if no area is given"
    )


@dataclass(frozen=True)
class Hypotheses:
    """Equally likely lines of one person: S samples of N nodes; the last node is where the person is.

    A line with fewer places repeats its first one.
    """

    nodes: NDArray[np.float64]  # (S, N, 2) m, map frame
    kinds: tuple[frozenset[str], ...]  # (N,) clue kinds that the brief names with each node
    doubted: NDArray[np.bool_] | None = None  # (S,) whose end has nothing to do with the brief
    untold: NDArray[np.float64] | None = None  # (S, 2) m, map: more places of those, to draw their density by

    @property
    def ends(self) -> NDArray[np.float64]:
        """Positions of the person, (S, 2) m."""
        return self.nodes[:, -1]


def sample(
    facts: BriefFacts,
    person: str | None,
    home: Vector,
    settings: PriorSettings,
    random: np.random.Generator,
    area: NDArray[np.float64] | None = None,
) -> Hypotheses:
    """Hypotheses for one of the missing (by name, None: not named), the vehicle starting at home (2,).

    Statements that do not lead on from one another are rival readings: a sample ends where one of them does, drawn by
    their weights. area: corners (N, 2; m, map) of what is searched; None: `anywhere` around home, or as far as is told.
    """
    count = settings.samples
    anchor = _anchor(facts.start, home, settings, random)
    line: list[NDArray[np.float64]] = [anchor]
    kinds: list[frozenset[str]] = [frozenset()]
    moves = [move for move in facts.moves if not move.persons or person is None or person in move.persons]
    own = [move for move in moves if move.reference is not Reference.DEFINES_START][-(_NODES - 3) :]
    own = own if any(not move.searched for move in own) else []  # where nobody was found is no place to look first
    defining = next((move for move in moves if move.reference is Reference.DEFINES_START), None)
    angle = np.full(count, np.nan)
    angles = [angle]
    for move in own:
        angle = _bearing(move.direction, angle, random, count)
        if move.fix is not None:
            place = home + (move.fix.east, move.fix.north)
            line.append(place + random.normal(0.0, move.fix.sigma, (count, 2)))
            kinds.append(move.kinds)
            angles.append(np.full(count, np.nan))
            angle = angles[-1]
            continue
        origin = _origin(move.reference, line, home, settings, random)
        distance = _length(move.distance, settings, random, count)
        if facts.short_of_it and move.distance is None and len(line) == 1:
            # The landmark lies ahead of somebody who has not come as far.
            distance = np.where(random.uniform(size=count) < _SHORT_SHARE, -_SHORT_FACTOR * distance, distance)
        line.append(origin + _polar(distance, angle))
        kinds.append(move.kinds)
        angles.append(angle)
    ends, weights = _ends(own)
    share, evenly = _doubt(facts, _adrift(own, facts.start, defining, ends, weights), settings)
    if defining is not None:
        line.insert(0, _before(defining, own, anchor, settings, random))
        kinds.insert(0, defining.kinds)
        angles.insert(0, angles[0])
        ends = [end + 1 for end in ends]
    at = np.sort(random.choice(ends, count, p=weights)) if len(ends) > 1 else np.full(count, ends[0])
    read = _ended(line, kinds, at, angles, settings, random, at_anchor=defining is not None and not own)
    reach = max([settings.anywhere, *(_TOLD * move.distance.metres for move in own if move.distance is not None)])
    return _doubted(read, share, evenly, home, settings, random, area, reach)


def half_area(ends: NDArray[np.float64]) -> float:
    """Returns the area (hectares) of the cells that hold half of the persons at `ends` (S, 2) m, densest first."""
    growth = max(1.0, 1.5 * float(np.quantile(np.abs(ends), 0.95)) / _FARTHEST)
    farthest, size = growth * _FARTHEST, growth * _CELL
    cells = np.floor(np.clip(ends, -farthest, farthest) / size).astype(int)
    cells -= cells.min(axis=0) - 4
    counted = np.zeros(cells.max(axis=0) + 5)
    np.add.at(counted, (cells[:, 0], cells[:, 1]), 1.0 / len(ends))
    density = np.sort(gaussian_filter(counted, _BLUR).reshape(-1))[::-1]
    return float(np.searchsorted(np.cumsum(density), 0.5 * density.sum()) + 1) * size**2 / 1e4


def _ends(own: Sequence[Move]) -> tuple[list[int], list[float]]:
    """Returns the nodes at which readings end, and the probability of each; node 0 is the landmark."""
    chains: list[list[int]] = []
    for number, move in enumerate(own, 1):
        if move.reference is Reference.PREVIOUS and chains:
            chains[-1].append(number)
        else:
            chains.append([number])
    if not chains:
        return [0], [1.0]
    weights = []
    for chain in chains:
        told = [own[number - 1] for number in chain]
        weight = min(move.certainty for move in told) * (0.0 if all(move.searched for move in told) else 1.0)
        weights.append(weight * (1.0 if any(move.distance is not None for move in told) else _UNMEASURED))
    if not any(weights):
        return [0], [1.0]
    return [chain[-1] for chain in chains], [weight / sum(weights) for weight in weights]


def _adrift(
    own: Sequence[Move], start: StartFact | None, defining: Move | None, ends: Sequence[int], weights: Sequence[float]
) -> float:
    """Returns the probability of the readings that begin at a place of which it is not known where it lies.

    Where the vehicle's start is not told, a landmark may be any: a mast, or a car that was found.
    """
    if not own:
        return float(defining is not None)
    begins, begin = [0], 0  # for each node, the move at which its reading begins
    for number, move in enumerate(own, 1):
        begin = begin if move.reference is Reference.PREVIOUS and begin else number
        begins.append(begin)
    adrift = {Reference.OTHER: 1.0, Reference.START: 0.0 if start is not None else _ELSEWHERE}
    lost = [adrift.get(own[begins[end] - 1].reference, 0.0) if begins[end] else 0.0 for end in ends]
    return sum(weight * share for weight, share in zip(weights, lost, strict=True))


def _doubt(facts: BriefFacts, adrift: float, settings: PriorSettings) -> tuple[float, float]:
    """Returns the share of the prior that does not follow the brief, and how much of it lies evenly over all searched.

    The one place where what is unread widens the prior. The share grows with the share of what the brief tells that no
    reading used. It grows with the readings that count from a place that is not located, too. Where no reading tells
    where anybody is, silence is as wide as words that are not read.
    """
    is_told = any(not move.searched for move in facts.moves)
    unread = settings.doubt_unread * facts.unread if is_told else 1.0
    share = min(settings.doubt + unread + settings.doubt_adrift * adrift, _MOST)
    return share, _EVENLY * (share - settings.doubt)


def _doubted(
    read: Hypotheses,
    share: float,
    evenly: float,
    home: Vector,
    settings: PriorSettings,
    random: np.random.Generator,
    area: NDArray[np.float64] | None,
    reach: float,
) -> Hypotheses:
    """Returns the hypotheses with a share of them where somebody of whom no brief tells would be.

    So whatever is misread, the density falls nowhere below that share of the one without a brief; `evenly` of all lies
    evenly over the area, or over `reach` (m) around home.
    """
    count = round(len(read.nodes) * share)
    rows = random.permutation(len(read.nodes))[:count]
    nodes = read.nodes.copy()
    untold = _untold(home, settings, random)
    wide = round(len(untold) * evenly / share) if evenly else 0
    if wide:
        untold[random.permutation(len(untold))[:wide]] = _spread_evenly(wide, home, random, area, reach)
    nodes[rows, -1] = untold[:count]
    doubted = np.zeros(len(nodes), dtype=bool)
    doubted[rows] = True
    return Hypotheses(nodes, read.kinds, doubted, untold)


def _spread_evenly(
    count: int, home: Vector, random: np.random.Generator, area: NDArray[np.float64] | None, reach: float
) -> NDArray[np.float64]:
    """Returns places (count, 2; m, map) spread evenly over an area, or over a disc around home."""
    if area is None:
        return home + _polar(reach * np.sqrt(random.uniform(size=count)), _anyhow(random, count))
    low, high = area.min(axis=0), area.max(axis=0)
    drawn = random.uniform(low, high, (_DRAWS * count, 2))
    inside = drawn[distance_to_edge(area, drawn) > 0.0]
    return np.resize(inside if len(inside) else drawn, (count, 2))


def _untold(home: Vector, settings: PriorSettings, random: np.random.Generator) -> NDArray[np.float64]:
    """Returns places (S, 2; m, map) of somebody of whom nothing is told but where the vehicle starts."""
    anchor = _anchor(None, home, settings, random)
    line = _ended([anchor], [frozenset()], np.zeros(settings.samples, dtype=int), [], settings, random, at_anchor=False)
    return line.ends


def _anchor(
    start: StartFact | None, home: Vector, settings: PriorSettings, random: np.random.Generator
) -> NDArray[np.float64]:
    """Returns samples (S, 2; m, map) of the position of the landmark from which the start is given."""
    count = settings.samples
    if start is None or (start.distance is None and start.direction is None):
        spread = settings.near if start is not None else settings.unknown_way
        return home + random.normal(0.0, spread, (count, 2))
    angle = _bearing(start.direction, np.full(count, np.nan), random, count)
    return home - _polar(_length(start.distance, settings, random, count), angle)


def _bearing(
    direction: Direction | None, last: NDArray[np.float64], random: np.random.Generator, count: int
) -> NDArray[np.float64]:
    """Returns samples of an angle (rad): as given, else onwards in the last direction, else uniform."""
    if direction is not None:
        return direction.angle + random.uniform(-_OCTANT, _OCTANT, count) + random.normal(0.0, 0.1, count)
    anyhow = _anyhow(random, count)
    return np.where(np.isnan(last), anyhow, last + random.normal(0.0, 0.5, count))


def _length(
    distance: Distance | None, settings: PriorSettings, random: np.random.Generator, count: int
) -> NDArray[np.float64]:
    """Returns samples of a length (m): log-normal about the one given, its rounding of 25 m to either side added."""
    if distance is None:
        return settings.unknown_way * np.exp(settings.unknown_spread * random.normal(size=count))
    rounding = random.uniform(-25.0, 25.0, count)
    return np.maximum(distance.metres * np.exp(distance.spread * random.normal(size=count)) + rounding, 0.0)


def _origin(
    reference: Reference,
    line: list[NDArray[np.float64]],
    home: Vector,
    settings: PriorSettings,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Returns samples (S, 2; m, map) of a move's origin: at home, at the landmark, or where the last move ended.

    Of an unknown origin they are shared among the landmark, the last move's end and the landmark's surroundings.
    """
    if reference is Reference.VEHICLE:
        return np.broadcast_to(home, line[0].shape)
    if reference is Reference.START:
        return line[0]
    if reference is Reference.PREVIOUS:
        return line[-1]
    count = settings.samples
    draw = random.uniform(size=count)[:, None]
    around = _polar(_length(None, settings, random, count), _anyhow(random, count))
    return np.where(draw < 0.3, line[0], np.where(draw < 0.6, line[-1], line[0] + around))


def _before(
    defining: Move, own: list[Move], anchor: NDArray[np.float64], settings: PriorSettings, random: np.random.Generator
) -> NDArray[np.float64]:
    """The place from which the brief leads to the landmark."""
    count = len(anchor)
    direction = defining.direction or next((move.direction for move in own if move.direction), None)
    angle = _bearing(direction, np.full(count, np.nan), random, count)
    return anchor - _polar(_length(defining.distance, settings, random, count), angle)


def _ended(
    line: list[NDArray[np.float64]],
    kinds: list[frozenset[str]],
    at: NDArray[np.intp],
    angles: list[NDArray[np.float64]],
    settings: PriorSettings,
    random: np.random.Generator,
    at_anchor: bool,
) -> Hypotheses:
    """Returns the lines with the person's place at their end; at: node (S,) at which each sample's reading ends."""
    places = np.stack(line, axis=1)
    count, length = len(places), len(line)
    rows = np.arange(count)
    last = places[rows, at]
    end = last + random.normal(0.0, settings.near, (count, 2))
    draw: NDArray[np.float64] = random.uniform(size=count)
    if length > 1:
        share = np.sqrt(random.uniform(size=count))  # nearer the end than the beginning
        walked = np.where(np.arange(length)[None, :, None] <= at[:, None, None], places, last[:, None])
        on_line = _along(walked, share) + random.normal(0.0, settings.near, (count, 2))
        limit = settings.on_the_way * (2.0 if at_anchor else 1.0)
        end = np.where((draw < limit)[:, None], on_line, end)
        draw -= limit
        angle = np.stack(angles, axis=1)[rows, at]
        ahead = np.where(np.isnan(angle), _anyhow(random, count), angle)
        further = last + _polar(random.exponential(settings.unknown_way, size=count), ahead)
        end = np.where(((draw >= 0.0) & (draw < settings.beyond))[:, None], further, end)
        draw -= settings.beyond
    distance = settings.astray_way * np.exp(settings.astray_spread * random.normal(size=count))
    astray = last + _polar(distance, _anyhow(random, count))
    lost = settings.astray if length > 1 else 0.5
    end = np.where(((draw >= 0.0) & (draw < lost))[:, None], astray, end)
    return Hypotheses(np.concatenate([places, end[:, None]], axis=1), (*kinds, frozenset()))


def _along(places: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points at a share (S,) of the length of each line (S, N, 2)."""
    steps = np.linalg.norm(np.diff(places, axis=1), axis=2)
    run = np.concatenate([np.zeros((len(places), 1)), np.cumsum(steps, axis=1)], axis=1)
    wanted = share * run[:, -1]
    segment = np.clip((run <= wanted[:, None]).sum(axis=1) - 1, 0, places.shape[1] - 2)
    rows = np.arange(len(places))
    part = (wanted - run[rows, segment]) / np.maximum(steps[rows, segment], 1e-9)
    first: NDArray[np.float64] = places[rows, segment]
    return first + part[:, None] * (places[rows, segment + 1] - first)


def _polar(length: NDArray[Any], angle: NDArray[Any]) -> NDArray[np.float64]:
    return length[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _anyhow(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    return random.uniform(-math.pi, math.pi, size=count)
