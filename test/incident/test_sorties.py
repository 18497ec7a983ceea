"""Planned flights: within their time, over open ground, worth what they say, and more than a lawn-mower's."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from esar_ros.incident.features import Floats, Position
from esar_ros.incident.ground import Ground
from esar_ros.incident.sorties import Flights, plan, success
from esar_ros.mission.errors import UsageError

pytest.importorskip("pyproj")
CELL, COUNT = 20.0, 100
CURVE = np.where(np.arange(81) < 80, 0.9 / (1.0 + np.exp((np.arange(81) - 35.0) / 6.0)), 0.0)
FLIGHTS = Flights(CURVE, 40.0)


def ground(hills: float = 0.0) -> Ground:
    x = np.arange(COUNT) * CELL
    heights = 1000.0 + hills * np.sin(x / 300.0)[None, :] * np.cos(x / 250.0)[:, None]
    return Ground(heights, 500_000.0, 3_764_000.0, CELL, "EPSG:32648")


def home(of: Ground) -> Position:
    latitude, longitude = of.to_geodetic(of.west + 1000.0, of.north - 1000.0)
    return Position(latitude, longitude)


def likely(seed: int) -> Floats:
    """POA of three places of different size, and a little everywhere."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:COUNT, :COUNT]
    poa = np.full((COUNT, COUNT), 0.1 / COUNT**2)
    for _ in range(3):
        row, column, width = random.uniform(10, 90), random.uniform(10, 90), random.uniform(3.0, 12.0)
        bump = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2.0 * width**2))
        poa += 0.25 * bump / bump.sum()
    return poa / poa.sum() * 0.8


def grid_of(of: Ground, sortie: object) -> Floats:
    points = [sortie.home, *(waypoint.position for waypoint in sortie.waypoints)]  # type: ignore[attr-defined]
    return np.array([of.to_grid(point.latitude, point.longitude) for point in points])


def lawn_mower(of: Ground, length: float) -> Floats:
    """A square of parallel tracks about the home, as large as the length (m) does for; way out and back included."""
    middle, apart = np.array([of.west + 1000.0, of.north - 1000.0]), 60.0
    best = np.array([middle, middle])
    for lines in range(2, 40):
        half = apart * (lines - 1) / 2.0
        ends = [(-half, half)[:: 1 if n % 2 == 0 else -1] for n in range(lines)]
        way = [middle]
        for n, (a, b) in enumerate(ends):
            way += [middle + (a, -half + apart * n), middle + (b, -half + apart * n)]
        way.append(middle)
        if np.linalg.norm(np.diff(way, axis=0), axis=1).sum() > length:
            break
        best = np.array(way)
    return best


def test_it_keeps_its_time_and_its_height_above_the_ground() -> None:
    of = ground(60.0)
    (sortie,) = plan(likely(1), of, home(of), 1, 20.0, FLIGHTS)
    way = grid_of(of, sortie)
    assert sortie.minutes <= 20.0 * 0.8 and np.linalg.norm(way[-1] - way[0]) < 1.0
    length = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
    assert length / FLIGHTS.speed / 60.0 <= sortie.minutes
    altitudes = np.array([waypoint.position.altitude for waypoint in sortie.waypoints], dtype=np.float64)
    for start, end, low, high in zip(way[1:-1], way[2:], altitudes[:-1], altitudes[1:], strict=True):
        for share in np.linspace(0.0, 1.0, 9):
            place = start + share * (end - start)
            above = low + share * (high - low) - of.height(*place)
            assert 0.8 * FLIGHTS.height < above < FLIGHTS.ceiling


def test_what_it_says_of_itself_is_what_its_way_is_worth() -> None:
    of, poa = ground(), likely(2)
    (sortie,) = plan(poa, of, home(of), 1, 20.0, FLIGHTS)
    assert sortie.pos == pytest.approx(success(poa, of, grid_of(of, sortie), CURVE)[0], rel=0.02)
    assert sortie.hectares is not None and 5.0 < sortie.hectares < 400.0


def test_a_second_vehicle_searches_what_the_first_leaves() -> None:
    of, poa = ground(), likely(3)
    one, two = plan(poa, of, home(of), 2, 15.0, FLIGHTS)
    both = success(poa, of, np.concatenate([grid_of(of, one), grid_of(of, two)]), CURVE)[0]
    assert one.pos is not None and two.pos is not None
    assert both == pytest.approx(one.pos + two.pos, rel=0.03) and two.pos < one.pos


def test_closed_ground_is_flown_around() -> None:
    of, poa = ground(), np.zeros((COUNT, COUNT))
    poa[20:30, 45:55] = 1.0 / 100.0
    closed = np.zeros_like(poa, dtype=bool)
    closed[38:41, 20:80] = True
    (sortie,) = plan(poa + 1e-6, of, home(of), 1, 20.0, FLIGHTS, closed)
    way = grid_of(of, sortie)
    for start, end in pairwise(way):
        for share in np.linspace(0.0, 1.0, 60):
            place = start + share * (end - start)
            row, column = int((of.north - place[1]) // CELL), int((place[0] - of.west) // CELL)
            assert not closed[row, column]


@pytest.mark.full
def test_on_twenty_searches_it_finds_more_than_a_lawn_mower_of_the_same_length() -> None:
    of, gains = ground(), []
    for seed in range(20):
        poa = likely(100 + seed)
        (sortie,) = plan(poa, of, home(of), 1, 20.0, FLIGHTS)
        length = float(np.linalg.norm(np.diff(grid_of(of, sortie), axis=0), axis=1).sum())
        mown = success(poa, of, lawn_mower(of, length), CURVE)[0]
        gains.append((sortie.pos or 0.0) - mown)
    mean, error = float(np.mean(gains)), float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
    assert mean - 2.1 * error > 0.05, (mean, error)


@pytest.mark.parametrize(
    ("where", "minutes", "told"),
    [(None, 0.1, "do not do for a search"), (Position(10.0, 20.0), 20.0, "off the ground"), (None, 20.0, "below 30 m")],
)
def test_what_cannot_be_planned_is_told(where: Position | None, minutes: float, told: str) -> None:
    of = ground()
    flights = Flights(CURVE, 40.0, ceiling=30.0) if told.startswith("below") else FLIGHTS
    with pytest.raises(UsageError, match=told):
        plan(likely(1), of, where or home(of), 1, minutes, flights)
