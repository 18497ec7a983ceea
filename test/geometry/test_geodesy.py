"""WGS 84: known distances, round trips, and the map's local frame."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.geodesy import Origin, ecef_to_geodetic, geodetic_to_ecef

SEMI_MINOR = 6_356_752.314245  # m, NIMA TR8350.2
LATITUDES = st.floats(-85.0, 85.0)
LONGITUDES = st.floats(-179.9, 179.9)
ALTITUDES = st.floats(-400.0, 9000.0)
LOCAL = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000), st.floats(-700, 700)).map(np.array)
AOTAI = Origin(33.99, 107.75, 3000.0)


@pytest.mark.parametrize(
    ("geodetic", "ecef"),
    [
        ((0.0, 0.0, 0.0), (6_378_137.0, 0.0, 0.0)),
        ((0.0, 90.0, 100.0), (0.0, 6_378_237.0, 0.0)),
        ((90.0, 0.0, 0.0), (0.0, 0.0, SEMI_MINOR)),
        ((-90.0, 0.0, 50.0), (0.0, 0.0, -SEMI_MINOR - 50.0)),
    ],
)
def test_known_places(geodetic: tuple[float, ...], ecef: tuple[float, ...]) -> None:
    np.testing.assert_allclose(geodetic_to_ecef(*geodetic), ecef, atol=1e-4)


@settings(deadline=None)
@given(LATITUDES, LONGITUDES, ALTITUDES)
def test_there_and_back(latitude: float, longitude: float, altitude: float) -> None:
    lat, lon, alt = ecef_to_geodetic(geodetic_to_ecef(latitude, longitude, altitude))
    assert lat == pytest.approx(latitude, abs=1e-9)  # 0.1 mm
    assert lon == pytest.approx(longitude, abs=1e-9)
    assert alt == pytest.approx(altitude, abs=1e-4)


@settings(deadline=None)
@given(st.builds(Origin, LATITUDES, LONGITUDES, ALTITUDES), LOCAL)
def test_a_map_s_points_there_and_back(origin: Origin, point: np.ndarray) -> None:
    np.testing.assert_allclose(origin.to_enu(*origin.to_geodetic(point)), point, atol=1e-4)


@settings(deadline=None)
@given(st.builds(Origin, LATITUDES, LONGITUDES, ALTITUDES), LOCAL, LOCAL)
def test_the_local_frame_keeps_distances(origin: Origin, a: np.ndarray, b: np.ndarray) -> None:
    straight = np.linalg.norm(geodetic_to_ecef(*origin.to_geodetic(a)) - geodetic_to_ecef(*origin.to_geodetic(b)))
    assert straight == pytest.approx(float(np.linalg.norm(a - b)), abs=1e-4)


def test_the_origin_is_zero() -> None:
    np.testing.assert_allclose(AOTAI.to_enu(33.99, 107.75, 3000.0), np.zeros(3), atol=1e-9)
    assert AOTAI.to_geodetic(np.zeros(3)) == pytest.approx((33.99, 107.75, 3000.0))


@pytest.mark.parametrize(
    ("latitude", "per_degree"),  # m along a meridian: the arc of 0.01 degrees, times 100
    [(0.0, 110_574.3), (45.0, 111_131.8), (85.0, 111_685.5)],
)
def test_a_degree_of_latitude(latitude: float, per_degree: float) -> None:
    north = Origin(latitude, 10.0, 0.0).to_enu(latitude + 0.01, 10.0, 0.0)
    assert north[0] == pytest.approx(0.0, abs=1e-6)
    assert 100.0 * north[1] == pytest.approx(per_degree, rel=2e-5)


def test_a_degree_of_longitude_at_the_equator() -> None:
    east = Origin(0.0, 10.0, 0.0).to_enu(0.0, 10.01, 0.0)
    assert 100.0 * east[0] == pytest.approx(111_319.49, rel=2e-5)
    assert east[1] == pytest.approx(0.0, abs=1e-6)


def test_up_is_up_and_the_earth_falls_away() -> None:
    latitude, longitude, altitude = AOTAI.to_geodetic([0.0, 0.0, 123.0])
    assert (latitude, longitude, altitude) == pytest.approx((33.99, 107.75, 3123.0))
    fall = AOTAI.to_geodetic([1000.0, 0.0, 0.0])[2] - 3000.0
    assert fall == pytest.approx(1000.0**2 / (2.0 * 6.38e6), rel=0.01)


def test_east_and_north_have_their_signs() -> None:
    latitude, longitude, _ = AOTAI.to_geodetic([500.0, 700.0, 0.0])
    assert latitude > 33.99
    assert longitude > 107.75
    assert math.isclose((latitude - 33.99) * 110_920, 700.0, rel_tol=0.01)


def test_points_of_one_level_are_placed_together_as_one_by_one() -> None:
    latitude, longitude = np.meshgrid([33.98, 33.99, 34.0], [107.74, 107.76])
    each = [AOTAI.to_enu(*place, AOTAI.altitude)[:2] for place in zip(latitude.ravel(), longitude.ravel(), strict=True)]
    np.testing.assert_allclose(AOTAI.to_level(latitude, longitude).reshape(-1, 2), each, atol=1e-6)
