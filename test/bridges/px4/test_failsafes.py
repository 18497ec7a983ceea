"""PX4's failsafes but the lost signal's: the fake has their times; the bridge leaves them alone and names them."""

from __future__ import annotations

import numpy as np
import pytest
from fake_facts import DESCEND, HOLD, HOLD_FIRST, OFFBOARD, RTL, TERMINATION
from loop import Loop

from esar_ros.bridges.px4.commands import End, Manoeuvre
from esar_ros.bridges.px4.frames import LocalFrame


@pytest.fixture
def controlled() -> Loop:
    return Loop(has_remote=True, has_station=True).fly()


@pytest.mark.parametrize(
    ("what", "stands", "acts"),
    [
        ("remote control", 0.72, HOLD_FIRST),
        ("charge", 0.0, HOLD_FIRST),
        ("fence", 0.0, 1.0),  # it would hold for good; but no signal comes for the mode that it has left
        ("ground station", 10.0, HOLD_FIRST),
    ],
)
def test_it_stands_for_seconds_before_it_returns_and_nobody_disturbs_it(
    controlled: Loop, what: str, stands: float, acts: float
) -> None:
    """A mode that was asked for in these seconds would end the failsafe: the bridge asks for none."""
    begun = controlled.now
    controlled.fake.lose(what)
    assert controlled.run(stands + 1.0, lambda: controlled.fake.nav_state == HOLD)
    assert controlled.now - begun == pytest.approx(stands, abs=0.05) and controlled.fake.failsafe
    controlled.velocity = None  # the governor falls silent as well
    assert controlled.run(HOLD_FIRST + 0.1, lambda: controlled.fake.nav_state == RTL)
    assert controlled.now - begun == pytest.approx(stands + acts, abs=0.1)
    controlled.run(3.0)
    assert not controlled.commands_since(begun) and not controlled.heartbeats_since(begun + stands + 0.1)
    assert controlled.fake.failsafe and controlled.fake.nav_state == RTL


def test_without_satellites_the_position_is_unknown_before_it_descends(flying: Loop) -> None:
    begun, frame = flying.now, LocalFrame()
    flying.fake.lose("satellites")

    def unknown() -> bool:
        motion = frame.motion(flying.state.newest("VehicleLocalPosition"), flying.state.newest("VehicleOdometry"))
        return motion is None or motion.pose_covariance[0, 0] < 0.0

    assert flying.run(6.0, unknown)
    assert flying.now - begun == pytest.approx(4.0, abs=0.1) and flying.fake.nav_state == OFFBOARD
    assert flying.run(8.0, lambda: flying.fake.nav_state == DESCEND)
    assert flying.now - begun == pytest.approx(9.0, abs=0.2)
    outcome = flying.do(Manoeuvre.HOLD)
    assert outcome.end is End.FAILED and "temporarily rejected" in outcome.text, "it cannot hold without a position"
    assert flying.run(60.0, lambda: flying.fake.landed)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("remote control", "the remote control is lost"),
        ("charge", "the battery is low"),
        ("fence", "its own fence is left"),
        ("ground station", "the ground station is lost"),
        ("satellites", "its position is not known"),
    ],
)
def test_the_refusal_names_the_cause_and_what_a_person_may_do(controlled: Loop, what: str, words: str) -> None:
    controlled.fake.lose(what)
    controlled.run(16.0)
    refused = controlled.do(Manoeuvre.MISSION)
    assert refused.end is End.REFUSED and words in refused.text and "ask for hold first" in refused.text
    assert words in controlled.bridge.stream.advice
    assert controlled.bridge.why_not_ready(controlled.now) == refused.text


def test_a_remote_control_that_was_never_there_is_no_cause(flying: Loop) -> None:
    flying.fake.lose("charge")
    flying.run(6.0)
    assert flying.state.causes() == ["the battery is low"]


def test_a_person_ends_a_return_by_hold_and_flies_on(controlled: Loop) -> None:
    controlled.fake.lose("remote control")
    assert controlled.run(8.0, lambda: controlled.fake.nav_state == RTL)
    assert controlled.do(Manoeuvre.HOLD).end is End.DONE
    controlled.run(8.0)
    assert controlled.fake.nav_state == HOLD, "hold is kept, and nothing comes back by itself"
    assert controlled.do(Manoeuvre.MISSION).end is End.DONE


# -- starting again in the air, and being ready ---------------------------------------------------------


def test_a_bridge_killed_in_the_air_finds_a_return_and_says_the_way_out(flying: Loop) -> None:
    flying.bridge_alive = False
    assert flying.run(3.0, lambda: flying.fake.nav_state == RTL)
    fresh = flying.started_again()
    fresh.run(3.0)
    assert not {"the remote control is lost", "the ground station is lost"} & set(fresh.state.causes()), "never there"
    armed = fresh.do(Manoeuvre.ARM)
    assert (armed.end, armed.because) == (End.REFUSED, "flying")
    assert "in the air" in armed.text and "ask for hold" in armed.text
    assert fresh.do(Manoeuvre.HOLD).end is End.DONE
    assert "ask for mission" not in fresh.do(Manoeuvre.ARM).text, "it was asked for hold"
    assert fresh.do(Manoeuvre.MISSION).end is End.DONE
    assert fresh.do(Manoeuvre.ARM).end is End.DONE, "it flies what is asked for"


def test_it_is_ready_only_when_it_would_obey() -> None:
    loop = Loop()
    assert "silent" in loop.bridge.why_not_ready(loop.now)
    loop.run(2.0)
    assert loop.bridge.why_not_ready(loop.now) == ""
    loop.velocity = None
    loop.run(0.5)
    assert "no fresh safe command" in loop.bridge.why_not_ready(loop.now)
    loop.velocity = np.zeros(3)
    loop.fly()
    assert loop.bridge.why_not_ready(loop.now) == ""
    loop.velocity = None
    loop.run(1.0)
    assert "no fresh safe command" in loop.bridge.why_not_ready(loop.now), "armed, and not ready"
    loop.fake.force_failsafe(TERMINATION)
    loop.run(1.0)
    assert "terminated" in loop.bridge.why_not_ready(loop.now)
