"""Value, class and clue layers against plain readings of their definitions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.layers.ground_layers import MIN_CONFIDENCE, ClassLayer, GroundGrid, ValueLayer

SEEDS = st.integers(0, 2**32 - 1)
REACH = 30.0


def make_grid() -> Any:
    return GroundGrid((-41.0, -33.0), (40.0, 32.0), 4.0)


def ends(view: Any, grid: Any) -> Any:
    """Row and column (N, 2) in which each valid pixel ends, and its column in the picture (N,)."""
    rays = view.model.rays()
    depth = view.depth.astype(np.float64)
    valid = np.isfinite(depth) & (depth > 0)
    valid &= np.where(valid, depth, 0.0) * np.linalg.norm(rays, axis=-1) <= REACH
    points = view.pose.apply(rays[valid] * depth[valid][:, None])
    cell = np.floor((points[:, :2] - grid.origin) / grid.cell).astype(int)[:, ::-1]
    inside = ((cell >= 0) & (cell < grid.shape)).all(axis=1)
    return cell[inside], np.nonzero(valid)[1][inside], valid, inside


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_values_are_fused_with_their_confidences(random_frames: Any, seed: int) -> None:
    grid = make_grid()
    layer = ValueLayer(grid)
    value, confidence = np.zeros(grid.shape), np.zeros(grid.shape)
    rng = np.random.default_rng(seed)
    for view in random_frames(seed, count=1, cameras=4)[0]:
        new = float(rng.uniform(-1.0, 1.0))
        layer.paint(view, new, REACH)
        best = np.zeros(grid.shape)
        cells, columns, *_ = ends(view, grid)
        half = math.atan2(view.model.width / 2, view.model.fx)
        angle = np.arctan2(columns + 0.5 - view.model.cx, view.model.fx)
        weight = MIN_CONFIDENCE + (1 - MIN_CONFIDENCE) * np.cos(angle / half * math.pi / 2) ** 2
        np.maximum.at(best, tuple(cells.T), weight)
        hit = best > 0
        total = confidence[hit] + best[hit]
        value[hit] = (value[hit] * confidence[hit] + new * best[hit]) / total
        confidence[hit] = (confidence[hit] ** 2 + best[hit] ** 2) / total
    np.testing.assert_allclose(layer.value, value, atol=1e-5)
    np.testing.assert_allclose(layer.confidence, confidence, atol=1e-5)
    assert layer.confidence.max() <= 1.0


def test_best_within_looks_only_at_what_was_seen(random_frames: Any) -> None:
    layer = ValueLayer(make_grid())
    assert layer.best_within([(0.0, 0.0), (500.0, 0.0)], 10.0).tolist() == [-np.inf, -np.inf]
    layer.value[8:10, 10:12], layer.confidence[8, 10] = [[-0.5, 9.0], [9.0, 9.0]], 1.0
    x, y = layer.grid.centers()
    assert layer.best_within((x[10], y[8]), 6.0)[0] == -0.5


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS, order=st.permutations(range(4)))
def test_classes_are_the_most_seen_whatever_the_order(random_frames: Any, seed: int, order: Any) -> None:
    grid = make_grid()
    one, other = ClassLayer(grid, 5), ClassLayer(grid, 5)
    views = random_frames(seed, count=1, cameras=4)[0]
    rng = np.random.default_rng(seed)
    labels = [rng.integers(0, 5, view.depth.shape).astype(np.uint8) for view in views]
    votes = np.zeros((*grid.shape, 5), int)
    for view, label in zip(views, labels, strict=True):
        one.paint(view, label, REACH)
        cells, _, valid, inside = ends(view, grid)
        chosen = label[valid][inside]
        np.add.at(votes, (*cells[chosen > 0].T, chosen[chosen > 0]), 1)
    for n in order:
        other.paint(views[n], labels[n], REACH)
    np.testing.assert_array_equal(one.classes(), votes.argmax(axis=2))
    np.testing.assert_array_equal(one.classes(), other.classes())


def test_bad_paint_is_refused(random_frames: Any) -> None:
    view = random_frames(1, count=1, cameras=1)[0][0]
    grid = make_grid()
    values, classes = ValueLayer(grid), ClassLayer(grid, 3)
    for bad, value in ((view, math.nan), (replace(view, depth=view.depth * 1000), 0.5)):
        with pytest.raises(MapInputError):
            values.paint(bad, value, REACH)
    label = np.ones(view.depth.shape, np.uint8)
    for wrong in (label[:-1], label.astype(int), label * 3):
        with pytest.raises(MapInputError):
            classes.paint(view, wrong, REACH)
    assert not values.confidence.any() and not classes.votes.any()
    for corners in (((0, 0), (0, 5)), ((0, 0), (np.inf, 5))):
        with pytest.raises(MapInputError):
            GroundGrid(*corners)
    with pytest.raises(MapInputError):
        ClassLayer(grid, 1)
