"""PX4 mirror node: a drawing server's vehicle kept where the autopilot's is, so that cameras and LiDAR see from there.

Lives in the vehicle's namespace, beside px4_bridge, whose odometry it shows: what is drawn is where the graph believes
to be. Only for a server that draws; what flies in the server by itself needs none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from esar_ros.bridges.airsim.client import DEFAULT_PORT
from esar_ros.bridges.airsim.connect import connect
from esar_ros.bridges.airsim.mirror import PoseMirror
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import convert

LOOK = 1.0  # s between two looks at what it does


class Px4MirrorNode(Node):
    """Tells the newest odometry in the map to a PoseMirror."""

    def __init__(self, namespace: str | None = None) -> None:
        super().__init__(node_names.PX4_MIRROR, namespace=namespace)
        self._vehicle = self.get_namespace().rsplit("/", 1)[-1] or "uav1"
        host = str(declare(self, "host", "127.0.0.1", "of the AirSim server"))
        port = int(declare(self, "port", DEFAULT_PORT, "of the AirSim server", minimum=1, maximum=65535))
        self._odom_in_map: Pose | None = None
        for name, callback in ((names.TF_STATIC, self._on_static), (names.ODOMETRY, self._on_odometry)):
            entry = BY_NAME[name]
            self.create_subscription(message_class(entry.type), name, callback, PROFILES[entry.quality])
        self._mirror = PoseMirror(lambda: connect(host, port, 0.0), self._vehicle, self.get_logger().warning)
        self._where = f"{host}:{port}"
        self._said = ""
        self.create_timer(LOOK, self._say, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_static(self, message: Any) -> None:
        odom = names.vehicle_frame(self._vehicle, names.ODOM)
        for transform in message.transforms:
            if (transform.header.frame_id, transform.child_frame_id) == (names.MAP, odom):
                self._odom_in_map = convert.pose_of_transform(transform.transform)

    def _on_odometry(self, message: Any) -> None:
        if self._odom_in_map is None:
            return
        pose = self._odom_in_map.compose(convert.pose_of(message.pose.pose))
        if pose.is_possible():
            self._mirror.show(pose)

    def _say(self) -> None:
        """Says what it waits for, and once that it works."""
        topic = self.resolve_topic_name(names.ODOMETRY)
        words = f"{self._vehicle} is shown on {self._where}"
        if not self.count_publishers(topic):
            words = f"waiting for {topic}, which px4_bridge writes once a mission runs"
        elif self._odom_in_map is None:
            words = f"waiting for the transform {names.MAP} -> {names.vehicle_frame(self._vehicle, names.ODOM)}"
        elif not self._mirror.shown:
            words = f"waiting for {self._where} to take a pose"
        if words != self._said:
            self._said = words
            self.get_logger().info(words)

    def close(self) -> None:
        """Ends the connection."""
        self.get_logger().info(f"{self._mirror.shown} poses were shown")
        self._mirror.close()


def mirror(spaces: Sequence[str], host: str, port: int) -> int:
    """Mirrors the vehicles of these namespaces until it is stopped. Returns the exit code."""
    parameters = ["--ros-args", "-p", f"host:={host}", "-p", f"port:={port}"]
    return run(lambda: [Px4MirrorNode(space) for space in spaces], [sys.argv[0], *parameters])


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [Px4MirrorNode()])


if __name__ == "__main__":
    raise SystemExit(main())
