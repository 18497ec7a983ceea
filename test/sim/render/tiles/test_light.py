"""The sun on tiles: bumps lit on its side, shadows behind, no change of the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.sim.render.tiles.fields import SIDE, noise
from esar_ros.sim.render.tiles.light import SUN_RANGE, shine

EAST = np.array([math.cos(0.5), 0.0, math.sin(0.5)])  # a sun half a radian high


def bump() -> np.ndarray:
    """A dome of 20 texels' radius in the middle of level ground, m."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2
    return np.maximum(0.0, 0.6 * (1.0 - (x * x + y * y) / 400.0)).astype(np.float32)


def roots(light: np.ndarray) -> np.ndarray:
    return light / 255.0 * math.sqrt(SUN_RANGE)


def test_level_ground_is_lit_as_without_a_tile() -> None:
    light = shine("turf", np.zeros((SIDE, SIDE), dtype=np.float32), EAST, 0.0)
    assert roots(light) == pytest.approx(1.0, abs=0.005)


def test_a_bump_is_bright_towards_the_sun_and_throws_a_shadow() -> None:
    light = roots(shine("turf", bump(), EAST, 0.0))
    middle = SIDE // 2
    east, shadow, beside = light[middle, middle + 14], light[middle, middle - 24], light[middle + 40, middle]
    assert east > 1.3 > beside > 0.9 and shadow < 0.1


def test_the_sun_follows_the_turn_of_the_tile() -> None:
    north = np.array([0.0, EAST[0], EAST[2]])
    turned = shine("turf", bump(), north, math.pi / 2)  # the tile's x axis points north
    assert np.abs(turned.astype(int) - shine("turf", bump(), EAST, 0.0)).max() <= 1


@pytest.mark.parametrize("name", ["turf", "snow", "cliff"])
@pytest.mark.parametrize("height", [0.1, 0.5, 1.5])
def test_the_mean_stays(name: str, height: float) -> None:
    sun = np.array([math.cos(height), 0.0, math.sin(height)])
    light = roots(shine(name, 0.02 * noise(5, 4.0, 0.3, 1.0), sun, 0.6))
    assert light.mean() == pytest.approx(1.0, abs=0.01)


def test_snow_lights_its_own_shadows() -> None:
    field = 0.02 * noise(5, 4.0, 0.3, 1.0)
    assert shine("snow", field, EAST, 0.0).std() < 0.8 * shine("turf", field, EAST, 0.0).std()
