"""A reader of sections and lists is sent what it does not have, once."""

from __future__ import annotations

from esar_ros.app.view.live_sections import Cursor, Sections


def test_each_reader_is_sent_what_has_changed_since_it_asked() -> None:
    sections = Sections(["log"])
    early: Cursor = {}
    assert sections.changes(early) == {} and sections.get("battery") is None
    sections.put("battery", 0.5)
    sections.lists["log"] += ["one", "two"]
    assert sections.changes(early) == {"battery": 0.5, "log": {"from": 0, "items": ["one", "two"]}}
    assert sections.changes(early) == {}
    sections.put("battery", 0.5)
    assert sections.changes(early) == {}, "the same value again is no change"
    sections.put("battery", 0.4)
    sections.lists["log"].append("three")
    assert sections.changes(early) == {"battery": 0.4, "log": {"from": 2, "items": ["three"]}}
    assert sections.changes({}) == {"battery": 0.4, "log": {"from": 0, "items": ["one", "two", "three"]}}
    assert sections.get("battery") == 0.4


def test_a_value_of_none_is_a_value() -> None:
    sections = Sections([])
    sections.put("goal", None)
    assert sections.changes({}) == {"goal": None}
