"""The rules against the nine dangers, each flown against a fake autopilot that behaves as PX4 1.17 was measured."""

from __future__ import annotations

import inspect
import math

import fake_autopilot
import numpy as np
import pytest
from fake_autopilot import FakeAutopilot
from fake_facts import FOLLOWED
from loop import STEP, Loop

from esar_ros.bridges.px4 import offboard, state, stream
from esar_ros.bridges.px4.commands import End, Manoeuvre

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
