"""Probe of any graph that runs in this ROS domain: `python -m esar_ros.nodes.tools.graph_probe S` prints its facts.

Its subscriptions ask for no more than is offered, so that the probe itself never fails to match.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.bags.facts import Endpoint, Facts
from esar_ros.nodes.core.types import message_class

NAME = "graph_probe"
DISCOVERY = 1.5  # s before the graph is looked at, and again while listening
OWN = ("/rosout", "/parameter_events")


class GraphProbeNode(Node):
    """Subscribes to every topic with a header, transforms and clocks, and notes endpoints."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self.facts = Facts()
        self._subscribed: set[str] = set()

    def look(self) -> None:
        """Note all endpoints and subscribe to topics that are new."""
        endpoints = []
        for topic, types in self.get_topic_names_and_types():
            if topic in OWN or "/_action/" in topic:
                continue
            publishers = self.get_publishers_info_by_topic(topic)
            for publishes, infos in ((True, publishers), (False, self.get_subscriptions_info_by_topic(topic))):
                for info in infos:
                    if info.node_name != NAME:
                        quality = info.qos_profile
                        endpoints.append(
                            Endpoint(
                                topic,
                                info.topic_type,
                                f"{info.node_namespace.rstrip('/')}/{info.node_name}",
                                publishes,
                                quality.reliability == ReliabilityPolicy.RELIABLE,
                                quality.durability == DurabilityPolicy.TRANSIENT_LOCAL,
                            )
                        )
            if publishers and topic not in self._subscribed and len(types) == 1:
                self._listen(topic, types[0])
        self.facts.endpoints = endpoints

    def _listen(self, topic: str, message_type: str) -> None:
        self._subscribed.add(topic)
        try:
            kind = message_class(message_type)
        except (ImportError, AttributeError, ValueError):  # of a package that is not installed here
            return

        def take(message: Any) -> None:
            self.facts.take(topic, message_type, time.monotonic(), message)

        latched = message_type == "tf2_msgs/msg/TFMessage" and topic.endswith("_static")
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        quality = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT, durability=durability)
        self.create_subscription(kind, topic, take, quality)


def probe(seconds: float) -> Facts:
    """Facts of a time (s) of the running graph."""
    rclpy.init(args=[])
    node = GraphProbeNode()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    begun = time.monotonic()
    looked = 0.0
    while time.monotonic() < begun + DISCOVERY + seconds:
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() - looked > DISCOVERY:
            looked = time.monotonic()
            node.look()
    node.look()
    node.destroy_node()
    rclpy.try_shutdown()
    return node.facts


if __name__ == "__main__":
    print(probe(float(sys.argv[1])).dump())
