"""Shortest paths: bounds that hold in any scene, corners that are not cut, and cells as the world has them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from esar_ros.suites.uav_on.shortest import ALL, AXES, Occupancy, length

SHAPE = (7, 6, 5)
LOW = np.array([-3.0, 2.0, 10.0])


def scene(blocked: np.ndarray) -> Occupancy:
    return Occupancy(LOW, blocked)


def centre(*cell: int) -> np.ndarray:
    return LOW + np.array(cell) + 0.5


@given(hnp.arrays(np.bool_, SHAPE, elements=st.booleans()), st.integers(0, 6), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_a_path_is_free_of_unit_steps_and_between_its_bounds(blocked: np.ndarray, x: int, z: int) -> None:
    start, goal, reach = centre(0, 0, 0), centre(x, 5, z), 1.2
    found = scene(blocked)
    six, twentysix = found.path(start, goal, reach, AXES), found.path(start, goal, reach, ALL)
    straight = float(np.linalg.norm(goal - start))
    if six is not None:
        assert twentysix is not None
        assert straight - reach - 1e-9 <= length(twentysix) <= length(six) + 1e-9
    for path in (six, twentysix):
        if path is None:
            continue
        cells = np.round(path - LOW - 0.5).astype(int)
        assert (path[0] == start).all() and np.linalg.norm(path[-1] - goal) <= reach
        assert not any(blocked[tuple(cell)] for cell in cells[1:])
        for a, b in pairwise(cells):
            low, high = np.minimum(a, b), np.maximum(a, b)
            beside = blocked[tuple(slice(m, n + 1) for m, n in zip(low, high, strict=True))].copy()
            if (a == 0).all():  # the start counts as free
                beside[tuple(a - low)] = False
            assert (high - low).max() == 1 and not beside.any(), "no corner is cut"


def test_without_obstacles_the_axes_give_the_manhattan_distance() -> None:
    free = scene(np.zeros(SHAPE, dtype=bool))
    six = free.path(centre(0, 0, 0), centre(4, 3, 2), 0.1, AXES)
    twentysix = free.path(centre(0, 0, 0), centre(4, 3, 2), 0.1, ALL)
    assert six is not None and twentysix is not None
    assert length(six) == pytest.approx(9.0)
    assert length(twentysix) == pytest.approx(1.0 + 2**0.5 + 2 * 3**0.5)


def test_a_wall_is_flown_around_and_a_closed_one_is_no_way() -> None:
    blocked = np.zeros(SHAPE, dtype=bool)
    blocked[3] = True
    assert scene(blocked).path(centre(0, 0, 0), centre(6, 0, 0), 0.5) is None
    blocked[3, 5, 4] = False
    path = scene(blocked).path(centre(0, 0, 0), centre(6, 0, 0), 0.5)
    assert path is not None and (path == centre(3, 5, 4)).all(axis=1).any()


def test_a_start_outside_is_no_way() -> None:
    assert scene(np.zeros(SHAPE, dtype=bool)).path(centre(-2, 0, 0), centre(1, 1, 1), 0.5) is None
