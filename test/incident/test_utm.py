"""UTM of geometry.coordinates beside that of PROJ, which exports of rasters are placed by."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Proj, Transformer

from esar_ros.geometry.coordinates import grid_position

LATITUDES = st.floats(-79.99, 83.99)
LONGITUDES = st.floats(-179.99, 179.99)


@settings(deadline=None, max_examples=60)
@given(LATITUDES, LONGITUDES)
def test_utm_is_that_of_proj_in_the_zone_that_is_named(latitude: float, longitude: float) -> None:
    grid = grid_position(latitude, longitude)
    assert grid is not None
    there = Transformer.from_crs("EPSG:4326", grid.crs, always_xy=True).transform(longitude, latitude)
    assert (grid.easting, grid.northing) == pytest.approx(there, abs=1e-3)
    convergence = Proj(grid.crs).get_factors(longitude, latitude).meridian_convergence
    assert grid.convergence == pytest.approx(convergence, abs=1e-4)
