"""Topics that a bag of each level keeps."""

from __future__ import annotations

import pytest

from esar_ros.bags.playback import IMAGES
from esar_ros.mission import names
from esar_ros.nodes.core.interface import RECORD_LEVELS, TOPICS, Record
from esar_ros.nodes.graph.mission import RECORDS
from esar_ros.scoring.record.rows import TOPICS as SCORED


def kept(level: str) -> set[str]:
    return {topic.name for topic in TOPICS if topic.recorded(level)}


def test_each_level_keeps_what_the_one_before_keeps() -> None:
    assert RECORDS == RECORD_LEVELS
    assert kept("none") == set()
    assert kept("none") < kept("score") < kept("private") < kept("view") < kept("full")
    assert kept("full") == {topic.name for topic in TOPICS if topic.record is not Record.NEVER}


@pytest.mark.parametrize("level", ["score", "private"])
def test_levels_for_sharing_keep_no_picture(level: str) -> None:
    assert not any(topic.type in IMAGES for topic in TOPICS if topic.recorded(level))


def test_private_is_view_without_pictures() -> None:
    types = {topic.name: topic.type for topic in TOPICS}
    assert {types[name] for name in kept("view") - kept("private")} == {"sensor_msgs/msg/CompressedImage"}


@pytest.mark.parametrize("level", ["score", "private", "view", "full"])
def test_every_level_can_be_scored(level: str) -> None:
    assert set(SCORED) <= kept(level)


def test_every_picture_of_the_table_is_one_of_those_that_a_copy_leaves_out() -> None:
    images = {topic.type for topic in TOPICS if topic.name.startswith("camera/") and topic.name.endswith("image")}
    images |= {topic.type for topic in TOPICS if topic.name.endswith(("depth", "compressed"))}
    assert images <= set(IMAGES)


@pytest.mark.parametrize("level", RECORD_LEVELS)
def test_a_camera_whose_pictures_are_kept_has_its_intrinsics_beside_them(level: str) -> None:
    for camera in names.CAMERAS:
        pictures = {names.camera_image(camera), names.camera_depth(camera), names.camera_compressed(camera)}
        assert not pictures & kept(level) or names.camera_info(camera) in kept(level)


def test_what_a_person_does_is_in_every_bag() -> None:
    assert {names.OPERATOR_ACT, names.OPERATOR_ORDER, names.OPERATOR_REPORT} <= kept("score")
