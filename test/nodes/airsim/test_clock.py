"""Stopping and slowing lockstep: which step may be taken when."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.node import Node
from rclpy.parameter import Parameter

from esar_ros.nodes.airsim.clock import CATCH_UP, BridgeClock, Pacer

PERIOD = 0.05


def test_as_fast_as_it_goes_by_default() -> None:
    pacer = Pacer()
    assert all(pacer.may_step(seq, 0.0) for seq in range(100))


def test_a_paused_clock_goes_on_to_the_next_frame_when_asked() -> None:
    pacer = Pacer()
    pacer.paused = True
    assert not pacer.may_step(7, 0.0)
    pacer.release(7, 20)
    taken = [seq for seq in range(7, 60) if pacer.may_step(seq, 0.0)]
    assert taken == list(range(7, 20)), "up to step 20, which has a frame"
    pacer.release(20, 20)
    assert [seq for seq in range(20, 60) if pacer.may_step(seq, 0.0)] == list(range(20, 40))
    pacer.paused = False
    assert pacer.may_step(55, 0.0)


@settings(deadline=None)
@given(st.floats(0.1, 20.0), st.floats(0.0005, 0.03))
def test_a_slowed_clock_keeps_its_speed_whenever_it_is_looked_at(speed: float, look: float) -> None:
    pacer = Pacer()
    pacer.speed = speed
    now, steps = 1000.0, 0
    while now < 1010.0:
        while pacer.may_step(steps, now):
            pacer.stepped(PERIOD, now)
            steps += 1
        now += look
    assert abs(steps * PERIOD - 10.0 * speed) <= (CATCH_UP + 2 * look) * speed + 2 * PERIOD


def test_what_was_lost_long_ago_is_not_made_up_for() -> None:
    pacer = Pacer()
    pacer.speed = 1.0
    pacer.stepped(PERIOD, 0.0)
    steps = 0
    while pacer.may_step(steps, 60.0):
        pacer.stepped(PERIOD, 60.0)
        steps += 1
    assert steps <= CATCH_UP / PERIOD + 1


def test_a_person_who_stops_time_leaves_a_trace(ros: Any) -> None:
    did: list[str] = []
    node = Node("bridge")
    clock = BridgeClock(node, True, lambda: None, did.append)
    for value in (True, True, False):
        node.set_parameters([Parameter("paused", value=value)])
    node.set_parameters([Parameter("speed", value=2.0)])
    assert did == ["pause", "go on"] and clock.speed == 2.0
    node.destroy_node()
