"""The stream's rules one by one, against what an autopilot says: its messages are written here, nothing flies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from desk import EXTERNAL, Desk, registered

from esar_ros.bridges.px4.commands import MODE_HOLD, TERMINATE
from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.state import HOLD, LAND, OFFBOARD, RETURN, TERMINATION, Px4State
from esar_ros.bridges.px4.stream import Output, Stream, Timing
from esar_ros.mission.modes import Mode


def test_the_timing_that_is_given_counts() -> None:
    assert Stream(Px4State(1), Timing(heartbeat=0.2)).timing.heartbeat == 0.2
    assert Stream(Px4State(1)).timing == Timing()


@pytest.mark.parametrize("nav_state", [None, EXTERNAL])
@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("landed", [False, True])
def test_offboard_takes_an_external_mode_s_place_only_where_it_was_refused_in_the_air(
    nav_state: int | None, refused: bool, landed: bool
) -> None:
    desk = Desk(registered(refused, nav_state))
    desk.landed = landed
    desk.step()
    desk.stream.choose()
    falls_back = nav_state is None and refused and not landed
    assert (desk.stream.flown is None) == falls_back
    assert desk.stream.own_state == (OFFBOARD if falls_back else -2 if nav_state is None else nav_state)


def test_safe_commands_are_streamed_as_they_come_and_heartbeats_at_their_rate() -> None:
    outputs = Desk().flying().steps(50)
    assert all(output.setpoint is not None and output.setpoint.velocity[1] == 2.0 for output in outputs)  # east is y
    assert sum(output.heartbeat for output in outputs) == pytest.approx(1.0 / 0.06, abs=1), "every third step of 0.02 s"
    assert not any(output.commands for output in outputs)


def test_after_a_pause_of_the_process_one_step_judges_nothing_and_the_next_one_does() -> None:
    """Messages that waited for it come after the first step."""
    desk = Desk().flying()
    desk.speaks = desk.commanded = False
    late = desk.step(0.7)
    assert late == Output() and desk.stream.engaged and desk.stream.may_stream()
    desk.step()
    assert (desk.stream.engaged, desk.stream.left_because) == (False, "the autopilot is silent")


def test_a_slow_process_sends_every_second_step() -> None:
    outputs = Desk().flying().steps(10, 0.15)
    assert [output.heartbeat for output in outputs] == [False, True] * 5
    assert [output.setpoint is not None for output in outputs] == [False, True] * 5


@pytest.mark.parametrize("engaged", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
def test_streaming_ends_with_a_manoeuvre_that_has_not_engaged_it(engaged: bool, streaming: bool) -> None:
    stream = Desk().stream
    stream.engaged, stream.streaming = engaged, streaming
    stream.stop_unless_engaged()
    assert stream.streaming == (engaged and streaming)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"speaks": False}, "the autopilot is silent"),
    ({"commanded": False}, "no fresh safe command"),
    ({"armed": False}, "it has disarmed"),
    ({"failsafe": True, "nav_state": HOLD}, "failsafe"),
    ({"nav_state": RETURN}, "its mode was changed"),
]


@pytest.mark.parametrize(("changed", "why"), WRONG)
def test_before_it_is_granted_streaming_ends_with_its_conditions(changed: dict[str, Any], why: str) -> None:
    desk = Desk()
    desk.nav_state = desk.intention = HOLD
    desk.steps(2)
    desk.stream.start()
    assert desk.stream.may_stream()
    for name, value in changed.items():
        setattr(desk, name, value)
    desk.steps(80)
    assert not desk.stream.may_stream()
    assert not desk.stream.streaming and desk.stream.left_because.startswith(why)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"speaks": False}, "the autopilot is silent"),
        ({"commanded": False}, "no fresh safe command"),
        ({"armed": False}, "it has disarmed"),
        ({"failsafe": True, "nav_state": RETURN}, "failsafe: return"),
        ({"nav_state": RETURN}, "its mode was changed: return"),
    ],
)
def test_in_its_mode_it_leaves_with_its_conditions_and_says_why(changed: dict[str, Any], why: str) -> None:
    desk = Desk().flying()
    desk.intention = HOLD  # nothing calls it back to offboard
    for name, value in changed.items():
        setattr(desk, name, value)
    while desk.stream.engaged and desk.now < 110.0:
        last = desk.step()
    assert desk.stream.left_because == why
    in_its_mode = "commanded" in changed or "armed" in changed  # still, and must not go on there by itself
    assert last.commands == ((MODE_HOLD,) if in_its_mode else ())
    assert (last.setpoint is not None) == ("commanded" in changed), "a set-point of zero, or none"
    assert last.setpoint is None or not any(last.setpoint.velocity)
    assert not any(output.setpoint or output.heartbeat for output in desk.steps(20))


@pytest.mark.parametrize(
    ("armed", "nav_state", "intention", "idle", "expected"),
    [
        (True, OFFBOARD, OFFBOARD, True, True),
        (True, OFFBOARD, HOLD, True, True),
        (True, HOLD, OFFBOARD, True, False),  # a failsafe; what it goes back to is its own business while it is armed
        (False, HOLD, OFFBOARD, True, True),
        (False, OFFBOARD, OFFBOARD, True, True),
        (False, HOLD, HOLD, True, False),
        (False, HOLD, LAND, True, False),
        (True, OFFBOARD, OFFBOARD, False, False),
    ],
)
def test_an_autopilot_in_offboard_by_itself_is_sent_to_hold(
    armed: bool, nav_state: int, intention: int, idle: bool, expected: bool
) -> None:
    desk = Desk()
    desk.armed, desk.nav_state, desk.intention = armed, nav_state, intention
    sent = [desk.step(idle=idle).commands for _ in range(30)]
    wanted = 2 if expected else 0  # at once, and again after 0.4 s
    assert sum(len(commands) for commands in sent) == wanted
    assert {command for commands in sent for command in commands} <= {MODE_HOLD}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, 2),
        ({"armed": False, "nav_state": HOLD, "intention": HOLD}, 0),
        ({"nav_state": TERMINATION}, 0),
        ({"nav_state": RETURN}, 2),
    ],
)
def test_a_termination_is_sent_again_until_the_autopilot_has_terminated(changed: dict[str, Any], expected: int) -> None:
    desk = Desk()
    desk.stream.mode = Mode.TERMINATE
    for name, value in changed.items():
        setattr(desk, name, value)
    sent = [command for output in desk.steps(30) for command in output.commands]
    assert sent == [TERMINATE] * expected


def test_an_autopilot_that_is_silent_is_commanded_nothing_but_termination_and_one_streamed_to_nothing() -> None:
    desk = Desk()
    desk.nav_state = desk.intention = OFFBOARD
    desk.step()
    desk.speaks = False
    desk.steps(80)
    assert not any(output.commands for output in desk.steps(40))
    desk.stream.mode = Mode.TERMINATE
    sent = [command for output in desk.steps(40) for command in output.commands]
    assert sent and set(sent) == {TERMINATE}, "what is lost may be the way down alone"
    desk.speaks, desk.stream.streaming = True, True
    assert not any(output.commands for output in desk.steps(40))


# -- coming back from a hold of its own -----------------------------------------------------------------


def held(commanded: bool = True) -> Desk:
    """Safe commands have failed, the autopilot obeyed and holds; they come again or not."""
    desk = Desk().flying()
    desk.commanded = False
    desk.steps(20)
    desk.nav_state = desk.intention = HOLD
    desk.steps(5)
    assert not desk.stream.engaged and desk.stream.comeback.is_open and not desk.stream.may_come_back()
    desk.commanded = commanded
    return desk


def test_it_may_come_back_once_safe_commands_are_sound_for_two_seconds() -> None:
    desk = held()
    desk.steps(90)
    assert not desk.stream.may_come_back()
    desk.steps(20)
    assert desk.stream.may_come_back()


def stale(desk: Desk) -> None:
    desk.commanded = False


def silent(desk: Desk) -> None:
    desk.speaks = False


def holds(desk: Desk) -> None:
    desk.stream.mode = Mode.HOLD


def not_heard(desk: Desk) -> None:
    desk.stream.mode = Mode.UNKNOWN


@pytest.mark.parametrize(("fails", "steps"), [(stale, 150), (silent, 40), (holds, 150), (not_heard, 150)])
def test_the_two_seconds_begin_when_all_is_sound(fails: Any, steps: int) -> None:
    desk = held()
    desk.steps(50)
    fails(desk)
    desk.steps(steps)
    assert not desk.stream.may_come_back()
    desk.commanded, desk.speaks, desk.stream.mode = True, True, Mode.NORMAL
    desk.steps(90)
    assert not desk.stream.may_come_back() and desk.stream.comeback.is_open
    desk.steps(20)
    assert desk.stream.may_come_back()


@pytest.mark.parametrize(
    "changed", [{"nav_state": OFFBOARD}, {"intention": OFFBOARD}, {"landed": True}, {"commanded": False}]
)
def test_it_comes_back_from_hold_in_the_air_and_from_nothing_else(changed: dict[str, Any]) -> None:
    desk = held()
    desk.steps(110)
    assert desk.stream.may_come_back()
    for name, value in changed.items():
        setattr(desk, name, value)
    desk.steps(11)
    assert not desk.stream.may_come_back()


def test_landed_in_the_same_step_it_may_not() -> None:
    desk = held()
    desk.steps(110)
    desk.state.receive("VehicleLandDetected", SimpleNamespace(landed=True), desk.now)
    assert not desk.stream.may_come_back()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"armed": False}, "it is on the ground"),
        ({"landed": True}, "it is on the ground"),
        ({"failsafe": True}, "failsafe: hold"),
        ({"nav_state": 2}, "its mode was changed: position"),
    ],
)
def test_the_way_back_is_closed_for_good_by_the_ground_a_failsafe_and_a_person(
    changed: dict[str, Any], why: str
) -> None:
    desk = held()
    before = {name: getattr(desk, name) for name in changed}
    for name, value in changed.items():
        setattr(desk, name, value)
    desk.step()
    assert not desk.stream.comeback.is_open and desk.stream.left_because == why
    for name, value in before.items():
        setattr(desk, name, value)
    desk.steps(200)
    assert not desk.stream.may_come_back()


def test_the_way_back_is_closed_by_a_termination_by_time_and_by_repetition() -> None:
    ended = held()
    ended.stream.mode = Mode.TERMINATE
    ended.step()
    assert ended.stream.left_because == "the governor has terminated"
    late = held(commanded=False)
    late.steps(610, 0.1)
    assert late.stream.left_because == "no fresh safe command for too long"
    often = held()
    for _ in range(Timing().comebacks):
        often.stream.comeback.begin(often.now)
    often.stream.comeback.hold(often.now)
    often.step()
    assert often.stream.left_because == "no fresh safe command, too often"


@pytest.mark.parametrize(("steps", "is_open"), [(45, True), (55, False)])
def test_a_hold_is_left_alone_once_the_autopilot_was_silent_for_its_own_second(steps: int, is_open: bool) -> None:
    desk = held()
    desk.speaks = False
    desk.steps(steps)
    desk.speaks = True
    desk.step()
    assert desk.stream.comeback.is_open is is_open
    assert ("silent for more than 1 s" in desk.stream.left_because) is not is_open


# -- what people are told -------------------------------------------------------------------------------


def told(desk: Desk, **changed: Any) -> str:
    """Returns the advice after the autopilot has said something else."""
    for name, value in changed.items():
        setattr(desk, name, value)
    desk.step()
    return desk.stream.advice


def test_a_person_is_told_why_it_does_not_obey_and_what_ends_that() -> None:
    assert told(Desk().flying()) == ""
    assert "started again" in told(Desk().flying(), nav_state=TERMINATION)
    assert told(held()) == "no fresh safe command: it comes back by itself once safe commands are sound for 2 s"
    assert told(Desk().flying(), nav_state=2) == "its mode was changed: position: a person must ask for mission"
    failed = told(Desk().flying(), nav_state=RETURN, failsafe=True)
    assert failed.startswith("in failsafe (return)") and "a person may ask for hold" in failed
    assert told(Desk().flying(), armed=False) == "it has disarmed"


def test_what_was_asked_for_needs_nobody() -> None:
    desk = Desk().flying()
    desk.stream.leave("land was asked for", is_asked_for=True)
    assert told(desk, nav_state=LAND) == "land was asked for"
    desk.stream.leave("land was asked for")
    assert "a person must ask" in told(desk)


def test_terminated_it_is_told_even_while_it_counts_as_engaged() -> None:
    desk = Desk().flying()
    desk.nav_state = TERMINATION
    status = SimpleNamespace(arming_state=2, nav_state=TERMINATION, failsafe=False, nav_state_user_intention=OFFBOARD)
    desk.state.receive("VehicleStatus", status, desk.now)
    assert desk.stream.engaged and "started again" in desk.stream.advice


# -- an external mode -----------------------------------------------------------------------------------


class Asked(ExternalMode):
    """An external mode that keeps what its steps were told."""

    def __init__(self) -> None:
        super().__init__(77)
        self.told: list[tuple[bool, bool]] = []

    def step(self, now: float, may_ask: bool, able: bool) -> tuple[Any, Any]:
        self.told.append((may_ask, able))
        return None, None


@pytest.mark.parametrize(
    ("changed", "refused", "may_ask"),
    [
        ({}, False, True),
        ({"speaks": False}, False, False),
        ({}, True, False),  # refused while it is armed, as PX4 refuses it
        ({"armed": False, "nav_state": HOLD, "intention": HOLD}, True, True),
    ],
)
def test_it_is_registered_with_an_autopilot_that_may_accept_it(
    changed: dict[str, Any], refused: bool, may_ask: bool
) -> None:
    external = Asked()
    desk = Desk(external)
    for name, value in changed.items():
        setattr(desk, name, value)
    external.refused = refused
    desk.steps(3)
    assert external.told[-1][0] == may_ask


def test_it_is_able_while_safe_commands_are_fresh_and_the_flight_is_not_terminated() -> None:
    external = Asked()
    desk = Desk(external)

    def able(steps: int) -> bool:
        desk.steps(steps)
        return external.told[-1][1]

    assert able(2)
    desk.stream.mode = Mode.TERMINATE
    assert not able(2)
    desk.stream.mode, desk.commanded = Mode.NORMAL, False
    assert not able(20)


def test_it_is_told_what_it_takes_with_the_set_points_and_no_heartbeat_goes_out() -> None:
    desk = Desk(registered())
    desk.nav_state = desk.intention = HOLD
    assert all(output.control is None for output in desk.steps(30)), "there is no set-point"
    desk.nav_state = desk.intention = EXTERNAL
    outputs = desk.flying().steps(50)
    assert all(output.setpoint is not None and not output.heartbeat for output in outputs)
    assert [output.control for output in outputs if output.control is not None] == [EXTERNAL] * 2, "every 0.4 s"


def test_it_is_not_asked_in_the_step_after_a_pause() -> None:
    external = Asked()
    desk = Desk(external)
    desk.steps(2)
    count = len(external.told)
    desk.step(5.0)
    assert len(external.told) == count
    desk.step()
    assert len(external.told) == count + 1


def test_before_the_first_command_there_is_none_and_only_offboard_wants_a_second_of_heartbeats() -> None:
    desk = Desk(registered())
    desk.commanded = False
    desk.step()
    assert not desk.stream.is_commanded()
    assert desk.stream.proof == Timing().window
    assert Desk().stream.proof == Timing().stream
