"""Reasons against arming an ArduPilot vehicle, in its own words."""

from __future__ import annotations

from typing import Any

import pytest
from copter_loop import CopterLoop
from fake_copter import FakeCopter, mavlink

from esar_ros.bridges.ardupilot.state import SAID_FOR, ArdupilotState
from esar_ros.bridges.px4.standing import standing_of
from esar_ros.bridges.px4.state import AGES


def standing(**changes: Any) -> CopterLoop:
    fake = FakeCopter()
    for name, value in changes.items():
        setattr(fake, name, value)
    loop = CopterLoop(fake)
    loop.run(3.0)
    return loop


def test_a_sound_vehicle_may_be_armed() -> None:
    loop = standing()
    assert loop.state.reasons_against_arming(loop.now) == []
    assert loop.bridge.why_not_ready(loop.now) == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"checks": ["GPS 1: Bad fix", "Compass not calibrated"]}, "PreArm: Compass not calibrated"),
        ({"checks": ["GPS 1: Bad fix"]}, "its pre-flight checks fail"),
        ({"ratio": 1.5}, "its estimator refuses what measures compass: 1.5 of the gate"),
        ({"fix": 1}, "position is dead reckoning"),
        ({"fix": 1}, "failsafe flag gnss_lost"),
        ({"charge": 3}, "battery warning 2"),
        ({"failsafes": {"GCS"}}, "it is in failsafe (STABILIZE)"),
    ],
)
def test_each_reason_has_a_name(changes: dict[str, Any], reason: str) -> None:
    loop = standing(**changes)
    assert reason in loop.state.reasons_against_arming(loop.now)


def test_what_does_not_come_is_named_as_mavlink_names_it() -> None:
    state = ArdupilotState(1)
    reasons = state.reasons_against_arming(5.0)
    assert len(reasons) == len(AGES)
    assert "HEARTBEAT is silent" in reasons and "EXTENDED_SYS_STATE is silent" in reasons
    assert not [reason for reason in reasons if "Vehicle" in reason]


def test_checks_that_pass_again_are_forgotten() -> None:
    loop = standing(checks=["GPS 1: Bad fix"])
    loop.fake.checks = []
    loop.run(1.0)
    assert loop.state.reasons_against_arming(loop.now) == []


def test_home_must_be_known() -> None:
    loop = standing()
    loop.state.translation.home = None
    assert "its home is not known" in loop.state.reasons_against_arming(loop.now)


def test_a_text_in_two_parts_is_one_and_the_newest_explains() -> None:
    state = ArdupilotState(1)
    for chunk, text in enumerate((b"PreArm: a text that is longer than fifty characte", b"rs")):
        state.hear("STATUSTEXT", mavlink.MAVLink_statustext_message(2, text, 9, chunk), 1.0)
    state.hear("STATUSTEXT", mavlink.MAVLink_statustext_message(6, b"information", 0, 0), 1.1)
    assert state.said(1.2) == "PreArm: a text that is longer than fifty characters"
    assert state.said(1.2 + SAID_FOR) == ""


def test_where_it_is_is_told_as_of_px4(flying: CopterLoop) -> None:
    place = standing_of("uav1", flying.state, flying.now)
    assert place.aloft and place.height == pytest.approx(-flying.fake.place[2], abs=0.3)
    assert place.place == pytest.approx((34.0, 107.8), abs=1e-5)
    flying.fake.set_mode(5)
    flying.run(1.0)
    assert "flies in mode LOITER" in standing_of("uav1", flying.state, flying.now).words
