"""The holds after which the bridge goes back to the mission by itself, and those after which only a person may."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from fake_facts import HOLD, OFFBOARD, RTL
from loop import Loop

from esar_ros.bridges.px4.commands import ACCEPTED, MODE_HOLD, Command, End, Manoeuvre
from esar_ros.bridges.px4.stream import Timing
from esar_ros.mission.modes import Mode

POSITION = 2
DENIED = 2  # a command's result
BACK = 2.0 + 1.2 + 0.5  # s: sound safe commands, heartbeats, and the autopilot's answer


def silence(loop: Loop, seconds: float) -> None:
    """The governor is silent for a while, and speaks again."""
    loop.velocity = None
    loop.run(seconds)
    loop.velocity = np.array([2.0, 0.0, 0.0])


@pytest.mark.parametrize("external", [False, True])
def test_a_governor_that_speaks_again_gets_the_vehicle_back_through_hold(external: bool) -> None:
    loop = Loop(external=external).fly()
    silence(loop, 2.0)
    assert loop.fake.nav_state == HOLD and "comes back by itself" in loop.bridge.stream.advice
    back = loop.now
    assert loop.run(BACK, lambda: loop.bridge.stream.engaged), loop.bridge.stream.advice
    assert loop.now - back > 2.0, "not at the first command"
    assert loop.fake.nav_state == loop.bridge.stream.own_state and loop.bridge.stream.advice == ""
    loop.run(4.0)
    assert loop.fake.body.velocity[0] > 1.5


def test_a_link_that_was_away_for_less_than_the_autopilots_second_is_no_end_of_the_mission(flying: Loop) -> None:
    flying.fake.agent_back = flying.now + 0.8
    assert flying.run(2.0, lambda: flying.fake.nav_state == HOLD), "it leaves offboard first"
    assert flying.run(BACK + 1.0, lambda: flying.bridge.stream.engaged), flying.bridge.stream.advice


def test_a_link_that_was_away_for_longer_leaves_a_hold_alone_that_looks_like_the_bridges_own() -> None:
    """COM_OBL_RC_ACT 5, where PX4 takes hold for what was asked of it: without a failsafe in its status."""
    loop = Loop(on_loss=HOLD).fly()
    loop.fake.agent_back = loop.now + 1.4
    assert loop.run(3.0, lambda: loop.fake.failsafe)
    loop.fake.intention, loop.fake.failsafe = HOLD, False
    begun = loop.now
    loop.run(8.0)
    assert loop.fake.nav_state == HOLD and OFFBOARD not in loop.modes_since(begun)
    assert "silent for more than 1 s: a person must ask for mission" in loop.bridge.stream.advice


def test_a_governor_that_stutters_does_not_get_it_back(flying: Loop) -> None:
    for _ in range(6):
        silence(flying, 0.5)
        flying.run(1.8)
    assert flying.fake.nav_state == HOLD and not flying.bridge.stream.engaged


def test_a_governor_that_holds_does_not_get_it_back_and_one_that_returns_does(flying: Loop) -> None:
    flying.bridge.stream.mode = Mode.HOLD
    silence(flying, 1.0)
    flying.run(6.0)
    assert not flying.bridge.stream.engaged
    flying.bridge.stream.mode = Mode.RETURN
    assert flying.run(BACK, lambda: flying.bridge.stream.engaged)


def person_switches(loop: Loop) -> None:
    loop.fake.switch_mode(POSITION)
    loop.run(1.0)
    loop.fake.switch_mode(HOLD)


def person_asks_for_hold(loop: Loop) -> None:
    assert loop.do(Manoeuvre.HOLD).end is End.DONE


def failsafe_returns(loop: Loop) -> None:
    loop.fake.force_failsafe(RTL)


def failsafe_holds(loop: Loop) -> None:
    loop.fake.lose("fence")


def station_asks_for_hold(loop: Loop) -> None:
    """It is in hold already: nothing in its status changes."""
    loop.station_commands(MODE_HOLD)


def station_pauses(loop: Loop) -> None:
    loop.station_commands(Command(192, param4=math.nan, param5=math.nan, param6=math.nan, param7=math.nan))


@pytest.mark.parametrize(
    "taken",
    [
        person_switches, person_asks_for_hold, station_asks_for_hold, station_pauses,
        failsafe_returns, failsafe_holds,
    ],
)  # fmt: skip
def test_what_a_person_or_a_failsafe_has_taken_is_not_taken_back(flying: Loop, taken: Callable[[Loop], None]) -> None:
    """In the bridge's own hold, from which it would come back."""
    silence(flying, 1.0)
    taken(flying)
    begun = flying.now
    flying.run(10.0)
    assert not flying.bridge.stream.engaged and OFFBOARD not in flying.modes_since(begun)
    assert not flying.commands_since(begun)
    words = flying.bridge.stream.advice
    assert "person" in words or "hold was asked for" in words


def test_a_station_that_asks_for_hold_on_the_way_back_keeps_it(flying: Loop) -> None:
    silence(flying, 1.0)
    assert flying.run(BACK, lambda: flying.bridge.stream.streaming)
    flying.station_commands(MODE_HOLD)
    flying.run(6.0)
    assert flying.fake.nav_state == HOLD and not flying.bridge.stream.engaged
    assert "system 255 has commanded it" in flying.bridge.stream.advice
    assert flying.do(Manoeuvre.MISSION).end is End.DONE


@pytest.mark.parametrize("joins", [False, True])
def test_a_station_that_asks_for_hold_after_a_person_asked_for_mission_keeps_it(flying: Loop, joins: bool) -> None:
    """It is in hold meanwhile. Who has joined a comeback is told, too."""
    if joins:
        silence(flying, 1.0)
        assert flying.run(BACK, lambda: flying.bridge.stream.streaming)
    else:
        assert flying.do(Manoeuvre.HOLD).end is End.DONE
    assert flying.bridge.ask(Manoeuvre.MISSION, flying.now) is None
    assert flying.run(1.0, lambda: flying.bridge.stream.streaming)
    flying.station_commands(MODE_HOLD)
    flying.run(6.0)
    outcome = flying.bridge.outcome(Manoeuvre.MISSION)
    assert outcome is not None and outcome.end is End.FAILED and "system 255 has commanded it" in outcome.text
    assert flying.fake.nav_state == HOLD and not flying.bridge.stream.engaged


def answers_to_another(loop: Loop, command: int, result: int) -> None:
    """An answer of the autopilot to a ground station's command."""
    loop.bridge.on_ack(SimpleNamespace(target_system=255, target_component=190, command=command, result=result))


@pytest.mark.parametrize(("command", "result"), [(511, ACCEPTED), (176, DENIED)], ids=["no mode", "refused"])
def test_an_answer_to_another_that_chooses_no_mode_does_not_end_the_way_back(
    flying: Loop, command: int, result: int
) -> None:
    silence(flying, 1.0)
    answers_to_another(flying, command, result)
    assert flying.run(BACK, lambda: flying.bridge.stream.engaged), flying.bridge.stream.advice


def test_what_another_has_commanded_in_flight_counts_by_the_mode_that_follows(flying: Loop) -> None:
    answers_to_another(flying, 176, ACCEPTED)
    flying.run(3.0)
    assert flying.bridge.stream.engaged and flying.fake.nav_state == flying.bridge.stream.own_state


def test_who_commands_hold_while_it_arms_has_it_armed() -> None:
    loop = Loop()
    loop.run(2.0)
    assert loop.bridge.ask(Manoeuvre.ARM, loop.now) is None
    assert loop.run(5.0, lambda: loop.fake.armed and loop.bridge.stream.streaming)
    loop.station_commands(MODE_HOLD)
    begun = loop.now
    loop.run(3.0)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "system 255 has commanded it" in outcome.text
    assert loop.fake.armed and not loop.commands_since(begun)


@pytest.mark.parametrize("external", [False, True])
def test_a_person_who_chooses_the_bridges_own_mode_in_its_hold_has_taken_it(external: bool) -> None:
    loop = Loop(external=external).fly()
    silence(loop, 1.0)
    assert loop.fake.nav_state == HOLD
    loop.run(0.5)
    loop.fake.set_mode(loop.bridge.stream.own_state)
    loop.run(0.5)
    assert "its mode was changed" in loop.bridge.stream.advice


def test_a_person_who_switches_where_the_request_for_hold_was_lost_has_taken_it(
    flying: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    flying.velocity = None
    with monkeypatch.context() as patch:
        patch.setattr(flying.fake, "hear_command", lambda message: None)
        assert flying.run(1.0, lambda: not flying.bridge.stream.engaged)
        flying.fake.switch_mode(POSITION)
        flying.run(0.5)
    flying.velocity = np.zeros(3)
    flying.fake.switch_mode(HOLD)
    flying.run(8.0)
    assert flying.fake.nav_state == HOLD and "its mode was changed" in flying.bridge.stream.advice


def test_a_person_who_switches_on_the_way_back_keeps_it(flying: Loop) -> None:
    silence(flying, 1.0)
    assert flying.run(BACK, lambda: flying.bridge.stream.streaming)
    flying.fake.switch_mode(POSITION)
    flying.run(6.0)
    assert flying.fake.nav_state == POSITION and "could not come back" in flying.bridge.stream.advice


def test_after_a_minute_only_a_person_may(flying: Loop) -> None:
    silence(flying, 61.0)
    assert "for too long: a person must ask for mission" in flying.bridge.stream.advice
    flying.run(6.0)
    assert flying.fake.nav_state == HOLD
    assert flying.do(Manoeuvre.MISSION).end is End.DONE


def test_after_three_in_ten_minutes_only_a_person_may() -> None:
    loop = Loop(timing=Timing(comebacks=2)).fly()
    for _ in range(2):
        silence(loop, 0.5)
        assert loop.run(BACK, lambda: loop.bridge.stream.engaged)
    silence(loop, 0.5)
    loop.run(6.0)
    assert loop.fake.nav_state == HOLD and "too often: a person must ask" in loop.bridge.stream.advice
    assert loop.do(Manoeuvre.MISSION).end is End.DONE


def test_an_autopilot_that_does_not_grant_it_is_asked_once_and_it_holds(flying: Loop) -> None:
    silence(flying, 1.0)
    flying.fake.obeys = False
    flying.run(12.0)
    assert flying.fake.nav_state == HOLD and "could not come back" in flying.bridge.stream.advice
    asked = flying.now
    flying.run(5.0)
    assert not flying.commands_since(asked)


def test_a_bridge_that_was_started_again_waits_for_a_person(flying: Loop) -> None:
    fresh = flying.started_again()
    fresh.run(8.0)
    assert fresh.fake.nav_state == HOLD and not fresh.bridge.stream.engaged
    assert "a person must ask for mission" in fresh.bridge.stream.advice
    assert fresh.do(Manoeuvre.MISSION).end is End.DONE


@pytest.mark.parametrize("taken", [HOLD, POSITION])
def test_a_hold_that_is_taken_while_the_status_alone_is_silent_is_a_persons(taken: int) -> None:
    loop = Loop(on_loss=HOLD).fly()
    loop.fake.mutes = {"VehicleStatus"}
    loop.run(5.0)
    loop.fake.switch_mode(taken)
    loop.run(2.0)
    loop.fake.mutes = set()
    loop.run(BACK + 3.0)
    assert not loop.bridge.stream.engaged and loop.fake.nav_state == taken
    assert loop.bridge.stream.advice == "the autopilot's status was silent: a person must ask for mission"
