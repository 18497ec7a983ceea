"""The shore in images of high quality: smooth lines by the distance to the water."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from esar_ros.sim.render.tiles.shore import with_shore
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap

SIZE = 1024


@pytest.fixture(scope="module")
def coast(place: PlaceMap) -> PlaceMap:
    """A coast whose western half is sea."""
    cover = np.full_like(place.land_cover, LandCover.SAND)
    cover[:, : place.samples // 2] = LandCover.WATER
    return dataclasses.replace(place, land_cover=cover, water_level=0.0, horizon="sea")


@pytest.fixture(scope="module")
def profile(coast: PlaceMap) -> np.ndarray:
    """Linear colour (m, 3) across the coast from west to east, mean of all rows."""
    plain = np.broadcast_to(np.uint8(255 * np.sqrt(ALBEDO[LandCover.SAND])), (SIZE, SIZE, 3)).copy()
    plain[:, : SIZE // 2] = np.uint8(255 * np.sqrt(ALBEDO[LandCover.WATER]))
    return ((with_shore(coast, plain) / 255.0) ** 2).mean(axis=0)


def test_far_from_the_line_nothing_changes(profile: np.ndarray) -> None:
    assert profile[100] == pytest.approx(ALBEDO[LandCover.WATER], abs=0.01)
    assert profile[-100] == pytest.approx(ALBEDO[LandCover.SAND], abs=0.01)


def test_sand_is_dark_where_waves_reach_and_foam_lies_before_it(profile: np.ndarray, coast: PlaceMap) -> None:
    line, texel = SIZE // 2, coast.size / SIZE
    wet = profile[line + 1]  # 2 m inland
    assert (wet < 0.92 * ALBEDO[LandCover.SAND]).all() and wet[0] > wet[2]  # still sand
    foam = profile[line - round(12.0 / texel) : line + 1].mean(axis=0)
    open_water = profile[line - round(60.0 / texel)]
    assert (foam > 1.5 * open_water).all()


def test_a_lake_has_no_surf(coast: PlaceMap) -> None:
    lake = dataclasses.replace(coast, horizon="ranges")
    plain = np.full((SIZE, SIZE, 3), 40, dtype=np.uint8)
    assert with_shore(lake, plain).max() < 150 < with_shore(coast, plain).max()
