"""Reasons against arming: each is found, named, and the only one."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from loop import Loop

from esar_ros.bridges.px4.state import AGES, FORBIDDING, Px4State, mode_name


@pytest.fixture
def loop() -> Loop:
    ready = Loop()
    ready.run(2.0)
    assert ready.state.reasons_against_arming(ready.now) == []
    return ready


@pytest.mark.parametrize(
    ("name", "field", "value", "words"),
    [
        ("VehicleStatus", "pre_flight_checks_pass", False, "pre-flight checks fail"),
        ("VehicleStatus", "failsafe", True, "in failsafe (hold)"),
        ("VehicleStatus", "system_id", 2, "it is system 2, commands go to 1: set target_system"),
        ("VehicleStatus", "rc_calibration_in_progress", True, "being calibrated"),
        ("VehicleStatus", "calibration_enabled", True, "being calibrated"),
        ("VehicleLocalPosition", "xy_valid", False, "horizontal position is not valid"),
        ("VehicleLocalPosition", "z_valid", False, "height is not valid"),
        ("VehicleLocalPosition", "v_xy_valid", False, "horizontal velocity is not valid"),
        ("VehicleLocalPosition", "v_z_valid", False, "vertical velocity is not valid"),
        ("VehicleLocalPosition", "heading", math.nan, "heading is not known"),
        ("VehicleLocalPosition", "heading_var", math.nan, "heading is uncertain"),
        ("VehicleLocalPosition", "heading_var", 0.09, "heading is uncertain: its deviation is 17 degrees"),
        ("VehicleLocalPosition", "xy_global", False, "no global reference"),
        ("VehicleLocalPosition", "z_global", False, "no global reference"),
        ("VehicleLocalPosition", "dead_reckoning", True, "dead reckoning"),
        ("VehicleOdometry", "pose_frame", 2, "frame 2, not NED"),
        ("VehicleLandDetected", "landed", False, "not on the ground"),
        ("BatteryStatus", "connected", False, "no battery"),
        ("BatteryStatus", "warning", 2, "battery warning 2"),
        ("FailsafeFlags", "battery_warning", 1, "battery_warning 1"),
        *(("FailsafeFlags", flag, True, flag) for flag in FORBIDDING),
    ],
)
def test_each_reason_has_its_name(loop: Loop, name: str, field: str, value: Any, words: str) -> None:
    message = loop.state.newest(name)
    setattr(message, field, value)
    loop.state.receive(name, message, loop.now)
    reasons = loop.state.reasons_against_arming(loop.now)
    assert len(reasons) == 1 and words in reasons[0]


@pytest.mark.parametrize("name", list(AGES))
def test_what_is_old_or_was_never_heard_is_named(loop: Loop, name: str) -> None:
    message, state = loop.state.newest(name), Px4State(1)
    for other in AGES:
        if other != name:
            state.receive(other, loop.state.newest(other), loop.now)
    assert state.reasons_against_arming(loop.now) == [f"{name} is silent"]
    state.receive(name, message, loop.now - AGES[name] - 0.1)
    assert state.reasons_against_arming(loop.now) == [f"{name} is {AGES[name] + 0.1:.1f} s old"]


def test_what_is_too_old_is_not_known_but_for_what_is_sent_on_change() -> None:
    state = Px4State(1)
    for name in ("VehicleStatus", "HomePosition"):
        assert state.known(name, 0.0) is None
        state.receive(name, SimpleNamespace(arming_state=1), 1.0)
    assert state.known("VehicleStatus", 1.0 + AGES["VehicleStatus"]) is not None
    assert state.known("VehicleStatus", 1.1 + AGES["VehicleStatus"]) is None
    assert state.known("HomePosition", 1e6) is not None
    state.forget("HomePosition")
    assert state.known("HomePosition", 1e6) is None


def test_ages_are_of_arrival_whatever_the_stamp_says(loop: Loop) -> None:
    message = loop.state.newest("VehicleStatus")
    message.timestamp = 0
    loop.state.receive("VehicleStatus", message, loop.now)
    assert loop.state.reasons_against_arming(loop.now) == []


@pytest.mark.parametrize(
    "flag",
    ["offboard_control_signal_lost", "manual_control_signal_lost", "gcs_connection_lost", "home_position_invalid",
     "auto_mission_missing"],
)  # fmt: skip
def test_what_is_true_of_a_sound_vehicle_on_the_ground_forbids_nothing(loop: Loop, flag: str) -> None:
    message = loop.state.newest("FailsafeFlags")
    setattr(message, flag, True)
    loop.state.receive("FailsafeFlags", message, loop.now)
    assert loop.state.reasons_against_arming(loop.now) == []


def test_a_heading_that_is_aligned_only_in_flight_forbids_nothing(loop: Loop) -> None:
    loop.run(60.0)
    local = loop.state.newest("VehicleLocalPosition")
    assert not local.heading_good_for_control and local.heading_reset_counter == 0
    assert loop.state.reasons_against_arming(loop.now) == []
    loop.fly()
    local = loop.state.newest("VehicleLocalPosition")
    assert local.heading_good_for_control and local.heading_reset_counter == 1


def test_modes_have_names() -> None:
    assert [mode_name(n) for n in (4, 14, 18, 23, 99)] == ["hold", "offboard", "land", "external mode 1", "99"]
