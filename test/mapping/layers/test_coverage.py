"""Coverage: which looks count, and their layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.layers.coverage import Coverage

SQUARE = [(-100.0, -100.0), (100.0, -100.0), (100.0, 100.0), (-100.0, 100.0)]


@pytest.fixture()
def straight_down(look: Any) -> Any:
    """Flat ground 40 m below a camera of 90 degrees: it sees 80 m x 60 m."""
    camera = CameraModel.from_horizontal_fov(160, 120, np.pi / 2)
    return CameraFrame("front", camera, look((2.0, 2.0, 40.0), 0.0, -np.pi / 2), np.full((120, 160), 40.0, np.float32))


def test_the_footprint_of_one_look(straight_down: Any) -> None:
    coverage = Coverage(SQUARE, look_range=120.0)
    assert (coverage.search_area, coverage.covered_area, coverage.share) == (200.0**2, 0.0, 0.0)
    coverage.observe(straight_down)
    # The picture's top points east, so its 80 m lie along y; cells touched at the rim count whole.
    assert coverage.covered_area == pytest.approx(80.0 * 60.0, rel=0.12)
    assert coverage.share == coverage.covered_area / 200.0**2
    seen = np.argwhere(coverage.covered)
    assert np.ptp(seen[:, 0]) > np.ptp(seen[:, 1])
    assert coverage.best_distance[25, 25] == pytest.approx(40.0, abs=0.3)


def test_only_what_is_near_enough_counts(straight_down: Any) -> None:
    near, none = Coverage(SQUARE, look_range=45.0), Coverage(SQUARE, look_range=39.0)
    near.observe(straight_down)
    none.observe(straight_down)
    radius = np.sqrt(45.0**2 - 40.0**2)
    assert near.covered_area == pytest.approx(np.pi * radius**2, rel=0.25)
    assert none.covered_area == 0.0
    assert near.best_distance[near.covered].max() <= 45.0


def test_cells_outside_the_polygon_do_not_count(straight_down: Any) -> None:
    triangle = Coverage([(0.0, 0.0), (30.0, 0.0), (0.0, 30.0)], look_range=120.0, cell=1.0)
    assert triangle.search_area == pytest.approx(450.0, rel=0.05)
    triangle.observe(straight_down)
    assert triangle.share == 1.0


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(4)))
def test_order_does_not_matter_and_more_looks_never_cover_less(random_frames: Any, seed: int, order: Any) -> None:
    one, other = Coverage(SQUARE, 25.0), Coverage(SQUARE, 25.0)
    views = random_frames(seed, count=1, cameras=4)[0]
    area = 0.0
    for view in views:
        one.observe(view)
        assert one.covered_area >= area
        area = one.covered_area
    for n in order:
        other.observe(views[n])
    np.testing.assert_array_equal(one.best_distance, other.best_distance)


@pytest.mark.parametrize(
    "area", [[], [(0, 0), (1, 1)], [(0, 0), (1, 0), (np.nan, 1)], [(0, 0), (0.1, 0), (0, 0.1)], [1, 2, 3]]
)
def test_bad_areas_are_refused(area: Any) -> None:
    with pytest.raises(MapInputError):
        Coverage(area, 120.0)


def test_a_bad_view_is_refused_and_counts_nothing(straight_down: Any) -> None:
    coverage = Coverage(SQUARE, 120.0)
    with pytest.raises(MapInputError):
        coverage.observe(replace(straight_down, depth=straight_down.depth * 1000))
    assert coverage.covered_area == 0.0


def test_how_well_a_cell_was_seen(straight_down: Any, look: Any) -> None:
    coverage = Coverage(SQUARE, look_range=100.0)
    coverage.observe(straight_down)
    below = (25, 25)  # the cell right under the camera
    assert coverage.steepest[below] == pytest.approx(1.0, abs=1e-3)
    assert coverage.quality[below] == pytest.approx(0.6, abs=0.01)
    assert coverage.looks[below] == 1 and bin(coverage.sectors[below]).count("1") == 1
    seen = coverage.best_distance < np.inf
    assert (coverage.steepest[~seen] == -1.0).all() and not coverage.quality[~seen].any()
    assert (coverage.quality[seen] <= 1.0 - coverage.best_distance[seen] / 100.0 + 1e-6).all()
    camera = straight_down.model
    for n, yaw in enumerate((0.4, 2.0, -2.8, -0.9)):  # from four sides, half as steep
        away = np.array([2.0, 2.0, 0.0]) - 30.0 * np.array([np.cos(yaw), np.sin(yaw), 0.0])
        pose = look(tuple(away + [0.0, 0.0, 20.0]), yaw, -0.6)
        rays = camera.rays() @ pose.rotation.T
        with np.errstate(divide="ignore"):
            depth = np.where(rays[..., 2] < 0.0, -20.0 / rays[..., 2], np.inf).astype(np.float32)
        coverage.observe(CameraFrame("front", camera, pose, depth))
        assert coverage.looks[below] == n + 2
    assert bin(coverage.sectors[below]).count("1") >= 4
    assert coverage.steepest[below] == pytest.approx(1.0, abs=1e-3)
    assert coverage.best_distance[below] < 38.0


def test_layers_come_back_only_to_their_own_area(straight_down: Any) -> None:
    one, other, small = Coverage(SQUARE, 100.0), Coverage(SQUARE, 100.0), Coverage(SQUARE, 100.0, cell=2.0)
    one.observe(straight_down)
    other.restore(one.layers)
    for name, layer in one.layers.items():
        np.testing.assert_array_equal(other.layers[name], layer)
    for bad in (small.layers, {}, {**one.layers, "looks": one.looks.astype(float)}):
        with pytest.raises(MapInputError):
            other.restore(bad)
