"""Dynamic time warping against a twin of ten lines, and the two similarities made of it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from esar_ros.geometry.frames import Vector
from esar_ros.scoring.similarity import similarity_code, similarity_paper, warping_distance

tracks = st.integers(1, 6).flatmap(lambda n: arrays(np.float64, (n, 3), elements=st.floats(-100.0, 100.0)))


def twin(track: Vector, reference: Vector) -> float:
    @lru_cache(None)
    def least(i: int, j: int) -> float:
        gap = math.dist(track[i], reference[j])
        ways = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
        before = [least(a, b) for a, b in ways if a >= 0 and b >= 0]
        return gap + min(before, default=0.0)

    return least(len(track) - 1, len(reference) - 1)


@settings(max_examples=60, deadline=None)
@given(tracks, tracks)
def test_as_its_twin_symmetric_and_zero_on_itself(track: Vector, reference: Vector) -> None:
    assert warping_distance(track, reference) == pytest.approx(twin(track, reference))
    assert warping_distance(track, reference) == pytest.approx(warping_distance(reference, track))
    assert warping_distance(track, track) == 0.0


@settings(max_examples=60, deadline=None)
@given(tracks, tracks)
def test_similarities_are_shares_and_whole_on_the_same_track(track: Vector, reference: Vector) -> None:
    for similarity in (similarity_code, similarity_paper):
        assert 0.0 <= similarity(track, reference) <= 1.0
        assert similarity(track, track) == 1.0


def test_by_hand() -> None:
    here = np.zeros((3, 3))
    there = np.array([[0.0, 3.0, 4.0], [0.0, 3.0, 4.0]])
    # Three pairs at least, each 5 m apart in 3D, 3 m on the map.
    assert warping_distance(here, there) == 15.0
    assert similarity_code(here, there) == pytest.approx(1.0 - 15.0 / 3 / 50.0)
    assert similarity_paper(here, there) == pytest.approx(math.exp(-9.0 / 42.0))
    assert similarity_paper(here, there, sigma=9.0) == pytest.approx(math.exp(-1.0))
    assert similarity_code(here, there + [0.0, 60.0, 0.0]) == 0.0


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="same space"):
        warping_distance(np.zeros((2, 3)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="without a point"):
        warping_distance(np.zeros((0, 3)), np.zeros((2, 3)))
