"""Ways over the grid."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.planning.methods.maps.grid_path import GridPath, farthest_visible, nearest_target


def masks(*rows: str) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Passable, targets and start of a drawing: # blocked, T target, S start."""
    text = np.array([list(row) for row in rows])
    ((row, column),) = np.argwhere(text == "S").tolist()
    return text != "#", text == "T", (row, column)


def way(passable: np.ndarray, targets: np.ndarray, start: tuple[int, int]) -> GridPath:
    path = nearest_target(passable, targets, start)
    assert path is not None
    return path


def test_the_way_round_a_wall_decides_which_is_nearest() -> None:
    passable, targets, start = masks(
        "...#T..",
        ".S.#...",
        "...#...",
        "...#...",
        "T......",
    )
    path = way(passable, targets, start)
    assert tuple(path.cells[-1]) == (4, 0)
    assert tuple(path.cells[0]) == start
    assert path.length == pytest.approx(3.44, abs=0.01), "3.16 by air, 4 by steps along the grid"


def test_corners_are_not_cut() -> None:
    passable, targets, start = masks("S#", "#T")
    assert nearest_target(passable, targets, start) is None
    passable, targets, start = masks("S#", ".T")
    assert way(passable, targets, start).length == 2.0


def test_start_on_a_target_outside_or_walled_in() -> None:
    passable, targets, start = masks("S.")
    targets[0, 0] = True
    assert way(passable, targets, start).length == 0.0
    assert nearest_target(passable, targets, (5, 0)) is None
    assert nearest_target(*masks("S#T")) is None


def test_farthest_visible_is_before_the_corner() -> None:
    passable, targets, start = masks(
        "S......",
        "######.",
        "T......",
    )
    path = way(passable, targets, start)
    row, column = farthest_visible(passable, path)
    assert row == 0 and column >= 5
    free, targets, start = masks("S......", ".......", "......T")
    assert farthest_visible(free, way(free, targets, start)) == (2, 6)


def marched(passable: Any, start: Any) -> Any:
    """Textbook fast marching with a queue that may hold a cell twice: arrival times of all cells."""
    times, taken, queue = np.full(passable.shape, np.inf), np.zeros(passable.shape, bool), [(0.0, start)]
    times[start] = 0.0
    while queue:
        _, (r, c) = heapq.heappop(queue)
        if taken[r, c]:
            continue
        taken[r, c] = True
        for rr, cc in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if not (0 <= rr < passable.shape[0] and 0 <= cc < passable.shape[1]) or taken[rr, cc]:
                continue
            if not passable[rr, cc]:
                continue
            known = np.pad(np.where(taken, times, np.inf), 1, constant_values=np.inf)
            a, b = sorted((known[rr : rr + 3 : 2, cc + 1].min(), known[rr + 1, cc : cc + 3 : 2].min()))
            new = a + 1.0 if b >= a + 1.0 else (a + b + np.sqrt(2.0 - (a - b) ** 2)) / 2.0
            if new < times[rr, cc]:
                times[rr, cc] = new
                heapq.heappush(queue, (new, (rr, cc)))
    return times


@settings(deadline=None, max_examples=60)
@given(
    arrays(np.bool_, (10, 12), elements=st.sampled_from([True, True, True, False])),
    arrays(np.bool_, (10, 12), elements=st.sampled_from([True, *[False] * 20])),
    st.tuples(st.integers(0, 9), st.integers(0, 11)),
)
def test_equals_plain_fast_marching_and_the_way_is_flyable(passable: Any, targets: Any, start: Any) -> None:
    path = nearest_target(passable, targets, start)
    times = marched(passable, start)
    expected = times[targets].min(initial=np.inf)
    assert (path is None) == np.isinf(expected)
    if path is None:
        return
    assert path.length == pytest.approx(expected, abs=1.0 / 64.0)
    assert tuple(path.cells[0]) == start and targets[tuple(path.cells[-1])]
    steps = np.abs(np.diff(path.cells, axis=0))
    assert (steps.max(axis=1) == 1).all() if len(steps) else True
    assert all(passable[tuple(cell)] for cell in path.cells[1:])
    for (r, c), (rr, cc) in zip(path.cells, path.cells[1:], strict=False):
        beside = [(r, cc), (rr, c)] if r != rr and c != cc else []
        assert all(passable[cell] or cell == start for cell in beside)
    assert list(farthest_visible(passable, path)) in path.cells.tolist()


def test_a_length_is_that_of_the_straight_way_not_of_steps_along_the_grid() -> None:
    free = np.ones((81, 81), bool)
    for row, column in ((80, 0), (80, 20), (80, 40), (80, 80)):
        targets = np.zeros_like(free)
        targets[row, column] = True
        straight = np.hypot(row, column)
        assert straight <= way(free, targets, (0, 0)).length <= 1.03 * straight
