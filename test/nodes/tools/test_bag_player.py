"""A bag played into the graph: everything arrives as it was, time never goes back, strangers are passed over."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, TransformStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path as PathMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from esar_ros.bags.files import open_bag
from esar_ros.bags.playback import Selection
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.tools.bag_player import BagPlayerNode, PlayOptions
from esar_ros.nodes.tools.restamp import Stamped, restamp, stamped
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.flight_truth import load_truth
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.score import score
from helpers.small_mission import TYPES, mission, write

SECOND = 1_000_000_000
TF, TF_STATIC = names.TF, names.TF_STATIC


def transform(t: float, child: str) -> bytes:
    moment = TransformStamped(child_frame_id=child)
    moment.header.stamp = to_stamp(round(t * SECOND))
    moment.header.frame_id = "map"
    return bytes(serialize_message(TFMessage(transforms=[moment])))


@pytest.fixture
def short_bag(tmp_path: Path) -> Path:
    """One second of TF and a latched text that came before it."""
    writer = BagWriter(tmp_path / "short")
    writer.add_topic(TF, "tf2_msgs/msg/TFMessage")
    writer.add_topic(TF_STATIC, "tf2_msgs/msg/TFMessage", latched=1)
    writer.add_topic("/uav1/word", "std_msgs/msg/String", latched=1)
    writer.write(TF_STATIC, 0, transform(0.1, "camera"))
    writer.write("/uav1/word", 0, bytes(serialize_message(String(data="before"))))
    for i in range(21):
        writer.write(TF, round((1.0 + i / 20) * SECOND), transform(1.0 + i / 20, "body"))
    writer.close()
    return tmp_path / "short"


class Listener:
    """A node that keeps what it receives."""

    def __init__(self, **topics: Any) -> None:
        self.node = rclpy.create_node("listener")
        self.heard: dict[str, list[Any]] = defaultdict(list)
        for topic, (kind, quality) in topics["topics"].items():
            self.node.create_subscription(kind, topic, self.heard[topic].append, quality)


def test_stamps_and_clock_never_go_back_in_a_loop(ros: Any, short_bag: Path) -> None:
    listener = Listener(
        topics={
            TF: (TFMessage, PROFILES[BY_NAME[TF].quality]),
            TF_STATIC: (TFMessage, PROFILES[BY_NAME[TF_STATIC].quality]),
            names.CLOCK: (Clock, PROFILES[BY_NAME[names.CLOCK].quality]),
        }
    )
    said: list[str] = []
    with open_bag(short_bag) as bag:
        player = BagPlayerNode(bag, PlayOptions(Selection(start=0.5), rate=10.0, loop=True), said.append)
        assert ros([listener.node, player], lambda: len(listener.heard[TF]) >= 70, 60.0)
    stamps = [nanoseconds(m.transforms[0].header.stamp) for m in listener.heard[TF]]
    assert stamps == sorted(stamps) and len(set(stamps)) == len(stamps)
    clocks = [nanoseconds(m.clock) for m in listener.heard[names.CLOCK]]
    assert clocks == sorted(clocks)
    assert stamps[:21] == [round((1.0 + i / 20) * SECOND) for i in range(21)], "the first round is as it was"
    statics = [nanoseconds(m.transforms[0].header.stamp) for m in listener.heard[TF_STATIC]]
    assert len(statics) >= 3 and statics == sorted(statics), "latched before the start, played in every round"
    assert any("from the start again" in line for line in said)


TRUTH = """
schema: esar-flight-truth/1
t_max: 15
vehicles: {uav1: {odom_in_map: [0, 0, 0]}}
victims: [{id: v1, position: [100, 0, 0]}]
clues: [{id: c1, kind: tent, description: orange tent, position: [40, 0, 0]}]
"""


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_what_is_played_scores_as_the_bag_it_came_from(ros: Any, tmp_path: Path, storage: str) -> None:
    """Played, received by subscribers like the referee's, scored: the same to the last byte."""
    write(tmp_path / "bag", mission(None), storage)
    (tmp_path / "truth.yaml").write_text(TRUTH)
    record = EpisodeRecord()
    node = rclpy.create_node("listener")
    for topic, kind in TYPES.items():
        relative = topic.removeprefix("/uav1/")
        node.create_subscription(
            message_class(kind), topic, partial(record.add, "uav1", relative), PROFILES[BY_NAME[relative].quality]
        )
    with open_bag(tmp_path / "bag") as bag:
        player = BagPlayerNode(bag, PlayOptions(rate=20.0), lambda line: None)
        assert ros([node, player], lambda: player.exit_code == 0, 90.0)
        assert player.played["/uav1/odometry"] == 400
    assert ros([node], lambda: len(record.rows("uav1", "odometry")) == 400 and record.rows("uav1", "reports"), 10.0)
    expected = score_bag(tmp_path / "bag", truth=tmp_path / "truth.yaml")
    assert score(record, load_truth(tmp_path / "truth.yaml", record, {}), OfflineJudge()).dump() == expected.dump()
    assert expected.metrics.clues_exact == 1


def test_types_that_are_not_installed_are_passed_over_in_a_line_each(ros: Any, tmp_path: Path) -> None:
    from rosbags.typesys import get_types_from_msg

    types = typestore()
    foreign = get_types_from_msg("string data\n", "foreign_msgs/msg/Word")
    if "foreign_msgs/msg/Word" not in types.fielddefs:
        types.register(foreign)
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/word", "foreign_msgs/msg/Word")
    writer.add_topic("/text", "std_msgs/msg/String")
    word = bytes(types.serialize_cdr(types.types["foreign_msgs/msg/Word"](data="x"), "foreign_msgs/msg/Word"))
    writer.write("/word", 1, word)
    writer.write("/text", 2, bytes(serialize_message(String(data="x"))))
    writer.close()
    said: list[str] = []
    with open_bag(tmp_path / "bag") as bag:
        player = BagPlayerNode(bag, PlayOptions(wait=0.0), said.append)
        assert ros([player], lambda: player.exit_code == 0)
        assert dict(player.played) == {"/text": 1}
        assert said[0] == "passed over: /word (foreign_msgs/msg/Word is not installed)"
        with pytest.raises(UsageError, match="nothing that can be played"):
            BagPlayerNode(bag, PlayOptions(Selection(("/word",))), said.append)
        with pytest.raises(UsageError, match="no topic of the bag is called '/typo'"):
            BagPlayerNode(bag, PlayOptions(Selection(("/typo",))), said.append)


def test_a_bag_is_not_played_into_a_flying_mission(ros: Any, short_bag: Path) -> None:
    """Its commands would reach the vehicle."""
    bridge = rclpy.create_node("airsim_bridge")
    with open_bag(short_bag) as bag:
        player = BagPlayerNode(bag, PlayOptions(wait=0.0), lambda line: None)
        with pytest.raises(UsageError, match=r"a mission is flying in ROS domain \d+: /airsim_bridge"):
            ros([bridge, player], lambda: player.exit_code is not None)
        assert not player.played


def test_a_subscriber_that_asks_for_more_than_was_recorded_is_told(ros: Any, short_bag: Path) -> None:
    """Listed but silent: a latched subscription to a volatile topic."""
    node = rclpy.create_node("listener")
    quality = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(TFMessage, TF, lambda m: None, quality)
    said: list[str] = []
    with open_bag(short_bag) as bag:
        player = BagPlayerNode(bag, PlayOptions(wait=0.0, rate=1.0), said.append)
        assert ros([node, player], lambda: any("durability" in line for line in said))
    assert any(line.startswith(f"{TF}: a subscriber asks for more durability") for line in said)


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"rate": float("nan")}, {"clock": -1.0}, {"wait": -1.0}])
def test_numbers_without_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        PlayOptions(**wrong).check()
    with pytest.raises(UsageError, match="start"):
        Selection(start=-1.0).check()


# --- Stamps inside messages -----------------------------------------------------------------------------------------


def test_where_stamps_are() -> None:
    assert stamped("nav_msgs/msg/Odometry") is Stamped.IN_FRONT
    assert stamped("std_msgs/msg/String") is Stamped.NOWHERE
    assert stamped("tf2_msgs/msg/TFMessage") is Stamped.INSIDE
    assert stamped("nav_msgs/msg/Path") is Stamped.INSIDE
    assert stamped("esar_ros/msg/Decision") is Stamped.INSIDE  # `effective` beside the header
    assert stamped("rosgraph_msgs/msg/Clock") is Stamped.IN_FRONT


@given(ns=st.integers(0, 2**31 * SECOND - 1), shift=st.integers(0, 1000 * SECOND))
@settings(deadline=None)
def test_every_stamp_moves_and_nothing_else(ns: int, shift: int) -> None:
    ns = min(ns, (2**31 - 1) * SECOND - shift)
    odometry = Odometry(child_frame_id="uav1/base_link")
    odometry.header.stamp = to_stamp(ns)
    odometry.pose.pose.position.x = 3.5
    path = PathMessage(poses=[PoseStamped(), PoseStamped()])
    path.header.stamp = to_stamp(ns)
    path.poses[1].header.stamp = to_stamp(ns)
    expected = to_stamp(ns + shift) if ns else Time()
    moved = deserialize_message(restamp(bytes(serialize_message(odometry)), "nav_msgs/msg/Odometry", shift), Odometry)
    odometry.header.stamp = expected
    assert moved == odometry
    moved = deserialize_message(restamp(bytes(serialize_message(path)), "nav_msgs/msg/Path", shift), PathMessage)
    path.header.stamp = path.poses[1].header.stamp = expected
    assert moved == path
