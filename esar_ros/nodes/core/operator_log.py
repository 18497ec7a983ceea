"""The log of manual interventions: acts of a person by service, action or parameter, on one topic.

The recorder keeps them, and to the referee the flight is no longer the method's own. The pilot requests actions of the
bridge, too: the first half of its goals' ids is its boot id (msg/Heartbeat).
"""

from __future__ import annotations

import random

from rcl_interfaces.msg import Log
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES

_HALF = 8  # bytes


class OperatorLog:
    """The log of a person's interventions on one vehicle, on the topic operator/act."""

    def __init__(self, node: Node, vehicle: str = "") -> None:
        """Takes the prefix of the vehicle's topics as the node addresses them; empty: the node's own namespace."""
        topic = names.OPERATOR_ACT
        self._node = node
        self._publisher = node.create_publisher(
            Log, f"{vehicle}/{topic}" if vehicle else topic, PROFILES[BY_NAME[topic].quality]
        )

    def record(self, what: str) -> None:
        """Publishes an intervention in words."""
        self._node.get_logger().info(f"by a person's hand: {what}")
        stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(Log(stamp=stamp, level=LoggingSeverity.INFO, name=self._node.get_name(), msg=what))


def goal_of(boot_id: int) -> UUID:
    """Returns a new goal's id, by which its sender is known."""
    rest = random.SystemRandom().getrandbits(8 * _HALF)
    return UUID(uuid=[*boot_id.to_bytes(_HALF, "big"), *rest.to_bytes(_HALF, "big")])


def is_goal_of(goal: UUID, boot_id: int) -> bool:
    """Returns whether the node of a boot id sent this goal; no node has the boot id 0."""
    return boot_id != 0 and bytes(goal.uuid)[:_HALF] == boot_id.to_bytes(_HALF, "big")
