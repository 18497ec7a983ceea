"""The braking model and its inverse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.safety.braking import allowed_speed, stopping_distance

decelerations = st.floats(0.5, 10.0)
latencies = st.floats(0.0, 2.0)


def test_numbers_by_hand() -> None:
    assert stopping_distance(5.0, 2.5, 0.4) == pytest.approx(5.0 + 2.0)
    assert allowed_speed(7.0, 2.5, 0.4) == pytest.approx(5.0)


@given(st.floats(0.0, 30.0), decelerations, latencies)
def test_inverse(speed: float, deceleration: float, latency: float) -> None:
    distance = stopping_distance(speed, deceleration, latency)
    assert allowed_speed(distance, deceleration, latency) == pytest.approx(speed, abs=1e-6)


@given(st.floats(0.0, 100.0), st.floats(0.0, 10.0), decelerations, latencies)
def test_more_room_never_slows(distance: float, more: float, deceleration: float, latency: float) -> None:
    assert allowed_speed(distance + more, deceleration, latency) >= allowed_speed(distance, deceleration, latency)


@pytest.mark.parametrize("distance", [0.0, -1.0, -math.inf, math.nan])
def test_no_room_no_speed(distance: float) -> None:
    assert allowed_speed(distance, 2.5, 0.35) == 0.0
