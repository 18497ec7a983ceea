"""The painting of a place's ground is kept in the cache, by all that it is painted from."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.tiles.ground_tiles import painted_ground
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap


def test_a_ground_is_painted_once_and_anew_when_anything_differs(
    place: PlaceMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path))
    kept = tmp_path / "grounds"
    bake = GroundBake(place, paint_noise())
    names, kinds, colours = painted_ground(place, bake)
    (file,) = kept.iterdir()
    written = file.stat().st_mtime_ns
    again = painted_ground(place, bake)
    assert again[0] == names and all(np.array_equal(a, b) for a, b in zip(again[1:], (kinds, colours), strict=True))
    assert file.stat().st_mtime_ns == written

    cover = place.land_cover.copy()
    cover[:, :40] = LandCover.WATER
    flooded = dataclasses.replace(place, land_cover=cover)
    painted = painted_ground(flooded, GroundBake(flooded, paint_noise()))
    assert len(list(kept.iterdir())) == 2 and not np.array_equal(painted[2], colours)
    sea = dataclasses.replace(flooded, water_level=1.0)
    assert not np.array_equal(painted_ground(sea, GroundBake(sea, paint_noise()))[2], painted[2])
