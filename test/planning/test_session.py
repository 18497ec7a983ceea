"""A method through one mission: reports numbered in order, a person's among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import Brief
from esar_ros.planning.registry import create
from esar_ros.planning.session import Session


def report(text: str) -> Report:
    return Report(ReportType.CLUE, "tent", text, np.zeros(3))


def test_what_a_person_says_goes_out_once_with_the_next_decision() -> None:
    session = Session(create("stay"))
    assert session.decide(None).reports == ()
    session.say(report("first"))
    session.say(report("second"))
    answer = session.decide(None)
    assert [(number, said.text) for number, said in answer.reports] == [(1, "first"), (2, "second")]
    assert answer.reported == 2
    session.say(report("third"))
    assert [number for number, _ in session.decide(None).reports] == [3]
    assert session.decide(None).reports == ()
    assert session.decide(None).reported == 3


def test_a_method_that_was_started_again_goes_on_with_new_numbers(brief: Callable[..., Brief]) -> None:
    """A number that was given before would be taken for the same report."""
    session = Session(create("stay"))
    session.reset(brief(), 0, taken=5)
    assert session.decide(None).reported == 0
    session.say(report("sixth"))
    session.say(report("seventh"))
    answer = session.decide(None)
    assert [number for number, _ in answer.reports] == [6, 7]
    assert answer.reported == 7
    session.say(report("eighth"))
    assert [number for number, _ in session.decide(None).reports] == [8]
