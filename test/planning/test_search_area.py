"""The search area's geometry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.errors import UsageError
from esar_ros.planning.search_area import (
    contains,
    distance_to_edge,
    flight_height,
    nearest_inside,
    polygon_area,
    polygon_of,
)

L_SHAPE = np.array([[0, 0], [10, 0], [10, 4], [4, 4], [4, 10], [0, 10]], dtype=float)


@pytest.mark.parametrize(
    ("point", "inside"), [((2, 2), True), ((9, 3), True), ((3, 9), True), ((6, 6), False), ((-1, 2), False)]
)
def test_contains_in_a_concave_polygon(point: Any, inside: Any) -> None:
    assert contains(L_SHAPE, np.array(point, float)) is inside


def test_area_has_the_sign_of_the_turn() -> None:
    assert polygon_area(L_SHAPE) == pytest.approx(64.0)
    assert polygon_area(L_SHAPE[::-1]) == pytest.approx(-64.0)


@settings(deadline=None)
@given(st.floats(-20, 20), st.floats(-20, 20))
def test_nearest_inside_is_the_nearest(x: Any, y: Any) -> None:
    point = np.array([x, y])
    found = nearest_inside(L_SHAPE, point)
    if contains(L_SHAPE, point):
        np.testing.assert_array_equal(found, point)
        return
    distance = np.linalg.norm(found - point)
    shares = np.linspace(0, 1, 200)
    edges = [a + shares[:, None] * (b - a) for a, b in zip(L_SHAPE, np.roll(L_SHAPE, -1, 0), strict=True)]
    sampled = np.linalg.norm(np.vstack(edges) - point, axis=1).min()
    assert distance <= sampled + 1e-9 and distance >= sampled - 0.06


@pytest.mark.parametrize("area", [np.zeros((2, 2)), np.zeros((4, 2)), np.full((3, 2), math.nan), np.zeros((3, 3))])
def test_an_area_that_encloses_nothing_is_refused(brief: Any, area: Any) -> None:
    with pytest.raises(UsageError, match="brief m1: search area"):
        polygon_of(brief(area=area))


@pytest.mark.parametrize(("ceiling", "height"), [(120.0, 30.0), (32.0, 27.0), (8.0, 4.0)])
def test_flight_height_stays_below_the_ceiling(brief: Any, ceiling: Any, height: Any) -> None:
    assert flight_height(30.0, brief(ceiling=ceiling)) == pytest.approx(height)


def test_distance_to_edge_is_negative_outside() -> None:
    square = np.array([[0.0, 0.0], [10, 0], [10, 10], [0, 10]])
    points = np.array([[[5.0, 5.0], [1.0, 5.0]], [[-3.0, 5.0], [13.0, 14.0]]])
    assert distance_to_edge(square, points) == pytest.approx(np.array([[5.0, 1.0], [-3.0, -5.0]]))
