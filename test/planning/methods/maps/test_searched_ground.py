"""Searched ground: what counts, where its frontiers are, and that methods choose among several of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN, Grid
from esar_ros.planning import registry
from esar_ros.planning.method import details_of
from esar_ros.planning.methods.maps.frontier import pieces
from esar_ros.planning.methods.maps.searched_ground import SearchedGround
from helpers.chat_server import ChatEndpoint

SQUARE = np.array([[-200.0, -200.0], [200.0, -200.0], [200.0, 200.0], [-200.0, 200.0]])
METHODS = ("vlfm_labels", "semexp", "unigoal@scripted")


def at(grid: Grid, x: float, y: float) -> int:
    return int(grid.cells[grid.cell_of(np.array([x, y]))])


def test_ground_is_searched_as_far_as_a_person_is_seen(look: Any) -> None:
    ground = SearchedGround(SQUARE, 60.0)
    assert (ground.grid().cells == UNKNOWN).all()
    for yaw in (0.0, math.pi):
        ground.observe(look(yaw=yaw).values())
    grid = ground.grid()
    # 60 m from a camera 30 m above ground are 52 m along it.
    for angle in np.arange(0.0, 2.0 * math.pi, math.pi / 6.0):
        assert at(grid, 45.0 * math.cos(angle), 45.0 * math.sin(angle)) == FREE
        assert at(grid, 60.0 * math.cos(angle), 60.0 * math.sin(angle)) == UNKNOWN


def test_ground_outside_the_area_is_nobody_s_to_search(look: Any) -> None:
    triangle = np.array([[-100.0, -100.0], [100.0, -100.0], [100.0, 100.0]])
    grid = SearchedGround(triangle, 60.0).grid()
    assert at(grid, -50.0, 50.0) == OCCUPIED and at(grid, 50.0, -50.0) == UNKNOWN


def test_a_gap_too_small_to_fly_to_counts_as_searched(look: Any) -> None:
    """A hidden cell (16 m^2) has no frontier, a square of 16 (256 m^2) has."""
    for side, left in ((1, FREE), (4, UNKNOWN)):
        ground = SearchedGround(SQUARE, 60.0)
        ground.observe(look().values())
        row, column = ground.grid().cell_of(np.array([20.0, 0.0]))
        ground._coverage.best_distance[row : row + side, column : column + side] = np.inf
        assert ground.grid().cells[row, column] == left


@given(arrays(np.bool_, (12, 17)), st.floats(1.0, 12.0))
@settings(deadline=None, max_examples=50)
def test_pieces_hold_every_cell_once_and_are_short(mask: Any, longest: float) -> None:
    cells = np.argwhere(mask).astype(np.int64)
    if not len(cells):
        return
    cut = pieces(cells, longest)
    assert sorted(map(tuple, np.concatenate(cut))) == sorted(map(tuple, cells))
    assert all(math.hypot(*(piece.max(axis=0) - piece.min(axis=0))) <= longest for piece in cut)


@pytest.mark.parametrize("name", METHODS)
def test_the_rim_of_what_was_seen_at_the_start_is_several_frontiers(
    name: str, brief: Any, observe: Any, look: Any
) -> None:
    grid = Grid(np.full((200, 200), FREE, np.int8), 2.0, (-200.0, -200.0))
    method: Any = registry.create(name)
    method.reset(brief(half=200.0), 1)
    for stamp, yaw in enumerate((0.0, 0.0, math.pi)):
        decision = method.act(observe(float(stamp), yaw=yaw, grid=grid, views=look(yaw=yaw)))
    assert decision.action == "frontier" and decision.considered >= 8
    assert 40.0 < np.linalg.norm(decision.goal.position[:2]) < 56.0, "at the rim of what was seen"


@pytest.mark.parametrize("name", ["vlfm_labels", "semexp", "unigoal"])
def test_a_row_says_by_which_frontiers_it_flew(name: str, chat: ChatEndpoint) -> None:
    assert details_of(registry.create(name))["frontiers"] == "of ground searched to 60 m in pieces of 50 m"
    air = registry.create(f"{name}@air")
    assert air.name == f"{name}@air" and details_of(air)["frontiers"] == "of known air"


def test_ground_seen_all_over_ends_the_search(brief: Any, observe: Any, look: Any) -> None:
    grid = Grid(np.full((40, 40), FREE, np.int8), 2.0, (-40.0, -40.0))
    method: Any = registry.create("semexp", {"settle": 2})
    method.reset(brief(half=25.0), 1)
    stops = [
        method.act(observe(float(stamp), yaw=yaw, grid=grid, views=look(yaw=yaw))).stop
        for stamp, yaw in enumerate((0.0, 0.0, math.pi, math.pi))
    ]
    assert stops == [False, False, False, True]
