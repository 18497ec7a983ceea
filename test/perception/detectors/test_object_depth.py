"""Separation of a box's depths into the object's and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.detectors.object_depth import object_depth, object_pixels


def image(far: float = 60.0) -> np.ndarray:
    return np.full((60, 80), far, dtype=np.float32)


def shown(depth: np.ndarray, box: tuple[int, int, int, int] = (30, 20, 20, 20)) -> tuple[float | None, float]:
    pixels = object_pixels(Detection2D("person", 0.9, box, "person"), depth)
    return (float(np.median(pixels.depths)) if len(pixels.depths) else None), pixels.doubt


def test_an_object_before_a_far_slope() -> None:
    depth = image()
    depth[22:40, 34:46] = 20.0
    assert shown(depth) == (20.0, 0.0)


def test_a_ridge_before_an_object_does_not_hide_its_depth() -> None:
    """The ridge is nearer and fills the lower third of the box; the object fills the middle."""
    depth = image(114.0)
    depth[34:] = 86.0
    place, doubt = shown(depth)
    assert place == 114.0 and doubt == 0.0


def test_where_nothing_fills_the_middle_the_doubt_is_told() -> None:
    """Three things, each in a third of the box: the truth lies within two of the stated deviations."""
    depth = image(20.0)
    depth[:, 37:43] = 40.0
    depth[:, 43:] = 60.0
    place, doubt = shown(depth)
    assert place is not None and doubt > 0.0
    assert all(abs(place - true) < 2.0 * np.sqrt(doubt) for true in (20.0, 40.0, 60.0))


def test_an_object_beyond_the_reach_is_not_placed_at_what_lies_before_it() -> None:
    depth = image(np.inf)
    depth[37:] = 80.0
    assert shown(depth)[0] is None


def test_a_small_thing_on_sloping_ground_is_the_near_part() -> None:
    """Ground behind an upright thing runs away without a gap; the thing fills the box's middle."""
    depth = np.repeat(np.linspace(60.0, 25.0, 60, dtype=np.float32)[:, None], 80, axis=1)
    depth[21:40, 35:45] = 36.0
    place, _ = shown(depth)
    assert place == pytest.approx(36.0, abs=2.0)


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10_000),
    box=st.tuples(st.integers(-30, 79), st.integers(-30, 59), st.integers(1, 120), st.integers(1, 90)),
    bad=st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -1.0]),
    share=st.floats(0.0, 1.0),
)
def test_bad_depths_are_never_taken_and_never_fatal(seed: int, box: Any, bad: Any, share: Any) -> None:
    rng = np.random.default_rng(seed)
    depth = rng.uniform(1.0, 120.0, (60, 80)).astype(np.float32)
    depth[rng.uniform(size=depth.shape) < share] = bad
    for mask in (None, rng.uniform(size=(box[3], box[2])) < 0.5):
        pixels = object_pixels(Detection2D("tent", 0.5, box, "tent", mask), depth)
        assert np.isfinite(pixels.depths).all() and (pixels.depths > 0.0).all()
        assert np.isfinite(pixels.doubt) and pixels.doubt >= 0.0
        np.testing.assert_array_equal(depth[pixels.rows, pixels.columns], pixels.depths.astype(np.float32))
        if mask is None:
            median = np.median(pixels.depths) if len(pixels.depths) else np.nan
            np.testing.assert_equal(object_depth(box, depth), median)
