"""px4_mirror: odometry of the bridge in, the vehicle of an AirSim server moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose


class Shown:
    """In place of the PoseMirror: keeps what it was told."""

    def __init__(self, connect: Any, vehicle: str, say: Any) -> None:
        self.vehicle, self.shown = vehicle, 0
        self.poses: list[Pose] = []

    def show(self, pose: Pose) -> None:
        self.poses.append(pose)

    def close(self) -> None:
        pass


@pytest.fixture
def graph(ros: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> Any:
    """spin, the mirror of uav2 and the publishers of its bridge."""
    import rclpy

    from esar_ros.mission import names
    from esar_ros.nodes import px4_mirror
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.core.types import message_class

    monkeypatch.setattr(px4_mirror, "PoseMirror", Shown)
    taken: list[Any] = []  # odometry that the mirror has done with
    take = px4_mirror.Px4MirrorNode._on_odometry

    def note(self: Any, message: Any) -> None:
        take(self, message)
        taken.append(message)

    monkeypatch.setattr(px4_mirror.Px4MirrorNode, "_on_odometry", note)
    node = px4_mirror.Px4MirrorNode("/team/uav2")
    bridge = rclpy.create_node("px4_bridge", namespace="/team/uav2")
    out = [
        bridge.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
        for name in (names.TF_STATIC, names.ODOMETRY)
    ]
    yield node, bridge, *out, taken
    node.destroy_node()
    bridge.destroy_node()


def test_the_bridge_s_odometry_is_shown_in_the_map(graph: Any, ros: Callable[..., bool]) -> None:
    from nav_msgs.msg import Odometry
    from tf2_msgs.msg import TFMessage

    from esar_ros.nodes.core.stamps import to_stamp
    from esar_ros.nodes.messages import convert
    from esar_ros.nodes.messages.vehicle import transform_message

    node, bridge, static, odometry, taken = graph
    shown = node._mirror
    assert shown.vehicle == "uav2"
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # to the left
    at = Odometry(child_frame_id="uav2/base_link")
    at.header.frame_id = "uav2/odom"
    at.pose.pose.position = convert.point([3.0, 0.0, 1.0])
    at.pose.pose.orientation = convert.quaternion([1.0, 0.0, 0.0, 0.0])
    odometry.publish(at)
    assert ros([node, bridge], lambda: bool(taken))
    assert not shown.poses, "nobody knows where odom is in the map"
    poses = (("uav1/odom", Pose(np.full(3, 99.0))), ("uav2/odom", Pose(np.array([10.0, 20.0, 30.0]), quarter)))
    static.publish(TFMessage(transforms=[transform_message("map", odom, pose, to_stamp(0)) for odom, pose in poses]))

    def is_shown() -> bool:
        odometry.publish(at)
        return bool(shown.poses)

    assert ros([node, bridge], is_shown)
    np.testing.assert_allclose(shown.poses[0].position, [10.0, 23.0, 31.0], atol=1e-9)
    np.testing.assert_allclose(shown.poses[0].quaternion, quarter, atol=1e-9)
    at.pose.pose.position.x = float("nan")
    for _ in range(5):
        odometry.publish(at)
    assert ros([node, bridge], lambda: sum(np.isnan(one.pose.pose.position.x) for one in taken) == 5)
    assert all(pose.is_finite() for pose in shown.poses), "a place that is none is not shown"
