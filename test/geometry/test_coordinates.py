"""Positions in words: UTM and MGRS read back, corners of the grid, and the error that is told."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.coordinates import grid_position, read_mgrs, read_utm, tell_position

LATITUDES = st.floats(-79.99, 83.99)
LONGITUDES = st.floats(-179.99, 179.99)


@settings(deadline=None, max_examples=60)
@given(LATITUDES, LONGITUDES)
def test_words_are_read_back_within_the_square_that_they_name(latitude: float, longitude: float) -> None:
    grid = grid_position(latitude, longitude)
    assert grid is not None
    zone_and_band, easting, northing = grid.utm.split()
    corner = read_utm(int(zone_and_band[:-1]), "N" if grid.band >= "N" else "S", float(easting), float(northing))
    middle = read_mgrs(grid.mgrs)
    for place, farthest in ((corner, math.sqrt(2.0)), (middle, math.sqrt(0.5))):
        north = (place[0] - latitude) * 111_700.0
        east = (place[1] - longitude) * 111_700.0 * math.cos(math.radians(latitude))
        assert math.hypot(north, east) < 1.02 * farthest


@pytest.mark.parametrize(
    ("place", "zone", "crs"),
    [
        ((60.0, 5.0), "32V", "EPSG:32632"),  # south-west Norway
        ((78.0, 15.0), "33X", "EPSG:32633"),  # Svalbard
        ((-33.9, 18.4), "34H", "EPSG:32734"),
        ((34.0, 180.0), "1S", "EPSG:32601"),
        ((0.0, 6.0), "32N", "EPSG:32632"),
    ],
)
def test_zones_with_their_exceptions(place: tuple[float, float], zone: str, crs: str) -> None:
    grid = grid_position(*place)
    assert grid is not None
    assert (grid.utm.split()[0], grid.crs) == (zone, crs)


def test_grid_north_lies_east_of_true_north_in_the_east_of_a_northern_zone() -> None:
    east, west, south = (grid_position(*place) for place in ((34.0, 107.3), (34.0, 103.0), (-34.0, 107.3)))
    assert east is not None and west is not None and south is not None
    assert east.convergence > 1.0 > 0.0 > west.convergence
    assert south.convergence < 0.0


def test_a_line_for_people() -> None:
    told = tell_position(34.00123, 107.31012, 5.2)
    assert told == "34.00123, 107.31012 ±6 m · 48S 713353 3764698 · MGRS 48SYC1335364698"
    assert "±0.4 m" in tell_position(34.0, 107.0, 0.4)
    assert "±" not in tell_position(34.0, 107.0)


@pytest.mark.parametrize("latitude", [84.0, 90.0, -80.5])
def test_beyond_utm_degrees_alone_are_told(latitude: float) -> None:
    assert grid_position(latitude, 3.0) is None
    assert tell_position(latitude, 3.0, 2.0) == f"{latitude:.5f}, 3.00000 ±2 m"


@pytest.mark.parametrize("text", ["48SYC1", "99SYC1335364698", "48IYC1335364698", "nowhere"])
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_mgrs(text)
