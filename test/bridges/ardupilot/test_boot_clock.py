"""The age of messages by the autopilot's own time."""

from __future__ import annotations

import pytest

from esar_ros.bridges.ardupilot.boot_clock import WINDOW, BootClock


def test_what_comes_by_the_quickest_way_is_new_and_what_waited_is_as_old_as_it_waited() -> None:
    clock = BootClock()
    assert clock.age(1000, 50.0) == 0.0
    assert clock.age(1020, 50.02) == pytest.approx(0.0, abs=1e-5)
    assert clock.age(1040, 50.34) == pytest.approx(0.3, abs=1e-4)
    assert clock.age(1060, 50.34) == pytest.approx(0.28, abs=1e-4)


def test_a_quicker_way_makes_the_others_older() -> None:
    clock = BootClock()
    clock.age(1000, 50.5)
    assert clock.age(2000, 51.0) == 0.0
    assert clock.age(3000, 52.5) == pytest.approx(0.5, abs=1e-3)


def test_clocks_that_go_apart_make_nothing_old() -> None:
    clock = BootClock()
    ages = [clock.age(round(1e3 * t), 10.0 + t * 1.0001) for t in range(0, 3600)]
    assert max(ages) < 2e-3


def test_a_vehicle_whose_clock_fell_behind_is_believed_again_soon() -> None:
    """A simulator on a busy machine: it stood still for a second, and goes on."""
    clock = BootClock()
    ages = [clock.age(round(20.0 * k), 10.0 + 0.02 * k + (1.0 if k > 500 else 0.0)) for k in range(1500)]
    assert max(ages[:500]) < 1e-6 and ages[501] == pytest.approx(1.0)
    assert max(ages[500 + round(2.0 * WINDOW / 0.02) + 2 :]) < 1e-6


def test_an_autopilot_that_was_started_again_begins_anew() -> None:
    clock = BootClock()
    clock.age(900_000, 1000.0)
    assert clock.age(500, 1010.0) == 0.0
    assert clock.age(700, 1010.5) == pytest.approx(0.3, abs=1e-3)


def test_one_that_was_started_again_in_a_silence_and_has_been_up_for_longer_since() -> None:
    clock = BootClock()
    clock.age(3_000, 100.0)
    assert clock.age(20_000, 120.0) == 0.0
    assert clock.age(20_020, 120.52) == pytest.approx(0.5, abs=1e-3)
