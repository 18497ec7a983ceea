"""Lawn-mower lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.planning.methods.patterns.coverage_path import lane_direction, sweep, sweep_within

SQUARE = np.array([[0, 0], [100, 0], [100, 100], [0, 100]], dtype=float)


def test_lanes_over_a_square_by_hand() -> None:
    path = sweep(SQUARE, np.array([-1.0, -1.0, 0.0]), 50.0, 1000.0)
    assert path.lanes == 2
    ends = path.waypoints[:2].tolist()
    assert ends in ([[0, 25], [100, 25]], [[25, 0], [25, 100]])
    assert path.length == pytest.approx(math.hypot(1, 26) + 100 + 50 + 100, abs=1e-6)


def test_lanes_run_along_the_long_side() -> None:
    angle = 0.4
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    field = np.array([[0, 0], [300, 0], [300, 40], [0, 40]]) @ turn
    assert abs(math.tan(lane_direction(field) - angle)) < 1e-9


def test_concave_area_is_left_out() -> None:
    cup = np.array([[0, 0], [90, 0], [90, 60], [60, 60], [60, 20], [30, 20], [30, 60], [0, 60]], dtype=float)
    path = sweep(cup, np.zeros(3), 20.0, 1000.0)
    middles = (path.waypoints[0::2] + path.waypoints[1::2]) / 2
    assert not any(30 < x < 60 and y > 20 for x, y in middles)


def test_box_is_cut_to_what_can_be_flown() -> None:
    big = (SQUARE - 50.0) * 20.0
    path = sweep_within(big, np.zeros(3), 80.0, 6000.0)
    assert 4000.0 < path.length <= 6000.0
    assert np.abs(path.waypoints).max() < 400.0


def test_a_small_area_is_swept_whole() -> None:
    assert sweep_within(SQUARE, np.array([50.0, 50.0, 0.0]), 25.0, 1e5).lanes == 4


def test_home_outside_the_area_still_gets_a_lane() -> None:
    path = sweep_within(SQUARE, np.array([900.0, 900.0, 0.0]), 30.0, 100.0)
    assert path.lanes >= 1
    assert path.waypoints.min() >= -1e-6 and path.waypoints.max() <= 100.0 + 1e-6


@settings(deadline=None, max_examples=50)
@given(
    angles=st.lists(st.floats(0, 2 * math.pi), min_size=5, max_size=9, unique=True),
    spacing=st.floats(5.0, 30.0),
    seed=st.integers(0, 1000),
)
def test_every_point_of_a_convex_area_is_near_a_lane(angles: Any, spacing: Any, seed: int) -> None:
    angles = np.sort(angles)
    corners = 100.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    path = sweep(corners, np.zeros(3), spacing, 1000.0)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(corners)), 40)
    for point in weights @ corners:
        distances = [_to_segment(point, a, b) for a, b in zip(path.waypoints[0::2], path.waypoints[1::2], strict=True)]
        # Beside a slanting border the lane's end may be farther away than the lane's line.
        assert not distances or min(distances) <= spacing * 1.5 or _to_border(point, corners) < spacing


def _to_segment(point: Any, a: Any, b: Any) -> Any:
    share = np.clip((point - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0, 1)
    return float(np.linalg.norm(a + share * (b - a) - point))


def _to_border(point: Any, corners: Any) -> Any:
    return min(_to_segment(point, a, b) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True))
