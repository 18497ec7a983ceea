"""Others at the wheel: persons, failsafes, the governor and any sequence of them, against the fake autopilot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop import STEP, Loop

from esar_ros.bridges.px4 import state, stream
from esar_ros.bridges.px4.commands import End, Manoeuvre
from esar_ros.mission.modes import Mode
from esar_ros.safety.limits import load_limits

OFFBOARD, HOLD, RTL, LAND, POSITION = 14, 4, 5, 18, 2
WINDOW = 0.3 + 2 * STEP  # s of set-points before offboard is asked for


def stray_setpoints(loop: Loop) -> list[tuple[float, int]]:
    """Set-points that reached the autopilot outside offboard, but for the zeros in hold just before it is asked for."""
    return [
        (at, mode) for at, mode, zero in loop.fake.setpoint_times if mode != OFFBOARD and not (mode == HOLD and zero)
    ]


# -- truth --------------------------------------------------------------------------------------


@pytest.mark.parametrize("manoeuvre", [Manoeuvre.HOLD, Manoeuvre.RETURN, Manoeuvre.LAND])
def test_an_answer_is_no_proof(flying: Loop, manoeuvre: Manoeuvre) -> None:
    flying.fake.obeys = False  # says yes to everything
    outcome = flying.do(manoeuvre)
    assert outcome.end is End.FAILED
    assert "accepted" in outcome.text


@pytest.mark.parametrize("manoeuvre", [Manoeuvre.HOLD, Manoeuvre.RETURN, Manoeuvre.MISSION])
def test_modes_are_confirmed_by_the_status(flying: Loop, manoeuvre: Manoeuvre) -> None:
    assert flying.do(manoeuvre).end is End.DONE
    wanted = {Manoeuvre.HOLD: HOLD, Manoeuvre.RETURN: RTL, Manoeuvre.MISSION: OFFBOARD}[manoeuvre]
    assert flying.fake.nav_state == wanted
    assert flying.bridge.stream.engaged == (manoeuvre is Manoeuvre.MISSION)


def test_take_off_by_the_autopilot_and_then_the_mission() -> None:
    loop = Loop()
    loop.run(2.0)
    loop.fake.arm()
    loop.run(1.0)
    outcome = loop.do(Manoeuvre.TAKE_OFF, height=12.0)
    assert outcome.end is End.DONE, outcome
    assert loop.fake.body.position.tolist() == pytest.approx([0.0, 0.0, 12.0], abs=1.2), "straight up"
    assert not loop.heartbeats_since(0.0)
    assert loop.do(Manoeuvre.MISSION).end is End.DONE


def test_a_take_off_that_is_interrupted_failed() -> None:
    loop = Loop()
    loop.run(2.0)
    loop.fake.arm()
    loop.run(1.0)
    loop.bridge.ask(Manoeuvre.TAKE_OFF, loop.now, 20.0)
    loop.run(4.0)
    loop.fake.switch_mode(POSITION)
    assert loop.run(3.0, lambda: loop.bridge.running is None)
    outcome = loop.bridge.outcome(Manoeuvre.TAKE_OFF)
    assert outcome is not None and outcome.end is End.FAILED
    assert "of 20.0 m" in outcome.text and "position" in outcome.text


def test_a_wrong_target_is_silence_and_said_so() -> None:
    loop = Loop()
    loop.fake.system_id = 3
    loop.run(2.0)
    refused = loop.do(Manoeuvre.ARM)
    assert refused.end is End.REFUSED
    assert "system 3" in refused.text
    loop.fake.armed, loop.fake.landed = True, False
    loop.fake.body.position[2] = 20.0
    loop.run(1.0)
    outcome = loop.do(Manoeuvre.RETURN)
    assert outcome.end is End.FAILED
    assert "did not answer" in outcome.text


# -- others at the wheel ------------------------------------------------------------------------


def test_a_person_who_switches_the_mode_is_not_fought(flying: Loop) -> None:
    switched = flying.now
    flying.fake.switch_mode(POSITION)
    commands = len(flying.fake.commands)
    flying.run(5.0)
    assert flying.fake.nav_state == POSITION
    assert len(flying.fake.commands) == commands
    assert not flying.heartbeats_since(switched + 0.1)
    assert "position" in flying.bridge.stream.left_because


def test_a_failsafe_is_not_fought(flying: Loop) -> None:
    flying.fake.force_failsafe(RTL)
    commands, begun = len(flying.fake.commands), flying.now
    flying.run(5.0)
    assert flying.fake.nav_state == RTL
    assert len(flying.fake.commands) == commands
    assert not flying.heartbeats_since(begun + 0.1)
    refused = flying.do(Manoeuvre.MISSION)
    assert refused.end is End.REFUSED and "failsafe" in refused.text


def test_the_governor_in_return_forbids_arming_and_in_terminate_everything(flying: Loop) -> None:
    ground = Loop()
    ground.run(2.0)
    ground.bridge.stream.mode = Mode.RETURN
    refused = ground.do(Manoeuvre.ARM)
    assert (refused.end, refused.because) == (End.REFUSED, "safety")
    flying.bridge.stream.mode = Mode.TERMINATE
    flying.run(1.0)
    assert flying.fake.nav_state == state.TERMINATION
    assert flying.do(Manoeuvre.HOLD).because == "safety"


@pytest.mark.parametrize("manoeuvre", [m for m in Manoeuvre if m is not Manoeuvre.TAKE_OFF])
def test_after_a_termination_it_takes_no_order_and_says_so_at_once(flying: Loop, manoeuvre: Manoeuvre) -> None:
    """PX4 stays armed in it until it is started again; the bridge may be another one by then."""
    flying.fake.force_failsafe(state.TERMINATION)
    flying.run(10.0)
    assert flying.fake.landed and flying.fake.armed
    commands = len(flying.fake.commands)
    refused = flying.do(manoeuvre)
    assert (refused.end, refused.because) == (End.REFUSED, "not ready")
    assert "terminated" in refused.text and "again" in refused.text
    assert len(flying.fake.commands) == commands
    assert "terminated" in "; ".join(flying.state.reasons_against_arming(flying.now))


def test_another_manoeuvre_replaces_the_one_under_way(flying: Loop) -> None:
    flying.bridge.ask(Manoeuvre.LAND, flying.now)
    flying.run(2.0)
    assert flying.do(Manoeuvre.HOLD).end is End.DONE
    replaced = flying.bridge.outcome(Manoeuvre.LAND)
    assert replaced is not None and replaced.end is End.REPLACED
    flying.run(5.0)
    assert flying.fake.nav_state == HOLD and not flying.fake.landed


def test_asking_again_does_not_begin_again(flying: Loop) -> None:
    flying.bridge.ask(Manoeuvre.LAND, flying.now)
    for _ in range(4):
        flying.run(2.0)
        assert flying.bridge.ask(Manoeuvre.LAND, flying.now) is None
    assert len([m for _, m in flying.fake.commands if (m.command, m.param3) == (176, 6.0)]) == 1
    assert flying.do(Manoeuvre.LAND).end is End.DONE


def test_disarming_after_touch_down_lets_the_landing_end_well(flying: Loop) -> None:
    flying.bridge.ask(Manoeuvre.LAND, flying.now)
    assert flying.run(60.0, lambda: flying.state.landed and flying.state.armed)
    assert flying.do(Manoeuvre.DISARM).end is End.DONE
    landed = flying.bridge.outcome(Manoeuvre.LAND)
    assert landed is not None and landed.end is End.DONE


def test_disarming_in_the_air_is_refused_and_on_the_ground_done(flying: Loop) -> None:
    assert flying.do(Manoeuvre.DISARM).because == "flying"
    ground = Loop()
    ground.run(2.0)
    assert ground.do(Manoeuvre.ARM).end is End.DONE
    assert ground.do(Manoeuvre.DISARM).end is End.DONE
    assert not ground.fake.armed
    ground.run(3.0)
    assert ground.fake.nav_state == HOLD


def test_a_pause_of_the_bridge_alone_is_no_silence_of_the_governor(flying: Loop) -> None:
    """A process that stood still for 0.4 s has its messages waiting: they are read before they count as missing."""
    flying.bridge_alive, before = False, flying.bridge.stream.engaged
    flying.run(0.4)
    # On waking the step's timer may come first.
    flying.bridge.stream.obey(np.zeros(3), 0.0, flying.now - 0.4)
    for name in state.AGES:
        flying.state.receive(name, flying.state.newest(name), flying.now - 0.4)
    flying.bridge.step(flying.now + 0.001)
    flying.bridge_alive = True
    flying.run(2.0)
    assert before and flying.bridge.stream.engaged and flying.fake.nav_state == OFFBOARD


# -- any sequence -------------------------------------------------------------------------------

EVENTS = st.sampled_from(
    ["silence", "speak", "agent", "switch", "failsafe", "arm", "mission", "hold", "return", "land", "bridge", "jump"]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(EVENTS, st.floats(0.1, 4.0)), max_size=12))
def test_whatever_happens_the_stream_obeys_the_rules(events: list[tuple[str, float]]) -> None:
    """Heartbeats only while a fresh command, an armed and a linked autopilot are there; set-points only in offboard
    and its window; offboard is entered only within a manoeuvre that asks for it, or a few times from a hold that was
    neither a person's nor a failsafe's."""
    loop = Loop().fly(4.0)
    asked: list[tuple[float, float]] = [(0.0, loop.now)]
    taken: float | None = None  # since when somebody else has had the vehicle
    barred: list[tuple[float, float]] = []
    for event, seconds in events:
        if event in ("agent", "switch", "failsafe", "hold", "return", "land", "bridge") and taken is None:
            taken = loop.now
        elif event in ("arm", "mission") and taken is not None:
            barred.append((taken, loop.now))
            taken = None
        match event:
            case "silence":
                loop.velocity = None
            case "speak":
                loop.velocity = np.array([1.0, 0.5, 0.2])
            case "agent":
                loop.fake.restart_agent()
            case "switch":
                loop.fake.switch_mode(POSITION)
            case "failsafe":
                loop.fake.force_failsafe(RTL)
            case "jump":
                loop.fake.estimator.reset(3.0, -2.0)
            case "bridge":
                fresh = Loop()
                fresh.fake, fresh.now, fresh.velocity = loop.fake, loop.now, loop.velocity
                fresh.sent = loop.sent
                loop = fresh
            case _:
                manoeuvre = Manoeuvre[event.upper()]
                if loop.bridge.ask(manoeuvre, loop.now) is None and manoeuvre in (Manoeuvre.ARM, Manoeuvre.MISSION):
                    asked.append((loop.now, loop.now + 10.0))
        silent_at = loop.now
        loop.run(seconds)
        if loop.velocity is None:
            assert not loop.heartbeats_since(max(silent_at, loop.now - seconds) + 0.3)
    assert not stray_setpoints(loop)
    barred += [(taken, math.inf)] if taken is not None else []
    unasked = [at for at in loop.fake.entered_in_flight if not any(begin <= at <= end for begin, end in asked)]
    assert len(unasked) <= stream.Timing().comebacks
    for at in unasked:
        assert not any(begin < at <= end for begin, end in barred), f"offboard at {at} s, which nobody asked for"


@pytest.mark.parametrize(("speed", "asked", "longest"), [(0.0, 3.0, 1.4), (3.0, -3.0, 2.9)])
def test_it_follows_a_velocity_as_slowly_as_was_measured(
    flying: Loop, speed: float, asked: float, longest: float
) -> None:
    """63 % of the change took 1.05 to 1.4 s, of a reversal up to 2.8 s."""
    flying.velocity = np.array([speed, 0.0, 0.0])
    flying.run(8.0)
    start, begun = float(flying.fake.body.velocity[0]), flying.now
    flying.velocity = np.array([asked, 0.0, 0.0])
    assert flying.run(6.0, lambda: (float(flying.fake.body.velocity[0]) - start) / (asked - start) > 0.632)
    assert 0.75 * longest < flying.now - begun <= longest


# -- how it stops -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tau", "enough"), [(1.4, True), (0.0, False)])
def test_it_stops_as_slowly_as_the_limits_of_world_px4_say(flying: Loop, tau: float, enough: bool) -> None:
    """From 1 m/s, where the lag decides; the way counts from the governor's zero on."""
    flying.velocity = np.array([1.0, 0.0, 0.0])
    flying.run(6.0)
    speed, start = flying.speed, float(flying.fake.body.position[0])
    flying.velocity = np.zeros(3)
    flying.run(8.0)
    told = load_limits().model_copy(update={"tau": tau}).stopping_distance(speed)
    assert (float(flying.fake.body.position[0]) - start <= told) is enough


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_person_who_switches_or_arms_while_arming_is_tried_keeps_it(external: bool, by_hand: bool) -> None:
    """The autopilot refuses for a reason that its status does not tell, so that arming is asked for again and again."""
    loop = Loop(external=external)
    loop.run(2.0)
    loop.fake.refuses_arming = True
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    loop.run(1.0)
    loop.fake.switch_mode(POSITION)
    loop.fake.refuses_arming = False
    if by_hand:
        loop.fake.arm()
    switched = loop.now
    assert loop.run(2.0, lambda: loop.bridge.running is None)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "position" in outcome.text
    loop.run(5.0)
    assert (loop.fake.nav_state, loop.fake.armed) == (POSITION, by_hand)
    assert not loop.commands_since(switched + 2 * STEP) and not loop.heartbeats_since(switched)


@pytest.mark.parametrize("taken", ["person", "failsafe"])
def test_who_takes_it_late_in_its_take_off_before_an_external_mode_keeps_it(taken: str) -> None:
    loop = Loop(external=True)
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    assert loop.run(20.0, lambda: float(loop.fake.body.position[2]) > 1.8)
    mode = POSITION if taken == "person" else RTL
    loop.fake.switch_mode(POSITION) if taken == "person" else loop.fake.force_failsafe(RTL)
    begun = loop.now
    loop.run(6.0)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED
    assert loop.fake.nav_state == mode and not loop.commands_since(begun)


@pytest.mark.parametrize("manoeuvre", [Manoeuvre.HOLD, Manoeuvre.RETURN, Manoeuvre.LAND])
def test_a_flight_may_be_ended_while_the_position_alone_is_silent(flying: Loop, manoeuvre: Manoeuvre) -> None:
    flying.fake.mutes = {"VehicleLocalPosition"}
    flying.run(1.0)
    begun = flying.now
    assert flying.bridge.ask(manoeuvre, flying.now) is None
    flying.run(1.0)
    assert flying.fake.nav_state == {Manoeuvre.HOLD: HOLD, Manoeuvre.RETURN: RTL, Manoeuvre.LAND: LAND}[manoeuvre]
    refused = flying.bridge.ask(Manoeuvre.MISSION, flying.now)
    assert refused is not None and "silent" in refused.text
    assert begun < flying.now


@pytest.mark.parametrize("mutes", [{"VehicleLocalPosition"}, {"VehicleLocalPosition", "VehicleStatus"}])
def test_termination_is_asked_of_an_autopilot_that_is_silent(flying: Loop, mutes: set[str]) -> None:
    flying.fake.mutes = mutes
    flying.run(3.0)
    flying.bridge.stream.mode = Mode.TERMINATE
    begun = flying.now
    flying.run(2.0)
    assert 185 in flying.commands_since(begun)


def test_hold_that_is_asked_for_is_not_repeated_against_a_person(flying: Loop) -> None:
    flying.fake.obeys = False
    flying.bridge.ask(Manoeuvre.HOLD, flying.now)
    flying.run(0.5)
    flying.fake.obeys = True
    flying.fake.switch_mode(POSITION)
    switched = flying.now
    flying.run(4.0)
    assert flying.fake.nav_state == POSITION and not flying.commands_since(switched + 2 * STEP)


@pytest.mark.parametrize("first", [Manoeuvre.HOLD, Manoeuvre.RETURN, None])
@pytest.mark.parametrize("lost", [False, True])
def test_what_the_bridge_itself_commanded_before_is_nobody_else_s_choice(
    flying: Loop, first: Manoeuvre | None, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a slow link its effect shows once the next thing is asked for, whose first command may be lost."""
    flying.lag = 0.3
    flying.run(1.0)
    if first is None:  # the hold of the bridge's own
        flying.velocity = None
        assert flying.run(2.0, lambda: not flying.bridge.stream.engaged)
    else:
        flying.bridge.ask(first, flying.now)
    flying.run(0.1)
    assert flying.bridge.ask(Manoeuvre.LAND, flying.now) is None
    with monkeypatch.context() as patch:
        if lost:
            patch.setattr(flying.fake, "hear_command", lambda message: None)
        flying.run(0.1)
    flying.run(2.0)
    assert flying.fake.nav_state == LAND and flying.bridge.running is Manoeuvre.LAND


def test_it_knows_that_it_was_flown_and_stands_again(flying: Loop) -> None:
    assert not flying.bridge.is_down_again
    assert flying.do(Manoeuvre.LAND).end is End.DONE
    flying.run(1.0)
    assert flying.bridge.is_down_again and not Loop().bridge.is_down_again


def test_who_was_armed_alone_or_whose_land_detector_was_not_heard_yet_has_not_flown() -> None:
    loop = Loop()
    loop.bridge.step(0.0)
    assert not loop.bridge.is_down_again
    loop.run(2.0)
    assert loop.do(Manoeuvre.ARM).end is End.DONE
    assert loop.do(Manoeuvre.DISARM).end is End.DONE
    assert not loop.bridge.is_down_again


def test_a_failsafe_as_it_arms_leaves_nothing_armed_on_the_ground() -> None:
    loop = Loop()
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    assert loop.run(3.0, lambda: loop.fake.armed)
    loop.fake.force_failsafe(RTL)
    loop.run(4.0)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and not loop.fake.armed


def test_it_may_land_without_a_position_ever() -> None:
    loop = Loop()
    loop.fake.mutes = {"VehicleLocalPosition"}
    loop.fake.armed, loop.fake.landed, loop.fake.nav_state = True, False, HOLD
    loop.fake.body.position[2] = 5.0
    loop.run(1.0)
    assert loop.bridge.ask(Manoeuvre.LAND, loop.now) is None
    loop.run(2.0)
    assert loop.fake.nav_state == LAND
