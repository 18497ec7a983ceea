"""Displays of the RViz configurations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from esar_ros.mission.resources import resource

CONFIGS = {"mission.rviz": ("uav1",), "multi.rviz": ("uav1", "uav2")}  # and of which vehicles they are
SHOWS = {
    "Odometry": "nav_msgs/msg/Odometry",
    "Path": "nav_msgs/msg/Path",
    "PointCloud2": "sensor_msgs/msg/PointCloud2",
    "Map": "nav_msgs/msg/OccupancyGrid",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
    "Image": "sensor_msgs/msg/Image",
}


def load(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(resource(f"rviz/{name}").read_text(encoding="utf-8")))


def displays(node: Any) -> Iterator[dict[str, Any]]:
    for display in node.get("Displays", []):
        yield display
        yield from displays(display)


def shown(name: str) -> list[tuple[dict[str, Any], str, str]]:
    """Displays of topics, each with vehicle and relative name."""
    found = []
    for display in displays(load(name)["Visualization Manager"]):
        if "Topic" in display:
            _, vehicle, topic = display["Topic"]["Value"].split("/", 2)
            found.append((display, vehicle, topic))
    return found
