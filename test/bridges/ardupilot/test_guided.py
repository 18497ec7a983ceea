"""The rules of PX4's bridge on a fake ArduCopter: the same end states, by ArduPilot's means."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from copter_loop import STEP, CopterLoop
from fake_copter import BRAKE, GUID_TIMEOUT, GUIDED, LAND, LOITER, RTL, STABILIZE, FakeCopter, mavlink

from esar_ros.bridges.px4.commands import End, Manoeuvre
from esar_ros.bridges.px4.stream import Timing
from esar_ros.mission.modes import Mode

FENCE_STATUS = 162

# -- arming, take-off, flight ---------------------------------------------------------------------


def test_arming_lifts_it_off_and_ends_where_safe_commands_are_flown(flying: CopterLoop) -> None:
    flying.velocity, flying.yaw_rate = np.array([3.0, -1.0, 0.5]), 0.4
    yaw = flying.fake.yaw
    flying.run(4.0)
    np.testing.assert_allclose(flying.fake.velocity, [-1.0, 3.0, -0.5], atol=0.05)  # NED of ENU
    assert flying.fake.yaw - yaw == pytest.approx(-1.6, abs=0.05), "counter-clockwise is to the left"
    assert flying.stream.advice == ""


def test_before_the_take_off_nothing_is_streamed_and_arming_is_in_guided() -> None:
    loop = CopterLoop()
    loop.run(2.0)
    assert loop.bridge.ask(Manoeuvre.ARM, loop.now) is None
    assert loop.run(10.0, lambda: loop.fake.armed)
    assert loop.fake.mode == GUIDED and not loop.fake.setpoints
    assert loop.run(20.0, lambda: loop.stream.engaged)
    assert -loop.fake.place[2] >= 2.0
    assert loop.modes_since(0.0) == [GUIDED, BRAKE, GUIDED], "through hold, as on PX4"


@pytest.mark.parametrize("mode", [BRAKE, LAND, RTL])
def test_it_is_armed_from_a_mode_in_which_ardupilot_does_not_arm(mode: int) -> None:
    loop = CopterLoop(FakeCopter(mode=mode))
    loop.run(2.0)
    assert loop.do(Manoeuvre.ARM).end is End.DONE


def test_arming_that_is_refused_is_told_in_ardupilots_words_and_nothing_is_left_armed() -> None:
    loop = CopterLoop()
    loop.run(2.0)

    def refused() -> int:
        loop.fake._say(2, "Arm: Throttle too high")
        return 4

    loop.fake._arm = refused  # type: ignore[method-assign]
    outcome = loop.do(Manoeuvre.ARM)
    assert outcome.end is End.FAILED and not loop.fake.armed
    assert "failed" in outcome.text and outcome.text.endswith("it says: Arm: Throttle too high")


def test_a_take_off_that_does_not_come_disarms_it_on_the_ground() -> None:
    loop = CopterLoop(timing=Timing(stream=0.3, climb=5.0))
    loop.run(2.0)
    loop.fake._take_off = lambda height: 4  # type: ignore[method-assign]
    outcome = loop.do(Manoeuvre.ARM)
    assert outcome.end is End.FAILED and "did not take off" in outcome.text
    assert not loop.fake.armed and not loop.fake.setpoints


def test_a_persons_take_off_ends_in_hold_at_its_height_and_is_handed_over_by_mission() -> None:
    loop = CopterLoop()
    loop.run(2.0)
    loop.fake.set_mode(GUIDED)
    loop.fake._arm()
    loop.run(1.0)
    assert loop.do(Manoeuvre.TAKE_OFF, height=8.0).end is End.DONE
    assert loop.fake.mode == BRAKE and -loop.fake.place[2] == pytest.approx(8.0, abs=1.0)
    assert loop.do(Manoeuvre.MISSION).end is End.DONE
    assert loop.fake.mode == GUIDED and loop.stream.engaged


def test_the_height_of_a_take_off_counts_from_where_it_stands_and_not_from_home() -> None:
    loop = CopterLoop()
    loop.run(2.0)
    loop.fake.set_mode(GUIDED)
    loop.fake._arm()
    loop.fake.home = np.array([0.0, 0.0, 4.0])  # locked 4 m below
    loop.run(2.0)
    assert loop.do(Manoeuvre.TAKE_OFF, height=5.0).end is End.DONE
    assert -loop.fake.place[2] == pytest.approx(5.0, abs=0.8)


def test_it_lands_and_is_disarmed_by_itself_and_stays_out_of_guided(flying: CopterLoop) -> None:
    outcome = flying.do(Manoeuvre.LAND)
    assert outcome.end is End.DONE and flying.fake.landed and not flying.fake.armed
    flying.run(5.0)
    assert flying.fake.mode == LAND and not flying.fake.armed
    assert flying.do(Manoeuvre.ARM).end is End.DONE, "and flies again when it is asked to"


def test_it_touches_down_by_safe_commands_and_is_disarmed_at_once(flying: CopterLoop) -> None:
    flying.stream.height = 4.0
    assert flying.bridge.ask(Manoeuvre.TOUCH_DOWN, flying.now) is None
    flying.velocity = np.array([0.0, 0.0, -0.8])
    assert flying.run(60.0, lambda: flying.fake.landed)
    flying.stream.height, touched = 0.0, flying.now
    assert flying.run(2.0, lambda: not flying.fake.armed)
    assert flying.now - touched < 1.0
    flying.run(0.5)
    outcome = flying.bridge.outcome(Manoeuvre.TOUCH_DOWN)
    assert outcome is not None and outcome.end is End.DONE


def test_return_is_ardupilots_own(flying: CopterLoop) -> None:
    assert flying.do(Manoeuvre.RETURN).end is End.DONE
    assert flying.fake.mode == RTL and not flying.stream.engaged
    assert flying.run(60.0, lambda: not flying.fake.armed), "and lands by itself"


# -- what ends safe commands ------------------------------------------------------------------------


def test_a_silent_governor_means_zero_at_once_and_hold_once_it_stands(flying: CopterLoop) -> None:
    flying.velocity = np.array([4.0, 0.0, 0.0])
    flying.run(4.0)
    flying.velocity, died = None, flying.now
    assert flying.run(1.0, lambda: not flying.stream.engaged)
    assert flying.now - died <= 0.3
    assert "no fresh safe command" in flying.stream.advice
    first = next(output.setpoint for at, output in flying.sent if at > died + 0.21 and output.setpoint is not None)
    assert first.velocity == (0.0, 0.0, 0.0)
    assert flying.run(4.0, lambda: flying.fake.mode == BRAKE)
    assert flying.speed <= 0.6, "GUIDED at zero stops it in less way than BRAKE"
    assert all(
        output.setpoint is None or output.setpoint.velocity == (0.0, 0.0, 0.0)
        for at, output in flying.sent if at > died + 0.21
    )  # fmt: skip


def test_one_that_does_not_stop_is_taken_to_brake_all_the_same(flying: CopterLoop) -> None:
    flying.velocity = np.array([4.0, 0.0, 0.0])
    flying.run(4.0)
    flying.velocity, died = None, flying.now
    flying.fake._velocity = lambda message: None  # type: ignore[method-assign]
    flying.fake._told = flying.now + 60.0
    assert flying.run(10.0, lambda: flying.fake.mode == BRAKE)
    assert 4.0 < flying.now - died < 6.0


def test_a_dead_bridge_means_ardupilots_own_stop_in_guided() -> None:
    """Unlike PX4's second: the last velocity is flown for GUID_TIMEOUT, and then it stands in GUIDED, for ever."""
    loop = CopterLoop().fly()
    loop.velocity = np.array([4.0, 0.0, 0.0])
    loop.run(4.0)
    loop.bridge_alive, died = False, loop.now
    assert loop.run(GUID_TIMEOUT + 5.0, lambda: loop.speed < 0.3)
    assert loop.now - died > GUID_TIMEOUT
    loop.run(60.0)
    assert loop.fake.mode == GUIDED and loop.fake.armed


def test_a_governor_that_speaks_again_gets_it_back_through_hold(flying: CopterLoop) -> None:
    flying.velocity = None
    flying.run(2.0)
    assert flying.fake.mode == BRAKE and "comes back by itself" in flying.stream.advice
    flying.velocity, back = np.array([2.0, 0.0, 0.0]), flying.now
    assert flying.run(4.0, lambda: flying.stream.engaged), flying.stream.advice
    assert flying.now - back > 2.0
    flying.run(4.0)
    assert flying.fake.velocity[1] > 1.5


def test_a_ground_station_that_flies_it_in_guided_from_the_bridges_own_hold_keeps_it(flying: CopterLoop) -> None:
    flying.velocity = None
    flying.run(2.0)
    assert flying.fake.mode == BRAKE
    flying.fake.set_mode(GUIDED)
    flying.run(0.2)
    flying.fake.set_mode(BRAKE)
    flying.velocity, begun = np.array([2.0, 0.0, 0.0]), flying.now
    flying.run(8.0)
    assert flying.fake.mode == BRAKE and not flying.stream.engaged and not flying.modes_since(begun)
    assert "a person must ask for mission" in flying.stream.advice


def test_a_person_who_switches_while_arming_is_tried_keeps_it() -> None:
    loop = CopterLoop()
    loop.run(2.0)
    loop.fake.checks = ["Throttle too high"]
    loop.bridge.ask(Manoeuvre.ARM, loop.now)
    loop.run(1.0)
    loop.fake.set_mode(LOITER)
    loop.fake.checks = []
    begun = loop.now
    loop.run(6.0)
    outcome = loop.bridge.outcome(Manoeuvre.ARM)
    assert outcome is not None and outcome.end is End.FAILED and "LOITER" in outcome.text
    assert loop.fake.mode == LOITER and not loop.fake.armed and not loop.modes_since(begun + 2 * STEP)


def test_a_person_who_switches_while_its_take_off_is_tried_is_not_lifted_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """ArduCopter takes off by the same command in modes that are flown by hand, as LOITER."""
    loop = CopterLoop()
    loop.run(2.0)
    loop.fake.set_mode(GUIDED)
    loop.fake._arm()
    loop.run(1.0)
    monkeypatch.setattr(loop.fake, "_take_off", lambda height: 4)
    assert loop.bridge.ask(Manoeuvre.TAKE_OFF, loop.now, 8.0) is None
    loop.run(1.0)
    loop.fake.set_mode(LOITER)
    loop.run(0.3)
    seen = loop.now
    loop.run(5.0)
    assert not [message for at, message in loop.fake.commands if at > seen and message.command == 22]
    outcome = loop.bridge.outcome(Manoeuvre.TAKE_OFF)
    assert outcome is not None and outcome.end is End.FAILED and "LOITER" in outcome.text


def test_without_comebacks_only_a_person_ends_a_hold() -> None:
    loop = CopterLoop(timing=Timing(stream=0.3, comebacks=0)).fly()
    loop.velocity = None
    loop.run(1.0)
    loop.velocity = np.zeros(3)
    loop.run(10.0)
    assert loop.fake.mode == BRAKE and "a person must ask for mission" in loop.stream.advice
    assert loop.do(Manoeuvre.MISSION).end is End.DONE


@pytest.mark.parametrize("seconds", [0.8, 1.4])
def test_a_vehicle_that_comes_back_after_silence_is_stopped_before_anything_else(
    flying: CopterLoop, seconds: float
) -> None:
    flying.velocity = np.array([4.0, 0.0, 0.0])
    flying.run(4.0)
    flying.fake.speaks, begun = False, flying.now
    flying.run(seconds)
    assert not flying.stream.engaged
    streamed = len(flying.fake.setpoints)
    flying.fake.speaks = True
    assert flying.run(6.0, lambda: flying.fake.mode == BRAKE), "it would fly on for GUID_TIMEOUT"
    zeros = [output.setpoint for at, output in flying.sent if at > begun + 0.6 and output.setpoint is not None]
    assert zeros and len(flying.fake.setpoints) > streamed
    assert all(point.velocity == (0.0, 0.0, 0.0) for point in zeros)
    flying.run(6.0)
    assert flying.stream.engaged == (seconds < 1.0), flying.stream.advice
    assert flying.modes_since(begun)[0] == BRAKE


def test_a_persons_mode_is_not_fought(flying: CopterLoop) -> None:
    flying.fake.set_mode(LOITER)
    begun = flying.now
    flying.run(20.0)
    assert flying.fake.mode == LOITER and not flying.modes_since(begun)
    assert "its mode was changed: LOITER: a person must ask for mission" in flying.stream.advice
    assert not [mode for at, mode in flying.fake.setpoints if at > begun + 0.3]


def test_a_ground_station_that_flies_it_in_guided_is_not_fought_either() -> None:
    loop = CopterLoop().fly()
    loop.fake.set_mode(LOITER)
    loop.run(1.0)
    loop.fake.set_mode(GUIDED)  # "fly here"
    begun = loop.now
    loop.run(20.0)
    assert loop.fake.mode == GUIDED and not loop.modes_since(begun)
    assert not [at for at, _ in loop.fake.setpoints if at > begun]


def test_a_bridge_that_was_started_again_in_the_air_waits_for_a_person(flying: CopterLoop) -> None:
    fresh = flying.started_again()
    begun = fresh.now
    fresh.run(8.0)
    assert fresh.fake.mode == GUIDED and fresh.speed < 0.1
    assert not [at for at, _ in fresh.fake.setpoints if at > begun]
    assert fresh.do(Manoeuvre.MISSION).end is End.DONE


# -- failsafes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "mode"), [("Radio", RTL), ("Battery", LAND), ("GCS", RTL), ("EKF", LAND)])
def test_a_failsafe_is_not_fought_and_is_ended_by_a_persons_hold(flying: CopterLoop, what: str, mode: int) -> None:
    flying.fake.has_receiver = True
    flying.fake.place[2] -= 20.0
    flying.run(1.0)
    flying.fake.fail(what, mode)
    begun = flying.now
    flying.run(3.0)
    assert not flying.modes_since(begun) and not flying.stream.engaged
    assert "in failsafe" in flying.stream.advice and "a person may ask for hold" in flying.stream.advice
    if what == "Radio":
        assert "the remote control is lost" in flying.stream.advice
    assert flying.do(Manoeuvre.MISSION).end is End.REFUSED
    assert flying.do(Manoeuvre.HOLD).end is End.DONE
    assert flying.fake.failsafes, "its cause goes on"
    assert flying.do(Manoeuvre.MISSION).end is End.DONE


def test_the_next_failsafe_is_a_new_one(flying: CopterLoop) -> None:
    flying.fake.fail("GCS", RTL)
    flying.run(1.0)
    assert flying.do(Manoeuvre.HOLD).end is End.DONE
    flying.fake.fail("Battery", RTL)
    flying.run(1.0)
    assert flying.state.failsafe


def test_no_comeback_while_a_failsafe_lasts_that_leaves_the_mode(flying: CopterLoop) -> None:
    flying.velocity = None
    flying.run(1.0)
    flying.fake.failsafes.add("Radio")  # FS_OPTIONS: it goes on in the mode that it is in
    flying.velocity = np.zeros(3)
    flying.run(6.0)
    assert flying.fake.mode == BRAKE and not flying.stream.engaged


def test_termination_stops_the_motors_and_is_not_taken_back(flying: CopterLoop) -> None:
    flying.stream.mode = Mode.TERMINATE
    assert flying.run(1.0, lambda: not flying.fake.armed)
    assert flying.do(Manoeuvre.ARM).end is End.REFUSED
    flying.run(5.0)
    assert not flying.fake.armed


def test_on_the_ground_disarmed_nothing_is_commanded_by_itself() -> None:
    loop = CopterLoop(FakeCopter(mode=GUIDED))
    loop.run(20.0)
    assert {int(message.command) for _, message in loop.fake.commands} == {511}, "messages are asked for, nothing else"
    assert loop.fake.mode == GUIDED and STABILIZE not in loop.modes_since(0.0)


def test_set_points_come_at_every_step_while_it_is_engaged(flying: CopterLoop) -> None:
    begun = flying.now
    flying.run(5.0)
    times = [at for at, _ in flying.fake.setpoints if at > begun]
    assert np.diff(times).max() <= STEP + 1e-6 and math.isclose(len(times), 5.0 / STEP, abs_tol=2.0)


# -- others at the vehicle ------------------------------------------------------------------------


def test_a_ground_station_that_flew_it_while_the_link_was_away_keeps_it(flying: CopterLoop) -> None:
    """ "Fly here" leaves it in GUIDED: nothing but the motion tells."""
    flying.velocity = np.array([2.0, 0.0, 0.0])
    flying.run(3.0)
    hear, flying.fake.speaks = flying.fake.hear, False
    flying.fake.hear = lambda message: None  # type: ignore[method-assign]
    flying.run(30.0)

    def told() -> bool:
        flying.fake._target, flying.fake._told = np.array([-3.0, 0.0, 0.0]), flying.now
        return flying.fake.mode != GUIDED

    flying.run(5.0, told)
    back, flying.fake.speaks = flying.now, True
    flying.fake.hear = hear  # type: ignore[method-assign]
    assert not flying.run(6.0, told)
    assert not [output for at, output in flying.sent if at > back and (output.setpoint or output.commands)]
    assert flying.stream.advice.endswith("a person must ask for mission")


def test_what_its_own_fence_does_is_not_taken_for_the_bridges_hold(flying: CopterLoop) -> None:
    """FENCE_ACTION 4 brakes, and ArduPilot's state does not become critical."""
    flying.velocity = np.array([4.0, 0.0, 0.0])
    flying.run(4.0)
    flying.velocity = None
    flying.run(0.6)
    made = flying.fake._made

    def outside(number: int) -> Iterator[Any]:
        if number == FENCE_STATUS:
            yield mavlink.MAVLink_fence_status_message(1, 1, 2, 0)
        else:
            yield from made(number)

    flying.fake._made = outside  # type: ignore[method-assign]
    flying.fake.set_mode(BRAKE)
    flying.run(2.0)
    flying.velocity = np.array([4.0, 0.0, 0.0])
    assert not flying.run(8.0, lambda: flying.stream.engaged) and flying.fake.mode == BRAKE
    assert "its own fence is left" in flying.stream.advice
    assert flying.do(Manoeuvre.HOLD).end is End.DONE and flying.do(Manoeuvre.MISSION).end is End.DONE, "a person may"
