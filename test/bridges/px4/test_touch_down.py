"""A touch-down is flown by the governor's safe commands, in offboard, and ends disarmed on the ground."""

from __future__ import annotations

import math

import numpy as np
import pytest
from loop import Loop

from esar_ros.bridges.px4.commands import End, Manoeuvre

OFFBOARD, HOLD, LAND = 14, 4, 18


def touching(flying: Loop, height: float = 4.0) -> Loop:
    """Brought down to a height (m above ground), where the governor sees it; from there on it follows the truth."""
    flying.velocity = np.array([0.0, 0.0, -1.5])
    assert flying.run(60.0, lambda: float(flying.fake.body.position[2]) <= height)
    flying.velocity = np.array([0.0, 0.0, -0.7])
    flying.bridge.stream.height = float(flying.fake.body.position[2])
    return flying


def test_a_touch_down_is_flown_by_safe_commands_and_ends_disarmed(flying: Loop) -> None:
    loop = touching(flying)
    asked = loop.now
    assert loop.bridge.ask(Manoeuvre.TOUCH_DOWN, loop.now) is None
    assert loop.bridge.ask(Manoeuvre.TOUCH_DOWN, loop.now) is None, "asked again it goes on"
    loop.run(2.0)
    assert loop.fake.nav_state == OFFBOARD and loop.setpoints_since(asked)
    loop.velocity = np.zeros(3)
    loop.run(2.0)
    stood = float(loop.fake.body.position[2])
    loop.run(3.0)
    assert abs(float(loop.fake.body.position[2]) - stood) < 0.3, "the governor holds it"
    loop.velocity, loop.bridge.stream.height = np.array([0.0, 0.0, -0.7]), 0.2
    assert loop.do(Manoeuvre.TOUCH_DOWN).end is End.DONE
    assert loop.fake.landed and not loop.fake.armed
    loop.run(3.0)
    assert loop.fake.nav_state == HOLD and loop.fake.landed
    assert LAND not in loop.modes_since(asked)


@pytest.mark.parametrize("height", [None, 5.1, 28.0, math.nan])
def test_a_touch_down_needs_seen_ground_within_five_metres(flying: Loop, height: float | None) -> None:
    flying.bridge.stream.height = height
    refused = flying.do(Manoeuvre.TOUCH_DOWN)
    assert refused.end is End.REFUSED and refused.because == "safety" and "5 m" in refused.text


def test_a_touch_down_is_called_off_and_ends_with_offboard(flying: Loop) -> None:
    loop = touching(flying)
    loop.bridge.ask(Manoeuvre.TOUCH_DOWN, loop.now)
    loop.run(0.5)
    loop.bridge.call_off(Manoeuvre.TOUCH_DOWN)
    ended = loop.bridge.outcome(Manoeuvre.TOUCH_DOWN)
    assert ended is not None and ended.end is End.CALLED_OFF
    loop.velocity = np.array([0.0, 0.0, 1.0])
    assert loop.run(20.0, lambda: float(loop.fake.body.position[2]) > 5.0), "safe commands are flown on"
    loop = touching(loop)
    loop.bridge.ask(Manoeuvre.TOUCH_DOWN, loop.now)
    loop.velocity = None
    assert loop.run(5.0, lambda: loop.bridge.running is None)
    failed = loop.bridge.outcome(Manoeuvre.TOUCH_DOWN)
    assert failed is not None and failed.end is End.FAILED and loop.fake.nav_state == HOLD
    assert loop.do(Manoeuvre.TOUCH_DOWN).end is End.REFUSED, "it does not fly safe commands"


def test_a_false_word_of_having_landed_does_not_disarm(flying: Loop) -> None:
    loop = touching(flying)
    loop.velocity, loop.bridge.stream.height = np.zeros(3), 3.0
    loop.bridge.ask(Manoeuvre.TOUCH_DOWN, loop.now)
    loop.run(0.5)
    loop.fake.landed, loop.fake.touched_at, loop.fake.changed = True, loop.now, True
    told = loop.now
    loop.run(0.6)
    assert loop.state.landed
    assert loop.bridge.running is Manoeuvre.TOUCH_DOWN
    assert not any(at >= told and (m.command, m.param1) == (400, 0.0) for at, m in loop.fake.commands)
