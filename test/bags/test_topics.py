"""Messages of a bag by vehicle and topic."""

from __future__ import annotations

from pathlib import Path

from esar_ros.bags.topics import read_images, split_topic
from helpers.built_messages import SECOND, START
from helpers.small_mission import mission, write


def test_pictures_nearest_to_a_stamp(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission(None))
    topic = "uav1/camera/front/image/compressed"
    at = START + round(5.7 * SECOND)
    images = read_images(tmp_path / "bag", {topic: [at, START + 60 * SECOND]}, slack=SECOND)
    assert images == {(topic, at): b"jpeg at 6.0"}


def test_topic_names_split_into_vehicle_and_topic() -> None:
    topics = ("odometry", "map/status", "mission/truth")
    assert split_topic("/uav1/map/status", topics) == ("uav1", "map/status")
    assert split_topic("/fleet/uav2/odometry", topics) == ("uav2", "odometry")
    assert split_topic("/mission/truth", topics) == ("", "mission/truth")
    assert split_topic("/uav1/visual_odometry", topics) is None
