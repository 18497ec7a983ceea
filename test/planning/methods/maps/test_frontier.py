"""Frontiers and masks of a bird's-eye grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid
from esar_ros.planning.methods.maps.frontier import (
    clear_disc,
    find_frontiers,
    nearest_cell,
    passable_cells,
    polygon_cells,
)
from esar_ros.planning.search_area import contains

_CELL = {".": FREE, "#": OCCUPIED, " ": UNKNOWN}


def grid(*rows: str, resolution: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)) -> Grid:
    return Grid(np.array([[_CELL[c] for c in row] for row in rows], dtype=np.int8), resolution, origin)


def everywhere(g: Grid) -> np.ndarray:
    return np.ones(g.cells.shape, bool)


def test_frontier_cells_by_hand() -> None:
    g = grid(
        "      ",
        " .... ",
        " .... ",
        " .##. ",
        "  ... ",
    )
    found = find_frontiers(g, everywhere(g), 1)
    expected = ["      ", " xxxx ", " x  x ", " x  x ", "  xxx "]
    assert found.cells.tolist() == [[c == "x" for c in row] for row in expected]


def test_small_clusters_are_dropped() -> None:
    g = grid("########", "#.. ...#", "########")
    assert find_frontiers(g, everywhere(g), 1).clusters == 2
    assert not find_frontiers(g, everywhere(g), 2).cells.any()


def test_beyond_the_border_all_is_unknown() -> None:
    g = grid("....", "....", "....")
    found = find_frontiers(g, everywhere(g), 1)
    assert found.clusters == 1 and np.count_nonzero(~found.cells) == 2


def test_only_where_allowed() -> None:
    g = grid("#######", "#.... #", "#######")
    allowed = everywhere(g)
    assert find_frontiers(g, allowed, 1).clusters == 1
    allowed[1, 4] = False
    assert find_frontiers(g, allowed, 1).clusters == 0


@settings(deadline=None, max_examples=80)
@given(arrays(np.int8, (9, 11), elements=st.sampled_from([UNKNOWN, FREE, OCCUPIED])), st.integers(1, 6))
def test_frontiers_agree_with_their_definition(cells: Any, least: Any) -> None:
    found = find_frontiers(Grid(cells, 1.0, (0.0, 0.0)), np.ones(cells.shape, bool), least)
    padded = np.pad(cells, 1, constant_values=UNKNOWN)
    plain = np.array(
        [[cells[r, c] == FREE and (padded[r : r + 3, c : c + 3] == UNKNOWN).any() for c in range(11)] for r in range(9)]
    )
    sizes, clusters = np.zeros(cells.shape, int), 0
    for start in zip(*np.nonzero(plain), strict=True):
        if sizes[start]:
            continue
        members, todo = {start}, [start]
        while todo:
            r, c = todo.pop()
            near = {(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} - members
            new = [p for p in near if 0 <= p[0] < 9 and 0 <= p[1] < 11 and plain[p]]
            members.update(new)
            todo += new
        for member in members:
            sizes[member] = len(members)
        clusters += len(members) >= least
    np.testing.assert_array_equal(found.cells, sizes >= least)
    assert found.clusters == clusters


@pytest.mark.parametrize(("clearance", "free"), [(0.0, 24), (2.0, 20), (2.9, 16), (4.0, 12)])
def test_passable_keeps_clear_of_obstacles(clearance: Any, free: Any) -> None:
    """One obstacle in the middle of 5 x 5 cells of 2 m."""
    g = grid(".....", ".....", "..#..", ".....", ".....", resolution=2.0)
    assert np.count_nonzero(passable_cells(g, clearance)) == free


def test_unknown_is_not_passable() -> None:
    assert passable_cells(grid(". ."), 0.0).tolist() == [[True, False, True]]


def test_polygon_cells_are_those_inside() -> None:
    g = Grid(np.zeros((20, 30), np.int8), 2.0, (-10.0, 100.0))
    corners = np.array([[-5.5, 105.5], [20.5, 105.5], [20.5, 120.5], [-5.5, 120.5]])
    x = -10.0 + (np.arange(30) + 0.5) * 2.0
    y = 100.0 + (np.arange(20) + 0.5) * 2.0
    inside = ((x > -5.5) & (x < 20.5))[None, :] & ((y > 105.5) & (y < 120.5))[:, None]
    np.testing.assert_array_equal(polygon_cells(g, corners), inside)
    shrunk = ((x > -1.5) & (x < 16.5))[None, :] & ((y > 109.5) & (y < 116.5))[:, None]
    np.testing.assert_array_equal(polygon_cells(g, corners, 4.0), shrunk)
    np.testing.assert_array_equal(
        polygon_cells(g, (corners - [7.5, 113]) * 100 + [7.5, 113], 4.0), np.ones((20, 30), bool)
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(-20, 60), st.floats(-20, 60)), min_size=3, max_size=7))
def test_polygon_cells_agree_with_the_point_test(corners: Any) -> None:
    g = Grid(np.zeros((9, 8), np.int8), 5.0, (-3.0, 2.0))
    polygon = np.array(corners)
    mask = polygon_cells(g, polygon)
    for row in range(9):
        for column in range(8):
            assert mask[row, column] == contains(polygon, g.center_of(row, column))


@settings(deadline=None, max_examples=60)
@given(st.floats(-30, 60), st.floats(-30, 60), st.floats(0, 20))
def test_clear_disc_clears_the_disc(x: Any, y: Any, radius: Any) -> None:
    g = Grid(np.zeros((12, 15), np.int8), 2.0, (3.0, -4.0))
    mask = np.ones((12, 15), bool)
    clear_disc(mask, g, np.array([x, y]), radius)
    centers = np.array([[g.center_of(r, c) for c in range(15)] for r in range(12)])
    np.testing.assert_array_equal(mask, np.linalg.norm(centers - [x, y], axis=2) > radius)


def test_nearest_cell() -> None:
    mask = np.zeros((9, 9), bool)
    mask[2, 2] = mask[8, 8] = True
    assert nearest_cell(mask, (4, 3), 3) == (2, 2)
    assert nearest_cell(mask, (8, 8), 0) == (8, 8)
    assert nearest_cell(mask, (5, 5), 2) is None
    assert nearest_cell(mask, (-40, 5), 2) is None
