"""The recorder's bag: its topics have the quality of service that they have in the graph."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from esar_ros.bags.files import open_bag
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core.interface import TOPICS
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.recorder import RecorderNode


@pytest.fixture
def recorder(ros: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecorderNode:
    given = {"out": str(tmp_path), "record": "full", "vehicles": ["uav1"]}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    original = Node.__init__
    monkeypatch.setattr(Node, "__init__", lambda self, name, **_: original(self, name, parameter_overrides=overrides))
    return RecorderNode()


def ended(recorder: RecorderNode) -> None:
    recorder.close()
    recorder.destroy_node()


def test_a_bag_without_a_flight_is_taken_away(recorder: RecorderNode, tmp_path: Path) -> None:
    assert (tmp_path / "bag").exists()
    ended(recorder)
    assert list(tmp_path.iterdir()) == []


def test_topics_are_offered_in_the_bag_as_they_were_flown(recorder: RecorderNode, tmp_path: Path) -> None:
    publisher = Node("flown").create_publisher(Odometry, "uav1/odometry", 1)
    flown = Odometry()
    flown.header.stamp.sec = 1
    deadline = time.monotonic() + 30.0
    while not recorder.flown and time.monotonic() < deadline:
        publisher.publish(flown)
        rclpy.spin_once(recorder, timeout_sec=0.1)
    ended(recorder)
    meta = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    offered = {
        one["topic_metadata"]["name"]: one["topic_metadata"]["offered_qos_profiles"][0]
        for one in meta["topics_with_message_count"]
    }
    recorded = [topic for topic in TOPICS if topic.recorded("full")]
    assert len(offered) == len(recorded)
    for topic in recorded:
        bagged = offered[topic.name if topic.name.startswith("/") else f"/uav1/{topic.name}"]
        profile = topic.quality.value
        assert bagged["depth"] == profile.depth
        assert bagged["reliability"] == ("reliable" if profile.reliable else "best_effort")
        assert bagged["durability"] == ("transient_local" if profile.latched else "volatile")


@pytest.mark.parametrize("start", [10**9, 1_800_000_000 * 10**9], ids=["sim time", "wall time"])
def test_diagnostics_are_filed_by_their_stamps_unless_these_are_of_another_clock(
    recorder: RecorderNode, tmp_path: Path, start: int
) -> None:
    def take(topic: str, kind: Any, ns: int) -> None:
        message = kind()
        message.header.stamp = to_stamp(ns)
        name = topic if topic.startswith("/") else f"/uav1/{topic}"
        recorder._take(("uav1", topic), name, True, serialize_message(message))

    other = 1_700_000_000 * 10**9
    for ns in (start - 10**8, other):  # before the first odometry
        take("/diagnostics", DiagnosticArray, ns)
    for ns in range(start, start + 10**9, 10**8):
        take("odometry", Odometry, ns)
    for ns in (start + 5 * 10**8, other):
        take("/diagnostics", DiagnosticArray, ns)
    ended(recorder)
    with open_bag(tmp_path / "bag") as bag:
        stamps = [ns for c, ns, _ in bag.messages() if c.topic == "/diagnostics"]
    assert stamps == [start - 10**8, start, start + 5 * 10**8, start + 9 * 10**8]


def test_a_full_disk_ends_the_bag_and_leaves_room_for_the_result(
    recorder: RecorderNode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The bag keeps what was written, and is closed with the room that was kept for that."""
    reserved: list[bool] = []

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert recorder._writer is not None and recorder._reserve is not None
    close = recorder._writer.close
    monkeypatch.setattr(recorder._writer, "write", full)

    def note_and_close() -> None:
        reserved.append(recorder._reserve is not None)
        close()

    monkeypatch.setattr(recorder._writer, "close", note_and_close)
    recorder._take(("uav1", "odometry"), "/uav1/odometry", False, b"")
    assert [(one.level, one.message) for one in recorder.diagnose()] == [(DiagnosticStatus.ERROR, recorder.trouble)]
    assert recorder.trouble in capfd.readouterr().err, "a vehicle's recorder may have no referee who tells it"
    assert recorder.trouble.startswith(f"cannot write {tmp_path / 'bag'}: No space left on device: free some space")
    assert reserved == [False] and recorder.complete(10**18)
    recorder._take(("uav1", "odometry"), "/uav1/odometry", False, b"")
    recorder.close()
    assert (tmp_path / "bag" / "metadata.yaml").is_file()


def test_a_disk_without_room_for_a_result_is_told_before_the_flight(
    ros: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no room for results in out: No space left on device: free some space"):
        RecorderNode()
