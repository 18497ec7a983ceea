"""Goals of a bridge's actions by who sends them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from esar_ros.bridges.px4.commands import Manoeuvre, Outcome
from esar_ros.nodes.core.operator_log import goal_of
from esar_ros.nodes.px4.actions import Px4Actions

PILOT, PERSON = 7, 8  # boot ids


def actions(is_down_again: bool) -> tuple[Any, list[Manoeuvre], list[Outcome]]:
    """The actions without a node; what they ask, and how goals end."""
    asked: list[Manoeuvre] = []
    ends: list[Outcome] = []
    made: Any = Px4Actions.__new__(Px4Actions)
    made._offboard = SimpleNamespace(
        is_down_again=is_down_again, ask=lambda manoeuvre, now, height: asked.append(manoeuvre)
    )
    made._operator_log, made._pilot, made._open = SimpleNamespace(record=lambda words: None), lambda: PILOT, {}
    made._end = lambda handle, outcome: ends.append(outcome)
    return made, asked, ends


@pytest.mark.parametrize(
    ("who", "is_down_again", "begins"), [(PILOT, False, True), (PILOT, True, False), (PERSON, True, True)]
)
def test_after_a_flight_only_a_person_arms_it_again(who: int, is_down_again: bool, begins: bool) -> None:
    """A pilot that was started again does not know that it has flown, and somebody may stand beside it."""
    made, asked, ends = actions(is_down_again)
    handle = SimpleNamespace(goal_id=goal_of(who), request=SimpleNamespace())
    made._begin(handle, lambda request: Manoeuvre.ARM)
    assert bool(asked) == begins and len(ends) == (not begins)
    assert all("a person arms it again" in outcome.text for outcome in ends)
