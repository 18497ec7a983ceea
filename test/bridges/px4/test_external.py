"""A registered mode in place of offboard: the same rules, other signs of life."""

from __future__ import annotations

from types import SimpleNamespace

import fake_facts
import numpy as np
import pytest
from loop import STEP, Loop

from esar_ros.bridges.px4.commands import End, Manoeuvre
from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.stream import Timing
from esar_ros.mission.modes import Mode

EXTERNAL, OFFBOARD, HOLD, RTL, POSITION, TAKE_OFF = 23, 14, 4, 5, 2, 17


@pytest.fixture
def flying() -> Loop:
    return Loop(external=True).fly()


def test_arming_ends_in_the_registered_mode_and_the_vehicle_follows(flying: Loop) -> None:
    flying.velocity, flying.yaw_rate = np.array([3.0, -1.0, 0.5]), 0.4
    flying.run(6.0)
    np.testing.assert_allclose(flying.fake.body.velocity, fake_facts.FOLLOWED * np.array([3.0, -1.0, 0.5]), atol=0.12)
    assert flying.fake.external_name == b"esar_ros"
    assert not flying.fake.heartbeat_times, "offboard's heartbeat has no place here"
    assert {output.control for _, output in flying.sent if output.setpoint is not None} == {EXTERNAL, None}


def test_the_registered_mode_would_not_lift_it_and_it_disarms_itself() -> None:
    """The fake's side: what the take-off is for."""
    loop = Loop(external=True)
    loop.run(2.0)
    loop.fake.arm()
    loop.fake.switch_mode(EXTERNAL)
    up = SimpleNamespace(timestamp=0, position=[np.nan] * 3, velocity=[0.0, 0.0, -2.0], yawspeed=0.0)
    loop.bridge_alive = False
    begun = loop.now
    while loop.fake.armed and loop.now < begun + 20.0:
        loop.fake.hear_setpoint(up)
        loop.run(STEP)
    assert loop.fake.landed and loop.now - begun == pytest.approx(fake_facts.AUTO_DISARM_UNFLOWN, abs=0.1)


def test_it_is_armed_taken_up_by_the_autopilot_and_only_then_in_the_registered_mode() -> None:
    loop = Loop(external=True)
    loop.run(2.0)
    begun = loop.now
    assert loop.do(Manoeuvre.ARM).end is End.DONE
    assert loop.now - begun < 10.0
    assert loop.modes_since(begun) == [TAKE_OFF, HOLD, EXTERNAL]
    assert not loop.fake.landed and loop.fake.body.position[2] == pytest.approx(2.5, abs=0.5)


def test_a_person_who_switches_the_mode_during_the_take_off_ends_the_arming() -> None:
    loop = Loop(external=True)
    loop.run(2.0)
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    assert loop.run(10.0, lambda: float(loop.fake.body.position[2]) > 0.5)
    loop.fake.switch_mode(POSITION)
    loop.run(1.0)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "position" in outcome.text
    assert loop.fake.armed and loop.fake.nav_state == POSITION, "in the air it is not disarmed"


def test_setpoints_are_sent_in_it_and_as_zeros_just_before_it_alone(flying: Loop) -> None:
    flying.velocity = np.array([2.0, 0.0, 0.0])
    flying.run(2.0)
    assert flying.do(Manoeuvre.LAND).end is End.DONE
    stray = [
        (at, mode) for at, mode, zero in flying.fake.setpoint_times if mode != EXTERNAL and not (mode == HOLD and zero)
    ]
    assert not stray


def test_a_silent_governor_means_hold_at_once_and_where_only_a_person_ends_it_for_good() -> None:
    flying = Loop(external=True, timing=Timing(comebacks=0)).fly()
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(3.0)
    flying.velocity, died = None, flying.now
    assert flying.run(1.0, lambda: flying.fake.nav_state == HOLD)
    assert flying.now - died < 0.35
    flying.velocity = np.array([3.0, 0.0, 0.0])
    flying.run(5.0)
    assert flying.fake.nav_state == HOLD and not flying.bridge.stream.engaged
    assert flying.bridge.stream.left_because == "no fresh safe command, too often"
    assert flying.do(Manoeuvre.MISSION).end is End.DONE
    assert flying.fake.nav_state == EXTERNAL


def test_a_dead_bridge_is_the_autopilots_failsafe_and_a_new_one_does_not_let_it_back() -> None:
    flying = Loop(external=True, on_loss=HOLD).fly()  # which is of offboard alone
    flying.bridge_alive, died = False, flying.now
    assert flying.run(3.0, lambda: flying.fake.nav_state == RTL)
    assert flying.now - died < fake_facts.CHECK_LOST + 0.35
    flying.bridge_alive = True
    flying.run(3.0)
    assert flying.fake.nav_state in (RTL, HOLD) and not flying.bridge.stream.engaged


def test_stale_commands_are_answered_with_no() -> None:
    loop = Loop(external=True)

    def answer(seconds: float) -> bool:
        loop.run(seconds)
        return loop.fake.answers[-1][1]

    assert answer(3.0)
    loop.velocity = None
    assert not answer(1.0)
    loop.velocity = np.zeros(3)
    assert answer(1.0)
    loop.bridge.stream.mode = Mode.TERMINATE
    assert not answer(1.0)


def test_an_autopilot_that_forgets_is_registered_with_again_and_asked_by_nobody(flying: Loop) -> None:
    flying.fake.registers_armed = True
    flying.fake.forget_modes()
    assert flying.run(3.0, lambda: flying.fake.nav_state == RTL)
    assert flying.run(10.0, lambda: bool(flying.fake.external_name)), "registered again"
    flying.run(3.0)
    assert not flying.bridge.stream.engaged and flying.fake.nav_state in (RTL, HOLD)
    assert flying.do(Manoeuvre.MISSION).end is End.DONE


def test_a_refused_registration_refuses_to_fly_in_words() -> None:
    loop = Loop(external=True)
    loop.fake.refuses_modes = True
    loop.run(3.0)
    outcome = loop.do(Manoeuvre.ARM)
    assert outcome.end is End.REFUSED and "refused to register" in outcome.text
    assert not [message for _, message in loop.fake.commands if message.command == 400]


def test_a_bridge_started_again_in_the_air_cannot_register_and_flies_on_in_offboard(flying: Loop) -> None:
    """And its next flight is in its own mode again."""
    fresh = Loop(external=True)
    fresh.fake, fresh.now = flying.fake, flying.now  # a new process
    fresh.run(3.0)
    assert (fresh.fake.nav_state, fresh.bridge.stream.engaged) == (RTL, False)
    refused = fresh.do(Manoeuvre.MISSION)
    assert refused.end is End.REFUSED and "ask for hold first" in refused.text
    assert fresh.do(Manoeuvre.HOLD).end is End.DONE
    assert fresh.do(Manoeuvre.MISSION).end is End.DONE
    assert fresh.fake.nav_state == OFFBOARD and fresh.bridge.stream.engaged
    fresh.velocity = np.array([2.0, 0.0, 0.0])
    fresh.run(4.0)
    assert fresh.fake.body.velocity[0] == pytest.approx(2.0 * fake_facts.FOLLOWED, abs=0.12)
    asked = len([at for at, output in fresh.sent if output.registration is not None])
    assert asked < 5, "what is refused while armed is not asked for again and again"
    fresh.velocity = None
    assert fresh.run(1.0, lambda: fresh.fake.nav_state == HOLD), "offboard's rules hold"
    fresh.velocity = np.zeros(3)
    assert fresh.do(Manoeuvre.LAND).end is End.DONE
    fresh.run(3.0)
    assert fresh.fake.nav_state == fresh.fake.intention == HOLD
    fresh.fly()
    assert fresh.fake.nav_state == EXTERNAL


def test_a_persons_switch_is_not_fought(flying: Loop) -> None:
    flying.fake.switch_mode(POSITION)
    flying.run(5.0)
    assert flying.fake.nav_state == POSITION and not flying.bridge.stream.engaged


def test_registration_is_asked_for_until_it_is_answered() -> None:
    mode, asked = ExternalMode(5), []
    for n in range(200):
        registration, answer = mode.step(n * STEP, n > 50, True)
        asked += [n * STEP] if registration is not None else []
        assert answer is None and (registration is None or len(registration.name) == 25)
    np.testing.assert_allclose(np.diff(asked), 1.0, atol=STEP)
    assert asked[0] > 50 * STEP, "not before the autopilot is heard"


def reply(**changes: object) -> SimpleNamespace:
    fields = {"request_id": 5, "px4_ros2_api_version": 1, "success": True, "mode_id": 24, "arming_check_id": 1}
    return SimpleNamespace(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"request_id": 6}, "not registered yet"),
        ({"px4_ros2_api_version": 2}, "interface for modes is 2"),
        ({"success": False}, "refused"),
        ({"mode_id": 14}, "refused"),
    ],
)
def test_a_reply_that_registers_nothing(changes: dict[str, object], words: str) -> None:
    mode = ExternalMode(5)
    mode.on_reply(reply(**changes))
    assert mode.nav_state is None and words in mode.complaint


def test_checks_are_answered_once_with_their_number() -> None:
    mode = ExternalMode(5)
    mode.on_reply(reply())
    mode.on_check(SimpleNamespace(request_id=9, valid_registrations_mask=0b10))
    _, answer = mode.step(1.0, True, True)
    assert answer is not None and (answer.request_id, answer.registration_id, answer.can_run) == (9, 1, True)
    assert mode.step(1.1, True, True)[1] is None
