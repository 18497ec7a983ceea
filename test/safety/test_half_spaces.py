"""The projection onto half-spaces against its optimality conditions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from esar_ros.safety.half_spaces import TOLERANCE, project


def scene(seed: int, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 60))
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    if seed % 3 == 0 and count:  # many nearly alike, as the points of a wall are
        normals[:] = normals[0] + rng.normal(scale=1e-3, size=normals.shape)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return rng.normal(scale=5.0, size=3), normals, rng.uniform(least, 4.0, size=count)


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=400)
def test_is_the_nearest_velocity_that_keeps_every_limit(seed: int) -> None:
    asked, normals, bounds = scene(seed, 0.0)
    kept = project(asked, normals, bounds)
    assert kept is not None
    assert (normals @ kept <= bounds + 2 * TOLERANCE).all()
    # Karush-Kuhn-Tucker: what was taken away is a sum of active normals with weights >= 0.
    active = normals[normals @ kept >= bounds - 1e-5]
    taken = asked - kept
    if np.linalg.norm(taken) > 0.0:
        _, left = nnls(active.T, taken)
        assert left <= 1e-3
    assert np.linalg.norm(kept) <= np.linalg.norm(asked) + 1e-5
    again = project(kept, normals, bounds)
    assert again is not None
    np.testing.assert_allclose(again, kept, atol=1e-5)


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=200)
def test_with_negative_bounds_it_keeps_all_or_says_that_nothing_does(seed: int) -> None:
    asked, normals, bounds = scene(seed, -1.0)
    kept = project(asked, normals, bounds)
    if kept is not None:
        assert (normals @ kept <= bounds + 2 * TOLERANCE).all()


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=100)
def test_what_keeps_every_limit_is_returned_bit_by_bit(seed: int) -> None:
    asked, normals, _ = scene(seed, 0.0)
    bounds = normals @ asked + 0.01
    kept = project(asked, normals, bounds)
    assert kept is not None and kept.tobytes() == asked.tobytes()


def test_squeezed_between_two_walls_there_is_none() -> None:
    normals = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert project(np.zeros(3), normals, np.array([-0.5, -0.5])) is None


def test_slides_along_a_wall() -> None:
    kept = project(np.array([3.0, 2.0, 1.0]), np.array([[1.0, 0.0, 0.0]]), np.array([0.5]))
    assert kept is not None
    np.testing.assert_allclose(kept, [0.5, 2.0, 1.0], atol=1e-9)
