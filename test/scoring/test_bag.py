"""Bags written, read, scored, cut off and broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag, read_pictures, score_bag, split_topic
from esar_ros.scoring.bag_writer import BagWriter, typestore
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record import EpisodeRecord
from esar_ros.scoring.score import score

SECOND = 1_000_000_000
START = 10 * SECOND
TYPES = {
    "/uav1/odometry": "nav_msgs/msg/Odometry",
    "/uav1/safety/status": "esar_ros/msg/SafetyStatus",
    "/uav1/vehicle_state": "esar_ros/msg/VehicleState",
    "/uav1/reports": "esar_ros/msg/Report",
    "/uav1/clues": "esar_ros/msg/Clues",
    "/uav1/mission/truth": "std_msgs/msg/String",
    "/uav1/camera/front/image/compressed": "sensor_msgs/msg/CompressedImage",
}


def build(name: str, **values: Any) -> Any:
    """A message of a type with every field at its zero, but for the given ones."""
    fields = typestore().fielddefs[name][1]
    cls = typestore().types[name]
    return cls(**{field: values.get(field, _zero(kind)) for field, kind in fields})


def _zero(kind: Any) -> Any:
    code, rest = kind
    if code == 1:
        return "" if rest[0] == "string" else False if rest[0] == "bool" else 0
    if code == 2:
        return build(rest)
    inner, count = rest
    if inner[0] == 1 and inner[1][0] != "string":
        dtype = {"bool": "bool"}.get(inner[1][0], inner[1][0])
        return np.zeros(count if code == 3 else 0, dtype=dtype)
    return []


def header(seconds: float, frame: str = "map") -> Any:
    ns = START + round(seconds * SECOND)
    stamp = build("builtin_interfaces/msg/Time", sec=ns // SECOND, nanosec=ns % SECOND)
    return build("std_msgs/msg/Header", stamp=stamp, frame_id=frame)


def point(x: float, y: float, z: float) -> Any:
    return build("geometry_msgs/msg/Point", x=x, y=y, z=z)


def odometry(t: float) -> Any:
    pose = build("geometry_msgs/msg/Pose", position=point(t, 0.0, 20.0))
    covariant = build("geometry_msgs/msg/PoseWithCovariance", pose=pose)
    return build("nav_msgs/msg/Odometry", header=header(t, "uav1/odom"), pose=covariant)


def mission(truth: str | None) -> list[tuple[str, float, Any]]:
    """(topic, time, message) of a small flight."""
    out: list[tuple[str, float, Any]] = []
    for i in range(400):
        t = i / 20
        out.append(("/uav1/odometry", t, odometry(t)))
        out.append(
            (
                "/uav1/safety/status",
                t,
                build(
                    "esar_ros/msg/SafetyStatus",
                    header=header(t),
                    mode=1,
                    reasons=np.array([8, 5], dtype=np.uint16),
                    has_clearance=True,
                    clearance=12.5,
                    has_height=True,
                    height=20.0,
                ),
            )
        )
        out.append(("/uav1/vehicle_state", t, build("esar_ros/msg/VehicleState", header=header(t), landed=2)))
    seen = build("esar_ros/msg/Clue", id=1, kind="tent", text="tent", score=0.9, position=point(40.0, 0.0, 0.0))
    out.append(("/uav1/clues", 5.0, build("esar_ros/msg/Clues", header=header(5.0), eligible=True, clues=[seen])))
    out.append(
        (
            "/uav1/reports",
            6.0,
            build(
                "esar_ros/msg/Report",
                header=header(6.0),
                seq=1,
                type=1,
                kind="tent",
                text="orange tent",
                confidence=0.9,
                position=point(41.0, 0.0, 0.0),
            ),
        )
    )
    for t in (5.0, 6.0):
        jpeg = np.frombuffer(f"jpeg at {t}".encode(), dtype=np.uint8)
        picture = build("sensor_msgs/msg/CompressedImage", header=header(t), format="jpeg", data=jpeg)
        out.append(("/uav1/camera/front/image/compressed", t, picture))
    if truth is not None:
        out.append(("/uav1/mission/truth", 20.0, build("std_msgs/msg/String", data=truth)))
    return out


def write(path: Path, messages: list[tuple[str, float, Any]], storage: str = "mcap", close: bool = True) -> BagWriter:
    writer = BagWriter(path, storage)
    for topic, message_type in TYPES.items():
        writer.add_topic(topic, message_type, latched=int(topic.endswith("truth")))
    for topic, t, message in messages:
        raw = bytes(typestore().serialize_cdr(message, TYPES[topic]))
        writer.write(topic, START + round(t * SECOND), raw)
    if close:
        writer.close()
        writer.close()
    return writer


@pytest.fixture
def truth_text(make_truth) -> str:
    return make_truth(end=15.0).dump()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_scores_like_the_live_record(tmp_path, truth_text, make_truth, storage: str) -> None:
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


def test_metadata_names_latched_topics(tmp_path, truth_text) -> None:
    write(tmp_path / "bag", mission(truth_text))
    meta = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    topics = {t["topic_metadata"]["name"]: t["topic_metadata"] for t in meta["topics_with_message_count"]}
    assert meta["storage_identifier"] == "mcap"
    (truth,) = topics["/uav1/mission/truth"]["offered_qos_profiles"]
    assert (truth["durability"], truth["depth"]) == ("transient_local", 1)
    assert topics["/uav1/odometry"]["offered_qos_profiles"][0]["durability"] == "volatile"
    assert topics["/uav1/reports"]["type_description_hash"].startswith("RIHS01_")


def test_stamps_out_of_order_are_read(tmp_path, truth_text) -> None:
    messages = mission(truth_text)
    write(tmp_path / "one", messages)
    write(tmp_path / "two", messages[::-1])
    assert score_bag(tmp_path / "one").dump() == score_bag(tmp_path / "two").dump()


def test_a_bag_without_its_end_is_read_up_to_the_last_flush(tmp_path, truth_text) -> None:
    writer = write(tmp_path / "bag", mission(truth_text)[::-1], close=False)
    writer.flush()
    more = typestore().serialize_cdr(odometry(99.0), "nav_msgs/msg/Odometry")
    writer.write("/uav1/odometry", START, bytes(more))  # never flushed: lost
    record = read_bag(tmp_path / "bag")
    assert len(record.rows("uav1", "odometry")) == 400
    assert score_bag(tmp_path / "bag").metrics.clues_exact == 1
    writer.close()


def test_a_bag_cut_anywhere_is_read_or_refused_in_one_line(tmp_path, truth_text) -> None:
    write(tmp_path / "bag", mission(truth_text))
    whole = (tmp_path / "bag" / "bag.mcap").read_bytes()
    outcomes = set()
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


def test_a_killed_writer_leaves_a_readable_bag(tmp_path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        import esar_ros.scoring.bag_writer as bag
        bag.FLUSH_PERIOD = 0.0
        writer = bag.BagWriter(Path(sys.argv[1]))
        writer.add_topic("/uav1/mission/truth", "std_msgs/msg/String")
        store = bag.typestore()
        text = store.types["std_msgs/msg/String"](data="hello")
        for i in range(50):
            writer.write("/uav1/mission/truth", i, bytes(store.serialize_cdr(text, "std_msgs/msg/String")))
        print("written", flush=True)
        time.sleep(60)
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "bag")], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert read_bag(tmp_path / "bag").truth_text == "hello"


def test_pictures_nearest_to_a_stamp(tmp_path, truth_text) -> None:
    write(tmp_path / "bag", mission(truth_text))
    topic = "uav1/camera/front/image/compressed"
    at = START + round(5.7 * SECOND)
    pictures = read_pictures(tmp_path / "bag", {topic: [at, START + 60 * SECOND]}, slack=SECOND)
    assert pictures == {(topic, at): b"jpeg at 6.0"}


def test_topic_names_split_into_vehicle_and_topic() -> None:
    topics = ("odometry", "map/status", "mission/truth")
    assert split_topic("/uav1/map/status", topics) == ("uav1", "map/status")
    assert split_topic("/fleet/uav2/odometry", topics) == ("uav2", "odometry")
    assert split_topic("/mission/truth", topics) == ("", "mission/truth")
    assert split_topic("/uav1/visual_odometry", topics) is None


# --- Bad input: one clear line --------------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        score_bag(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_bag(tmp_path) -> None:
    assert "no bag at" in refused(tmp_path / "nothing")


def test_a_folder_or_file_that_is_no_bag(tmp_path) -> None:
    assert "is no bag" in refused(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    assert "cannot read bag" in refused(tmp_path / "notes.txt")
    (tmp_path / "x.mcap").write_text("hello")
    assert "no MCAP" in refused(tmp_path / "x.mcap")


def test_broken_metadata(tmp_path) -> None:
    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information: [")
    assert "cannot read bag" in refused(folder)


def test_a_foreign_bag(tmp_path) -> None:
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/chatter", "std_msgs/msg/String")
    writer.close()
    assert "no ground truth" in refused(tmp_path / "bag")


def test_a_topic_of_another_type(tmp_path) -> None:
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/uav1/odometry", "std_msgs/msg/String")
    text = typestore().types["std_msgs/msg/String"](data="hello")
    writer.write("/uav1/odometry", 1, bytes(typestore().serialize_cdr(text, "std_msgs/msg/String")))
    writer.close()
    assert "uav1/odometry: std_msgs/msg/String is not the type" in refused(tmp_path / "bag")


def test_a_mission_that_did_not_end(tmp_path) -> None:
    write(tmp_path / "bag", mission(None))
    assert "did not end" in refused(tmp_path / "bag")


def test_a_truth_of_another_schema(tmp_path, truth_text) -> None:
    other = json.loads(truth_text) | {"schema": "esar-truth/9"}
    write(tmp_path / "bag", mission(json.dumps(other)))
    assert "key schema" in refused(tmp_path / "bag")


def test_another_error_threshold(tmp_path, truth_text) -> None:
    """The report lies 1 m off."""
    write(tmp_path / "bag", mission(truth_text))
    assert score_bag(tmp_path / "bag", error_threshold=0.5).metrics.clues_exact == 0
    wide = score_bag(tmp_path / "bag", error_threshold=1.5)
    assert (wide.metrics.clues_exact, wide.thresholds.error_threshold) == (1, 1.5)
    for wrong in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(UsageError, match="error threshold"):
            score_bag(tmp_path / "bag", error_threshold=wrong)


def test_writing_over_a_bag_or_an_unknown_type_is_refused(tmp_path) -> None:
    writer = BagWriter(tmp_path / "bag")
    with pytest.raises(UsageError, match="exists already"):
        BagWriter(tmp_path / "bag")
    with pytest.raises(UsageError, match="unknown"):
        writer.add_topic("/x", "foo_msgs/msg/Bar")
    with pytest.raises(UsageError, match="mcap or sqlite3"):
        BagWriter(tmp_path / "other", storage="tape")
    writer.close()
