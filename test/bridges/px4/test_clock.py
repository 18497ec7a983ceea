"""Times of measurements: by the autopilot's synchronised stamps, else by arrival less the age by its own clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from loop import Loop

from esar_ros.bridges.px4.clock import LONGEST_WAY, OLDEST_SAMPLE, ROUND_TRIP, SYNCHRONISED_FOR, SampleClock, sample_age

SENT = 1_795_000_000_000_000  # us, system time
NS = 1_000


def message(sent: int = SENT, age: int = 8_000) -> SimpleNamespace:
    return SimpleNamespace(timestamp=sent, timestamp_sample=sent - age)


def status(protocol: int = 2, round_trip: int = 1_500) -> SimpleNamespace:
    return SimpleNamespace(source_protocol=protocol, round_trip_time=round_trip)


@pytest.mark.parametrize(
    ("sent", "measured", "age"),
    [
        (9_000_000, 8_990_000, 0.01),
        (1_795_000_000_000_000, 1_794_999_999_992_000, 0.008),  # us of system time, where PX4 keeps it
        (9_000_000, 9_000_000, 0.0),
        (9_000_000, 0, 0.0),
        (9_000_000, 9_000_001, 0.0),
        (9_000_000, 8_999_999 - round(OLDEST_SAMPLE * 1e6), 0.0),
    ],
)
def test_the_age_of_a_measurement_is_told_by_the_autopilots_own_clock(sent: int, measured: int, age: float) -> None:
    assert sample_age(SimpleNamespace(timestamp=sent, timestamp_sample=measured)) == pytest.approx(age, abs=1e-9)


def test_a_synchronised_stamp_leaves_nothing_of_the_way_through_the_link_in() -> None:
    """A serial link of 40 ms: without the clock the position counts as measured that much later than it was."""
    clock, arrived = SampleClock(), (SENT + 40_000) * NS
    assert clock.sampled(message(), arrived, 1.0) == (SENT + 40_000 - 8_000) * NS
    clock.on_timesync(status(), 1.0)
    assert clock.sampled(message(), arrived, 1.0) == (SENT - 8_000) * NS


@pytest.mark.parametrize(
    "told", [status(protocol=1), status(round_trip=round(ROUND_TRIP * 1e6) + 1), status(round_trip=0)]
)
def test_a_clock_that_is_not_known_well_is_not_used(told: SimpleNamespace) -> None:
    clock = SampleClock()
    clock.on_timesync(told, 1.0)
    assert not clock.is_synchronised(1.0)


def test_the_clock_is_known_for_some_seconds_after_the_last_status() -> None:
    clock = SampleClock()
    clock.on_timesync(status(), 1.0)
    assert clock.is_synchronised(1.0 + SYNCHRONISED_FOR) and not clock.is_synchronised(1.1 + SYNCHRONISED_FOR)


@pytest.mark.parametrize("latency", [0.3, 0.8, 3.0])
def test_a_link_that_becomes_slow_does_not_make_old_positions_look_new(latency: float) -> None:
    clock, way = SampleClock(), round(latency * 1e6)
    clock.on_timesync(status(), 0.0)
    for second in range(1, 30):
        clock.on_timesync(status(round_trip=2 * way), float(second))
        assert clock.sampled(message(), (SENT + way) * NS, second + 0.5) == (SENT - 8_000) * NS


@pytest.mark.parametrize("off", [-1, 1 + round(LONGEST_WAY * 1e6)])
def test_a_stamp_of_another_clock_is_not_taken(off: int) -> None:
    clock, arrived = SampleClock(), (SENT + off) * NS
    clock.on_timesync(status(), 1.0)
    assert clock.sampled(message(), arrived, 1.0) == arrived - 8_000 * NS


def test_the_autopilot_tells_its_clock_where_it_synchronises_it() -> None:
    loop = Loop()
    loop.run(1.5)
    assert not loop.clock.is_synchronised(loop.now)
    loop.fake.clock_offset = 1.795e9
    loop.run(1.5)
    assert loop.clock.is_synchronised(loop.now)
    local = loop.state.newest("VehicleLocalPosition")
    arrived = round((1.795e9 + loop.now) * 1e9) + 5_000_000
    assert arrived - loop.clock.sampled(local, arrived, loop.now) == pytest.approx(5e6, abs=2.5e7)
