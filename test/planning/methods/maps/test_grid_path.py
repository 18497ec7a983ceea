"""Ways over the grid."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.planning.methods.maps.grid_path import DIAGONAL, STRAIGHT, farthest_visible, nearest_target


def masks(*rows: str) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Passable, targets and start of a drawing: # blocked, T target, S start."""
    text = np.array([list(row) for row in rows])
    start = tuple(int(i[0]) for i in np.nonzero(text == "S"))
    return text != "#", text == "T", start


def test_the_way_round_a_wall_decides_which_is_nearest():
    passable, targets, start = masks(
        "...#T..",
        ".S.#...",
        "...#...",
        "...#...",
        "T......",
    )
    path = nearest_target(passable, targets, start)
    assert tuple(path.cells[-1]) == (4, 0)
    assert tuple(path.cells[0]) == start
    assert path.length == (2 * STRAIGHT + DIAGONAL) / STRAIGHT


def test_corners_are_not_cut():
    passable, targets, start = masks("S#", "#T")
    assert nearest_target(passable, targets, start) is None
    passable, targets, start = masks("S#", ".T")
    assert nearest_target(passable, targets, start).length == 2.0


def test_start_on_a_target_outside_or_walled_in():
    passable, targets, start = masks("S.")
    targets[0, 0] = True
    assert nearest_target(passable, targets, start).length == 0.0
    assert nearest_target(passable, targets, (5, 0)) is None
    assert nearest_target(*masks("S#T")) is None


def test_farthest_visible_is_before_the_corner():
    passable, targets, start = masks(
        "S......",
        "######.",
        "T......",
    )
    path = nearest_target(passable, targets, start)
    row, column = farthest_visible(passable, path)
    assert row == 0 and column >= 5
    free, targets, start = masks("S......", ".......", "......T")
    assert farthest_visible(free, nearest_target(free, targets, start)) == (2, 6)


def plain_dijkstra(passable, targets, start):
    """Textbook search; None or the distance of the nearest target."""
    best, queue = {start: 0}, [(0, start)]
    while queue:
        value, (r, c) = heapq.heappop(queue)
        if value > best[(r, c)]:
            continue
        if targets[r, c]:
            return value
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                rr, cc = r + i, c + j
                inside = (i or j) and 0 <= rr < passable.shape[0] and 0 <= cc < passable.shape[1]
                if not inside or not passable[rr, cc] or (i and j and not (passable[r, cc] and passable[rr, c])):
                    continue
                new = value + (DIAGONAL if i and j else STRAIGHT)
                if new < best.get((rr, cc), 10**9):
                    best[(rr, cc)] = new
                    heapq.heappush(queue, (new, (rr, cc)))
    return None


@settings(deadline=None, max_examples=150)
@given(
    arrays(np.bool_, (10, 12), elements=st.sampled_from([True, True, True, False])),
    arrays(np.bool_, (10, 12), elements=st.sampled_from([True, *[False] * 20])),
    st.tuples(st.integers(0, 9), st.integers(0, 11)),
)
def test_equals_dijkstra_and_the_way_is_flyable(passable, targets, start):
    path = nearest_target(passable, targets, start)
    expected = plain_dijkstra(passable, targets, start)
    assert (path is None) == (expected is None)
    if path is None:
        return
    assert path.length * STRAIGHT == expected
    assert tuple(path.cells[0]) == start and targets[tuple(path.cells[-1])]
    steps = np.abs(np.diff(path.cells, axis=0))
    assert (steps.max(axis=1) == 1).all() if len(steps) else True
    assert all(passable[tuple(cell)] for cell in path.cells[1:])
    assert STRAIGHT * (steps.sum(axis=1) == 1).sum() + DIAGONAL * (steps.sum(axis=1) == 2).sum() == expected
    assert list(farthest_visible(passable, path)) in path.cells.tolist()
