"""The last few messages by stamp."""

from __future__ import annotations

from esar_ros.nodes.core.participant.inbox import Inbox


def test_an_inbox_keeps_the_last_few_by_stamp() -> None:
    box = Inbox()
    assert box.nearest_stamp(5) is None
    for ns in range(20):
        box.put(ns, f"message {ns}")
    assert box.newest == "message 19"
    assert box.at(19) == "message 19"
    assert box.at(0) is None
    assert (box.nearest_stamp(100), box.nearest_stamp(0)) == (19, 12)


def test_what_is_lost_is_settled_and_absent() -> None:
    box = Inbox()
    assert not box.settled(3)
    box.lose(3)
    assert box.settled(3) and box.at(3) is None
