"""Addresses, what a step awaits and who is matched, without a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from esar_ros.mission import names
from esar_ros.msg import Tick
from esar_ros.nodes.core.participant.step import Step
from esar_ros.nodes.core.participant.topics import Awaited, TopicTable, lacking_readers

NOW, BEFORE, FRAME_BEFORE = 300, 200, 100  # ns


@dataclass
class Publisher:
    topic_name: str
    matched: int

    def get_subscription_count(self) -> int:
        return self.matched


@dataclass
class Subscription:
    topic_name: str
    matched: int

    def get_publisher_count(self) -> int:
        return self.matched


def step(kinds: int = 0, previous: int | None = BEFORE, frame_before: int | None = FRAME_BEFORE) -> Step:
    return Step(NOW, 6, kinds, 0.05, previous, frozenset(), frame_before)


def vehicle_table() -> TopicTable:
    return TopicTable("/uav1", ["uav1"], of_mission=False)


def nobody(vehicle: str) -> frozenset[str]:
    return frozenset()


def awaiting(**how: Any) -> TopicTable:
    table = vehicle_table()
    table.open_inbox(names.GOAL)
    table.expect(Awaited("uav1", names.GOAL, "planner", **how))
    return table


@pytest.mark.parametrize(
    ("table", "vehicle", "address"),
    [
        (vehicle_table(), None, "goal"),
        (vehicle_table(), "uav1", "goal"),
        (vehicle_table(), "uav2", "/uav2/goal"),
        (TopicTable("/team/uav1", ["uav1"], False), "uav2", "/team/uav2/goal"),
        (TopicTable("/", ["uav1", "uav2"], True), "uav2", "uav2/goal"),
        (TopicTable("/", ["uav1", "uav2"], True), None, "uav1/goal"),
    ],
)
def test_a_topic_lies_in_the_namespace_of_its_vehicle(table: TopicTable, vehicle: str | None, address: str) -> None:
    assert table.address("goal", vehicle) == address
    assert table.address("/clock", vehicle) == "/clock"


def test_an_input_has_one_inbox_a_vehicle() -> None:
    table = vehicle_table()
    assert not table.has_inbox(names.GOAL)
    box = table.open_inbox(names.GOAL)
    assert table.open_inbox(names.GOAL) is box is table.inbox(names.GOAL, "uav1")
    assert table.has_inbox(names.GOAL) and not table.has_inbox(names.GOAL, "uav2")
    with pytest.raises(KeyError):
        table.inbox(names.GOAL, "uav2")


@pytest.mark.parametrize(
    ("how", "stamp"), [({}, NOW), ({"previous": True}, BEFORE), ({"frame_before": True}, FRAME_BEFORE)]
)
def test_a_step_waits_for_exactly_one_stamp(how: dict[str, bool], stamp: int) -> None:
    table = awaiting(**how)
    for other in {NOW, BEFORE, FRAME_BEFORE} - {stamp}:
        table.inbox(names.GOAL).put(other, "of another step")
    assert not table.holds(step(), nobody)
    table.inbox(names.GOAL).put(stamp, "goal")
    assert table.holds(step(), nobody)


@pytest.mark.parametrize("how", ["previous", "frame_before"])
def test_where_there_is_no_step_before_none_is_awaited(how: str) -> None:
    assert awaiting(**{how: True}).holds(step(previous=None, frame_before=None), nobody)


def test_what_comes_with_frames_is_awaited_at_frames() -> None:
    table = awaiting(kinds=Tick.FRAME)
    assert table.holds(step(Tick.RANGES), nobody)
    assert not table.holds(step(Tick.RANGES | Tick.FRAME), nobody)


def test_neither_the_absent_nor_the_lost_are_waited_for() -> None:
    table = awaiting()
    assert not table.holds(step(), {"uav1": {"pilot"}, "uav2": {"planner"}}.__getitem__)
    assert table.holds(step(), {"uav1": {"planner"}}.__getitem__)
    table.inbox(names.GOAL).lose(NOW)
    assert table.holds(step(), nobody)


def test_a_message_is_that_of_a_stamp_or_else_the_newest() -> None:
    table = vehicle_table()
    box = table.open_inbox(names.GOAL)
    assert table.of_stamp(names.GOAL, NOW) is None
    box.put(BEFORE, "before")
    box.put(NOW, "now")
    assert [table.of_stamp(names.GOAL, ns) for ns in (BEFORE, NOW, 999, None)] == ["before", "now", "now", "now"]


def test_an_input_that_nobody_writes_is_named() -> None:
    table = vehicle_table()
    assert table.unwritten() == ""
    table.subscriptions += [Subscription("/uav1/goal", 1), Subscription("/uav1/decision", 0)]  # type: ignore[list-item]
    assert table.unwritten() == "/uav1/decision"


def test_readers_are_those_of_the_table_and_the_recorder_by_its_level() -> None:
    table = vehicle_table()
    table.add_publisher(names.GOAL, Publisher("/uav1/goal", 1))  # type: ignore[arg-type]
    readers = {"/uav1/goal": ["pilot", "rqt"]}.__getitem__
    assert table.unread("score", readers) == ""
    assert table.unread("view", readers) == "recorder to read /uav1/goal"
    assert table.unread("score", lambda topic: ["rqt"]) == "pilot to read /uav1/goal"


def test_a_reader_that_the_graph_names_but_that_is_not_matched_yet_still_lacks() -> None:
    publisher = Publisher("/uav1/goal", 0)
    assert lacking_readers(publisher, {"pilot"}, lambda topic: ["pilot"]) == ["pilot"]  # type: ignore[arg-type]
    publisher.matched = 1
    assert lacking_readers(publisher, {"pilot"}, lambda topic: ["pilot"]) == []  # type: ignore[arg-type]
    assert lacking_readers(publisher, set(), lambda topic: []) == []  # type: ignore[arg-type]
