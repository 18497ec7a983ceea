"""The frame of Unreal's worlds: mirrored and in centimetres."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.unreal import (
    map_heading_to_unreal,
    map_to_unreal,
    mirrored,
    unreal_heading_to_map,
    unreal_to_map,
)

numbers = st.floats(-1e6, 1e6)
points = st.tuples(numbers, numbers, numbers)


@settings(max_examples=50, deadline=None)
@given(points)
def test_the_mirror_is_its_own_inverse(point: tuple[float, float, float]) -> None:
    assert mirrored(mirrored(point)).tolist() == list(point)


@settings(max_examples=50, deadline=None)
@given(points, points)
def test_distances_stay(one: tuple[float, float, float], other: tuple[float, float, float]) -> None:
    assert math.dist(unreal_to_map(one), unreal_to_map(other)) == pytest.approx(math.dist(one, other) / 100.0, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(points)
def test_there_and_back(point: tuple[float, float, float]) -> None:
    assert map_to_unreal(unreal_to_map(point)) == pytest.approx(point, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(-720.0, 720.0))
def test_headings_there_and_back(degrees: float) -> None:
    back = map_heading_to_unreal(unreal_heading_to_map(degrees))
    assert -180.0 <= back <= 180.0
    assert math.remainder(back - degrees, 360.0) == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(points, st.floats(-180.0, 180.0), st.floats(0.0, 1e4))
def test_a_step_ahead_leads_to_the_same_place(start: tuple[float, float, float], yaw: float, length: float) -> None:
    """Unreal: yaw turns from x (ahead) to y (right)."""
    along = np.array([math.cos(math.radians(yaw)), math.sin(math.radians(yaw)), 0.0])
    heading = unreal_heading_to_map(yaw)
    ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
    expected = unreal_to_map(np.array(start) + length * along)
    assert unreal_to_map(start) + length / 100.0 * ahead == pytest.approx(expected, abs=1e-6)


def test_by_hand() -> None:
    assert unreal_to_map([[100.0, 200.0, 300.0]]).tolist() == [[1.0, -2.0, 3.0]]
    assert unreal_heading_to_map(90.0) == pytest.approx(-math.pi / 2)  # to the right: south of east
    assert str(unreal_to_map([0.0, 0.0, 0.0]).tolist()) == "[0.0, 0.0, 0.0]"  # none of them negative
    assert str(map_heading_to_unreal(0.0)) == "0.0"
