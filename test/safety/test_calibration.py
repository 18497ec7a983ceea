"""Stops found in a flight; lag, delay and deceleration recovered from them with noise; vehicles of other orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.safety.calibration import Calibration, Flight, Stop, calibrate, find_stops
from esar_ros.safety.limits import Limits
from helpers.stops import RUN, STAND, Vehicle, cascade, first_order, flown, second_order

AGE = 0.15  # s


def measured(flight: Flight) -> Calibration:
    return calibrate(find_stops(flight))


@pytest.mark.parametrize(
    ("tau", "delay", "deceleration"), [(0.4, 0.1, 3.0), (1.2, 0.2, 2.5), (1.4, 0.05, 2.0), (0.8, 0.3, 4.0)]
)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_vehicle_is_is_recovered_from_noisy_odometry(
    tau: float, delay: float, deceleration: float, seed: int
) -> None:
    found = measured(flown(first_order(tau, deceleration), delay, noise=0.05, seed=seed))
    assert found.tau == pytest.approx(tau, rel=0.1)
    assert found.delay == pytest.approx(delay, rel=0.1, abs=0.03)
    assert found.is_limit and found.deceleration == pytest.approx(deceleration, rel=0.1)
    assert min(found.taus) == pytest.approx(tau, rel=0.25) and max(found.taus) == pytest.approx(tau, rel=0.25)
    assert found.residual == pytest.approx(0.05, rel=0.3)


def test_a_deceleration_that_was_never_asked_for_is_no_limit() -> None:
    found = measured(flown(first_order(1.2, 50.0), 0.1, noise=0.02))
    assert not found.is_limit and found.deceleration == pytest.approx(5.0 / 1.2, rel=0.1)
    assert found.limits(Limits(), AGE).deceleration == Limits().deceleration


def test_a_command_that_falls_slowly_tells_the_same_lag() -> None:
    """As the pilot slows: what the command covers while it falls is not the vehicle's."""
    tau, delay = 1.0, 0.15
    flight = flown(first_order(tau, 50.0), delay, falls=2.0)
    found = measured(flight)
    assert found.tau == pytest.approx(tau, rel=0.1) and found.delay == pytest.approx(delay, abs=0.05)
    assert len(found.stops) == 5
    for stop in found.stops:
        assert stop.distance == pytest.approx(stop.speed * (tau + delay), rel=0.06)


def test_a_vehicle_that_stays_behind_its_command_has_the_same_lag() -> None:
    """PX4 reaches 70 to 90 % of the speed asked for."""
    found = measured(flown(first_order(1.2, 50.0), 0.1, share=0.8))
    assert found.tau == pytest.approx(1.2, rel=0.1)
    assert [stop.speed for stop in found.stops] == pytest.approx([0.8, 1.6, 2.4, 3.2, 4.0], rel=0.02)


def test_stops_are_the_way_from_the_command_to_standstill() -> None:
    stops = find_stops(flown(first_order(0.5, 2.0), 0.1))
    assert [stop.speed for stop in stops] == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0], abs=0.01)
    for stop in stops:
        lag = stop.speed * 0.5 if stop.speed <= 1.0 else stop.speed**2 / 4.0 + 0.25
        assert stop.distance == pytest.approx(lag + 0.1 * stop.speed, abs=0.06)
        assert np.linalg.norm(stop.direction) == pytest.approx(1.0) and stop.is_level


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_limits_that_follow_hold_every_stop_and_its_age(seed: int) -> None:
    found = measured(flown(first_order(1.2, 2.0), 0.2, noise=0.08, seed=seed))
    usual = Limits()
    limits = found.limits(usual, AGE)
    for stop in found.stops:
        assert stop.distance + AGE * stop.speed <= limits.stopping_distance(stop.speed)
    assert limits.tau >= found.tau and limits.latency >= AGE + found.delay
    assert limits.deceleration <= min(found.deceleration, usual.deceleration)
    assert limits.tau == pytest.approx(found.tau, abs=0.2)
    kept = {"tau": 0.0, "latency": usual.latency, "deceleration": usual.deceleration}
    assert limits.model_copy(update=kept) == usual


@pytest.mark.parametrize(
    ("make", "lag"),
    [(lambda: second_order(1.5), 2.0 / 1.5), (lambda: second_order(3.0), 2.0 / 3.0)],
    ids=["1.5 rad/s", "3 rad/s"],
)
def test_a_second_order_vehicle_is_taken_for_a_lag_that_goes_as_far(make: Callable[[], Vehicle], lag: float) -> None:
    """Its stops are 2 v / frequency and the delay long, whatever the speed."""
    found = measured(flown(make(), 0.1, noise=0.03))
    assert found.tau + found.delay == pytest.approx(lag + 0.1, rel=0.1)
    for stop in found.stops:
        assert stop.distance == pytest.approx(stop.speed * (lag + 0.1), rel=0.05)


@pytest.mark.parametrize("make", [lambda: second_order(1.5), cascade], ids=["second order", "PID cascade"])
def test_limits_of_a_vehicle_of_another_order_cover_stops_at_other_speeds(make: Callable[[], Vehicle]) -> None:
    limits = measured(flown(make(), 0.1, noise=0.03)).limits(Limits(), AGE)
    others = find_stops(flown(make(), 0.1, (0.9, 1.5, 2.5, 3.5, 4.5, 5.5)))
    assert len(others) == 6
    for stop in others:
        needed, allowed = stop.distance + AGE * stop.speed, limits.stopping_distance(stop.speed)
        assert needed <= allowed
        assert allowed <= 1.5 * needed or stop.speed > 2.0, "faster, the deceleration that is never raised decides"


def test_a_vehicle_that_no_limit_covers_is_refused() -> None:
    found = measured(flown(first_order(1.0, 50.0), 0.1, (3.0,)))
    far = replace(found, stops=(replace(found.stops[0], distance=40.0),))
    with pytest.raises(UsageError, match="no tau up to 5 s"):
        far.limits(Limits(), AGE)


def test_what_is_no_stop_is_left_out() -> None:
    whole = flown(first_order(1.0, 50.0), 0.1, (3.0, 3.0))
    assert len(find_stops(whole)) == 2
    assert not find_stops(flown(first_order(1.0, 50.0), 0.1, (0.5,)))  # too slow
    across = Flight(whole.time, whole.position, whole.velocity, whole.command_time, whole.command[:, [1, 0, 2]])
    assert not find_stops(across)  # it flies elsewhere than commanded
    end = int(np.searchsorted(whole.time, 50.0 + RUN + 1.0))
    cut = Flight(
        whole.time[:end], whole.position[:end], whole.velocity[:end], whole.command_time, whole.command
    )  # it still moves when the flight ends
    assert not find_stops(cut)
    again = whole.command.copy()
    again[(whole.command_time > 50.0 + RUN + 0.5) & (whole.command_time < 50.0 + RUN + STAND)] = [1.0, 0.0, 0.0]
    assert len(find_stops(Flight(whole.time, whole.position, whole.velocity, whole.command_time, again))) == 1


def turned_up(stop: Stop) -> Stop:
    """Returns the stop as of a climb."""
    return replace(stop, direction=np.array([0.0, 0.0, 1.0]))


def test_stops_of_climbs_count_only_where_none_was_flown_across() -> None:
    """A vehicle stops a climb sooner than level flight, which decides beside obstacles."""
    slow = find_stops(flown(first_order(1.0, 50.0), 0.1, (2.0,)))
    quick = [turned_up(stop) for stop in find_stops(flown(first_order(0.4, 50.0), 0.1, (2.0,)))]
    assert calibrate([*slow, *quick]).tau == pytest.approx(1.0, rel=0.1)
    assert len(calibrate([*slow, *quick]).stops) == 2
    assert calibrate(quick).tau == pytest.approx(0.4, rel=0.1)


def test_commands_that_come_only_when_they_change_tell_the_same_stops() -> None:
    """The flight ends in the middle of another run."""
    whole = flown(first_order(1.0, 50.0), 0.1, (3.0,))
    sent = [0.0, RUN]
    command = np.array([whole.command[0], np.zeros(3), 2.0 * whole.command[0]])
    times = np.array([50.0 + sent[0], 50.0 + sent[1], float(whole.time[-1]) + 1.0])
    stops = find_stops(Flight(whole.time, whole.position, whole.velocity, times, command))
    assert [stop.stamp for stop in stops] == [50.0 + RUN]
    assert stops[0].distance == pytest.approx(3.0 * 1.1, rel=0.05)


def test_a_stop_without_steady_flight_before_it_is_left_out() -> None:
    """Of two, the first begins too soon after odometry or commands do, or while the vehicle still speeds up."""
    whole = flown(first_order(1.0, 50.0), 0.1, (3.0, 3.0))
    began = 50.0 + RUN
    seen, told = whole.time > began - 0.4, whole.command_time > began - 1.2
    slower = whole.velocity * np.where(np.abs(whole.time - began + 0.5) < 0.1, 0.7, 1.0)[:, None]
    for flight in (
        Flight(whole.time[seen], whole.position[seen], whole.velocity[seen], whole.command_time, whole.command),
        Flight(whole.time, whole.position, whole.velocity, whole.command_time[told], whole.command[told]),
        Flight(whole.time, whole.position, slower, whole.command_time, whole.command),
    ):
        assert [stop.stamp > began + 1.0 for stop in find_stops(flight)] == [True]


def test_a_stop_whose_command_still_falls_when_the_flight_ends_is_left_out() -> None:
    whole = flown(first_order(1.0, 50.0), 0.1, (3.0,), falls=0.5)
    seen = whole.time < 50.0 + RUN + 3.0
    assert len(find_stops(whole)) == 1
    assert not find_stops(
        Flight(whole.time[seen], whole.position[seen], whole.velocity[seen], whole.command_time, whole.command)
    )
