"""Topics of bags that recorded no quality of service: what is latched is known by the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.app.bags import replay
from esar_ros.bags.built_messages import build
from esar_ros.bags.files import open_bag
from esar_ros.bags.playback import Selection, play
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.nodes.tools.bagged_topic import kept_for_late
from helpers.built_messages import SECOND

KINDS = {
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "/uav1/mission/brief": "std_msgs/msg/String",  # of another type than the table's: a stranger's
    "/uav1/odometry": "nav_msgs/msg/Odometry",
}


@pytest.fixture
def silent(tmp_path: Path) -> Path:
    """A bag without qualities of service: latched messages at its begin, then ten seconds of odometry."""
    writer = BagWriter(tmp_path / "silent")
    for topic, kind in KINDS.items():
        writer._add(topic, kind, [])
        for second in range(10) if topic.endswith("odometry") else (0, 0):
            writer.write(topic, (1 + second) * SECOND, bytes(typestore().serialize_cdr(build(kind), kind)))
    writer.close()
    return tmp_path / "silent"


def test_what_the_table_latches_is_played_at_a_later_start(silent: Path) -> None:
    with open_bag(silent) as bag:
        assert {c.topic: kept_for_late(c) for c in bag.connections} == dict(zip(KINDS, (100, 0, 0), strict=True))
        played = [p.connection.topic for p in play(bag, bag.connections, Selection(start=3.0), kept=kept_for_late)]
    assert played == ["/tf_static"] * 2 + ["/uav1/odometry"] * 7


def test_replay_into_another_bag_keeps_it(silent: Path, tmp_path: Path) -> None:
    assert replay.main([str(silent), "--into", str(tmp_path / "part"), "--start", "3"]) == 0
    with open_bag(tmp_path / "part") as bag:
        assert sum(c.topic == "/tf_static" for c, _, _ in bag.messages()) == 2
