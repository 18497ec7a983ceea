"""View planning: the next leg, with the one after it, of the greatest expected gain per second.

A leg finds what lies beside it with the probability of the nearest look in passing. Candidates are the places with the
most to find around them; for the best of them the next leg is tried out too (receding horizon of two legs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit  # type: ignore[import-untyped]
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.belief.detection_probability import Curves
from esar_ros.planning.belief.sight import Sight
from esar_ros.planning.search_area import distance_to_edge

_CELLS = 6000  # cells with the most worth that are looked at
_RINGS = (30.0, 60.0, 100.0)  # m around the vehicle: short legs that are always tried
_RING_POINTS = 8
_SHORTEST = 20.0  # m: a leg that is shorter shows nothing new


class PlanningSettings(StrictModel):
    """Range and resolution of view planning."""

    speed: float = Field(default=4.5, gt=0, description="m/s, what legs are reckoned with")
    heights: tuple[float, ...] = Field(default=(18.0, 25.0, 40.0), description="m above ground to choose from")
    candidates: int = Field(default=120, ge=1, description="places tried")
    deepened: int = Field(default=10, ge=1, description="of these with a second leg")
    turn: float = Field(default=3.0, ge=0, description="s that a leg costs beside its length")


class Worth(NamedTuple):
    """Remaining value: cells (M, 2) with the value of finding what is in them (M,), and looks so far."""

    cells: NDArray[np.float64]  # centres, m
    person: NDArray[np.float64]  # expected value of persons not found yet
    clue: NDArray[np.float64]  # the same of clues
    person_seen: NDArray[np.float64]  # (4, M) best probability of each side
    clue_seen: NDArray[np.float64]  # (M,)


@dataclass(frozen=True)
class ViewLeg:
    """A leg to a place at a height, its value and that of the leg after it, and how long both take."""

    place: Vector  # (2,) m
    height: float
    value: float
    seconds: float

    @property
    def rate(self) -> float:
        """Value a second."""
        return self.value / max(self.seconds, 1e-9)


def best_view(
    here: Vector,
    worth: Worth,
    curves: Curves | Sight,
    allowed: NDArray[np.float64],
    seconds_left: float,
    settings: PlanningSettings,
) -> ViewLeg | None:
    """Returns the view of the greatest gain per second from here (2,); None when none gains anything.

    curves: by range; allowed (K, 2): places that may be flown to.
    """
    if not len(worth.cells) or not len(allowed):
        return None
    places = allowed
    best: ViewLeg | None = None
    for height in settings.heights:
        beside = curves.beside(height)
        gains = leg_gains(here, places, worth, beside)
        times = np.linalg.norm(places - here, axis=1) / settings.speed + settings.turn
        rates = np.where(times <= seconds_left, gains / times, 0.0)
        for index in np.argsort(-rates, kind="stable")[: settings.deepened]:
            if rates[index] <= 0.0:
                break
            left = after(here, places[index], worth, beside)
            further = leg_gains(places[index], places, left, beside)
            then = np.linalg.norm(places - places[index], axis=1) / settings.speed + settings.turn
            total, time = gains[index] + further, times[index] + then
            both = np.where(time <= seconds_left, total / time, 0.0)
            second = int(np.argmax(both))
            if both[second] > rates[index]:
                view = ViewLeg(places[index], height, float(total[second]), float(time[second]))
            else:
                view = ViewLeg(places[index], height, float(gains[index]), float(times[index]))
            if best is None or view.rate > best.rate * (1.0 + 1e-9):
                best = view
    return best


def candidates(here: Vector, worth: Worth, number: int, spacing: float = 30.0) -> NDArray[np.float64]:
    """Places (K, 2) on a lattice of `spacing` m with the most worth around them, K <= number."""
    if not len(worth.cells):
        return np.zeros((0, 2))
    keys = np.floor(worth.cells / spacing).astype(np.int64)
    unique, member = np.unique(keys, axis=0, return_inverse=True)
    value = np.bincount(member.reshape(-1), weights=worth.person + worth.clue)
    centre = (unique + 0.5) * spacing
    order = np.argsort(-value / (np.linalg.norm(centre - here, axis=1) + 100.0), kind="stable")
    return np.asarray(centre[order[:number]])


def flyable(
    places: NDArray[np.float64],
    here: Vector,
    corners: NDArray[np.float64],
    margin: float,
    closed: list[Vector],
    radius: float,
) -> NDArray[np.float64]:
    """The candidates and places around the vehicle that lie in the area and not within radius of a closed one."""
    all_places = np.concatenate([places, around(here)])
    ok = distance_to_edge(corners, all_places) >= margin
    ok &= np.linalg.norm(all_places - here[:2], axis=1) >= _SHORTEST
    for place in closed:
        ok &= np.linalg.norm(all_places - place, axis=1) > radius
    return np.asarray(all_places[ok])


def strongest(person: NDArray[np.float64], clue: NDArray[np.float64]) -> NDArray[np.intp]:
    """Flat indices of the cells that hold nearly all worth, at most _CELLS."""
    total = (person + clue).reshape(-1)
    if not total.any():
        return np.zeros(0, dtype=np.intp)
    chosen = np.argpartition(-total, _CELLS)[:_CELLS] if len(total) > _CELLS else np.arange(len(total))
    return np.asarray(np.sort(chosen[total[chosen] > total.max() * 1e-4]))


def around(here: Vector) -> NDArray[np.float64]:
    """Places (K, 2) on rings around the vehicle."""
    angles = np.arange(_RING_POINTS) * 2.0 * math.pi / _RING_POINTS
    unit = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([here[:2] + radius * unit for radius in _RINGS])


def after(start: Vector, end: Vector, worth: Worth, beside: Curves) -> Worth:
    """Returns what is left after a leg that has found nothing; beside: curves by distance on the ground."""
    left = Worth(worth.cells, *(part.copy() for part in worth[1:]))
    _fly(start, end, left, beside)
    return left


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def direction(start: NDArray[np.float64], end: NDArray[np.float64]) -> tuple[float, float, float]:
    """Unit vector and length of a leg."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.sqrt(dx * dx + dy * dy)
    return (dx / length, dy / length, length) if length > 1e-9 else (1.0, 0.0, length)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def passing(
    start: NDArray[np.float64], leg: tuple[float, float, float], x: float, y: float, beside: Curves
) -> tuple[int, int]:
    """The side from which a cell is seen in passing, and from how far (m, whole); -1 where it is beyond the curves."""
    ux, uy, length = leg
    along = min(max((x - start[0]) * ux + (y - start[1]) * uy, 0.0), length)
    qx, qy = start[0] + along * ux - x, start[1] + along * uy - y
    squared, farthest = qx * qx + qy * qy, len(beside.person) - 1.0
    if squared >= farthest * farthest:  # most cells are
        return 0, -1
    side = (1 if qx < 0.0 else 0) + (2 if qy < 0.0 else 0)
    return side, int(math.sqrt(squared))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def leg_gains(
    start: NDArray[np.float64], places: NDArray[np.float64], worth: Worth, beside: Curves
) -> NDArray[np.float64]:
    """Expected value found on the straight legs from start to each of the places (K, 2)."""
    gains = np.zeros(len(places))
    for k in range(len(places)):
        leg = direction(start, places[k])
        total = 0.0
        for m in range(len(worth.cells)):
            side, aside = passing(start, leg, worth.cells[m, 0], worth.cells[m, 1], beside)
            if aside < 0:
                continue
            p, c = beside.person[aside], beside.clue[aside]
            seen = worth.person_seen[side, m]
            if p > seen:
                total += worth.person[m] * (p - seen) / (1.0 - seen)
            seen = worth.clue_seen[m]
            if c > seen:
                total += worth.clue[m] * (c - seen) / (1.0 - seen)
        gains[k] = total
    return gains


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fly(start: NDArray[np.float64], end: NDArray[np.float64], worth: Worth, beside: Curves) -> None:
    """Take what a leg finds from what is left, and count its looks; in place."""
    leg = direction(start, end)
    for m in range(len(worth.cells)):
        side, aside = passing(start, leg, worth.cells[m, 0], worth.cells[m, 1], beside)
        if aside < 0:
            continue
        p, c = beside.person[aside], beside.clue[aside]
        seen = worth.person_seen[side, m]
        if p > seen:
            worth.person[m] *= (1.0 - p) / (1.0 - seen)
            worth.person_seen[side, m] = p
        seen = worth.clue_seen[m]
        if c > seen:
            worth.clue[m] *= (1.0 - c) / (1.0 - seen)
            worth.clue_seen[m] = c
