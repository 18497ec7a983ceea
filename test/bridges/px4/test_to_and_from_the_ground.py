"""Arming, take-off, touch-down and landing one by one: what is commanded, and how each ends."""

from __future__ import annotations

from typing import Any

import pytest
from desk import EXTERNAL, Desk, begun, commands, ended, registered

from esar_ros.bridges.px4.commands import (
    ARM,
    DISARM,
    MODE_HOLD,
    MODE_LAND,
    End,
    Manoeuvre,
    Outcome,
)
from esar_ros.bridges.px4.state import HOLD, LAND, OFFBOARD, TAKE_OFF
from esar_ros.bridges.px4.stream import Timing

POSITION = 2  # a person's mode
NAV_TAKEOFF = 22


# -- arming ---------------------------------------------------------------------------------------------


def test_it_is_armed_in_hold_and_not_where_hold_is_not_granted() -> None:
    desk = begun(Desk().standing(), Manoeuvre.ARM)
    assert commands(desk, 0.3) == [ARM]
    refused = Desk().standing()
    refused.nav_state = refused.intention = POSITION
    refused.run(0.1)
    begun(refused, Manoeuvre.ARM)
    assert set(commands(refused, Timing().patience + 0.1)) == {MODE_HOLD}
    outcome = refused.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "did not go to hold" in outcome.text


@pytest.mark.parametrize("landed", [True, False])
def test_armed_without_its_mode_it_is_disarmed_on_the_ground_and_never_in_the_air(landed: bool) -> None:
    desk = begun(Desk().standing(), Manoeuvre.ARM)
    desk.run(0.1)
    desk.armed = True
    desk.run(0.1)
    desk.landed, desk.height = landed, 0.0 if landed else 3.0
    sent = commands(desk, Timing().stream + Timing().patience + 0.5)
    assert (DISARM in sent) == landed
    desk.armed = not landed
    outcome = ended(desk, Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "offboard" in outcome.text


def test_armed_and_granted_it_flies() -> None:
    desk = begun(Desk().standing(), Manoeuvre.ARM)
    desk.run(0.1)
    desk.armed = True
    desk.run(Timing().stream + 0.2)
    desk.nav_state = desk.intention = OFFBOARD
    assert ended(desk, Manoeuvre.ARM) == Outcome(End.DONE) and desk.stream.engaged


# -- take-off and landing -------------------------------------------------------------------------------


def rising() -> Desk:
    """In the autopilot's take-off to 10 m, from a place 3 m above its origin."""
    desk = Desk()
    desk.landed, desk.height = True, 3.0
    begun(desk.waiting(), Manoeuvre.TAKE_OFF, 10.0)
    sent = commands(desk, 0.1)
    assert [(command.command, command.param7) for command in sent] == [(NAV_TAKEOFF, 513.0)]
    desk.nav_state = TAKE_OFF
    desk.run(0.2)
    assert desk.bridge.running is Manoeuvre.TAKE_OFF
    return desk


@pytest.mark.parametrize(
    ("height", "armed", "landed", "end"),
    [
        (13.0, True, False, End.DONE),
        (12.0, True, False, End.DONE),
        (11.9, True, False, End.FAILED),
        (13.0, False, False, End.FAILED),
        (13.0, True, True, End.FAILED),
    ],
)
def test_a_take_off_has_ended_well_near_its_height_in_the_air(
    height: float, armed: bool, landed: bool, end: End
) -> None:
    desk = rising()
    desk.height, desk.armed, desk.landed = height, armed, landed
    desk.nav_state = desk.intention = HOLD
    outcome = ended(desk, Manoeuvre.TAKE_OFF)
    assert outcome is not None and outcome.end is end


@pytest.mark.parametrize(("seconds", "changed"), [(33.2, {}), (0.1, {"armed": False})])
def test_a_take_off_ends_by_its_time_and_by_disarming(seconds: float, changed: dict[str, Any]) -> None:
    desk = rising()
    for name, value in changed.items():
        setattr(desk, name, value)
    outcome = ended(desk, Manoeuvre.TAKE_OFF, seconds)
    assert outcome is not None and outcome.end is End.FAILED and "its mode is take-off" in outcome.text


def test_a_take_off_that_lasts_too_long_is_held_for_it_would_go_on_by_itself() -> None:
    desk = rising()
    assert commands(desk, Timing().climb - 0.5) == []
    assert commands(desk, 1.0)[:1] == [MODE_HOLD]
    desk.nav_state = desk.intention = HOLD
    outcome = ended(desk, Manoeuvre.TAKE_OFF)
    assert outcome is not None and outcome.end is End.FAILED and "it rose 0.0 of 10.0 m" in outcome.text


def test_a_take_off_above_the_briefs_ceiling_is_refused() -> None:
    desk = Desk()
    desk.landed, desk.height, desk.bridge.ceiling = True, 0.0, 40.0
    refusal = desk.waiting().ask(Manoeuvre.TAKE_OFF, 41.0)
    assert refusal is not None and refusal.text == "height 41 m is above the ceiling of 40 m"
    assert desk.ask(Manoeuvre.TAKE_OFF, 40.0) is None


def test_a_touch_down_ends_on_the_ground_by_its_time_or_with_its_mode() -> None:
    desk = Desk().flying()
    desk.stream.height = 3.0
    begun(desk, Manoeuvre.TOUCH_DOWN)
    outcome = ended(desk, Manoeuvre.TOUCH_DOWN, Timing().landing + 0.1)
    assert outcome == Outcome(End.FAILED, "it did not come down in time") and desk.stream.engaged
    begun(desk, Manoeuvre.TOUCH_DOWN)
    desk.nav_state = desk.intention = POSITION
    outcome = ended(desk, Manoeuvre.TOUCH_DOWN)
    assert outcome is not None and outcome.end is End.FAILED and "its mode was changed" in outcome.text


@pytest.mark.parametrize(
    ("seen", "speed", "stands"), [(0.2, 0.0, True), (None, 0.0, True), (0.2, 1.5, False), (2.5, 0.0, False)]
)
def test_the_motors_stop_where_speed_and_height_agree_that_it_stands(
    seen: float | None, speed: float, stands: bool
) -> None:
    desk = Desk().flying()
    desk.stream.height = 3.0
    begun(desk, Manoeuvre.TOUCH_DOWN)
    desk.run(0.1)
    assert desk.bridge.stage == "coming down"
    desk.landed, desk.speed, desk.stream.height = True, speed, seen
    desk.run(0.1)
    assert desk.bridge.stage == "on the ground"
    assert (DISARM in commands(desk, 1.0)) == stands


def landing() -> Desk:
    desk = begun(Desk().waiting(), Manoeuvre.LAND)
    assert commands(desk, 0.1) == [MODE_LAND]
    desk.nav_state = desk.intention = LAND
    desk.run(0.1)
    return desk


def test_a_landing_ends_disarmed_on_the_ground_and_not_before() -> None:
    desk = landing()
    desk.landed = True
    assert ended(desk, Manoeuvre.LAND, 1.0) is None, "armed"
    desk.armed = False
    assert ended(desk, Manoeuvre.LAND) == Outcome(End.DONE)
    fallen = landing()
    fallen.armed = False
    assert ended(fallen, Manoeuvre.LAND, 1.0) is None, "disarmed in the air it has not landed"
    fallen.landed = True
    assert ended(fallen, Manoeuvre.LAND) == Outcome(End.DONE)


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"nav_state": POSITION}, True),
        ({"nav_state": POSITION, "landed": True}, False),  # PX4 goes back to the mode before, once it is down
        ({"nav_state": HOLD, "armed": False}, False),
    ],
)
def test_a_person_who_takes_the_vehicle_ends_a_landing(changed: dict[str, Any], fails: bool) -> None:
    desk = landing()
    for name, value in changed.items():
        setattr(desk, name, value)
    outcome = ended(desk, Manoeuvre.LAND, 0.2)
    assert (outcome is not None) == fails
    assert outcome is None or (outcome.end is End.FAILED and "its mode was changed: position" in outcome.text)


def test_a_landing_that_is_not_granted_has_failed() -> None:
    outcome = ended(begun(Desk().waiting(), Manoeuvre.LAND), Manoeuvre.LAND, Timing().patience + 0.1)
    assert outcome is not None and outcome.end is End.FAILED and "did not go to land" in outcome.text


def test_a_landing_takes_no_longer_than_its_time() -> None:
    assert ended(landing(), Manoeuvre.LAND, Timing().landing + 0.1) == Outcome(
        End.FAILED, "it did not come down in time"
    )


def test_the_external_mode_that_is_flown_is_the_one_that_is_registered() -> None:
    desk = begun(Desk(registered()).waiting(), Manoeuvre.MISSION)
    desk.run(0.5)
    desk.nav_state = desk.intention = EXTERNAL
    assert ended(desk, Manoeuvre.MISSION) == Outcome(End.DONE)
