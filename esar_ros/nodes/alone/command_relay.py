"""Command relay node: the velocity commands of any planner as the governor takes them.

It takes the pilot's place, and so has its name: governor and bridge know one node that commands. It reads /cmd_vel
(remap it), a Twist or a TwistStamped, whichever is published there, and says it again in the map and in the odometry's
time: at once, and then at 20 Hz until the planner has been silent for `timeout`. Then it is silent itself, and the
governor holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription

from esar_ros.flight.foreign_command import AXES, BODY, ForeignCommand
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.steps import Step, StepNode
from esar_ros.nodes.graph.governor import TIMEOUTS
from esar_ros.nodes.messages import convert

TOPIC = "/cmd_vel"  # of whatever planner
PERIOD = 0.05  # s between two repetitions: a quarter of the age at which the governor takes no command any more
LOOK = 0.5  # s between two looks at who publishes it
KINDS: dict[str, type] = {"geometry_msgs/msg/Twist": Twist, "geometry_msgs/msg/TwistStamped": TwistStamped}


class CommandRelayNode(StepNode):
    """The only writer of the governor's `cmd_vel` where no pilot flies."""

    def __init__(self) -> None:
        super().__init__(node_names.PILOT)
        until = "s for which a command counts that nobody repeats; then the governor holds"
        timeout = float(declare(self, "timeout", 0.5, until, *TIMEOUTS))
        of_which = "axes of a command that states no frame: body (forward, left, up) or map (east, north, up)"
        self._command = ForeignCommand(timeout, declare(self, "axes", BODY, of_which, choices=AXES))
        self._odometry = convert.OdometryInMap(self)
        self.output(names.CMD_VEL)
        self._topic = self.resolve_topic_name(TOPIC)
        if self._topic in [self.resolve_topic_name(name) for name in (names.CMD_VEL, names.CMD_VEL_SAFE)]:
            # It would hear itself, and no command would ever be too old.
            raise UsageError(f"commands on {self._topic}, which the governor's own nodes write", "use another topic")
        self._kind = ""
        self._subscription: Subscription | None = None
        self._planners: list[str] = []
        self.every(PERIOD, self._say)
        self.every(LOOK, self._look)
        self.join()

    def on_step(self, step: Step) -> None:
        """Without a simulator there is no lockstep: it works on its timer and on commands."""

    def _look(self) -> None:
        """Subscribes to what is published there: a topic has one type, and planners send either."""
        found = self.get_publishers_info_by_topic(self._topic)
        self._planners = sorted({f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in found})
        kinds = {one.topic_type for one in found}
        known = sorted(kinds & KINDS.keys())
        if kinds and not known:
            words = f"{self._topic} is {', '.join(sorted(kinds))}, which is none of {', '.join(KINDS)}"
            self.get_logger().error(words, throttle_duration_sec=10.0)
        if not known or self._kind in known:
            return
        if self._subscription is not None:
            self.destroy_subscription(self._subscription)
        self._kind = known[0]
        hear: Callable[[Any], None] = self._on_twist if KINDS[self._kind] is Twist else self._on_stamped
        self._subscription = self.create_subscription(KINDS[self._kind], self._topic, hear, qos_profile_sensor_data)
        self.get_logger().info(f"commands come from {', '.join(self._planners)} as {self._kind}")

    def _on_twist(self, twist: Twist) -> None:
        self._take(twist, "", 0.0)

    def _on_stamped(self, message: TwistStamped) -> None:
        ns = nanoseconds(message.header.stamp)
        age = (self.get_clock().now().nanoseconds - ns) * 1e-9 if ns else 0.0
        self._take(message.twist, message.header.frame_id, age)

    def _take(self, twist: Twist, frame_id: str, age: float) -> None:
        command = self._command
        command.take(convert.array3(twist.linear), float(twist.angular.z), time.monotonic(), frame_id, age)
        if command.refused:
            self.get_logger().warning(f"not taken: {command.refused}", throttle_duration_sec=5.0)
        self._say()

    def _say(self) -> None:
        """Says the command that counts, stamped as the governor counts: the newest odometry's and the time since."""
        own, now = self._odometry.at(), time.monotonic()
        if own is None:
            return
        ns, pose, _ = own
        told = self._command.at(now, pose.yaw)
        if told is None:
            return
        message = TwistStamped()
        message.header.stamp = to_stamp(ns + round((now - self._odometry.arrived) * 1e9))
        message.header.frame_id = names.MAP
        message.twist.linear, message.twist.angular.z = convert.vector3(told[0]), told[1]
        self.send(names.CMD_VEL, message)

    def diagnose(self) -> list[Finding]:
        """Returns who commands, and since when nobody does."""
        silence = self._command.silence(time.monotonic())
        values = {"topic": self._topic, "planners": ", ".join(self._planners), "silence (s)": round(silence, 2)}
        level, words = DiagnosticStatus.OK, "a planner commands"
        if len(self._planners) > 1:
            level, words = DiagnosticStatus.WARN, f"{len(self._planners)} planners command, by turns"
        elif self._command.refused:
            level, words = DiagnosticStatus.WARN, f"not taken: {self._command.refused}"
        elif silence > self._command.timeout:
            level, words = DiagnosticStatus.WARN, "no command: it holds"
        return [Finding("commands", level, words, values)]
