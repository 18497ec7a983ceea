"""Pooling LiDAR points into the governor's range image."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.vehicle import LidarSpec, load_vehicle
from esar_ros.perception.ranges import RangeGrid, pool_ranges

GRID = RangeGrid.of(load_vehicle().lidar)


def cell_of(direction: np.ndarray) -> tuple[int, int]:
    """Row and column by the definition in msg/RangeImage.msg: the cell whose centre is nearest."""
    elevation = math.asin(direction[2])
    azimuth = math.atan2(direction[1], direction[0])
    rows = GRID.elevation_min + (np.arange(GRID.rows) + 0.5) * GRID.elevation_step
    columns = GRID.azimuth_min + (np.arange(GRID.columns) + 0.5) * GRID.azimuth_step
    turn = np.abs((columns - azimuth + math.pi) % (2 * math.pi) - math.pi)
    return int(np.argmin(np.abs(rows - elevation))), int(np.argmin(turn))


def test_no_points_means_nothing_in_range() -> None:
    assert np.isposinf(pool_ranges(np.zeros((0, 3), np.float32), GRID)).all()


@settings(deadline=None, max_examples=200)
@given(
    st.floats(-math.pi, math.pi),
    st.floats(GRID.elevation_min + 0.01, GRID.elevation_min + GRID.rows * GRID.elevation_step - 0.01),
    st.floats(0.2, 59.0),
)
def test_a_point_lands_in_the_cell_that_looks_at_it(azimuth: float, elevation: float, distance: float) -> None:
    direction = np.array(
        [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
    )
    image = pool_ranges((direction * distance).astype(np.float32)[None], GRID)
    assert np.isfinite(image).sum() == 1
    row, column = (int(i[0]) for i in np.nonzero(np.isfinite(image)))
    expected = cell_of(direction)
    assert abs(row - expected[0]) <= 1  # on a border either neighbour may own it
    assert (column - expected[1]) % GRID.columns in (0, 1, GRID.columns - 1)
    assert image[row, column] == pytest.approx(distance, rel=1e-5)


def test_the_nearest_point_of_a_cell_wins() -> None:
    points = np.array([[10.0, 0.01, 0.0], [4.0, 0.004, 0.0], [7.0, 0.007, 0.0]], np.float32)
    assert np.min(pool_ranges(points, GRID)) == pytest.approx(4.0, rel=1e-4)


def test_straight_down_and_the_upper_edge_are_covered() -> None:
    top = math.radians(load_vehicle().lidar.elevation_max_deg)
    down = pool_ranges(np.array([[0.0, 0.0, -12.0]], np.float32), GRID)
    assert np.isfinite(down[0]).sum() == 1
    up = pool_ranges(np.array([[10 * math.cos(top), 0.0, 10 * math.sin(top)]], np.float32), GRID)
    assert np.isfinite(up[-1]).sum() == 1


def test_too_near_too_far_and_invalid_points() -> None:
    near = pool_ranges(np.array([[0.05, 0.0, 0.0]], np.float32), GRID)
    assert np.isneginf(near).sum() == 1
    nothing = pool_ranges(np.array([[61.0, 0, 0], [np.nan, 1, 1], [0, 0, 0], [np.inf, 0, 0]], np.float32), GRID)
    assert np.isposinf(nothing).all()


def test_every_beam_of_the_lidar_has_its_own_row() -> None:
    lidar: LidarSpec = load_vehicle().lidar
    angles = np.radians(np.linspace(lidar.elevation_min_deg, lidar.elevation_max_deg, lidar.channels))
    points = np.stack([5 * np.cos(angles), np.zeros_like(angles), 5 * np.sin(angles)], axis=1).astype(np.float32)
    image = pool_ranges(points, GRID)
    assert np.isfinite(image).any(axis=1).all()
