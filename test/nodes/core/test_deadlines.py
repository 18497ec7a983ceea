"""Deadlines of a cyclic task: late answers and skipped releases are missed, and nothing else is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.nodes.core.deadlines import Deadlines

PERIOD = 0.02


def test_answers_in_time_miss_nothing() -> None:
    watch = Deadlines(PERIOD)
    assert math.isnan(watch.response(99.0))
    for number in range(200):
        watch.answered(number * PERIOD, number * PERIOD + 0.002 + 0.00001 * number)
    assert (watch.periods, watch.missed) == (200, 0)
    assert watch.response(50.0) == pytest.approx(0.003, abs=1e-4)
    assert watch.response(100.0) == pytest.approx(0.00399, abs=1e-6)


def test_a_late_answer_and_the_releases_it_slept_through_are_missed() -> None:
    watch = Deadlines(PERIOD)
    watch.answered(0.0, 0.001)
    watch.answered(0.02, 0.075)  # late; 0.04 is never answered, the release at 0.06 is the next one taken
    watch.answered(0.06, 0.077)
    assert (watch.periods, watch.missed) == (4, 2)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.floats(0.0, 0.06)), min_size=1, max_size=50))
def test_every_period_is_counted_once(steps: list[tuple[int, float]]) -> None:
    watch, release = Deadlines(PERIOD), 0
    late = 0
    for ahead, response in steps:
        release += ahead
        released = release * PERIOD
        watch.answered(released, released + response)
        late += released + response - released > PERIOD
    first = steps[0][0]
    assert watch.periods == release - first + 1
    assert watch.missed == watch.periods - len(steps) + late
