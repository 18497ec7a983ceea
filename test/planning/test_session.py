"""A method through one mission: reports numbered in order, a person's among them."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.decision import Report, ReportType
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
