"""The map of a debrief shows where the search is: the densest POA, all ways and marks, and never ground that is not."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.incident.debrief_map import NEAREST, view_of
from esar_ros.incident.features import Mover, Place, PlaceKind, Position, Search, Track
from esar_ros.incident.ground import Ground

pytest.importorskip("pyproj")
GROUND = Ground(np.full((200, 200), 900.0), 500_000.0, 3_764_000.0, 20.0, "EPSG:32648")
WEST, NORTH, SIDE = GROUND.west, GROUND.north, 4000.0


def at(east: float, south: float) -> Position:
    return Position(*GROUND.to_geodetic(WEST + east, NORTH - south))


def poa(row: int, column: int) -> np.ndarray:
    cells = np.full(GROUND.heights.shape, 1e-7)
    cells[row - 2 : row + 3, column - 2 : column + 3] = 0.02
    return cells


def test_what_lies_dense_is_shown_near() -> None:
    search = Search("a", places=[Place("IPP", PlaceKind.IPP, at(1000.0, 1000.0))])
    west, east, south, north = view_of(search, GROUND, poa(55, 55))
    assert east - west == north - south == NEAREST
    assert west < WEST + 1000.0 < east and south < NORTH - 1000.0 < north


def test_a_way_that_leads_far_widens_it_and_one_beyond_the_map_does_not() -> None:
    there, beyond = at(3000.0, 1000.0), at(9000.0, 1000.0)
    places = [at(1000.0, 1000.0), there, beyond]
    nothing = np.full(3, np.nan)
    track = Track(
        "a",
        Mover.DRONE,
        np.array([p.latitude for p in places]),
        np.array([p.longitude for p in places]),
        nothing,
        nothing,
    )
    west, east, south, north = view_of(Search("a", tracks=[track]), GROUND, poa(55, 55))
    assert west < WEST + 1000.0 and WEST + 3000.0 < east < WEST + SIDE
    assert NORTH - SIDE <= south and north <= NORTH and east - west == pytest.approx(north - south)


def test_an_even_poa_shows_the_ground() -> None:
    view = view_of(Search("a"), GROUND, np.full(GROUND.heights.shape, 1e-5))
    assert view == pytest.approx((WEST, WEST + SIDE, NORTH - SIDE, NORTH))
