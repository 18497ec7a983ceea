"""The commands of any planner as the governor takes them, on real DDS."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from esar_ros.mission import names
from esar_ros.nodes.core import node_names

SECOND = 1_000_000_000


@pytest.fixture
def relay(ros: Callable[..., bool]) -> Any:
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    from esar_ros.nodes.alone.command_relay import CommandRelayNode

    original = Node.__init__
    given = [Parameter("pace", value="realtime"), Parameter("timeout", value=0.6)]
    Node.__init__ = lambda self, name, namespace=None: original(  # type: ignore[method-assign]
        self, name, namespace="/uav1", parameter_overrides=given
    )
    try:
        return CommandRelayNode()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]


@pytest.mark.parametrize("topic", ["cmd_vel", "cmd_vel_safe"])
def test_it_does_not_hear_what_the_governors_own_nodes_say(ros: Callable[..., bool], topic: str) -> None:
    """It would feed itself, and fly on by the last command when the planner has gone."""
    from rclpy.node import Node

    from esar_ros.mission.errors import UsageError
    from esar_ros.nodes.alone.command_relay import CommandRelayNode

    original, remap = Node.__init__, ["--ros-args", "-r", f"/cmd_vel:={topic}"]
    Node.__init__ = lambda self, name, namespace=None: original(self, name, namespace="/uav1", cli_args=remap)  # type: ignore[method-assign]
    try:
        with pytest.raises(UsageError, match=f"commands on /uav1/{topic}, which the governor's own nodes write"):
            CommandRelayNode()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]


class World:
    """A planner, and what the governor hears of it; the vehicle looks north."""

    def __init__(self, ros: Callable[..., bool], relay: Any) -> None:
        import rclpy
        from geometry_msgs.msg import TransformStamped, TwistStamped
        from nav_msgs.msg import Odometry
        from tf2_msgs.msg import TFMessage

        from esar_ros.nodes.core.interface import BY_NAME
        from esar_ros.nodes.core.qos import PROFILES
        from esar_ros.nodes.core.stamps import to_stamp

        self.ros, self.relay = ros, relay
        self.planner = rclpy.create_node("planner", namespace="/nav")
        self.heard: list[Any] = []
        quality = lambda name: PROFILES[BY_NAME[name].quality]  # noqa: E731
        self.planner.create_subscription(
            TwistStamped, f"/uav1/{names.CMD_VEL}", self.heard.append, quality(names.CMD_VEL)
        )
        static = self.planner.create_publisher(TFMessage, names.TF_STATIC, quality(names.TF_STATIC))
        transform = TransformStamped(child_frame_id="uav1/odom")
        transform.header.frame_id = names.MAP
        static.publish(TFMessage(transforms=[transform]))
        odometry = self.planner.create_publisher(Odometry, f"/uav1/{names.ODOMETRY}", quality(names.ODOMETRY))
        self.started = time.monotonic_ns()

        def move() -> None:
            message = Odometry()
            message.header.stamp = to_stamp(self.ns())
            message.pose.pose.orientation.w = message.pose.pose.orientation.z = math.sqrt(0.5)
            odometry.publish(message)

        self.move = self.planner.create_timer(0.02, move)

    def ns(self) -> int:
        """The odometry's time: it passes as the wall's does, however late a busy machine calls its timer."""
        return 7 * SECOND + time.monotonic_ns() - self.started

    def until(self, condition: Callable[[], bool], seconds: float = 15.0) -> bool:
        return bool(self.ros([self.relay, self.planner], condition, seconds))

    def velocity(self) -> tuple[float, float, float]:
        linear = self.heard[-1].twist.linear
        return linear.x, linear.y, linear.z


@pytest.fixture
def world(ros: Callable[..., bool], relay: Any) -> World:
    return World(ros, relay)


def test_a_twist_is_turned_into_the_map_and_repeated_until_it_is_too_old(world: World) -> None:
    from geometry_msgs.msg import Twist

    from esar_ros.mission.stamps import nanoseconds

    commands = world.planner.create_publisher(Twist, "/cmd_vel", 1)
    assert world.until(lambda: commands.get_subscription_count() > 0)
    twist = Twist()
    twist.linear.x, twist.angular.z = 2.0, 0.5
    before = world.ns()

    def said() -> bool:
        commands.publish(twist)
        return bool(world.heard)

    assert world.until(said)
    last = time.monotonic()
    assert world.velocity() == (pytest.approx(0.0, abs=1e-9), pytest.approx(2.0), 0.0), "forward is north"
    told = world.heard[-1]
    assert (told.header.frame_id, told.twist.angular.z) == (names.MAP, 0.5)
    assert before - SECOND < nanoseconds(told.header.stamp) <= world.ns(), "in the odometry's time"
    world.move.cancel()
    count = len(world.heard)
    assert world.until(lambda: len(world.heard) > count + 5), "it is repeated"
    stamps = [nanoseconds(message.header.stamp) for message in world.heard[count + 2 :]]
    assert stamps == sorted(set(stamps)), "the time since the newest odometry counts"
    assert stamps[-1] <= world.ns()
    assert world.until(lambda: time.monotonic() - last > 1.0)
    count = len(world.heard)
    assert not world.until(lambda: len(world.heard) > count, 0.5), "a planner that is silent commands nothing"
    assert "it holds" in world.relay.diagnose()[0].message


def test_a_stamped_twist_in_the_map_stays_and_an_old_one_is_not_taken(world: World) -> None:
    from geometry_msgs.msg import TwistStamped

    commands = world.planner.create_publisher(TwistStamped, "/cmd_vel", 1)
    stamped = TwistStamped()
    stamped.header.frame_id, stamped.twist.linear.x = "map", 1.5

    def said() -> bool:
        stamped.header.stamp = world.planner.get_clock().now().to_msg()
        commands.publish(stamped)
        return bool(world.heard)

    assert world.until(said)
    assert world.velocity() == (1.5, 0.0, 0.0), "east stays east"
    stamped.header.stamp.sec -= 5

    def refused() -> bool:
        commands.publish(stamped)
        return "s old by its stamp" in world.relay.diagnose()[0].message

    assert world.until(refused)
    assert not world.until(lambda: refused() and False, 1.0), "the last one that was taken counts for a while"
    count = len(world.heard)
    assert not world.until(lambda: refused() and len(world.heard) > count, 0.5)


def test_two_planners_are_named_and_a_topic_of_another_type_is_not_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from geometry_msgs.msg import Twist, Vector3

    errors: list[str] = []
    logger = SimpleNamespace(error=lambda words, **_: errors.append(words), info=lambda *_: None)
    monkeypatch.setattr(world.relay, "get_logger", lambda: logger)
    wrong = world.planner.create_publisher(Vector3, "/cmd_vel", 1)
    assert world.until(lambda: bool(errors))
    assert "geometry_msgs/msg/Vector3, which is none of geometry_msgs/msg/Twist" in errors[0]
    world.planner.destroy_publisher(wrong)
    import rclpy

    other = rclpy.create_node("joystick")
    try:
        for node in (world.planner, other):
            node.create_publisher(Twist, "/cmd_vel", 1)
        assert world.until(lambda: "2 planners command" in world.relay.diagnose()[0].message)
        assert world.relay.diagnose()[0].values["planners"] == "/joystick, /nav/planner"
    finally:
        other.destroy_node()


def test_the_governor_takes_commands_of_it_and_of_nobody_else(world: World) -> None:
    from geometry_msgs.msg import TwistStamped

    from esar_ros.nodes.core.authority import Authority

    assert world.relay.get_name() == node_names.PILOT
    authority = Authority(world.relay, "", (names.CMD_VEL,))
    assert world.until(lambda: len(world.relay.get_publishers_info_by_topic("/uav1/cmd_vel")) == 1)
    authority.look()
    assert authority.complaint == ""
    world.planner.create_publisher(TwistStamped, "/uav1/cmd_vel", 1)
    assert world.until(lambda: "/nav/planner" in authority.complaint)
