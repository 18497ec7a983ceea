"""The rules against the nine dangers, each flown against a fake autopilot that behaves as PX4 1.17 was measured."""

from __future__ import annotations

import inspect
import math

import fake_autopilot
import numpy as np
import pytest
from fake_autopilot import FakeAutopilot
from fake_facts import FOLLOWED
from hypothesis import given, settings
from hypothesis import strategies as st
from loop import STEP, Loop

from esar_ros.bridges.px4 import offboard, state, stream
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


# -- arming and flying --------------------------------------------------------------------------


def test_arming_ends_in_offboard_and_the_vehicle_follows_the_safe_command(flying: Loop) -> None:
    flying.velocity, flying.yaw_rate = np.array([3.0, -1.0, 0.5]), 0.4
    flying.run(6.0)
    np.testing.assert_allclose(flying.fake.body.velocity, FOLLOWED * np.array([3.0, -1.0, 0.5]), atol=0.12)
    assert flying.fake.body.rates[2] == pytest.approx(0.4, abs=0.02)


def test_it_is_armed_in_hold_without_a_heartbeat_and_streamed_only_then() -> None:
    loop = Loop()
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    assert loop.run(10.0, lambda: loop.fake.armed)
    assert all(at > loop.now - STEP for at in loop.fake.heartbeat_times), "a heartbeat before it was armed"
    assert loop.fake.nav_state == HOLD
    assert loop.run(5.0, lambda: loop.bridge.stream.engaged)
    granted = next(at for at, mode in loop.fake.modes if mode == OFFBOARD)
    assert granted - loop.fake.heartbeat_times[0] > fake_autopilot.SIGNAL_PROOF
    first = next(at for at, _, _ in loop.fake.setpoint_times)
    assert granted - first <= WINDOW + 0.1
    gaps = np.diff(list(loop.fake.heartbeat_times))
    assert gaps.max() <= 0.1, "2 Hz are asked for, 20 Hz are sent"


def test_no_set_point_ever_has_a_position(flying: Loop) -> None:
    points = [output.setpoint for _, output in flying.sent if output.setpoint is not None]
    assert points
    for point in points:
        assert all(map(math.isnan, (*point.position, *point.acceleration, *point.jerk, point.yaw)))
        assert all(map(math.isfinite, (*point.velocity, point.yawspeed)))


# -- danger 1: the heartbeat stops --------------------------------------------------------------


@pytest.mark.parametrize("on_loss", [RTL, HOLD])
def test_danger_1_a_dead_bridge_means_the_autopilots_own_failsafe_after_a_second(on_loss: int) -> None:
    loop = Loop(on_loss=on_loss).fly()
    loop.velocity = np.array([4.0, 0.0, 0.0])
    loop.run(3.0)
    loop.bridge_alive, died = False, loop.now
    assert loop.run(3.0, lambda: loop.fake.nav_state == on_loss)
    assert loop.now - died == pytest.approx(fake_autopilot.SIGNAL_LOST, abs=0.1)
    assert loop.fake.failsafe


def test_danger_1_a_silent_governor_is_answered_long_before_the_autopilot_would(flying: Loop) -> None:
    flying.velocity = np.array([5.0, 0.0, 0.0])
    flying.run(4.0)
    flying.velocity, died = None, flying.now
    assert flying.run(1.0, lambda: flying.fake.nav_state == HOLD)
    assert flying.now - died <= 0.3
    assert flying.run(2.5, lambda: flying.speed < 0.5)
    assert "no fresh safe command" in flying.bridge.stream.left_because


# -- danger 2: the heartbeat returns ------------------------------------------------------------


def test_danger_2_the_autopilot_by_itself_would_go_back_to_offboard() -> None:
    """The fake's side: what the rules are against."""
    loop = Loop().fly()
    loop.bridge_alive = False
    loop.run(2.0)
    assert loop.fake.nav_state == RTL
    loop.fake.hear_heartbeat(type("Flags", (), {"timestamp": 0})())
    back = loop.now
    assert loop.run(0.5, lambda: loop.fake.nav_state == OFFBOARD)
    assert loop.now - back <= 0.1


def test_danger_2_a_governor_that_returns_does_not_bring_offboard_back() -> None:
    """Only a person may end the hold here; the way back by itself is in test_comeback.py."""
    flying = Loop(timing=stream.Timing(comebacks=0)).fly()
    flying.velocity, died = None, flying.now
    flying.run(2.0)
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(10.0)
    assert flying.fake.nav_state == HOLD
    assert flying.fake.intention == HOLD
    assert not flying.heartbeats_since(died + 0.3)
    assert flying.speed < 0.3


def test_danger_2_offboard_comes_back_when_it_is_asked_for_through_hold(flying: Loop) -> None:
    flying.velocity = None
    flying.run(2.0)
    flying.velocity = np.array([2.0, 0.0, 0.0])
    flying.run(0.5)
    asked = flying.now
    assert flying.do(Manoeuvre.MISSION).end is End.DONE
    assert flying.modes_since(asked) == [OFFBOARD]
    flying.run(4.0)
    assert flying.fake.body.velocity[0] == pytest.approx(2.0 * FOLLOWED, abs=0.12)


def test_danger_2_a_bridge_that_was_started_again_takes_the_wish_away_first() -> None:
    loop = Loop().fly()
    fresh = Loop()
    fresh.fake, fresh.now = loop.fake, loop.now  # a new process: same autopilot, which still is in offboard
    fresh.velocity = np.array([4.0, 0.0, 0.0])
    begun = fresh.now
    fresh.run(5.0)
    assert fresh.fake.nav_state == fresh.fake.intention == HOLD
    assert not fresh.heartbeats_since(begun)
    assert not fresh.setpoints_since(begun)


# -- danger 3: set-points stop, the heartbeat goes on -------------------------------------------


def test_danger_3_the_autopilot_would_fly_the_last_velocity_for_ever() -> None:
    loop = Loop().fly()
    loop.velocity = np.array([3.0, 0.0, 0.0])
    loop.run(4.0)
    loop.bridge_alive = False
    for _ in range(300):
        loop.fake.hear_heartbeat(type("Flags", (), {"timestamp": 0})())
        loop.run(0.1)
    assert loop.fake.nav_state == OFFBOARD
    assert loop.fake.body.velocity[0] == pytest.approx(3.0 * FOLLOWED, abs=0.2)


def test_danger_3_no_heartbeat_without_a_fresh_command(flying: Loop) -> None:
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(3.0)
    flying.velocity, died = None, flying.now
    flying.run(5.0)
    assert not flying.heartbeats_since(died + flying.bridge.stream.timing.fresh + 2 * STEP)
    last = [output.setpoint for at, output in flying.sent if output.setpoint is not None][-1]
    assert last.velocity == (0.0, 0.0, 0.0), "the last one must not be flown on"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_counts_as_none(flying: Loop, bad: float) -> None:
    flying.velocity = np.array([bad, 0.0, 0.0])
    flying.run(1.0)
    assert flying.fake.nav_state == HOLD


# -- danger 4: set-points are not gated by the mode ---------------------------------------------


def test_danger_4_streaming_would_keep_it_from_landing() -> None:
    fake = FakeAutopilot(start=(0.0, 0.0, 8.0))
    fake.armed, fake.landed = True, False
    fake.intend(LAND)
    still = type("Point", (), {"timestamp": 0, "velocity": [0.0] * 3, "position": [math.nan] * 3, "yawspeed": 0.0})()
    for step in range(600):
        fake.hear_setpoint(still)
        fake.advance(0.1 * step)
    assert not fake.landed
    fake.advance(fake.now + 30.0)
    assert fake.landed


def test_danger_4_landing_is_quiet_and_ends_on_the_ground(flying: Loop) -> None:
    flying.velocity = np.array([1.0, 0.0, 0.0])
    asked = flying.now
    assert flying.do(Manoeuvre.LAND).end is End.DONE
    assert flying.fake.landed and not flying.fake.armed
    assert not flying.setpoints_since(asked)
    assert not flying.heartbeats_since(asked)
    assert not stray_setpoints(flying)


# -- danger 5: offboard after the landing -------------------------------------------------------


def test_danger_5_the_mode_is_reset_after_a_landing_and_arming_does_not_stream(flying: Loop) -> None:
    assert flying.do(Manoeuvre.LAND).end is End.DONE
    landed = flying.now
    flying.run(3.0)
    assert OFFBOARD in [mode for _, mode in flying.fake.modes[-3:]], "the fake went back to offboard"
    assert flying.fake.nav_state == flying.fake.intention == HOLD
    assert not flying.heartbeats_since(landed)
    flying.velocity = np.zeros(3)
    flying.bridge.ask(Manoeuvre.ARM, flying.now)
    assert flying.run(5.0, lambda: flying.fake.armed)
    assert flying.fake.nav_state == HOLD
    assert not [at for at in flying.heartbeats_since(landed) if at < flying.now]


# -- danger 6: the agent is started again -------------------------------------------------------


def test_danger_6_topics_that_return_do_not_bring_offboard_back(flying: Loop) -> None:
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(2.0)
    flying.fake.restart_agent()
    died = flying.now
    flying.run(4.0)
    assert "silent" in flying.bridge.stream.left_because
    assert flying.fake.nav_state == RTL
    flying.run(10.0)
    assert flying.fake.linked
    assert OFFBOARD not in flying.modes_since(died)
    assert flying.fake.nav_state == RTL, "a failsafe is not fought"
    assert flying.do(Manoeuvre.HOLD).end is End.DONE
    assert flying.do(Manoeuvre.MISSION).end is End.DONE


# -- danger 7: arming is refused ----------------------------------------------------------------


def test_danger_7_a_vehicle_that_is_not_ready_is_not_asked_to_arm() -> None:
    loop = Loop()
    loop.fake.preflight_ok = False
    loop.run(2.0)
    refused = loop.do(Manoeuvre.ARM)
    assert refused.end is End.REFUSED
    assert "pre-flight checks fail" in refused.text
    assert not [message for _, message in loop.fake.commands if message.command == 400]


def test_danger_7_an_autopilot_that_refuses_is_believed_and_quoted() -> None:
    loop = Loop()
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    loop.run(STEP)
    loop.fake.preflight_ok = False  # after the checks
    outcome = None
    loop.run(10.0, lambda: loop.bridge.running is None)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED
    assert "temporarily rejected" in outcome.text
    assert not loop.heartbeats_since(0.0)


# -- danger 8: home comes with arming -----------------------------------------------------------


def test_danger_8_home_is_not_waited_for() -> None:
    loop = Loop()
    loop.run(2.0)
    assert loop.fake.home is None
    assert loop.state.reasons_against_arming(loop.now) == []
    assert loop.do(Manoeuvre.ARM).end is End.DONE


# -- danger 9: reasons of disarming -------------------------------------------------------------


def test_danger_9_nothing_rests_on_reasons_of_arming_and_disarming() -> None:
    for module in (offboard, state, stream):
        assert "arming_reason" not in inspect.getsource(module)


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
