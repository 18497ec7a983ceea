"""The live graph against the table in nodes/interface.py: nodes, topics, types, quality of service."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.action import graph as action_graph
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

sys.path.insert(0, str(Path(__file__).parent))
from flight import Flight, write_short_task

from esar_ros.mission import names
from esar_ros.nodes import interface
from esar_ros.nodes.interface import ACTIONS, ANY_NODE, OPERATOR, SERVICES, TOPICS, Topic
from esar_ros.nodes.qos import PROFILES

VEHICLE = "uav1"
SPACES = {name: f"/{VEHICLE}" for name in interface.VEHICLE_PARTICIPANTS} | {
    name: "/" for name in (*interface.MISSION_PARTICIPANTS, interface.AIRSIM_BRIDGE)
}


@pytest.fixture(scope="module")
def observer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A node that watches a mission that is under way."""
    import os
    import random

    domain = str(random.SystemRandom().randrange(20, 220))
    before = os.environ.get("ROS_DOMAIN_ID")
    os.environ["ROS_DOMAIN_ID"] = domain
    folder = tmp_path_factory.mktemp("live")
    flight = Flight(folder / "out", write_short_task(folder, 300.0), planner="fbe")
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("observer", context=context)
    try:
        flight.wait_until(3.0)
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()
        flight.abort()
        if before is None:
            os.environ.pop("ROS_DOMAIN_ID")
        else:
            os.environ["ROS_DOMAIN_ID"] = before


def full_name(topic: Topic) -> str:
    return topic.name if topic.name.startswith("/") else f"/{VEHICLE}/{topic.name}"


def test_every_node_of_the_graph_lives_once(observer: Any) -> None:
    alive = sorted((name, space) for name, space in observer.get_node_names_and_namespaces() if name != "observer")
    assert alive == sorted(SPACES.items())


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_has_its_writer_type_and_quality(observer: Any, topic: Topic) -> None:
    found = observer.get_publishers_info_by_topic(full_name(topic))
    if topic.writer == OPERATOR:
        assert not found, "nobody watches this mission"
        return
    assert found, f"nobody publishes {full_name(topic)}"
    writers = {info.node_name for info in found}
    if topic.writer == ANY_NODE:
        assert writers <= set(SPACES)
        assert len(writers) >= 8
    else:
        assert writers == {topic.writer}
    wanted = PROFILES[topic.quality]
    for info in found:
        assert info.topic_type == topic.type
        assert info.qos_profile.reliability == wanted.reliability
        assert info.qos_profile.durability == wanted.durability


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_subscriptions_match_their_publishers(observer: Any, topic: Topic) -> None:
    """A reliable reader of a best-effort writer, or a latched one of a volatile writer, would be silent."""
    wanted = PROFILES[topic.quality]
    readers = observer.get_subscriptions_info_by_topic(full_name(topic))
    for info in readers:
        assert info.topic_type == topic.type
        if wanted.reliability == ReliabilityPolicy.BEST_EFFORT:
            assert info.qos_profile.reliability != ReliabilityPolicy.RELIABLE
        if wanted.durability == DurabilityPolicy.VOLATILE:
            assert info.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL
    assert {info.node_name for info in readers} >= set(topic.readers)


def test_no_topic_is_on_the_graph_that_the_table_does_not_know(observer: Any) -> None:
    known = {full_name(topic) for topic in TOPICS}
    ours = {
        name
        for name, _ in observer.get_topic_names_and_types()
        if "/_action/" not in name and name not in ("/rosout", "/parameter_events")
    }
    assert ours <= known


def test_only_the_governor_writes_what_the_bridge_obeys(observer: Any) -> None:
    safe = f"/{VEHICLE}/{names.CMD_VEL_SAFE}"
    writers = [(info.node_name, info.node_namespace) for info in observer.get_publishers_info_by_topic(safe)]
    assert writers == [(interface.SAFETY_GOVERNOR, f"/{VEHICLE}")]
    obeyed = {
        topic.name
        for topic in TOPICS
        for info in observer.get_subscriptions_info_by_topic(full_name(topic))
        if info.node_name == interface.AIRSIM_BRIDGE and topic.type == "geometry_msgs/msg/TwistStamped"
    }
    assert obeyed == {names.CMD_VEL_SAFE}


def test_the_bridge_serves_the_actions(observer: Any) -> None:
    served = dict(action_graph.get_action_names_and_types(observer))
    for name, kind in ACTIONS.items():
        assert served[f"/{VEHICLE}/{name}"] == [kind]


def test_the_bridge_serves_the_services(observer: Any) -> None:
    served = dict(observer.get_service_names_and_types())
    for name, kind in SERVICES.items():
        assert served[f"/{name}"] == [kind]


def test_everything_lives_in_the_vehicle_s_namespace_but_what_ros_has_globally(observer: Any) -> None:
    allowed = {names.CLOCK, names.TF, names.TF_STATIC, names.DIAGNOSTICS}
    assert {topic.name for topic in TOPICS if topic.name.startswith("/")} == allowed
