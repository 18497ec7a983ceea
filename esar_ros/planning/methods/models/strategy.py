"""Places among which a strategist chooses: peaks of the belief, surroundings of clues, frontiers of the map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter  # type: ignore[import-untyped]

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import SeenClue
from esar_ros.planning.exchange import clean

APART = 90.0  # m between two candidates
_WINDOW = 60.0  # m, side of the square over which a peak is summed
_MIN_PEAK = 0.08  # of the highest peak
_ROSE = ("E", "NE", "N", "NW", "W", "SW", "S", "SE")


@dataclass(frozen=True)
class Candidate:
    """A place (2,) m and what it is."""

    place: Vector
    what: str


def peaks(values: NDArray[np.float64], cell: float, origin: Vector, max_count: int) -> list[Candidate]:
    """Returns the maxima of a map of expected people (rows, columns), at most `max_count`, APART (m) at least."""
    width = max(1, round(_WINDOW / cell))
    sums = uniform_filter(values, width, mode="constant") * width**2
    y, x = np.mgrid[: sums.shape[0], : sums.shape[1]]
    found: list[Candidate] = []
    highest = float(sums.max(initial=0.0))
    while len(found) < max_count and highest > 0.0:
        row, column = np.unravel_index(int(np.argmax(sums)), sums.shape)
        share = float(sums[row, column])
        if share < _MIN_PEAK * highest:
            break
        place = origin[:2] + (np.array([column, row]) + 0.5) * cell
        found.append(Candidate(place, f"belief peak, {share * 100:.1f} % of one person within {_WINDOW / 2:.0f} m"))
        sums[np.hypot(y - row, x - column) * cell < APART] = 0.0
    return found


def around_clues(clues: Sequence[SeenClue], max_count: int) -> list[Candidate]:
    """Surroundings of things found, the surest first."""
    things = sorted((c for c in clues if c.kind != PERSON), key=lambda c: (-c.probability, c.id))
    return [
        Candidate(
            clue.position[:2], f"around a clue: {clean(clue.text or clue.kind, 40)} (score {clue.probability:.2f})"
        )
        for clue in things[:max_count]
    ]


def numbered(groups: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Groups one after the other, without what lies too near to an earlier one."""
    out: list[Candidate] = []
    for one in (candidate for group in groups for candidate in group):
        if all(float(np.linalg.norm(one.place - other.place)) >= APART / 3.0 for other in out):
            out.append(one)
    return out


def whereabouts(place: Vector, here: Vector) -> str:
    """A place as seen from the vehicle: "120 m NE"."""
    offset = place[:2] - here[:2]
    eighth = round(math.atan2(offset[1], offset[0]) / (math.pi / 4.0)) % 8
    return f"{float(np.linalg.norm(offset)):.0f} m {_ROSE[eighth]}"
