"""The next flights: legs chosen one by one by the probability of success (POS) that a minute of each brings.

A leg is worth the POA of the ground along it times the POD of passing by at that distance, as the detector was
measured to see; what an earlier leg or vehicle would have seen is worth less to the next. Terrain is followed at a
height above the highest ground near the way, and below the ceiling as the governor counts it (terrain_way.py): a leg
that cannot do both is not planned. The POD assumes that nothing hides the ground from a vehicle that passes above it:
what is flown is counted by the looks that were taken, with the terrain between (visibility.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter  # type: ignore[import-untyped]

from esar_ros.incident.features import Floats, Position, Sortie, Waypoint
from esar_ros.incident.ground import Ground
from esar_ros.incident.terrain_way import LOWEST, TerrainWay
from esar_ros.mission.errors import UsageError

HEADINGS = 24
LENGTHS = (80.0, 160.0, 320.0)  # m
PEAKS = 12  # of the POA, flown to directly
LEAST = 1e-3  # of a POD, from which ground counts as seen
TURN = 3.0  # s that a vehicle loses at each corner


@dataclass(frozen=True)
class Flights:
    """Limits and measures of the flights that are planned."""

    curve: Floats  # POD by whole metres aside of a vehicle that passes at the height
    height: float  # m above ground
    speed: float = 8.0  # m/s
    climb: float = 2.0  # m/s
    reserve: float = 0.2  # share of the time that is not planned
    ceiling: float = 120.0  # m above ground, the highest that is allowed
    sight: float = 50.0  # m above ground, from where the vehicle's range sensors see it


def plan(
    poa: Floats,
    ground: Ground,
    home: Position,
    vehicles: int,
    minutes: float,
    flights: Flights,
    closed: NDArray[np.bool_] | None = None,
) -> list[Sortie]:
    """Returns a sortie for each vehicle, in the order of their worth.

    poa: (H, W) by the ground's cells; minutes: of a battery; closed: (H, W) cells that may not be flown over. Raises
    UsageError where the home lies beside the ground or in a closed cell, and where the time does not do for a leg.
    """
    if not flights.height < flights.ceiling:
        raise UsageError(f"{flights.height:g} m above ground", f"fly below {flights.ceiling:g} m")
    planner = _Planner(poa, ground, home, flights, closed)
    sorties = []
    for number in range(vehicles):
        sortie = planner.next(str(number + 1), minutes)
        if sortie is None and not number:
            raise UsageError(f"{minutes:g} minutes do not do for a search from there", "start nearer, or fly longer")
        if sortie is not None:
            sorties.append(sortie)
    return sorties


def success(poa: Floats, ground: Ground, way: Floats, curve: Floats) -> tuple[float, float, Floats]:
    """Returns the POS of a way (N, 2; m, grid), the hectares that it covers, and the POD of each cell (H, W)."""
    pod = np.zeros(poa.shape)
    places = _centres(ground)
    for start, end in pairwise(way):
        window = _window(ground, np.stack([start, end]), len(curve))
        seen = _pod(places[window], start, end, curve)
        pod[window] = 1.0 - (1.0 - pod[window]) * (1.0 - seen)
    return float((poa * pod).sum()), float((pod >= pod.max() / 2.0).sum() * ground.cell**2 / 1e4) * (pod.max() > 0), pod


class _Planner:
    def __init__(
        self, poa: Floats, ground: Ground, home: Position, flights: Flights, closed: NDArray[np.bool_] | None
    ) -> None:
        self._left, self._ground, self._flights = poa.copy(), ground, flights
        self._poa = poa
        reach = int(np.flatnonzero(flights.curve >= LEAST)[-1]) + 1 if (flights.curve >= LEAST).any() else 1
        self._curve = flights.curve[: reach + 1]
        self._places = _centres(ground)
        self._way = TerrainWay(ground, flights.height, flights.ceiling, flights.sight)
        self._closed = closed
        self._home = np.array(ground.to_grid(home.latitude, home.longitude))
        altitude = ground.height(*self._home) if home.altitude is None else home.altitude
        if not (math.isfinite(altitude) and self._is_allowed(self._home, self._home)):
            raise UsageError("the home lies off the ground, or where nobody may fly", "choose another --home LAT,LON")
        if not self._way.is_open(self._home, self._home):
            raise UsageError(
                f"the ground about the home is too steep to keep {LOWEST * flights.height:g} m above the highest near "
                f"it, well below the ceiling of {flights.ceiling:g} m, and within the range of the ranges",
                "choose another --home LAT,LON, or a lower --height",
            )
        self._start = Position(home.latitude, home.longitude, altitude)

    def next(self, name: str, minutes: float) -> Sortie | None:
        """Returns the next sortie, and counts what it would see; None where no leg fits into the time."""
        flights = self._flights
        total = 60.0 * minutes * (1.0 - flights.reserve) - 2.0 * flights.height / flights.climb
        way, spent, before = [self._home], 0.0, float(self._left.sum())
        while (leg := self._best(way[-1], total - spent)) is not None:
            spent += leg[1]
            self._fly(way[-1], leg[0])
            way.append(leg[0])
        if len(way) < 2:
            return None
        spent += self._time(way[-1], self._home)
        self._fly(way[-1], self._home)
        flown = np.array([*way, self._home])
        hectares = success(self._poa, self._ground, flown, self._curve)[1]
        gained = before - float(self._left.sum())
        took = (spent + 2.0 * flights.height / flights.climb) / 60.0
        return Sortie(name, self._start, self._waypoints(flown), flights.speed, took, gained, hectares)

    def _best(self, here: Floats, time: float) -> tuple[Floats, float] | None:
        """Returns the end and the time (s) of the leg that brings the most a second; None where none fits."""
        best: tuple[float, Floats, float] | None = None
        for end in self._candidates(here):
            took = self._time(here, end)
            if took + self._time(end, self._home) > time or not self._is_open(here, end):
                continue
            if not self._is_open(end, self._home):
                continue
            rate = self._gain(here, end) / took
            if rate > 0.0 and (best is None or rate > best[0]):
                best = rate, end, took
        return None if best is None else best[1:]

    def _candidates(self, here: Floats) -> list[Floats]:
        angles = np.arange(HEADINGS) * (2.0 * math.pi / HEADINGS)
        around = [here + length * np.array([math.cos(a), math.sin(a)]) for length in LENGTHS for a in angles]
        block = max(1, round(LENGTHS[0] / self._ground.cell))
        mean = uniform_filter(self._left, block)[block // 2 :: block, block // 2 :: block]
        peaks = np.argsort(mean.reshape(-1))[::-1][:PEAKS]
        rows, columns = np.unravel_index(peaks, mean.shape)
        places = self._places[block // 2 :: block, block // 2 :: block]
        far = [place for place in places[rows, columns] if np.linalg.norm(place - here) > LENGTHS[0] / 2.0]
        return around + far

    def _gain(self, start: Floats, end: Floats) -> float:
        window = _window(self._ground, np.stack([start, end]), len(self._curve))
        left = self._left[window]
        return float((left * _pod(self._places[window], start, end, self._curve)).sum()) if left.size else 0.0

    def _fly(self, start: Floats, end: Floats) -> None:
        window = _window(self._ground, np.stack([start, end]), len(self._curve))
        self._left[window] *= 1.0 - _pod(self._places[window], start, end, self._curve)

    def _time(self, start: Floats, end: Floats) -> float:
        """Returns the time (s) of a leg, which climbs and sinks with the ground."""
        length = float(np.linalg.norm(end - start))
        rise = float(np.abs(np.diff(self._way.heights(start, end))).sum())
        return max(length / self._flights.speed, rise / self._flights.climb) + TURN

    def _is_open(self, start: Floats, end: Floats) -> bool:
        """Returns whether a leg lies on ground that is nowhere too steep to follow, and over none that is closed."""
        return self._way.is_open(start, end) and self._is_allowed(start, end)

    def _is_allowed(self, start: Floats, end: Floats) -> bool:
        """Returns whether a leg lies on known ground, and over none that is closed."""
        count = max(2, math.ceil(float(np.linalg.norm(end - start)) / self._ground.cell) + 1)
        places = start + (end - start) * np.linspace(0.0, 1.0, count)[:, None]
        column = np.floor((places[:, 0] - self._ground.west) / self._ground.cell).astype(int)
        row = np.floor((self._ground.north - places[:, 1]) / self._ground.cell).astype(int)
        rows, columns = self._ground.heights.shape
        if not ((row >= 0) & (row < rows) & (column >= 0) & (column < columns)).all():
            return False
        if not np.isfinite(self._ground.heights[row, column]).all():
            return False
        return self._closed is None or not self._closed[row, column].any()

    def _waypoints(self, way: Floats) -> tuple[Waypoint, ...]:
        """Returns the corners of a way, and places between where the ground asks for another height."""
        points = []
        for x, y, height in self._way.corners(way):
            latitude, longitude = self._ground.to_geodetic(float(x), float(y))
            points.append(Waypoint(Position(latitude, longitude, float(height)), self._flights.height))
        return tuple(points)


def _centres(ground: Ground) -> Floats:
    """Returns east and north (H, W, 2) of cell centres."""
    rows, columns = ground.heights.shape
    x = ground.west + ground.cell * (np.arange(columns) + 0.5)
    y = ground.north - ground.cell * (np.arange(rows) + 0.5)
    return np.stack(np.meshgrid(x, y), axis=2)


def _window(ground: Ground, places: Floats, reach: float) -> tuple[slice, slice]:
    """Returns the cells that lie within a reach (m) of the box about places (N, 2)."""
    low, high = places.min(axis=0) - reach, places.max(axis=0) + reach
    rows, columns = ground.heights.shape
    left = np.clip(math.floor((low[0] - ground.west) / ground.cell), 0, columns)
    right = np.clip(math.ceil((high[0] - ground.west) / ground.cell), 0, columns)
    top = np.clip(math.floor((ground.north - high[1]) / ground.cell), 0, rows)
    bottom = np.clip(math.ceil((ground.north - low[1]) / ground.cell), 0, rows)
    return slice(int(top), int(bottom)), slice(int(left), int(right))


def _pod(places: Floats, start: Floats, end: Floats, curve: Floats) -> Floats:
    """Returns the POD of places (..., 2) that a leg passes, by their distance from it."""
    way = end - start
    length = float(way @ way)
    along = np.clip((places - start) @ way / length, 0.0, 1.0) if length > 0.0 else np.zeros(places.shape[:-1])
    away = np.linalg.norm(places - start - along[..., None] * way, axis=-1)
    return np.asarray(np.interp(away, np.arange(len(curve)), curve, right=0.0))
