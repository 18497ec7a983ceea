"""Missions scored from their bags: like the live record, out of order, cut off, copied, broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.app import score as score_command
from esar_ros.bags.files import open_bag
from esar_ros.bags.playback import Selection, copy_bag
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag, score_bag
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.score import score
from helpers.built_messages import START
from helpers.small_mission import mission, odometry, write


@pytest.fixture
def truth_text(make_truth: Any) -> str:
    return make_truth(end=15.0).dump()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_scores_like_the_live_record(tmp_path: Path, truth_text: str, make_truth: Any, storage: str) -> None:
    messages = mission(truth_text)
    write(tmp_path / "bag", messages, storage)
    live = EpisodeRecord()
    for topic, _, message in reversed(messages):
        live.add("uav1", topic.removeprefix("/uav1/"), message)
    expected = score(live, make_truth(end=15.0), OfflineJudge())
    result = score_bag(tmp_path / "bag")
    assert result.dump() == expected.dump()
    assert result.metrics.clues_exact == 1
    assert result.metrics.path_length == pytest.approx(15.0)


def test_stamps_out_of_order_are_read(tmp_path: Path, truth_text: str) -> None:
    messages = mission(truth_text)
    write(tmp_path / "one", messages)
    write(tmp_path / "two", messages[::-1])
    assert score_bag(tmp_path / "one").dump() == score_bag(tmp_path / "two").dump()


def test_a_bag_without_its_end_is_read_up_to_the_last_flush(tmp_path: Path, truth_text: str) -> None:
    writer = write(tmp_path / "bag", mission(truth_text)[::-1], close=False)
    writer.flush()
    more = typestore().serialize_cdr(odometry(99.0), "nav_msgs/msg/Odometry")
    writer.write("/uav1/odometry", START, bytes(more))  # never flushed: lost
    record = read_bag(tmp_path / "bag")
    assert len(record.rows("uav1", "odometry")) == 400
    assert score_bag(tmp_path / "bag").metrics.clues_exact == 1
    writer.close()


def test_a_bag_cut_anywhere_is_read_or_refused_in_one_line(tmp_path: Path, truth_text: str) -> None:
    write(tmp_path / "bag", mission(truth_text))
    whole = (tmp_path / "bag" / "bag.mcap").read_bytes()
    outcomes: set[int | str] = set()
    for i, size in enumerate(np.linspace(0, len(whole) - 1, 12).astype(int)):
        folder = tmp_path / f"cut{i}"
        folder.mkdir()
        (folder / "bag.mcap").write_bytes(whole[:size])
        try:
            outcomes.add(len(read_bag(folder).rows("uav1", "odometry")))
        except UsageError as error:
            assert "\n" not in str(error)
            outcomes.add("refused")
    assert 400 in outcomes
    assert "refused" in outcomes


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_copy_without_pictures_scores_the_same(tmp_path: Path, make_truth: Any, storage: str) -> None:
    write(tmp_path / "bag", mission(make_truth(end=15.0).dump()), storage)
    with open_bag(tmp_path / "bag") as bag:
        count, left_out = copy_bag(bag, tmp_path / "copy", Selection(images=False))
    with open_bag(tmp_path / "copy") as copy:
        assert not any("Image" in connection.msgtype for connection in copy.connections)
        assert len(list(copy.messages())) == count
    assert not left_out
    assert b"jpeg at" not in next(f for f in (tmp_path / "copy").iterdir() if f.suffix != ".yaml").read_bytes()
    assert score_bag(tmp_path / "copy").dump() == score_bag(tmp_path / "bag").dump()


def test_a_compressed_copy_scores_the_same_and_is_smaller(tmp_path: Path, make_truth: Any) -> None:
    write(tmp_path / "bag", mission(make_truth(end=15.0).dump()))
    with open_bag(tmp_path / "bag") as bag:
        copy_bag(bag, tmp_path / "copy", Selection(), compressed=True)
    sizes = [(tmp_path / name / f"{name}.mcap").stat().st_size for name in ("copy", "bag")]
    assert sizes[0] < 0.5 * sizes[1]
    assert score_bag(tmp_path / "copy").dump() == score_bag(tmp_path / "bag").dump()


# --- Bad input: one clear line --------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        score_bag(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_bag(tmp_path: Path) -> None:
    assert "no bag at" in refused(tmp_path / "nothing")


def test_a_folder_or_file_that_is_no_bag(tmp_path: Path) -> None:
    assert "is no bag" in refused(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    assert "cannot read bag" in refused(tmp_path / "notes.txt")
    (tmp_path / "x.mcap").write_text("hello")
    assert "no MCAP" in refused(tmp_path / "x.mcap")


def test_broken_metadata(tmp_path: Path) -> None:
    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information: [")
    assert "cannot read bag" in refused(folder)


def test_a_foreign_bag(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/chatter", "std_msgs/msg/String")
    writer.close()
    assert "no ground truth" in refused(tmp_path / "bag")


def test_a_topic_of_another_type(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/uav1/odometry", "std_msgs/msg/String")
    text = typestore().types["std_msgs/msg/String"](data="hello")
    writer.write("/uav1/odometry", 1, bytes(typestore().serialize_cdr(text, "std_msgs/msg/String")))
    writer.close()
    assert "uav1/odometry: std_msgs/msg/String is not the type" in refused(tmp_path / "bag")


def test_a_mission_that_did_not_end(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission(None))
    assert "did not end" in refused(tmp_path / "bag")


def test_a_truth_of_another_schema(tmp_path: Path, truth_text: str) -> None:
    other = json.loads(truth_text) | {"schema": "esar-truth/9"}
    write(tmp_path / "bag", mission(json.dumps(other)))
    assert "key schema" in refused(tmp_path / "bag")


def test_another_error_threshold(tmp_path: Path, truth_text: str) -> None:
    """The report lies 1 m off."""
    write(tmp_path / "bag", mission(truth_text))
    assert score_bag(tmp_path / "bag", error_threshold=0.5).metrics.clues_exact == 0
    wide = score_bag(tmp_path / "bag", error_threshold=1.5)
    assert (wide.metrics.clues_exact, wide.thresholds.error_threshold) == (1, 1.5)
    for wrong in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(UsageError, match="error threshold"):
            score_bag(tmp_path / "bag", error_threshold=wrong)


def test_a_bag_with_flipped_bits_is_told_and_not_eligible(
    tmp_path: Path, truth_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The score is made of what is there, with a warning in one line."""
    write(tmp_path / "bag", mission(truth_text))
    (path,) = (tmp_path / "bag").glob("*.mcap")
    file = bytearray(path.read_bytes())
    at = file.find(b"uav1/odom") + 40  # in the first pose
    assert at > 40
    file[at] ^= 0x01
    path.write_bytes(file)
    result = score_bag(tmp_path / "bag")
    reason = "the bag is damaged: 1 of its chunks are not what their checksums say"
    assert reason in result.ineligible_reasons and not result.eligible
    assert score_command.main([str(tmp_path / "bag")]) == 0
    assert capsys.readouterr().err == f"esar: warning: {tmp_path / 'bag'}: {reason}: copy it again\n"
