"""Region of an image that is processed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.perception.detectors.region import MARGIN, region_within

DEPTHS = st.sampled_from([5.0, 119.0, 130.0, np.inf])


def test_the_sky_above_a_ridge_is_left_out() -> None:
    depth = np.full((480, 640), np.inf, np.float32)
    depth[200:, :] = 100.0
    assert region_within(depth, 120.0, 16) == (slice(176, 480), slice(0, 640)), "a margin, on the network's cells"


def test_a_picture_of_nothing_within_reach_has_no_region() -> None:
    rows, columns = region_within(np.full((48, 64), 130.0, np.float32), 120.0, 16)
    assert rows == columns == slice(0, 0)


@pytest.mark.parametrize("unknown", [np.nan, -np.inf])
def test_what_is_not_known_to_be_far_is_looked_at(unknown: float) -> None:
    depth = np.full((48, 64), unknown, np.float32)
    assert region_within(depth, 120.0, 16) == (slice(0, 48), slice(0, 64))


@settings(deadline=None)
@given(depth=arrays(np.float32, (40, 72), elements=DEPTHS, fill=st.just(np.inf)), stride=st.sampled_from([1, 16, 32]))
def test_nothing_within_reach_is_left_out_and_little_beyond_is_kept(depth: np.ndarray, stride: int) -> None:
    near = depth <= 120.0
    rows, columns = region_within(depth, 120.0, stride)
    assert np.count_nonzero(near[rows, columns]) == np.count_nonzero(near)
    for span, hit in ((rows, near.any(axis=1)), (columns, near.any(axis=0))):
        assert span.start % stride == 0
        if hit.any():
            assert np.flatnonzero(hit)[0] - span.start < MARGIN + stride
            assert span.stop - 1 - np.flatnonzero(hit)[-1] <= MARGIN
