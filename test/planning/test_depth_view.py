"""Corridors, pooled depth and bearings on hand-made depth pictures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.planning.depth_view import bearing_deg, corridor_clear, depth_near, min_pooled, surface_points

START = np.array([0.0, 0.0, 30.0])


def test_over_flat_ground_every_side_is_free(look: Any) -> None:
    points = surface_points(look().values())
    assert abs(points[:, 2]).max() < 0.01, "all of it is ground"
    for end in ([10.0, 0.0, 30.0], [0.0, 10.0, 30.0], [0.0, -10.0, 30.0], [0.0, 0.0, 10.0]):
        assert corridor_clear(points, START, np.array(end), 3.0)
    assert not corridor_clear(points, START, np.array([0.0, 0.0, 2.0]), 3.0)


def test_a_wall_blocks_its_side_only(look: Any) -> None:
    points = surface_points(look(wall={"left": 8.0}).values())
    assert not corridor_clear(points, START, np.array([0.0, 10.0, 30.0]), 3.0)
    assert corridor_clear(points, START, np.array([10.0, 0.0, 30.0]), 3.0)
    assert corridor_clear(points, START, np.array([0.0, 4.0, 30.0]), 1.0)


@given(st.floats(-math.pi, math.pi), st.floats(5.0, 40.0), st.floats(0.5, 3.0))
@settings(deadline=None, max_examples=40)
def test_a_cluster_blocks_exactly_when_it_is_within_the_radius(angle: float, length: float, radius: float) -> None:
    way = np.array([math.cos(angle), math.sin(angle), 0.0])
    side = np.array([-way[1], way[0], 0.0])
    for off, clear in ((0.9 * radius, False), (1.1 * radius, True)):
        cluster = np.tile(START + way * length / 2.0 + side * off, (5, 1))
        assert corridor_clear(cluster, START, START + way * length, radius) is clear
    behind = np.tile(START - way * 0.5, (5, 1))
    assert corridor_clear(behind, START, START + way * length, radius)


def test_one_false_pixel_is_no_obstacle() -> None:
    point = START[None] + [5.0, 0.0, 0.0]
    assert corridor_clear(point, START, START + [10.0, 0.0, 0.0], 3.0)
    assert not corridor_clear(np.tile(point, (3, 1)), START, START + [10.0, 0.0, 0.0], 3.0)


def test_pooling_keeps_the_nearest_of_each_part() -> None:
    depth = np.full((60, 80), np.inf, np.float32)
    depth[5, 5], depth[30, 40], depth[59, 79], depth[0, 79] = 12.0, 7.5, -np.inf, np.nan
    pooled = min_pooled(depth)
    assert pooled.shape == (3, 3)
    assert (pooled[0, 0], pooled[1, 1], pooled[2, 2]) == (12.0, 7.5, 0.0)
    assert math.isinf(pooled[0, 2]) and math.isinf(pooled[0, 1])


def test_depth_around_a_pixel_is_robust(look: Any) -> None:
    view = look(wall={"front": 20.0})["front"]
    assert depth_near(view, 40.0, 5.0) == pytest.approx(20.0)
    depth = view.depth.copy()
    depth[5, 40] = 1.0
    assert depth_near(replace(view, depth=depth), 40.0, 5.0) == pytest.approx(20.0)
    assert math.isinf(depth_near(look()["front"], 40.0, 0.0))


def test_bearings_are_left_positive(observe: Any) -> None:
    here = observe(0.0, (10.0, 0.0, 30.0), yaw=math.pi / 2)
    assert bearing_deg(here, np.array([10.0, 50.0, 0.0])) == pytest.approx(0.0)
    assert bearing_deg(here, np.array([0.0, 0.0, 0.0])) == pytest.approx(90.0)
    assert bearing_deg(here, np.array([50.0, 0.0])) == pytest.approx(-90.0)
