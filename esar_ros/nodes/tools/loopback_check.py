"""Checks whether a message that a process sends to itself over DDS arrives.

Run: `python -m esar_ros.nodes.tools.loopback_check`.
"""

from __future__ import annotations

import sys
import time

import rclpy

from esar_ros.msg import Tick

PATIENCE = 10.0  # s
TOPIC = "loopback_check"


def main() -> int:
    """0 when a message went round within PATIENCE; otherwise 1 and a line that says so."""
    rclpy.init()
    node = rclpy.create_node("loopback_check")
    arrived: list[Tick] = []
    node.create_subscription(Tick, TOPIC, arrived.append, 10)
    publisher = node.create_publisher(Tick, TOPIC, 10)
    limit = time.monotonic() + PATIENCE
    while not arrived and time.monotonic() < limit:
        publisher.publish(Tick(seq=1))
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()
    if not arrived:
        print(f"a message sent to itself did not arrive within {PATIENCE:.0f} s", file=sys.stderr)
        return 1
    print("a message went round")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
