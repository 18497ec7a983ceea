"""Playback and copies of a bag: topics, images, a part of it, and rounds that never go back in time."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from esar_ros.bags.files import open_bag
from esar_ros.bags.playback import LOOP_GAP, Selection, copy_bag, play
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag
from helpers.built_messages import SECOND, START
from helpers.small_mission import mission, write


def test_a_part_of_a_bag_is_copied(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission(None))
    with open_bag(tmp_path / "bag") as bag:
        copy_bag(bag, tmp_path / "part", Selection(("odometry",), start=5.0, duration=2.0))
    record = read_bag(tmp_path / "part")
    stamps = [row.stamp for row in record.rows("uav1", "odometry")]
    assert (min(stamps), max(stamps)) == (15 * SECOND, 17 * SECOND)
    assert not record.rows("uav1", "reports")


def test_rounds_follow_one_another(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission("truth")[::-1])
    with open_bag(tmp_path / "bag") as bag:
        once = list(play(bag, bag.connections, Selection()))
        twice = list(islice(play(bag, bag.connections, Selection(), loop=True), 2 * len(once)))
    stamps = [played.stamp for played in twice]
    assert stamps == sorted(stamps)
    assert {played.shift for played in once} == {0}
    length = once[-1].stamp - once[0].stamp + LOOP_GAP
    again = twice[len(once) :]
    assert [(p.stamp - length, p.raw) for p in again] == [(p.stamp, p.raw) for p in once]
    assert {played.shift for played in again} == {length}


def test_what_was_latched_before_the_start_is_played_at_it(tmp_path: Path) -> None:
    messages = [(topic, -1.0 if topic.endswith("truth") else t, message) for topic, t, message in mission("truth")]
    write(tmp_path / "bag", messages)
    with open_bag(tmp_path / "bag") as bag:
        played = list(play(bag, bag.connections, Selection(start=11.0, duration=1.0)))
    assert played[0].connection.topic == "/uav1/mission/truth" and played[0].stamp == START + 10 * SECOND
    assert {p.connection.topic for p in played[1:] if p.connection.topic.endswith("truth")} == set()
    assert max(p.stamp for p in played) <= START + 11 * SECOND


def test_of_what_was_latched_as_many_are_played_as_late_readers_were_given(tmp_path: Path) -> None:
    kind = "std_msgs/msg/String"
    writer = BagWriter(tmp_path / "bag")
    for topic, latched in (("/all", 3), ("/newest", 1), ("/none", 0)):
        writer.add_topic(topic, kind, latched)
        for second in range(6):
            text = typestore().types[kind](data=str(second))
            writer.write(topic, second * SECOND, bytes(typestore().serialize_cdr(text, kind)))
    writer.close()
    heard: dict[str, list[str]] = {}
    with open_bag(tmp_path / "bag") as bag:
        for played in play(bag, bag.connections, Selection(start=5.0)):
            said = typestore().deserialize_cdr(played.raw, kind).data
            heard.setdefault(played.connection.topic, []).append(said)
    assert heard == {"/all": ["2", "3", "4", "5"], "/newest": ["4", "5"], "/none": ["5"]}


def test_the_start_counts_from_the_bags_own_whatever_topics_are_chosen(tmp_path: Path) -> None:
    kind = "std_msgs/msg/String"
    writer = BagWriter(tmp_path / "bag")
    times = {"/all": range(10), "/late": range(4, 10), "/map": (1,)}
    for topic in times:
        writer.add_topic(topic, kind, latched=int(topic == "/map"))
    for second, topic in sorted((second, topic) for topic, seconds in times.items() for second in seconds):
        text = typestore().types[kind](data=str(second))
        writer.write(topic, second * SECOND, bytes(typestore().serialize_cdr(text, kind)))
    writer.close()

    def played(topics: tuple[str, ...], start: float, duration: float | None = None) -> list[tuple[str, float]]:
        selection = Selection(topics, start=start, duration=duration)
        with open_bag(tmp_path / "bag") as bag:
            messages = list(play(bag, selection.of(bag.connections), selection))
        return [(p.connection.topic, p.stamp / SECOND) for p in messages]

    assert played(("/late",), 7.0) == [("/late", 7.0), ("/late", 8.0), ("/late", 9.0)]
    assert played(("/late",), 3.0, 2.0) == [("/late", 4.0), ("/late", 5.0)]
    assert played(("/map",), 5.0) == played(("/map",), 5.0, 2.0) == [("/map", 5.0)]  # which nothing else follows
    assert played(("/map", "/late"), 2.0, 1.0) == [("/map", 2.0)]
    assert played(("/map",), 20.0) == []


def test_a_copy_of_nothing_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission("truth"))
    with open_bag(tmp_path / "bag") as bag, pytest.raises(UsageError, match="no message of that time"):
        copy_bag(bag, tmp_path / "part", Selection(start=1000.0))
    assert not (tmp_path / "part").exists()


def test_topics_are_chosen_by_pattern(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission("truth"))
    with open_bag(tmp_path / "bag") as bag:
        names = lambda *topics: {c.topic for c in Selection(topics).of(bag.connections)}  # noqa: E731
        assert names("odometry") == {"/uav1/odometry"}
        assert names("/uav1/*") == {c.topic for c in bag.connections}
        assert names("safety/*", "reports") == {"/uav1/safety/status", "/uav1/reports"}
        with pytest.raises(UsageError, match="'/odometry'"):
            names("/odometry")
        with pytest.raises(UsageError, match="nothing of the bag"):
            copy_bag(bag, tmp_path / "out", Selection(("image/compressed",), images=False))
