"""The failsafes one at a time: the latch, the drain, the charge, and the velocity of a return."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.failsafe import Battery, Drain, Latch, battery_needed, return_velocity
from esar_ros.safety.inputs import State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

ENDURANCE = 1000.0  # s


def state(battery: float | None, stamp: float = 10.0) -> State:
    return State(stamp, Pose(np.zeros(3)), np.zeros(3), armed=True, landed=False, battery=battery)


@pytest.fixture
def site(kit: SimpleNamespace) -> Site:
    return Site(kit.square(500.0), 60.0, np.zeros(3))


def test_a_latch_is_raised_and_never_lowered_nor_renamed() -> None:
    latch = Latch().raised(Mode.RETURN, Reason.LINK, "pilot lost")
    assert latch == Latch(Mode.RETURN, Reason.LINK, "pilot lost")
    for mode in (Mode.HOLD, Mode.RETURN):
        assert latch.raised(mode, Reason.BATTERY_RESERVE, "battery") is latch
    assert latch.raised(Mode.LAND, Reason.BATTERY_EMPTY, "empty").mode is Mode.LAND


def test_the_drain_is_the_charge_used_per_second_between_samples() -> None:
    first = Drain().updated(0.8, 100.0)
    assert (first.stamp, first.charge, first.rate) == (100.0, 0.8, 0.0)
    assert first.updated(0.79, 105.0) is first, "too soon"
    second = first.updated(0.78, 110.0)
    assert second.rate == pytest.approx(0.002), "the first counts whole"
    third = second.updated(0.70, 130.0)
    assert third.rate == pytest.approx(0.002 + (0.004 - 0.002) * 20.0 / 60.0), "the next ones by their share"
    assert third.updated(0.58, 250.0).rate == pytest.approx(0.001), "and no more than whole"


@pytest.mark.parametrize(("charge", "now"), [(0.9, 120.0), (0.7, 90.0)])
def test_a_battery_that_was_changed_or_a_clock_set_back_leaves_the_drain(charge: float, now: float) -> None:
    drain = Drain(100.0, 0.8, 0.002)
    assert drain.updated(charge, now) == Drain(now, charge, 0.002)


def test_without_a_report_the_battery_stays_as_it_was() -> None:
    battery = Battery(0.6, 5.0)
    assert battery.updated(state(None), ENDURANCE) is battery
    assert battery.with_drain(state(None)) is battery and battery.with_drain(state(55.0)) is battery
    assert battery.with_drain(state(0.6)).drain.stamp == 10.0


@pytest.mark.parametrize(
    ("before", "charge"),
    [(Battery(), 1.0), (Battery(0.6, 5.0), 0.595), (Battery(0.6, 12.0), 0.6), (Battery(0.001, 5.0), 0.0)],
)
def test_an_impossible_charge_counts_as_what_the_endurance_leaves(before: Battery, charge: float) -> None:
    after = before.updated(state(55.0), ENDURANCE)
    assert after.charge == pytest.approx(charge) and after.stamp == 10.0
    assert before.updated(state(0.4), ENDURANCE).charge == 0.4


def test_the_farther_the_way_and_the_faster_the_drain_the_more_charge_is_needed(limits: Limits, site: Site) -> None:
    far = np.array([800.0, 0.0, 20.0])
    assert battery_needed(None, far, limits) == limits.battery_return, "without a home there is no way"
    assert battery_needed(site, np.zeros(3), limits) == limits.battery_return
    seconds = 800.0 / limits.return_speed + (20.0 + limits.return_height) / limits.land_speed
    assert battery_needed(site, far, limits) == pytest.approx(limits.battery_land + seconds / limits.endurance)
    assert battery_needed(site, far, limits, 0.002) == pytest.approx(limits.battery_land + seconds * 0.002)


@pytest.mark.parametrize(
    ("height", "climb", "moves"),
    [
        (None, 0.0, True),
        (30.0, 0.0, True),
        (31.0, -0.5, True),
        (90.0, -1.5, True),
        (20.0, 1.5, True),
        (14.0, 1.5, False),
    ],
)
def test_a_return_flies_at_its_height_and_a_low_vehicle_climbs_first(
    limits: Limits, site: Site, height: Any, climb: float, moves: bool
) -> None:
    velocity = return_velocity(site, np.array([300.0, 400.0, 30.0]), height, limits)
    assert velocity[2] == pytest.approx(climb)
    level = limits.return_speed * np.array([-0.6, -0.8]) if moves else np.zeros(2)
    np.testing.assert_allclose(velocity[:2], level, atol=1e-12)


def test_a_return_stays_below_a_low_ceiling(kit: SimpleNamespace, limits: Limits) -> None:
    low = Site(kit.square(500.0), 20.0, np.zeros(3))
    assert return_velocity(low, np.array([300.0, 0.0, 15.0]), 15.0, limits)[2] == 0.0
    assert math.hypot(*return_velocity(low, np.zeros(3), 15.0, limits)) < 1e-6, "and above home it stands"


def test_a_return_is_no_faster_than_weather_and_light_allow_and_needs_the_charge_for_it(
    kit: SimpleNamespace, limits: Limits
) -> None:
    far = np.array([400.0, 0.0, 20.0])
    clear, fog = (Site(kit.square(500.0), 60.0, np.zeros(3), speed=speed) for speed in (math.inf, 2.0))
    assert float(np.linalg.norm(return_velocity(clear, far, 20.0, limits)[:2])) == pytest.approx(limits.return_speed)
    slowed = return_velocity(fog, far, 20.0, limits)
    assert float(np.linalg.norm(slowed)) == pytest.approx(2.0) and slowed[0] < 0.0 < slowed[2]
    less, more = (battery_needed(site, far, limits, 1e-3) for site in (clear, fog))
    assert more - less == pytest.approx(1e-3 * 400.0 * (1.0 / 2.0 - 1.0 / limits.return_speed))
