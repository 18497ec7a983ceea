"""The braking model and its inverse."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from esar_ros.safety.braking import allowed_speed, closing_speed, stopping_distance

untimed = settings(deadline=None)  # the first call compiles
speeds = st.floats(0.0, 30.0)
decelerations = st.floats(0.5, 10.0)
latencies = st.floats(0.0, 2.0)
taus = st.floats(0.0, 5.0)

# PX4 1.17 in SITL, told to stop: m/s, and m until it stood; 63 % of a step after 1.05 to 1.4 s (docs/reference/px4.md).
PX4_STOPS = ((0.79, 1.17), (1.74, 1.56), (2.31, 2.18), (3.27, 4.18), (5.33, 6.31))
PX4_TAU = 1.4  # s


def lagged_stop(speed: float, asked: float, deceleration: float, latency: float, tau: float) -> float:
    """Distance (m) of a vehicle that is asked for a speed for latency (s) and then for none, step by step."""
    step, now, distance = 1e-3, 0.0, 0.0
    while speed > 1e-6 or now < latency:
        wanted = asked if now < latency else 0.0
        change = (wanted - speed) * (-math.expm1(-step / tau) / step if tau > 0.0 else 1.0 / step)
        speed += min(max(change, -deceleration), deceleration) * step
        distance += speed * step
        now += step
    return distance


def test_numbers_by_hand() -> None:
    assert stopping_distance(5.0, 2.5, 0.4, 0.0) == pytest.approx(5.0 + 2.0)
    assert allowed_speed(7.0, 2.5, 0.4, 0.0) == pytest.approx(5.0)
    assert stopping_distance(2.0, 2.5, 0.1, 1.0) == pytest.approx(2.0 + 0.2)  # the lag alone
    assert stopping_distance(5.0, 2.5, 0.1, 1.0) == pytest.approx(5.0 + 1.25 + 0.5)


@untimed
@given(speeds, speeds, decelerations, latencies)
def test_without_a_lag_it_brakes_after_the_latency(
    speed: float, closing: float, deceleration: float, latency: float
) -> None:
    """Bit for bit."""
    distance = speed * speed / (2.0 * deceleration) + speed * latency
    assert stopping_distance(speed, deceleration, latency, 0.0) == distance
    reaction = deceleration * latency
    allowed = math.sqrt(reaction * reaction + 2.0 * deceleration * distance) - reaction if distance > 0.0 else 0.0
    assert allowed_speed(distance, deceleration, latency, 0.0) == allowed
    bound = allowed if closing <= allowed else max(0.0, 2.0 * allowed - closing)
    assert closing_speed(distance, closing, deceleration, latency, 0.0) == bound


@untimed
@given(speeds, decelerations, latencies, taus)
def test_inverse(speed: float, deceleration: float, latency: float, tau: float) -> None:
    assume(tau + latency > 1e-3 or speed > 1e-3)
    distance = stopping_distance(speed, deceleration, latency, tau)
    assert allowed_speed(distance, deceleration, latency, tau) == pytest.approx(speed, abs=1e-6)


@untimed
@given(speeds, decelerations, latencies, taus)
def test_never_less_than_the_lag_nor_the_braking_alone(
    speed: float, deceleration: float, latency: float, tau: float
) -> None:
    distance = stopping_distance(speed, deceleration, latency, tau) * (1.0 + 1e-12)
    assert distance >= speed * (tau + latency)
    assert distance >= speed * speed / (2.0 * deceleration) + speed * latency


@untimed
@given(st.floats(0.0, 100.0), st.floats(0.0, 10.0), decelerations, latencies, taus)
def test_more_room_never_slows(distance: float, more: float, deceleration: float, latency: float, tau: float) -> None:
    faster = allowed_speed(distance + more, deceleration, latency, tau)
    assert faster >= allowed_speed(distance, deceleration, latency, tau) - 1e-9


@untimed
@given(st.floats(0.01, 100.0), st.floats(0.0, 30.0), decelerations, latencies, taus, st.floats(1.0, 2.0))
def test_a_weaker_vehicle_is_never_allowed_more(
    distance: float, closing: float, deceleration: float, latency: float, tau: float, worse: float
) -> None:
    usual = closing_speed(distance, closing, deceleration, latency, tau)
    for weaker in (
        (deceleration / worse, latency, tau),
        (deceleration, latency * worse, tau),
        (deceleration, latency, tau * worse),
    ):
        assert closing_speed(distance, closing, *weaker) <= usual + 1e-9


@untimed
@given(st.floats(0.1, 6.0), st.floats(0.5, 5.0), st.floats(0.0, 2.0))
def test_a_lagging_vehicle_stops_within_it(speed: float, deceleration: float, tau: float) -> None:
    assert lagged_stop(speed, 0.0, deceleration, 0.0, tau) == pytest.approx(
        stopping_distance(speed, deceleration, 0.0, tau), rel=0.02, abs=0.01
    )


@untimed
@given(st.floats(0.5, 6.0), st.floats(0.3, 2.0), st.floats(0.1, 0.5), st.floats(0.0, 1.0))
def test_too_fast_for_its_lag_it_still_stops_when_commanded_less(
    closing: float, tau: float, latency: float, share: float
) -> None:
    """From room that suffices for the lag itself, so much too fast, a command for latency and then none."""
    distance = closing * (tau + share * latency)
    command = closing_speed(distance, closing, 10.0, latency, tau)
    assume(closing <= 10.0 * tau)
    assert lagged_stop(closing, command, 10.0, latency, tau) <= distance + 0.02


@pytest.mark.parametrize("distance", [0.0, -1.0, -math.inf, math.nan])
def test_no_room_no_speed(distance: float) -> None:
    assert allowed_speed(distance, 2.5, 0.35, 1.4) == 0.0
    assert closing_speed(distance, 1.0, 2.5, 0.35, 1.4) == 0.0


@pytest.mark.parametrize(("speed", "measured"), PX4_STOPS)
def test_what_px4_was_measured_to_take_lies_within(speed: float, measured: float) -> None:
    assert measured <= stopping_distance(speed, 2.5, 0.35, PX4_TAU)
    if speed < 5.0:
        assert measured > stopping_distance(speed, 2.5, 0.35, 0.0), "the lag decides"
