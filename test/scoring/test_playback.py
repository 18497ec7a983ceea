"""What of a bag is played or copied: topics, pictures, a part of it, and rounds that never go back in time."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag, score_bag
from esar_ros.scoring.bag_files import open_bag
from esar_ros.scoring.bag_writer import BagWriter, typestore
from esar_ros.scoring.playback import LOOP_GAP, Selection, copy_bag, play

sys.path.insert(0, str(Path(__file__).parent))
from test_bag import START, mission, write

SECOND = 1_000_000_000


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_copy_without_pictures_scores_the_same(tmp_path: Path, make_truth, storage: str) -> None:
    write(tmp_path / "bag", mission(make_truth(end=15.0).dump()))
    with open_bag(tmp_path / "bag") as bag:
        count, left_out = copy_bag(bag, tmp_path / "copy", Selection(pictures=False), storage)
    with open_bag(tmp_path / "copy") as copy:
        assert not any("Image" in connection.msgtype for connection in copy.connections)
        assert len(list(copy.messages())) == count
    assert not left_out
    assert b"jpeg at" not in next(f for f in (tmp_path / "copy").iterdir() if f.suffix != ".yaml").read_bytes()
    assert score_bag(tmp_path / "copy").dump() == score_bag(tmp_path / "bag").dump()


def test_a_part_of_a_bag_is_copied(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission(None))
    with open_bag(tmp_path / "bag") as bag:
        copy_bag(bag, tmp_path / "part", Selection(("odometry",), start=5.0, duration=2.0))
    record = read_bag(tmp_path / "part")
    stamps = [row.stamp for row in record.rows("uav1", "odometry")]
    assert (min(stamps), max(stamps)) == (15 * SECOND, 17 * SECOND)
    assert not record.rows("uav1", "reports")


def test_a_compressed_copy_scores_the_same_and_is_smaller(tmp_path: Path, make_truth) -> None:
    write(tmp_path / "bag", mission(make_truth(end=15.0).dump()))
    with open_bag(tmp_path / "bag") as bag:
        copy_bag(bag, tmp_path / "copy", Selection(), compressed=True)
        with pytest.raises(UsageError, match="no compressed chunks"):
            copy_bag(bag, tmp_path / "other", Selection(), "sqlite3", compressed=True)
    sizes = [(tmp_path / name / f"{name}.mcap").stat().st_size for name in ("copy", "bag")]
    assert sizes[0] < 0.5 * sizes[1]
    assert score_bag(tmp_path / "copy").dump() == score_bag(tmp_path / "bag").dump()


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
            copy_bag(bag, tmp_path / "out", Selection(("image/compressed",), pictures=False))
