"""The place of a vehicle in words, as its autopilot reports it."""

from __future__ import annotations

import pytest
from loop import Loop

from esar_ros.bridges.px4.commands import Manoeuvre
from esar_ros.bridges.px4.standing import Standing, standing_of
from esar_ros.bridges.px4.state import Px4State


def told(loop: Loop) -> Standing:
    return standing_of("uav1", loop.state, loop.now)


def test_from_the_ground_into_the_air_and_back() -> None:
    assert "PX4 is silent" in standing_of("uav1", Px4State(1), 0.0).words
    loop = Loop()
    loop.run(2.0)
    assert told(loop).words.startswith("uav1 stands on the ground at 34.00000") and told(loop).words.endswith(
        "disarmed"
    )
    loop.fly(12.0)
    assert "flies in mode offboard" in told(loop).words and told(loop).aloft
    loop.do(Manoeuvre.HOLD)
    words = told(loop).words
    assert "uav1 hovers at " in words and ", armed" in words
    assert told(loop).place == pytest.approx((34.0, 107.8), abs=2e-5)  # two metres
    assert told(loop).height == pytest.approx(float(loop.fake.body.position[2]), abs=1.0)
    loop.do(Manoeuvre.LAND)
    assert not told(loop).aloft and "on the ground" in told(loop).words


def test_a_failsafe_is_told_with_its_cause() -> None:
    loop = Loop(has_remote=True).fly()
    loop.fake.lose("remote control")
    loop.run(10.0)
    assert "flies in mode return" in told(loop).words and "the remote control is lost" in told(loop).words


def test_a_place_that_it_does_not_know_is_none() -> None:
    assert "at a place that it does not know" in Standing("uav1", True, True, False, 4, "", None, 3.0).words
