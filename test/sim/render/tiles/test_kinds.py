"""Places of tiles, and the colours over them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.tiles.kinds import WALL, tile_kinds
from esar_ros.sim.render.tiles.light import FROZEN
from esar_ros.sim.render.tiles.macro_colour import with_macro_colour
from esar_ros.sim.render.tiles.store import MAKERS
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap


@pytest.fixture(scope="module")
def bake(place: PlaceMap) -> GroundBake:
    return GroundBake(place, paint_noise())


def test_tiles_follow_the_cover(place: PlaceMap, bake: GroundBake) -> None:
    names, kinds = tile_kinds(place, bake)
    assert set(names) <= set(MAKERS) and names[-1] == WALL
    assert kinds.shape == (bake.size, bake.size) and kinds.max() < len(names) - 1
    for cover, name in ((LandCover.GRASS, "turf"), (LandCover.FOREST, "litter"), (LandCover.BLOCKFIELD, "blocks")):
        rows, columns = np.nonzero(place.land_cover == cover)
        at = np.stack([rows, columns]) * bake.size // (place.samples - 1)
        found = kinds[np.minimum(at[0], bake.size - 1), np.minimum(at[1], bake.size - 1)]
        assert (found == names.index(name)).mean() > 0.8


def test_frozen_ground_is_numbered_first(place: PlaceMap) -> None:
    cover = place.land_cover.copy()
    cover[:40], cover[40:80] = LandCover.SNOW, LandCover.ICE
    frozen = dataclasses.replace(place, land_cover=cover)
    names, _ = tile_kinds(frozen, GroundBake(frozen, paint_noise()))
    assert set(names[: len(FROZEN)]) == set(FROZEN) and not set(names[len(FROZEN) :]) & set(FROZEN)


def test_tracks_lie_on_trodden_earth(place: PlaceMap, bake: GroundBake) -> None:
    names, kinds = tile_kinds(place, bake)
    trail = place.tracks["trail"]
    at = ((trail + place.size / 2) / place.size * bake.size).astype(int).clip(0, bake.size - 1)
    assert (kinds[at[:, 1], at[:, 0]] == names.index("earth")).mean() > 0.9


def test_wide_colours_keep_each_kinds_mean(place: PlaceMap, bake: GroundBake) -> None:
    names, kinds = tile_kinds(place, bake)
    coloured = with_macro_colour(place, bake.albedo, names, kinds)
    changed = np.abs(coloured.astype(int) - bake.albedo).max(axis=-1)
    for name in ("turf", "litter", "blocks"):
        own = kinds == names.index(name)
        assert coloured[own].mean(axis=0) == pytest.approx(bake.albedo[own].mean(axis=0), rel=0.02)
        assert (changed[own] > 1).mean() > 0.5
