"""The recorder's bag: its topics have the quality of service that they have in the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from rclpy.node import Node
from rclpy.parameter import Parameter

from esar_ros.nodes.core.interface import TOPICS
from esar_ros.nodes.recorder import RecorderNode


def test_topics_are_offered_in_the_bag_as_they_were_flown(
    ros: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"out": str(tmp_path), "record": "full", "vehicles": ["uav1"]}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    original = Node.__init__
    monkeypatch.setattr(Node, "__init__", lambda self, name, **_: original(self, name, parameter_overrides=overrides))
    recorder = RecorderNode()
    recorder.close()
    recorder.destroy_node()
    meta = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    offered = {
        one["topic_metadata"]["name"]: one["topic_metadata"]["offered_qos_profiles"][0]
        for one in meta["topics_with_message_count"]
    }
    flown = [topic for topic in TOPICS if topic.recorded("full")]
    assert len(offered) == len(flown)
    for topic in flown:
        bagged = offered[topic.name if topic.name.startswith("/") else f"/uav1/{topic.name}"]
        profile = topic.quality.value
        assert bagged["depth"] == profile.depth
        assert bagged["reliability"] == ("reliable" if profile.reliable else "best_effort")
        assert bagged["durability"] == ("transient_local" if profile.latched else "volatile")
