"""Terrain in the prior: drainages of an elevation model, shares that are kept, distances to trails."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.incident.ground import Ground
from esar_ros.incident.prior.terrain import (
    BESIDE,
    CHANNEL,
    Terrain,
    by_offset,
    distance_to,
    drainages,
    near,
    raised,
    weighed,
)  # fmt: skip
from esar_ros.planning.methods.patterns.lost_persons import Found

CELL, COUNT = 20.0, 100
ACROSS, ALONG = np.meshgrid(np.arange(COUNT) * CELL, np.arange(COUNT) * CELL)  # from west, from north, m


def ground(heights: np.ndarray) -> Ground:
    return Ground(heights, 500_000.0, 3_764_000.0, CELL, "EPSG:32648")


def valley(floor: np.ndarray | float = 0.0) -> Ground:
    """A valley that falls to the north, its bottom 1000 m from the west edge."""
    return ground(1000.0 + 0.1 * ALONG + 0.4 * np.abs(ACROSS - 1000.0) + floor)


def test_a_valley_drains_along_its_bottom_from_where_enough_ground_lies_above() -> None:
    drained = drainages(valley())
    rows, columns = np.nonzero(drained)
    assert set(columns) <= {49, 50, 51}
    # Each row drains 2000 m by a cell: CHANNEL is reached after so many rows from the upper end.
    assert rows.max() == pytest.approx(COUNT - CHANNEL / (COUNT * CELL**2), abs=2)
    assert drained[:95, 50].sum() + drained[:95, 49].sum() >= 95


def test_water_fills_a_hollow_and_goes_on() -> None:
    hollow = -40.0 * (np.hypot(ACROSS - 1000.0, ALONG - 800.0) < 100.0)
    drained = drainages(valley(hollow))
    assert drained[:30, 45:56].any(axis=1).all(), "below the hollow, too"


def test_all_water_leaves_the_ground() -> None:
    random = np.random.default_rng(3)
    rough = ground(random.normal(0.0, 30.0, (40, 40)))
    assert not drainages(rough)[1:-1, 1:-1].all()
    flat = drainages(ground(np.full((40, 40), 100.0)))
    assert flat.dtype == bool, "level ground ends, too"


def test_what_is_not_known_drains_nothing() -> None:
    heights = valley().heights
    heights[:, 60:] = np.nan
    assert not drainages(ground(heights))[:, 60:].any()


def test_a_share_is_raised_and_never_lowered_and_the_sum_stays() -> None:
    cells = np.full((10, 10), 0.005)
    inside = np.zeros((10, 10), bool)
    inside[0] = True
    moved = raised(cells, inside, 0.3)
    assert moved.sum() == pytest.approx(0.5) and moved[inside].sum() == pytest.approx(0.15)
    assert np.array_equal(raised(cells, inside, 0.05), cells), "more than that lies there already"
    assert np.array_equal(raised(cells, np.zeros_like(inside), 0.3), cells), "where nothing drains nothing is moved"


def test_bands_about_trails_hold_what_was_found_in_them() -> None:
    found = Found(offsets=(50.0, 100.0), shares=(0.5, 0.8))
    cells = np.full((1, 10), 0.05)
    distance = np.arange(10.0)[None] * 20.0
    moved = by_offset(cells, distance, found)
    assert moved.sum() == pytest.approx(0.5)
    assert [moved[distance < 50.0].sum(), moved[distance >= 100.0].sum()] == pytest.approx([0.25, 0.1])
    near_alone = by_offset(cells, np.minimum(distance, 90.0), found)
    assert near_alone.sum() == pytest.approx(0.5), "what the map does not have is shared by the others"


def test_distances_to_trails_are_metres_and_a_trail_elsewhere_has_none() -> None:
    on = valley()
    trail = np.array([(on.west, on.north - 1010.0), (on.west + 2000.0, on.north - 1010.0)])
    assert distance_to([trail], on)[70, 5] == pytest.approx(400.0)
    assert np.isinf(distance_to([trail + 1e5], on)).all()


def test_terrain_moves_probability_to_drainages_and_says_so() -> None:
    on = valley()
    cells = np.full(on.heights.shape, 1e-4)
    hikers = Found(0.12, (50.0, 100.0, 238.0, 424.0), (0.25, 0.5, 0.75, 0.95))
    terrain = Terrain.of(on, hikers)
    moved = weighed(cells, terrain)
    assert moved.sum() == pytest.approx(cells.sum())
    assert moved[near(drainages(on), CELL, BESIDE)].sum() == pytest.approx(0.12 * cells.sum())
    assert "12% of them in drainages" in terrain.told and "trails" not in terrain.told
    assert "trails" in Terrain.of(on, hikers, np.full(on.heights.shape, 10.0)).told
    assert Terrain.of(on, Found()).drained is None, "of people of whom nothing is known"
    on.heights[0, 0] = np.nan
    factor = Terrain.of(on, Found()).factor
    assert factor is not None and factor[0, 0] == 0.0 and factor.sum() == factor.size - 1
