"""The distance field against exact distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, OccupancyWindow
from esar_ros.mapping.map.local_esdf import LocalEsdf


def random_window(seed):
    rng = np.random.default_rng(seed)
    cells = rng.choice([FREE] * 30 + [OCCUPIED, UNKNOWN], (12, 10, 8)).astype(np.uint8)
    return OccupancyWindow(rng.uniform(-50.0, 50.0, 3), 0.5, cells, 0.0)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), unknown=st.booleans())
def test_distances_are_those_between_centres(seed, unknown):
    window = random_window(seed)
    field = LocalEsdf.of_window(window, unknown, signed=True)
    obstacle = (window.cells == OCCUPIED) | (unknown & (window.cells == UNKNOWN))
    padded = np.argwhere(np.pad(obstacle, 1, constant_values=unknown)) - 1
    centers = np.argwhere(np.ones_like(obstacle))
    gaps = np.linalg.norm(centers[:, None] - padded[None], axis=-1).min(axis=1) * 0.5
    outside = ~obstacle.ravel()
    np.testing.assert_allclose(field.distance.ravel()[outside], gaps[outside], atol=1e-5)
    assert (field.distance[obstacle] < 0.0).all()
    plain = LocalEsdf.of_window(window, unknown)
    np.testing.assert_array_equal(plain.distance[obstacle], 0.0)
    at = window.origin + (centers[outside][:20] + 0.5) * 0.5
    np.testing.assert_allclose(field.distance_at(at), gaps[outside][:20], atol=1e-5)
    exact = np.array([window.nearest_obstacle(p, 100.0, unknown)[0] for p in at])
    half = 0.5 * np.sqrt(3.0) / 2.0
    assert (np.abs(plain.distance_at(at) - exact) <= half + 1e-5).all()


def test_the_gradient_points_away_from_a_wall():
    cells = np.full((20, 9, 9), FREE, np.uint8)
    cells[0] = OCCUPIED
    field = LocalEsdf.of_window(OccupancyWindow(np.zeros(3), 1.0, cells, 0.0), unknown_is_obstacle=False)
    np.testing.assert_allclose(field.gradient_at([[5.2, 4.5, 4.5]]), [[1.0, 0.0, 0.0]], atol=1e-6)
    assert field.distance_at([[5.5, 4.5, 4.5]])[0] == pytest.approx(5.0)
    assert np.isnan(field.distance_at([[-3.0, 4.5, 4.5]])).all()
