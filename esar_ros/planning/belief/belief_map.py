"""The belief: for each of the missing the probability of area (POA) of each cell, and the density of clues.

It is made anew from its parts whenever one changes: lines from the brief, weighed by the clues found, times the
probability that the looks so far would have missed somebody. A share of the prior is nowhere on the map, so that
looks that find nothing lower the probability of finding at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.planning.belief.evidence import (
    EvidenceSettings,
    ReportedClue,
    clue_line_share,
    log_likelihood,
    normalised,
    through_clues,
)
from esar_ros.planning.belief.look_map import LookMap
from esar_ros.planning.belief.prior import Hypotheses

_BLUR = 1.5  # cells, standard deviation of the kernel that makes a density of samples
_WIDE_BLUR = 4.0  # of those of whom nothing is told
_FOUND_WIDTH = 150.0  # m: lines that end this near to where a person was found tell of his way
_ANYWHERE = 0.03  # share of the prior that is spread evenly over the area
_POINTS = 4  # points of a line at which clues are expected
_LATER_LINES = 2000  # lines proposed through the clues
_LIKELY = 0.5  # probability of a clue from which on lines are drawn through it


class PersonBelief:
    """The belief about one of the missing."""

    def __init__(self, lines: Hypotheses, looks: LookMap, absent: float, inside: NDArray[np.bool_]) -> None:
        """Lines of equal weight; absent: prior probability of being nowhere on the map; inside: cells of the area."""
        self._lines, self._looks, self._absent, self._inside = lines, looks, absent, inside
        self.found: Vector | None = None  # (2,) where he was reported
        self.sure = 0.0  # probability that it is he
        self._weights = np.full(len(lines.nodes), 1.0 / len(lines.nodes))
        self._open = self._clues_on(_points_on(lines, np.random.default_rng(0)), self._weights)
        self._led = self._open
        self.clue_density = self._open
        self.prior = self._spread(lines.ends, self._weights)
        if lines.doubted is not None and lines.untold is not None:  # few lines would leave gaps in a wide density
            read, share = ~lines.doubted, self._weights[lines.doubted].sum()
            evenly = np.full(len(lines.untold), share / len(lines.untold))
            self.prior = self._spread(lines.ends[read], self._weights[read])
            self.prior = self.prior + (1.0 - _ANYWHERE) * self._density(lines.untold, evenly, _WIDE_BLUR)

    def update(self, clues: Sequence[ReportedClue], settings: EvidenceSettings, random: np.random.Generator) -> None:
        """Updates the belief with all clues found so far; replaces those of the last call."""
        weights = normalised(log_likelihood(self._lines, clues, settings))
        ends, mass, traces = self._lines.ends, weights, _points_on(self._lines, random)
        likely = [clue for clue in clues if clue.real >= _LIKELY]
        if likely:
            later = through_clues(self._lines, weights, likely, settings, _LATER_LINES, random)
            share = clue_line_share(len(likely), settings)
            fresh = np.full(_LATER_LINES, 1.0 / _LATER_LINES)
            ends = np.concatenate([ends, later.ends])
            mass = np.concatenate([(1.0 - share) * weights, share * fresh])
            traces = np.concatenate([traces, _points_on(later, random)])
        self._weights = weights
        self._open = self._clues_on(traces, mass)
        self.prior = self._spread(ends, mass)
        if self.found is not None:
            self._lead(self.found)
        self._mix()

    def settle(self, place: Vector, sure: float) -> None:
        """Records a find at a place (x, y, ...), with a probability: clues are expected along the routes there."""
        self.found, self.sure = np.array(place[:2]), sure
        self._lead(self.found)
        self._mix()

    def be_sure(self, sure: float) -> None:
        """Sets the probability that the person found is this one."""
        if sure != self.sure:
            self.sure = sure
            self._mix()

    def _lead(self, found: Vector) -> None:
        """Leads all lines to the place of the find; those that came near by themselves count most."""
        off = np.linalg.norm(self._lines.ends - found, axis=1)
        nodes = self._lines.nodes.copy()
        nodes[:, -1] = found
        traces = _points_on(Hypotheses(nodes, self._lines.kinds), np.random.default_rng(0))
        mass = normalised(np.log(self._weights + 1e-12) - 0.5 * (off / _FOUND_WIDTH) ** 2)
        self._led = self._clues_on(traces, mass)

    def _mix(self) -> None:
        self.clue_density = self._open if self.found is None else (1.0 - self.sure) * self._open + self.sure * self._led

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Probability by cell (rows, columns) that the person is there and not found; its sum is at most 1 - sure."""
        likely = self.prior * (1.0 - self._absent) * self._looks.missed
        return np.asarray((1.0 - self.sure) * likely / (likely.sum() + self._absent))

    def density_at(self, place: Vector) -> float:
        """Returns the prior with clues in the cell of a place (x, y, ...), without the looks."""
        return self._at(self.prior, place)

    def clue_density_at(self, place: Vector) -> float:
        """Returns the density of this person's clues in the cell of a place (x, y, ...)."""
        return self._at(self.clue_density, place)

    def _clues_on(self, points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the density by cell (rows, columns) of this person's clues; it sums up to at most 1.

        points: (S, P, 2) on lines of these weights (S,).
        """
        per_line = points.shape[1]
        return self._density(points.reshape(-1, 2), np.repeat(weights / per_line, per_line))

    def _at(self, density: NDArray[np.float64], place: Vector) -> float:
        column, row = np.floor((place[:2] - self._looks.origin) / self._looks.cell).astype(int)
        rows, columns = self._looks.shape
        return float(density[row, column]) if 0 <= row < rows and 0 <= column < columns else 0.0

    def _spread(self, ends: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
        evenly = self._inside / max(1, int(np.count_nonzero(self._inside)))
        return np.asarray((1.0 - _ANYWHERE) * self._density(ends, mass) + _ANYWHERE * evenly)

    def _density(
        self, points: NDArray[np.float64], weights: NDArray[np.float64], blur: float = _BLUR
    ) -> NDArray[np.float64]:
        rows, columns = self._looks.shape
        cells = np.floor((points - self._looks.origin) / self._looks.cell).astype(int)
        ok = (cells >= 0).all(axis=1) & (cells[:, 0] < columns) & (cells[:, 1] < rows)
        flat = cells[ok, 1] * columns + cells[ok, 0]
        counted = np.bincount(flat, weights=weights[ok], minlength=rows * columns).reshape(rows, columns)
        return np.where(self._inside, gaussian_filter(counted, blur, mode="constant"), 0.0)


def _points_on(lines: Hypotheses, random: np.random.Generator) -> NDArray[np.float64]:
    """Returns places (S, P, 2) on each line where a clue may lie; the last beside the person."""
    nodes = lines.nodes
    count, length = len(nodes), len(lines.kinds)
    points = []
    rows = np.arange(count)
    for _ in range(_POINTS - 1):
        segment = random.integers(0, length - 1, count)
        share = random.uniform(size=count)[:, None]
        points.append(nodes[rows, segment] * (1.0 - share) + nodes[rows, segment + 1] * share)
    points.append(nodes[:, -1])
    return np.stack(points, axis=1)
