"""A participant tells how it is, and knows when another was heard last."""

from __future__ import annotations

import threading

import pytest

from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Heartbeat
from esar_ros.nodes.core.participant import liveliness as module
from esar_ros.nodes.core.participant.liveliness import Liveliness, Silences


def test_who_once_had_all_it_needs_no_longer_looks() -> None:
    lacks = "a publisher of goal"
    liveliness = Liveliness("pilot", lambda: lacks)
    waiting = liveliness.heartbeat(None)
    assert (waiting.ready, waiting.waiting_for, nanoseconds(waiting.answered)) == (False, "a publisher of goal", 0)
    lacks = ""
    assert liveliness.heartbeat(None).ready
    lacks = "a publisher of goal"
    assert liveliness.heartbeat(70).ready
    assert nanoseconds(liveliness.heartbeat(70).answered) == 70


def test_a_node_that_is_withdrawn_waits_until_it_takes_part_again() -> None:
    liveliness = Liveliness("pilot", lambda: "")
    assert liveliness.heartbeat(None).ready
    liveliness.withdrawn = "its activation"
    withdrawn = liveliness.heartbeat(None)
    assert (withdrawn.ready, withdrawn.waiting_for) == (False, "its activation")
    liveliness.withdrawn = ""
    assert liveliness.heartbeat(None).ready


def test_a_rival_has_the_name_and_another_process() -> None:
    liveliness = Liveliness("pilot", lambda: "")
    assert not liveliness.is_rival(liveliness.heartbeat(None))
    assert liveliness.is_rival(Liveliness("pilot", lambda: "").heartbeat(None))
    assert not liveliness.is_rival(Liveliness("planner", lambda: "").heartbeat(None))


def test_the_longest_answer_is_that_since_it_was_asked_for_last() -> None:
    liveliness = Liveliness("pilot", lambda: "")
    liveliness.took(0.5, False)
    liveliness.took(0.1, True)
    assert (liveliness.longest_answer(), liveliness.answers) == (0.5, 1)
    liveliness.took(0.2, True)
    assert (liveliness.longest_answer(), liveliness.answers) == (0.2, 2)
    assert liveliness.longest_answer() == 0.0


def test_heartbeats_go_on_after_an_error_and_end_when_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PERIOD", 0.0)
    errors: list[Exception] = []
    beats, third = 0, threading.Event()

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats == 3:
            liveliness.end()
            third.set()
        raise OSError("the folder is gone")

    liveliness = Liveliness("pilot", lambda: "")
    liveliness.start(beat, errors.append)
    assert third.wait(10.0)
    liveliness.join()
    assert beats == 3
    assert [str(error) for error in errors] == ["the folder is gone"] * 2, "at its end it does not complain"


def test_silence_is_counted_from_the_last_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1e6
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    silences = Silences()
    assert silences.listen_to("planner") and not silences.listen_to("planner")
    assert silences.of("planner") == now, "not heard yet"
    silences.hear(Heartbeat(node="planner"))
    silences.hear(Heartbeat(node="pilot"))
    now += 3.0
    assert silences.of("planner") == 3.0
    with pytest.raises(KeyError):
        silences.of("pilot")
