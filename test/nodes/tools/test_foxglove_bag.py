"""A mission's bag as Foxglove reads it: definitions inside, an index, what the layout shows among its topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME, TOPICS
from helpers.built_messages import header

VIEW = [topic for topic in TOPICS if topic.recorded("view")]


def test_the_official_reader_finds_definitions_and_an_index(tmp_path: Path) -> None:
    mcap = pytest.importorskip("mcap.reader")
    writer = BagWriter(tmp_path / "bag")
    for topic in VIEW:
        name = topic.name if topic.name.startswith("/") else f"/uav1/{topic.name}"
        writer.add_topic(name, topic.type, latched=topic.quality.kept_for_late)
    kind = BY_NAME[names.OPERATOR_ORDER].type
    types = typestore()
    for second in range(5):
        order = types.types[kind](header=header(second), order=second)
        writer.write(f"/uav1/{names.OPERATOR_ORDER}", (second + 1) * 10**9, bytes(types.serialize_cdr(order, kind)))
    writer.close()
    (file,) = (tmp_path / "bag").glob("*.mcap")
    with file.open("rb") as stream:
        reader = mcap.make_reader(stream)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary is not None and summary.statistics.message_count == 5
        assert summary.chunk_indexes, "opened over the net without reading it whole"
        topics = {channel.topic: channel for channel in summary.channels.values()}
        for topic in VIEW:
            channel = topics[topic.name if topic.name.startswith("/") else f"/uav1/{topic.name}"]
            schema = summary.schemas[channel.schema_id]
            assert (channel.message_encoding, schema.encoding, schema.name) == ("cdr", "ros2msg", topic.type)
            assert schema.data, topic.name
        found = [(m.log_time, m.data) for _, _, m in reader.iter_messages(topics=[f"/uav1/{names.OPERATOR_ORDER}"])]
    assert [ns for ns, _ in found] == [second * 10**9 for second in range(1, 6)]
    assert types.deserialize_cdr(found[-1][1], kind).order == 4


def test_a_bag_for_viewing_holds_what_a_viewer_needs() -> None:
    kept = {topic.name for topic in VIEW}
    assert {names.ODOMETRY, names.TF, names.TF_STATIC, names.CLUES, names.DECISION, names.SAFETY_STATUS} <= kept
    assert {names.camera_compressed(camera) for camera in names.CAMERAS} <= kept
