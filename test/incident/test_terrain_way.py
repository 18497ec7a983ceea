"""The heights of a way: above the highest ground near it, below the ceiling over the lowest, on coarse models, too."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.incident.terrain_way import BELOW, CLEAR, LOWEST, OFF, ROOM, TerrainWay

HEIGHT, CEILING, SIGHT = 40.0, 120.0, 55.0


def slope(cell: float, steepness: float) -> Ground:
    """A ground that rises to the east, 3 km a side."""
    count = round(3000.0 / cell)
    heights = 1000.0 + steepness * cell * (np.arange(count) + 0.5)
    return Ground(np.tile(heights, (count, 1)), 500_000.0, 4_903_000.0, cell, "EPSG:32619")


def cliff(high: float) -> Ground:
    """Flat ground 2 km a side, with a step to the east."""
    heights = np.where(np.arange(200) < 100, 1000.0, 1000.0 + high)
    return Ground(np.tile(heights, (200, 1)), 0.0, 2000.0, 10.0, "EPSG:32632")


def above(ground: Ground, corners: Floats) -> tuple[float, float]:
    """Returns the least height above the highest ground within CLEAR, and the greatest above the lowest within
    BELOW, of straight lines between corners; both by a fine search."""
    turn = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    circle = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(turn), np.sin(turn)], axis=1)])
    least, most = np.inf, -np.inf
    for start, end in pairwise(corners):
        for share in np.linspace(0.0, 1.0, 12):
            x, y, z = start + share * (end - start)
            around = [ground.height(x + CLEAR * a, y + CLEAR * b) for a, b in circle]
            below = [ground.height(x + BELOW * a, y + BELOW * b) for a, b in circle]
            least, most = min(least, z - max(around)), max(most, z - min(below))
    return least, most


@pytest.mark.parametrize("cell", [10.0, 31.0, 78.0])
@pytest.mark.parametrize("steepness", [0.0, 0.4, 0.8])
def test_a_way_over_a_slope_keeps_its_height_and_the_ceiling_however_coarse_the_model(
    cell: float, steepness: float
) -> None:
    ground = slope(cell, steepness)
    way = np.array([[500_800.0, 4_901_500.0], [501_900.0, 4_901_900.0], [501_000.0, 4_900_900.0]])
    terrain = TerrainWay(ground, HEIGHT, CEILING, SIGHT)
    assert all(terrain.is_open(start, end) for start, end in pairwise(way))
    least, most = above(ground, terrain.corners(way))
    drop = steepness * (CLEAR + BELOW + 20.0)  # the fine cells' corners, too
    assert least >= max(LOWEST * HEIGHT, min(HEIGHT, SIGHT - drop)) - OFF - 5.0 * steepness
    assert most <= min(max(SIGHT, LOWEST * HEIGHT + drop) + 10.0 * steepness, CEILING - ROOM) + OFF


def test_a_leg_over_a_cliff_too_high_for_both_is_closed_and_so_is_the_ground_there() -> None:
    west, east = np.array([300.0, 1000.0]), np.array([1700.0, 1000.0])
    low, high = (TerrainWay(cliff(high), HEIGHT, CEILING, SIGHT) for high in (25.0, 60.0))
    assert low.is_open(west, east) and not low.closed.any()
    assert not high.is_open(west, east) and high.is_open(west, west + (600.0, 0.0))
    least, most = above(cliff(25.0), low.corners(np.array([west, east])))
    assert least >= LOWEST * HEIGHT - OFF and most <= CEILING - ROOM + OFF, "lower over the edge"
    columns = np.flatnonzero(high.closed.all(axis=0))
    assert 95 <= columns.min() <= 99 and 98 <= columns.max() <= 104 and not high.closed[:, :90].any()


def test_ground_that_is_not_known_is_closed() -> None:
    ground = cliff(0.0)
    ground.heights[90:110, 90:110] = np.nan
    terrain = TerrainWay(ground, HEIGHT, CEILING, SIGHT)
    assert not terrain.is_open(np.array([300.0, 1000.0]), np.array([1700.0, 1000.0]))
    assert terrain.is_open(np.array([300.0, 1500.0]), np.array([1700.0, 1500.0]))
    assert not terrain.is_open(np.array([300.0, 1500.0]), np.array([2100.0, 1500.0])), "beside the ground"


def test_who_flies_higher_than_the_ranges_reach_does_so() -> None:
    ground = cliff(0.0)
    heights = TerrainWay(ground, 80.0, CEILING, SIGHT).heights(np.array([300.0, 1000.0]), np.array([700.0, 1000.0]))
    assert heights == pytest.approx(1080.0)
