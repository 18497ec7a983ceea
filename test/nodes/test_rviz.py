"""The RViz configuration against the table of topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from esar_ros.mission.resources import resource
from esar_ros.nodes.interface import BY_NAME, Quality

VEHICLE = "uav1"
SHOWS = {
    "rviz_default_plugins/Odometry": "nav_msgs/msg/Odometry",
    "rviz_default_plugins/Path": "nav_msgs/msg/Path",
    "rviz_default_plugins/PointCloud2": "sensor_msgs/msg/PointCloud2",
    "rviz_default_plugins/Map": "nav_msgs/msg/OccupancyGrid",
    "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
    "rviz_default_plugins/Image": "sensor_msgs/msg/Image",
}


def displays(node: Any) -> Iterator[dict[str, Any]]:
    for display in node.get("Displays", []):
        yield display
        yield from displays(display)


def test_every_display_shows_a_topic_of_its_type_and_can_receive_it() -> None:
    config = yaml.safe_load(resource("rviz/mission.rviz").read_text(encoding="utf-8"))
    manager = config["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "map"
    shown = [display for display in displays(manager) if "Topic" in display]
    assert len(shown) >= 10
    for display in shown:
        name = display["Topic"]["Value"].removeprefix(f"/{VEHICLE}/")
        topic = BY_NAME[name]
        assert topic.type == SHOWS[display["Class"]], name
        if display["Topic"]["Durability Policy"] == "Transient Local":
            assert topic.quality is Quality.LATCHED, name
        elif topic.quality is Quality.LATCHED:
            raise AssertionError(f"{name} is latched: RViz would miss the newest")
