"""Debris of rock on snow: below the rock, not above it, and with the stones' own tile."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from esar_ros.sim.render.tiles.debris import debris_share, with_debris
from esar_ros.sim.terrain.land_cover import ALBEDO, LandCover
from esar_ros.sim.terrain.maps import PlaceMap

SIZE = 512


@pytest.fixture(scope="module")
def slope(place: PlaceMap) -> PlaceMap:
    """A snow slope that falls to the east, a band of rock across its middle."""
    n = place.samples
    heights = np.broadcast_to(-0.4 * place.cell * np.arange(n, dtype=np.float32), (n, n)).copy()
    cover = np.full((n, n), LandCover.SNOW, dtype=np.uint8)
    reach = round(30.0 / place.cell)
    cover[:, n // 2 - reach : n // 2] = LandCover.ROCK
    return dataclasses.replace(place, heights=heights, land_cover=cover)


def test_debris_lies_below_the_rock(slope: PlaceMap) -> None:
    share = debris_share(slope, SIZE)
    texel, middle = slope.size / SIZE, SIZE // 2
    below = share[:, middle + 2 : middle + round(20.0 / texel)]
    above = share[:, : middle - round(40.0 / texel)]
    far = share[:, middle + round(70.0 / texel) :]
    assert below.mean() > 0.15 and above.max() == far.max() == 0.0
    assert below.min() < 0.2 < 0.8 < below.max()  # in patches


def test_no_rock_no_debris_and_none_on_steep_ground(slope: PlaceMap) -> None:
    snow = np.full_like(slope.land_cover, LandCover.SNOW)
    assert not debris_share(dataclasses.replace(slope, land_cover=snow), SIZE).any()
    assert not debris_share(dataclasses.replace(slope, heights=4.0 * slope.heights), SIZE).any()


def test_stones_have_their_colour_and_tile(slope: PlaceMap) -> None:
    roots = np.broadcast_to(np.uint8(255 * np.sqrt(ALBEDO[LandCover.SNOW])), (SIZE, SIZE, 3)).copy()
    albedo, kinds = with_debris(slope, roots, ["snow", "blocks"], np.zeros((SIZE, SIZE), dtype=np.uint8))
    assert np.array_equal(albedo[debris_share(slope, SIZE) == 0.0], roots[debris_share(slope, SIZE) == 0.0])
    assert (kinds == 1).any() and albedo[kinds == 1].mean() < 0.85 * roots.mean()
