"""The window that pilot and governor fly by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, OccupancyWindow, pack_cells, unpack_cells

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12))


def random_window(seed: int, shape: tuple[int, int, int], resolution: float = 1.0) -> OccupancyWindow:
    """Mostly free, with clumps of the others."""
    rng = np.random.default_rng(seed)
    cells = np.full(shape, FREE, np.uint8)
    for value in (UNKNOWN, OCCUPIED):
        for _ in range(rng.integers(0, 4)):
            corner = rng.integers(0, shape)
            size = rng.integers(1, 4, 3)
            cells[tuple(slice(c, c + s) for c, s in zip(corner, size, strict=True))] = value
    return OccupancyWindow(rng.integers(-20, 20, 3).astype(np.float64) * resolution, resolution, cells, 1.0)


def plain_distance(window: OccupancyWindow, point: np.ndarray, unknown: bool) -> float:
    obstacle = window.cells == OCCUPIED
    if unknown:
        obstacle = obstacle | (window.cells == UNKNOWN)
    if unknown and not ((point >= window.origin) & (point < window.upper)).all():
        return 0.0
    best = np.inf
    if unknown:
        best = min((point - window.origin).min(), (window.upper - point).min())
    corners = window.origin + window.resolution * np.argwhere(obstacle)
    if len(corners):
        gaps = np.clip(point, corners, corners + window.resolution) - point
        best = min(best, np.sqrt((gaps**2).sum(axis=1).min()))
    return float(best)


@settings(deadline=None)
@given(seed=SEEDS, shape=SHAPES)
def test_packing_is_exact(seed: int, shape: Any) -> None:
    cells = np.random.default_rng(seed).integers(0, 4, shape).astype(np.uint8)
    packed = pack_cells(cells)
    assert len(packed) == (cells.size + 3) // 4
    np.testing.assert_array_equal(unpack_cells(packed, shape), cells)
    k = seed % cells.size
    assert (packed[k // 4] >> (2 * (k % 4))) & 3 == cells.ravel()[k]


@pytest.mark.parametrize(
    "packed, shape, origin, resolution",
    [
        (b"\0", (2, 2, 2), (0, 0, 0), 1.0),
        (b"\0" * 3, (2, 2, 2), (0, 0, 0), 1.0),
        (b"", (0, 0, 0), (0, 0, 0), 1.0),
        (b"\0\0", (2, 2, 2), (0, np.nan, 0), 1.0),
        (b"\0\0", (2, 2, 2), (0, 0, 0), 0.0),
        (b"\0\0", (2, 2, 2), (0, 0, 0), np.inf),
    ],
)
def test_messages_that_contradict_themselves_are_refused(packed: Any, shape: Any, origin: Any, resolution: Any) -> None:
    with pytest.raises(ValueError):
        OccupancyWindow.from_packed(packed, origin, resolution, shape, 0.0)


@settings(deadline=None)
@given(seed=SEEDS, shape=SHAPES)
def test_state_at(seed: int, shape: Any) -> None:
    window = random_window(seed, shape, 0.5)
    read = OccupancyWindow.from_packed(window.pack(), window.origin, 0.5, shape, 1.0)
    points = window.origin + np.random.default_rng(seed).uniform(-1.0, 7.0, (50, 3))
    for point, state in zip(points, read.state_at(points), strict=True):
        index = np.floor((point - window.origin) / 0.5).astype(int)
        inside = ((index >= 0) & (index < shape)).all()
        assert state == (window.cells[tuple(index)] if inside else UNKNOWN)
        assert read.state_at(point) == state


def test_nan_and_the_spare_value_are_unknown() -> None:
    window = OccupancyWindow(np.zeros(3), 1.0, np.full((2, 2, 2), 3, np.uint8), 0.0)
    assert window.state_at((0.5, 0.5, 0.5)) == UNKNOWN
    assert window.state_at((np.nan, 0.5, 0.5)) == UNKNOWN
    assert window.nearest_obstacle((0.5, 0.5, 0.5), 5.0)[0] == 0.0


@settings(deadline=None, max_examples=200)
@given(seed=SEEDS, shape=SHAPES, unknown=st.booleans(), r_max=st.sampled_from([1.0, 4.0, 50.0]))
def test_nearest_obstacle_is_exact(seed: int, shape: Any, unknown: Any, r_max: Any) -> None:
    window = random_window(seed, shape)
    point = window.origin + np.random.default_rng(seed).uniform(-1.0, 1.0, 3) + np.array(shape) / 2
    expected = plain_distance(window, point, unknown)
    distance, nearest = window.nearest_obstacle(point, r_max, unknown)
    if expected > r_max:
        assert (distance, nearest) == (np.inf, None)
    else:
        assert distance == pytest.approx(expected, abs=1e-12) and nearest is not None
        assert np.linalg.norm(nearest - point) == pytest.approx(expected, abs=1e-12)


def test_ground_below() -> None:
    cells = np.full((4, 4, 10), FREE, np.uint8)
    cells[1, 2, 3] = cells[1, 2, 7] = OCCUPIED
    window = OccupancyWindow(np.array([10.0, 20.0, -5.0]), 2.0, cells, 0.0)
    assert window.ground_below((13.0, 25.0), 8.0) == 3.0
    assert window.ground_below((13.0, 25.0), 9.0) == 11.0
    assert window.ground_below((13.0, 25.0), 100.0) == 11.0
    assert window.ground_below((13.0, 25.0), -9.0) is None
    assert window.ground_below((11.0, 25.0), 8.0) is None
    assert window.ground_below((0.0, 25.0), 8.0) is None
