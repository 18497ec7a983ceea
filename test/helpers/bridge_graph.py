"""A bridge of an autopilot on DDS with the governor whom it obeys, and a person who asks for its actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from helpers.spinning import Spinner


@contextmanager
def started_with(namespace: str, parameters: dict[str, Any]) -> Iterator[None]:
    """Nodes made meanwhile live in a namespace and have parameters, as if started so."""
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    original, given = Node.__init__, [Parameter(key, value=value) for key, value in parameters.items()]
    Node.__init__ = lambda self, name: original(self, name, namespace=namespace, parameter_overrides=given)  # type: ignore[method-assign]
    try:
        yield
    finally:
        Node.__init__ = original  # type: ignore[method-assign]


class BridgeGraph:
    """The bridge with what commands it. velocity: m/s, that the governor publishes at 50 Hz."""

    def __init__(self, bridge: Any, space: str, origin: Any, height: Callable[[], float]) -> None:
        """space: the vehicle's namespace; origin: of the brief, 5 m above the map's; height: m, that it sees."""
        import rclpy
        from geometry_msgs.msg import TwistStamped
        from rclpy.action import ActionClient
        from rclpy.clock import Clock, ClockType

        from esar_ros.action import Arm, Manoeuvre, TouchDown
        from esar_ros.mission import names
        from esar_ros.msg import Brief, SafetyStatus
        from esar_ros.nodes.core.interface import BY_NAME
        from esar_ros.nodes.core.qos import PROFILES
        from esar_ros.nodes.core.types import message_class

        self.bridge = bridge
        self.user = rclpy.create_node("safety_governor", namespace=space)  # whom the bridge obeys
        self.control = rclpy.create_node("mission_control", namespace="/")  # whose brief it takes
        self.velocity: tuple[float, float, float] | None = (0.0, 0.0, 0.0)  # None: the governor is dead
        self.heard: dict[str, list[Any]] = {}
        quality = lambda name: PROFILES[BY_NAME[name].quality]  # noqa: E731
        command = self.user.create_publisher(TwistStamped, names.CMD_VEL_SAFE, quality(names.CMD_VEL_SAFE))
        safety = self.user.create_publisher(SafetyStatus, names.SAFETY_STATUS, quality(names.SAFETY_STATUS))
        brief = self.control.create_publisher(Brief, f"{space}/{names.BRIEF}", quality(names.BRIEF))
        below = origin.altitude - 5.0
        brief.publish(Brief(origin_latitude=origin.latitude, origin_longitude=origin.longitude, origin_altitude=below))

        def govern() -> None:
            if self.velocity is None:
                return
            message = TwistStamped()
            message.header.stamp = self.bridge.get_clock().now().to_msg()
            message.twist.linear.x, message.twist.linear.y, message.twist.linear.z = self.velocity
            command.publish(message)
            safety.publish(SafetyStatus(mode=SafetyStatus.MODE_NORMAL, has_height=True, height=height()))

        self.user.create_timer(0.02, govern, clock=Clock(clock_type=ClockType.STEADY_TIME))
        for name in (names.ODOMETRY, names.VEHICLE_STATE, names.BATTERY, names.TF_STATIC):
            self.user.create_subscription(
                message_class(BY_NAME[name].type), name,
                lambda m, n=name: self.heard.setdefault(n, []).append(m), quality(name),
            )  # fmt: skip
        self.kinds = {"arm": Arm, "touch_down": TouchDown, "manoeuvre": Manoeuvre}
        self.clients = {name: ActionClient(self.user, kind, name) for name, kind in self.kinds.items()}
        self._spinner: Spinner | None = None

    def spin(self, *groups: Sequence[Any]) -> None:
        """Spins each group of nodes by a thread of its own."""
        self._spinner = Spinner(*groups)

    @property
    def error(self) -> Exception | None:
        """Of a callback; None: there was none."""
        return None if self._spinner is None else self._spinner.error

    def close(self) -> None:
        """Ends the threads."""
        if self._spinner is not None:
            self._spinner.close()

    def wait(self, until: Callable[[], bool], seconds: float = 10.0) -> bool:
        """Returns whether something came true within some seconds."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and self.error is None:
            if until():
                return True
            time.sleep(0.01)
        return until()

    def do(self, name: str, seconds: float = 60.0, **goal: Any) -> Any:
        """Returns the result of an action."""
        client = self.clients[name]
        assert client.wait_for_server(10.0)
        sent = client.send_goal_async(self.kinds[name].Goal(**goal))
        assert self.wait(sent.done, 10.0), f"{name} was not taken"
        result = sent.result().get_result_async()
        assert self.wait(result.done, seconds), f"{name} did not end: {self.bridge._offboard.stage}"
        return result.result().result
