"""Clocks: a step a movement, or the wall's."""

from __future__ import annotations

from esar_ros.sim.walking.walker import TICK
from esar_ros.suites.rescuebench.protocol_server.clocks import LONGEST, PausedClock, RunningClock


def test_a_paused_world_goes_on_by_a_step_for_each_movement_and_for_nothing_else() -> None:
    clock = PausedClock(0.2)
    assert clock.asked() == 0.0
    assert clock.moved() == 0.0, "nothing was in force"
    assert clock.asked() == 0.2
    assert clock.asked() == 0.0
    clock.moved()
    assert clock.moved() == 0.2, "the one before had its step"
    assert clock.asked() == 0.2


def test_a_running_world_goes_on_with_the_wall_and_loses_no_time() -> None:
    now = 100.0
    clock = RunningClock(lambda: now)
    total = 0.0
    for _ in range(1000):
        now += 0.0137
        total += clock.asked()
    assert abs(total - 13.7) <= TICK
    now += 3600.0
    assert clock.moved() == LONGEST
    assert clock.asked() == 0.0, "what was too long is forgotten"
