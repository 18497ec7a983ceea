"""A settlement's plan: pieces of scenery, painted surfaces, water, woods and trees. Lengths in m, map frame."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # (N, 2) m
Colour = tuple[float, float, float]  # linear albedo

# Of surfaces.
ASPHALT: Colour = (0.085, 0.086, 0.090)
PAVING: Colour = (0.250, 0.240, 0.225)
GRAVEL: Colour = (0.330, 0.285, 0.220)
EARTH: Colour = (0.170, 0.125, 0.085)
SAND: Colour = (0.520, 0.420, 0.270)
LAWN: Colour = (0.070, 0.140, 0.030)
LAWN_LIGHT: Colour = (0.092, 0.172, 0.040)
WHEAT: Colour = (0.420, 0.320, 0.120)
CROP: Colour = (0.065, 0.165, 0.030)
COURT: Colour = (0.290, 0.090, 0.045)


class Piece(NamedTuple):
    """Something built. Its own frame: x along `length`, front at -y where it has one, standing on the ground at xy."""

    kind: str  # of sim/assets/buildings
    xy: tuple[float, float]
    yaw: float  # rad
    length: float  # along its x
    width: float  # along its y
    height: float
    style: str = ""  # what the kind makes of it, words with spaces
    seed: int = 0


class Surface(NamedTuple):
    """Ground of one colour; striped where spacing > 0."""

    outline: tuple[tuple[float, float], ...]  # simple polygon
    colour: Colour
    paved: bool  # else soil or plants
    other: Colour = (0.0, 0.0, 0.0)  # of every second stripe
    spacing: float = 0.0  # m, of a stripe
    yaw: float = 0.0  # rad, along the stripes


class PlannedTree(NamedTuple):
    """A tree or bush that somebody planted."""

    xy: tuple[float, float]
    species: str  # of world.scatter
    height: float


@dataclass(frozen=True)
class Plan:
    """All of a settlement."""

    pieces: tuple[Piece, ...]
    surfaces: tuple[Surface, ...]  # later ones lie over earlier ones
    trees: tuple[PlannedTree, ...]
    woods: tuple[tuple[tuple[float, float], ...], ...] = ()  # outlines
    waters: tuple[tuple[tuple[float, float], ...], ...] = ()  # outlines

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of everything, to a tenth of a millimetre."""
        parts = [self.pieces, self.surfaces, self.trees, self.woods, self.waters]
        text = json.dumps(parts, default=_plain)
        return hashlib.sha256(json.dumps(_rounded(json.loads(text))).encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(type(value).__name__)


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4) + 0.0
    return [_rounded(item) for item in value] if isinstance(value, list) else value


class Planner:
    """Lays a plan out; remembers which ground is taken, so that nothing is built twice over."""

    def __init__(self, seed: int, size: float) -> None:
        self.rng = np.random.default_rng(seed)
        self.size = size
        self._pieces: list[Piece] = []
        self._surfaces: list[Surface] = []
        self._trees: list[PlannedTree] = []
        self._woods: list[tuple[tuple[float, float], ...]] = []
        self._waters: list[tuple[tuple[float, float], ...]] = []
        self._taken: list[tuple[float, float, float, float, float]] = []  # x, y, half length, half width, yaw

    def plan(self) -> Plan:
        """Returns all that was laid out so far."""
        return Plan(
            tuple(self._pieces), tuple(self._surfaces), tuple(self._trees), tuple(self._woods), tuple(self._waters)
        )

    def number(self, low: float, high: float) -> float:
        """A random number."""
        return float(self.rng.uniform(low, high))

    def pick(self, words: str) -> str:
        """One of several words between spaces."""
        options = words.split()
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        """True in a share of all cases."""
        return bool(self.rng.random() < share)

    def put(
        self,
        kind: str,
        x: float,
        y: float,
        length: float,
        width: float,
        height: float,
        yaw: float = 0.0,
        style: str = "",
        clear: float | None = None,
    ) -> bool:
        """Build a piece. clear: m to everything built with a clearance before; None for what needs no room.

        Returns whether there was room, and the piece is built.
        """
        if clear is not None:
            if not self.has_room(x, y, length / 2 + clear, width / 2 + clear, yaw):
                return False
            self._taken.append((x, y, length / 2, width / 2, yaw))
        seed = int(self.rng.integers(1 << 30))
        self._pieces.append(Piece(kind, (float(x), float(y)), float(yaw), length, width, height, style, seed))
        return True

    def keep_free(self, x: float, y: float, length: float, width: float, yaw: float = 0.0) -> None:
        """Let nothing that needs room be built on a rectangle."""
        self._taken.append((x, y, length / 2, width / 2, yaw))

    def has_room(self, x: float, y: float, half_length: float, half_width: float, yaw: float) -> bool:
        """Returns whether a rectangle lies on the map and on nothing that needs room."""
        reach = math.hypot(half_length, half_width)
        if max(abs(x), abs(y)) + reach > self.size / 2:
            return False
        return not any(
            _overlap((x, y, half_length, half_width, yaw), other)
            for other in self._taken
            if math.hypot(other[0] - x, other[1] - y) < reach + math.hypot(other[2], other[3])
        )

    def run(
        self,
        kind: str,
        line: Sequence[tuple[float, float]],
        part: float,
        width: float,
        height: float,
        style: str = "",
        gaps: Sequence[tuple[float, float, float]] = (),
    ) -> None:
        """A wall, fence or hedge along a line, in parts of about a length; gaps: circles (x, y, radius) left open."""
        for (x0, y0), (x1, y1) in pairwise(line):
            whole = math.hypot(x1 - x0, y1 - y0)
            count = max(1, round(whole / part))
            yaw = math.atan2(y1 - y0, x1 - x0)
            for k in range(count):
                u = (k + 0.5) / count
                x, y = x0 + u * (x1 - x0), y0 + u * (y1 - y0)
                if any(math.hypot(x - a, y - b) < r for a, b, r in gaps):
                    continue
                self.put(kind, x, y, whole / count, width, height, yaw, style)

    def row(self, kind: str, line: Sequence[tuple[float, float]], every: float, size: tuple[float, float, float],
            style: str = "", turn: float = 0.0) -> None:  # fmt: skip
        """Single pieces, such as lamps, every so many m along a line, turned against it."""
        for x, y, yaw in spaced(line, every):
            self.put(kind, x, y, *size, yaw + turn, style)

    def paint(
        self,
        outline: Sequence[tuple[float, float]],
        colour: Colour,
        paved: bool = False,
        other: Colour = (0.0, 0.0, 0.0),
        spacing: float = 0.0,
        yaw: float = 0.0,
    ) -> None:
        """A surface."""
        points = tuple((float(x), float(y)) for x, y in outline)
        self._surfaces.append(Surface(points, colour, paved, other, spacing, yaw))

    def road(self, line: Sequence[tuple[float, float]], width: float, colour: Colour, paved: bool = True) -> None:
        """A ribbon of ground along a line, where nothing that needs room is built."""
        left, right = offset(line, width / 2), offset(line, -width / 2)
        self.paint([*left, *right[::-1]], colour, paved)
        for (x0, y0), (x1, y1) in pairwise(line):
            length, yaw = math.hypot(x1 - x0, y1 - y0), math.atan2(y1 - y0, x1 - x0)
            self.keep_free((x0 + x1) / 2, (y0 + y1) / 2, length + 0.4 * width, width, yaw)

    def tree(self, x: float, y: float, species: str, low: float, high: float, clear: float = 0.0) -> None:
        """Plant a tree of a height in a range, unless something is built within `clear` m."""
        if clear > 0.0 and not self.has_room(x, y, clear, clear, 0.0):
            return
        if max(abs(x), abs(y)) < self.size / 2 - 2.0:
            self._trees.append(PlannedTree((float(x), float(y)), species, self.number(low, high)))

    def avenue(self, line: Sequence[tuple[float, float]], every: float, species: str, low: float, high: float,
               clear: float = 0.0) -> None:  # fmt: skip
        """Trees along a line."""
        for x, y, _ in spaced(line, every):
            self.tree(x, y, species, low, high, clear)

    def wood(self, outline: Sequence[tuple[float, float]]) -> None:
        """Ground on which the map's file scatters forest."""
        self._woods.append(tuple((float(x), float(y)) for x, y in outline))

    def water(self, outline: Sequence[tuple[float, float]]) -> None:
        """A pond or lake."""
        self._waters.append(tuple((float(x), float(y)) for x, y in outline))


def rectangle(x: float, y: float, length: float, width: float, yaw: float = 0.0) -> list[tuple[float, float]]:
    """Corners of a rectangle about (x, y), counter-clockwise."""
    c, s = math.cos(yaw), math.sin(yaw)
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    halves = [(sx * length / 2, sy * width / 2) for sx, sy in corners]
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in halves]


def blob(x: float, y: float, rx: float, ry: float, rng: np.random.Generator, rough: float = 0.12, count: int = 40
         ) -> list[tuple[float, float]]:  # fmt: skip
    """An irregular round outline about (x, y)."""
    waves = [(k, float(rng.uniform(0.0, 2.0 * math.pi)), rough / k * float(rng.uniform(0.6, 1.4))) for k in (2, 3, 5)]
    out = []
    for n in range(count):
        a = 2.0 * math.pi * n / count
        r = 1.0 + sum(height * math.sin(k * a + phase) for k, phase, height in waves)
        out.append((x + rx * r * math.cos(a), y + ry * r * math.sin(a)))
    return out


def spaced(line: Sequence[tuple[float, float]], every: float) -> list[tuple[float, float, float]]:
    """Points x, y and the line's yaw (rad) at even distances along a line, from half a distance on."""
    points = np.asarray(line, dtype=np.float64)
    steps = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    count = max(1, round(float(along[-1]) / every))
    out = []
    for k in range(count):
        s = (k + 0.5) / count * float(along[-1])
        i = min(int(np.searchsorted(along, s, side="right")) - 1, len(steps) - 1)
        u = (s - along[i]) / steps[i]
        p = points[i] + u * (points[i + 1] - points[i])
        d = points[i + 1] - points[i]
        out.append((float(p[0]), float(p[1]), math.atan2(float(d[1]), float(d[0]))))
    return out


def curved(points: Sequence[tuple[float, float]], rounds: int = 3) -> list[tuple[float, float]]:
    """The line with its corners cut (Chaikin); its ends stay."""
    p = np.asarray(points, dtype=np.float64)
    for _ in range(rounds):
        low, high = p[:-1], p[1:]
        cut = np.stack([0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high], axis=1).reshape(-1, 2)
        p = np.concatenate([p[:1], cut, p[-1:]])
    return [(float(x), float(y)) for x, y in p]


def offset(line: Sequence[tuple[float, float]], aside: float) -> list[tuple[float, float]]:
    """The line moved to its left by aside (m)."""
    p = np.asarray(line, dtype=np.float64)
    d = np.diff(p, axis=0)
    n = np.stack([-d[:, 1], d[:, 0]], axis=1) / np.linalg.norm(d, axis=1, keepdims=True)
    joint = np.concatenate([n[:1], n[:-1] + n[1:], n[-1:]])
    joint /= np.maximum((joint * np.concatenate([n, n[-1:]])).sum(axis=1, keepdims=True), 0.3)
    return [(float(x), float(y)) for x, y in p + aside * joint]


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Returns whether two rectangles (x, y, half length, half width, yaw) overlap: no axis of theirs parts them."""
    gap = (other[0] - one[0], other[1] - one[1])
    for yaw in (one[4], one[4] + math.pi / 2, other[4], other[4] + math.pi / 2):
        c, s = math.cos(yaw), math.sin(yaw)
        reach = sum(box[2] * abs(math.cos(box[4] - yaw)) + box[3] * abs(math.sin(box[4] - yaw)) for box in (one, other))
        if abs(gap[0] * c + gap[1] * s) >= reach:
            return False
    return True
