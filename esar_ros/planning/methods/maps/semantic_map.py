"""SemExp's semantic map: a tensor of channels over the search area.

Source: Chaplot et al., Object goal navigation using goal-oriented semantic exploration, NeurIPS 2020, section 3,
semantic mapping: the channels are obstacles, the explored area and one a class, and a frame is fused into each by the
maximum.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid, SeenClue

OBSTACLE, EXPLORED = 0, 1
CHANNEL = {kind: number for number, kind in enumerate(KINDS, 2)}
_THINGS = [channel for kind, channel in CHANNEL.items() if kind != PERSON]


class _Seen(NamedTuple):
    """Cells with things: their kinds among _THINGS (N,), scores (N,) and middles (N, 2) in m."""

    kinds: NDArray[np.intp]
    scores: NDArray[np.float32]
    places: NDArray[np.floating[Any]]


class SemanticMap:
    """Channels (2 + kinds, rows = y, columns = x), each 0..1."""

    def __init__(self, searched: Grid) -> None:
        """Takes the cells of the searched ground (searched_ground.py) before the first image."""
        self._cells = searched
        self.channels: NDArray[np.float32] = np.zeros((2 + len(KINDS), *searched.cells.shape), np.float32)
        self._touched: set[tuple[int, int, int]] = set()  # kind among _THINGS, row, column
        self._seen: _Seen | None = None  # None: to be gathered

    def add(self, searched: Grid, known: Grid | None, clues: Iterable[SeenClue]) -> None:
        """Fuses in the searched ground, the obstacles of the bird's-eye map, and seen objects by their probability."""
        np.maximum(self.channels[EXPLORED], searched.cells == FREE, out=self.channels[EXPLORED])
        if known is not None:
            rows, columns = np.nonzero(known.cells == OCCUPIED)
            places = (np.stack([columns, rows], axis=1) + 0.5) * known.resolution + np.array(known.origin)
            self._raise(OBSTACLE, places, np.ones(len(places)))
        for clue in clues:
            if clue.kind in CHANNEL and np.isfinite(clue.position).all():
                self._raise(CHANNEL[clue.kind], clue.position[None, :2], np.array([clue.probability]))

    def explored(self) -> Grid:
        """Returns the map whose frontiers are explored: FREE where explored, OCCUPIED at obstacles and outside."""
        closed = (self.channels[OBSTACLE] > 0.0) | (self._cells.cells == OCCUPIED)
        cells = np.where(closed, OCCUPIED, np.where(self.channels[EXPLORED] > 0.0, FREE, UNKNOWN)).astype(np.int8)
        return Grid(cells, self._cells.resolution, self._cells.origin)

    def evidence(self, place: Vector, scale: float) -> float:
        """Returns the sum over kinds, people apart, of the greatest score times exp(-distance / scale) of a place.

        The place is (x, y); scale in m.
        """
        if self._seen is None:
            kinds, rows, columns = np.array(sorted(self._touched), np.intp).reshape(-1, 3).T
            places = (np.stack([columns, rows], axis=1) + 0.5) * self._cells.resolution + self._cells.origin
            self._seen = _Seen(kinds, self.channels[np.array(_THINGS)[kinds], rows, columns], places)
        best = np.zeros(len(_THINGS))
        away = self._seen.places - place
        np.maximum.at(best, self._seen.kinds, self._seen.scores * np.exp(-np.hypot(*away.T) / scale))
        return float(best.sum())

    def _raise(self, channel: int, places: NDArray[np.floating[Any]], scores: NDArray[np.float64]) -> None:
        """Raises a channel at places (N, 2) to scores (N,)."""
        columns, rows = np.floor((places - self._cells.origin) / self._cells.resolution).astype(int).T
        height, width = self._cells.cells.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        if channel in _THINGS:
            kind = _THINGS.index(channel)
            self._touched.update((kind, int(row), int(column)) for row, column in np.stack([rows, columns], 1)[inside])
            self._seen = None
        np.maximum.at(self.channels[channel], (rows[inside], columns[inside]), scores[inside].astype(np.float32))
