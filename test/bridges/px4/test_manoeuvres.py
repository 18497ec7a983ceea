"""Manoeuvres one by one: what refuses each, what is commanded, how it ends; the autopilot is words written here."""

from __future__ import annotations

import math
from typing import Any

import pytest
from desk import Desk, begun, commands, ended, registered

from esar_ros.bridges.px4.commands import (
    MODE_HOLD,
    MODE_OFFBOARD,
    MODE_RETURN,
    End,
    Manoeuvre,
    Outcome,
)
from esar_ros.bridges.px4.state import HOLD, OFFBOARD, RETURN, TAKE_OFF, TERMINATION
from esar_ros.bridges.px4.stream import Timing
from esar_ros.mission.modes import Mode

POSITION = 2  # a person's mode
NAV_TAKEOFF = 22


# -- refusals -------------------------------------------------------------------------------------------

AIR: dict[str, Any] = {}
GROUND = {"landed": True, "height": 0.0}
DOWN = GROUND | {"armed": False}


@pytest.mark.parametrize(
    ("changed", "manoeuvre", "words"),
    [
        (AIR | {"speaks": False}, Manoeuvre.HOLD, "silent"),
        (AIR | {"failsafe": True}, Manoeuvre.MISSION, "failsafe"),
        (AIR | {"failsafe": True}, Manoeuvre.HOLD, None),
        (AIR | {"commanded": False}, Manoeuvre.MISSION, "no fresh safe command"),
        (AIR | {"commanded": False}, Manoeuvre.RETURN, None),
        (AIR | {"knows_sea": False}, Manoeuvre.MISSION, None),
        (AIR, Manoeuvre.TAKE_OFF, "in the air"),
        (AIR, Manoeuvre.ARM, "in the air"),
        (AIR, Manoeuvre.DISARM, "in the air"),
        (AIR, Manoeuvre.TOUCH_DOWN, "does not fly safe commands"),
        (AIR, Manoeuvre.LAND, None),
        (GROUND, Manoeuvre.LAND, "on the ground"),
        (GROUND, Manoeuvre.HOLD, None),
        (GROUND | {"knows_sea": False}, Manoeuvre.TAKE_OFF, "above the sea"),
        (GROUND | {"knows_sea": False}, Manoeuvre.MISSION, "above the sea"),
        (GROUND | {"knows_sea": False}, Manoeuvre.HOLD, None),
        (GROUND, Manoeuvre.TAKE_OFF, None),
        (GROUND | {"failsafe": True}, Manoeuvre.TAKE_OFF, "failsafe"),
        (GROUND | {"speed": 1.0}, Manoeuvre.DISARM, "in the air"),
        (GROUND, Manoeuvre.DISARM, None),
        (GROUND, Manoeuvre.ARM, None),
        (AIR | {"armed": False}, Manoeuvre.ARM, "not on the ground"),
        (AIR | {"nav_state": TERMINATION}, Manoeuvre.HOLD, "started again"),
        (DOWN, Manoeuvre.ARM, None),
        (DOWN | {"commanded": False}, Manoeuvre.ARM, "no fresh safe command"),
        (DOWN | {"sound": False}, Manoeuvre.ARM, "pre-flight"),
        *((DOWN, manoeuvre, "not armed") for manoeuvre in (Manoeuvre.MISSION, Manoeuvre.HOLD, Manoeuvre.LAND)),
    ],
)
def test_a_manoeuvre_is_refused_where_it_cannot_begin(
    changed: dict[str, Any], manoeuvre: Manoeuvre, words: str | None
) -> None:
    desk = Desk().waiting()
    for name, value in changed.items():
        setattr(desk, name, value)
    desk.run(1.0 if changed.get("speaks", True) else 2.0)
    refusal = desk.ask(manoeuvre, 5.0)
    assert (refusal is None) == (words is None), refusal
    assert refusal is None or (refusal.end is End.REFUSED and str(words) in refusal.text)


@pytest.mark.parametrize("height", [0.0, -1.0, math.inf, math.nan])
def test_a_take_off_needs_a_height(height: float) -> None:
    refusal = Desk().standing().ask(Manoeuvre.TAKE_OFF, height)
    assert refusal is not None and refusal.text == "it is not armed"
    desk = Desk()
    desk.landed, desk.height = True, 0.0
    refusal = desk.waiting().ask(Manoeuvre.TAKE_OFF, height)
    assert refusal is not None and refusal.text == f"height {height} m"


@pytest.mark.parametrize(
    ("mode", "arms", "holds"),
    [(Mode.HOLD, True, True), (Mode.RETURN, False, True), (Mode.TERMINATE, False, False)],
)
def test_the_governor_forbids_arming_and_then_everything(mode: Mode, arms: bool, holds: bool) -> None:
    for desk, manoeuvre, allowed in (
        (Desk().standing(), Manoeuvre.ARM, arms),
        (Desk().waiting(), Manoeuvre.HOLD, holds),
    ):
        desk.stream.mode = mode
        refusal = desk.ask(manoeuvre)
        assert (refusal is None) == allowed
        assert refusal is None or (refusal.because == "safety" and "the governor" in refusal.text)


def test_an_external_mode_s_complaint_forbids_arming() -> None:
    for external, allowed in ((registered(), True), (registered(nav_state=None), False), (None, True)):
        refusal = Desk(external).standing().ask(Manoeuvre.ARM)
        assert (refusal is None) == allowed and (refusal is None or "not registered" in refusal.text)


@pytest.mark.parametrize(
    ("seen", "words"), [(None, "none is seen"), (math.nan, "nan m below"), (5.1, "5.1 m below"), (5.0, None)]
)
def test_a_touch_down_needs_seen_ground_within_five_metres(seen: float | None, words: str | None) -> None:
    desk = Desk().flying()
    desk.stream.height = seen
    refusal = desk.ask(Manoeuvre.TOUCH_DOWN)
    assert (refusal is None) == (words is None)
    assert refusal is None or (refusal.because == "safety" and str(words) in refusal.text)
    begun(desk, Manoeuvre.RETURN)


def test_in_its_mode_a_take_off_is_refused_as_in_any_other() -> None:
    refusal = Desk().flying().ask(Manoeuvre.TAKE_OFF, 5.0)
    assert refusal is not None and refusal.text == "it is in the air"


def test_it_is_ready_when_arming_or_in_the_air_the_mission_would_begin() -> None:
    flying = Desk().flying()
    assert flying.bridge.why_not_ready(flying.now + 0.3) == "", "it flies, though its last command is old"
    standing, waiting = Desk().standing(), Desk().waiting()
    assert standing.bridge.why_not_ready(standing.now) == "" == waiting.bridge.why_not_ready(waiting.now)
    standing.sound = waiting.sound = False
    standing.run(0.1), waiting.run(0.1)
    assert "pre-flight" in standing.bridge.why_not_ready(standing.now)
    assert waiting.bridge.why_not_ready(waiting.now) == "", "in the air only the mission's conditions count"
    waiting.failsafe = True
    waiting.run(0.1)
    assert "failsafe" in waiting.bridge.why_not_ready(waiting.now)


def test_only_a_take_off_needs_one() -> None:
    begun(Desk().waiting(), Manoeuvre.LAND, math.nan)


# -- under way ------------------------------------------------------------------------------------------


def test_a_command_is_repeated_until_the_status_says_so_and_not_for_longer_than_patience() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.RETURN)
    assert commands(desk, 1.0) == [MODE_RETURN] * 3, "at once, and every 0.4 s"
    desk.nav_state = RETURN
    assert commands(desk, 0.4) == [MODE_RETURN], "the mode alone may be a failsafe's"
    desk.nav_state, desk.intention = HOLD, RETURN
    assert commands(desk, 0.4) == [MODE_RETURN], "the wish alone is not the mode"
    desk.nav_state = RETURN
    assert commands(desk, 0.5) == [] and desk.bridge.outcome(Manoeuvre.RETURN) == Outcome(End.DONE)
    stubborn = begun(Desk().waiting(), Manoeuvre.RETURN)
    outcome = ended(stubborn, Manoeuvre.RETURN, Timing().patience + 0.1)
    assert outcome is not None and outcome.end is End.FAILED and "did not go to return" in outcome.text


def test_asked_again_it_goes_on_and_a_take_off_begins_anew() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.RETURN)
    desk.run(2.0)
    begun(desk, Manoeuvre.RETURN)
    outcome = ended(desk, Manoeuvre.RETURN, 1.1)
    assert outcome is not None and outcome.end is End.FAILED, "the first one's patience counts"
    risen = Desk()
    risen.landed, risen.height = True, 0.0
    begun(risen.waiting(), Manoeuvre.TAKE_OFF, 5.0)
    risen.run(0.1)
    begun(risen, Manoeuvre.TAKE_OFF, 8.0)
    assert [command.param7 for command in commands(risen, 0.1)] == [508.0]


@pytest.mark.parametrize(
    ("manoeuvre", "landed", "end"),
    [
        (Manoeuvre.LAND, False, End.REPLACED),
        (Manoeuvre.LAND, True, End.DONE),
        (Manoeuvre.RETURN, True, End.REPLACED),
    ],
)
def test_a_landing_that_is_replaced_on_the_ground_has_ended_well(manoeuvre: Manoeuvre, landed: bool, end: End) -> None:
    desk = begun(Desk().waiting(), manoeuvre)
    desk.run(0.1)
    desk.landed, desk.height = landed, 0.0 if landed else 20.0
    desk.run(0.1)
    begun(desk, Manoeuvre.HOLD)
    outcome = desk.bridge.outcome(manoeuvre)
    assert outcome is not None and outcome.end is end


def test_a_termination_ends_what_is_under_way_and_what_is_flown_and_changes_nothing_else() -> None:
    waiting = Desk().waiting()
    why = waiting.stream.left_because
    waiting.stream.mode = Mode.TERMINATE
    waiting.run(0.1)
    assert waiting.stream.left_because == why
    asked = begun(Desk().waiting(), Manoeuvre.RETURN)
    asked.stream.mode = Mode.TERMINATE
    outcome = ended(asked, Manoeuvre.RETURN)
    assert outcome == Outcome(End.FAILED, "the governor has terminated") and asked.bridge.running is None
    flying = Desk().flying()
    flying.stream.mode = Mode.TERMINATE
    flying.run(0.1)
    assert not flying.stream.engaged and flying.stream.left_because == "the governor has terminated"
    assert flying.bridge.outcome(Manoeuvre.MISSION) is None


# -- the mission ----------------------------------------------------------------------------------------


def streaming(desk: Desk) -> Desk:
    """In hold, on the way to its mode."""
    begun(desk.waiting(), Manoeuvre.MISSION).run(0.1)
    assert desk.stream.streaming
    return desk


def test_heartbeats_come_first_set_points_shortly_before_it_is_asked_for_and_then_it_is_granted() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.MISSION)
    outputs = desk.run(Timing().stream + 0.3)
    beats = [n for n, output in enumerate(outputs) if output.heartbeat]
    points = [n for n, output in enumerate(outputs) if output.setpoint is not None]
    asked = [n for n, output in enumerate(outputs) if MODE_OFFBOARD in output.commands]
    assert (asked[0] - beats[0]) * 0.02 == pytest.approx(Timing().stream, abs=0.05)
    assert (asked[0] - points[0]) * 0.02 == pytest.approx(Timing().window, abs=0.05)
    assert not any(any(outputs[n].setpoint.velocity) for n in points), "zeros"  # type: ignore[union-attr]
    assert points == list(range(points[0], len(outputs))), "until it is granted"
    desk.nav_state = OFFBOARD
    desk.run(0.1)
    assert not desk.stream.engaged, "the mode alone may be an earlier wish's"
    desk.intention = OFFBOARD
    assert ended(desk, Manoeuvre.MISSION) == Outcome(End.DONE) and desk.stream.engaged


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"nav_state": POSITION}, "its mode was changed"), ({"commanded": False}, "no fresh safe command")],
)
@pytest.mark.parametrize("after", [0.1, 1.3])
def test_on_the_way_it_gives_up_with_its_conditions(changed: dict[str, Any], words: str, after: float) -> None:
    desk = begun(Desk().waiting(), Manoeuvre.MISSION)
    desk.run(after)
    for name, value in changed.items():
        setattr(desk, name, value)
    outcome = ended(desk, Manoeuvre.MISSION, 0.4)
    assert outcome is not None and outcome.end is End.FAILED and words in outcome.text
    assert not any(output.setpoint or output.heartbeat for output in desk.run(0.5))


def test_a_mode_that_is_not_granted_is_taken_back() -> None:
    desk = streaming(Desk())
    sent = commands(desk, Timing().stream + Timing().patience + 0.2)
    outcome = desk.bridge.outcome(Manoeuvre.MISSION)
    assert outcome is not None and outcome.end is End.FAILED and "did not go to offboard" in outcome.text
    assert sent[-1] == MODE_HOLD and MODE_OFFBOARD in sent and not desk.stream.streaming


def test_where_hold_is_not_granted_nothing_is_streamed() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.MISSION)
    desk.nav_state = desk.intention = POSITION
    outcome = ended(desk, Manoeuvre.MISSION, Timing().patience + 0.1)
    assert outcome is not None and "did not go to hold" in outcome.text
    assert not any(output.heartbeat or output.setpoint for output in desk.sent)


def test_who_flies_already_needs_no_mission_and_no_arming() -> None:
    for manoeuvre in (Manoeuvre.MISSION, Manoeuvre.ARM):
        desk = begun(Desk().flying(), manoeuvre)
        outputs = desk.run(0.06)
        assert desk.bridge.outcome(manoeuvre) == Outcome(End.DONE)
        assert all(output.setpoint is not None and not output.commands for output in outputs)


def test_an_external_mode_that_is_not_registered_on_the_ground_ends_it() -> None:
    desk = Desk(registered(nav_state=None))
    desk.landed, desk.height = True, 0.0
    outcome = ended(begun(desk.waiting(), Manoeuvre.MISSION), Manoeuvre.MISSION)
    assert outcome is not None and outcome.end is End.FAILED and "not registered" in outcome.text


def test_an_external_mode_begins_in_the_air_and_on_the_ground_after_a_take_off() -> None:
    desk = begun(Desk(registered()).waiting(), Manoeuvre.MISSION)
    assert {command.command for command in commands(desk, 0.5)} == {100001}
    low = Desk(registered())
    low.landed, low.height = True, 0.0
    begun(low.waiting(), Manoeuvre.MISSION)
    assert {command.command for command in commands(low, 0.5)} == {NAV_TAKEOFF}
    low.nav_state = TAKE_OFF
    low.run(0.2)
    low.landed, low.height, low.nav_state, low.intention = False, 0.4, HOLD, HOLD
    outcome = ended(low, Manoeuvre.MISSION, 0.2)
    assert outcome is not None and outcome.end is End.FAILED and "rose 0.4 of 2.5 m" in outcome.text
    assert not low.stream.streaming


def came_back(desk: Desk) -> Desk:
    """Safe commands failed in its mode, the autopilot holds, and they are sound again for long enough."""
    desk.flying().commanded = False
    desk.run(0.4)
    desk.nav_state = desk.intention = HOLD
    desk.run(0.1)
    desk.commanded = True
    return desk


def test_back_from_its_own_hold_it_asks_by_itself_once() -> None:
    desk = came_back(Desk())
    desk.run(2.1)
    assert desk.bridge.running is Manoeuvre.MISSION and desk.stream.left_because == "it is coming back"
    desk.run(Timing().stream)
    desk.nav_state = desk.intention = OFFBOARD
    desk.run(0.1)
    assert desk.stream.engaged and desk.stream.left_because == ""
    refused = came_back(Desk())
    sent = commands(refused, 20.0)
    assert 0 < sent.count(MODE_OFFBOARD) <= 9, "for the patience of one attempt"
    assert refused.stream.left_because.startswith("it could not come back: it did not go to offboard")
    assert not refused.stream.comeback.is_open


def test_while_somebody_asks_for_something_it_does_not_come_back() -> None:
    desk = came_back(Desk())
    begun(desk, Manoeuvre.RETURN)
    assert set(commands(desk, Timing().patience - 0.1)) == {MODE_RETURN}
    assert desk.bridge.running is Manoeuvre.RETURN
    assert desk.stream.left_because == "return was asked for"


def test_what_cannot_begin_is_not_tried_again() -> None:
    desk = came_back(Desk())
    desk.run(1.9)
    desk.stream.comeback.watch(desk.now - 5.0, True)
    desk.state.receive("VehicleStatus", desk.state.newest("VehicleStatus"), desk.now)
    desk.stream.now = desk.now
    desk.stream._command = None
    desk.bridge._come_back()
    assert desk.stream.left_because == "it could not come back: no fresh safe command from the governor"
    assert desk.bridge.running is None and not desk.stream.comeback.is_open


def test_a_mission_that_somebody_asked_for_fails_with_its_own_words() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.MISSION)
    desk.run(Timing().stream + Timing().patience + 0.3)
    assert desk.stream.left_because == "offboard was not granted"


def test_only_what_is_under_way_is_called_off() -> None:
    desk = begun(Desk().waiting(), Manoeuvre.RETURN)
    desk.bridge.call_off(Manoeuvre.LAND)
    assert desk.bridge.running is Manoeuvre.RETURN and desk.bridge.outcome(Manoeuvre.LAND) is None
    desk.bridge.call_off(Manoeuvre.RETURN)
    outcome = desk.bridge.outcome(Manoeuvre.RETURN)
    assert outcome is not None and outcome.end is End.CALLED_OFF and desk.bridge.running is None
