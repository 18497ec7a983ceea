"""Topics of one autopilot: PX4's quality of service, names by the classes in use, and what lacks of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.bridges.px4.commands import OWN_COMPONENT, OWN_SYSTEM, Command
from esar_ros.bridges.px4.external import API_VERSION, CONTROLLED, REQUIREMENTS
from esar_ros.bridges.px4.frames import VelocitySetpoint
from esar_ros.bridges.px4.stream import Output
from esar_ros.bridges.px4.versions import (
    EXTERNAL_IN,
    EXTERNAL_OUT,
    IN,
    OPTIONAL_OUT,
    OUT,
    Missing,
    explain,
    missing,
    topic,
    version_of,
)
from esar_ros.nodes.px4.messages import message_class

# PX4 writes best effort and transient local: a reliable reader gets nothing, and a latched one would be told what
# was true before it came. It reads best effort.
QUALITY = QoSProfile(
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
)
NOW = 0  # us: PX4 puts its own time in; a stamp two seconds old would count as lost
AUTOPILOT = 1  # target component


class Px4Link:
    """Publishers and subscriptions. on_message(name, message) is called with the autopilot's messages."""

    def __init__(
        self,
        node: Node,
        namespace: str,
        target_system: int,
        on_message: Callable[[str, Any], None],
        external: bool = False,
    ) -> None:
        """external: also the topics of an external mode."""
        self._node, self._namespace, self._target = node, namespace, target_system
        self._received = (*OUT, *EXTERNAL_OUT) if external else OUT
        self._sent = (*IN, *EXTERNAL_IN) if external else IN
        heard = (*self._received, *OPTIONAL_OUT)
        self._classes = {name: message_class(name) for name in (*heard, *self._sent)}
        self.versions = {name: version_of(kind) for name, kind in self._classes.items()}
        for name in heard:
            node.create_subscription(
                self._classes[name], self._topic(name, True), lambda m, n=name: on_message(n, m), QUALITY
            )
        self._publishers = {
            name: node.create_publisher(self._classes[name], self._topic(name, False), QUALITY) for name in self._sent
        }

    def _topic(self, name: str, outgoing: bool) -> str:
        return topic(name, self.versions[name], self._namespace, outgoing)

    def lacks(self) -> list[Missing]:
        """Topics of the table without an endpoint of the autopilot."""
        node = self._node
        alive = [name for name, _ in node.get_topic_names_and_types() if "/fmu/" in name]
        there = [name for name in alive if "/out/" in name and node.count_publishers(name)]
        there += [name for name in alive if "/in/" in name and node.count_subscribers(name)]
        needed = [(name, self.versions[name], name in self._received) for name in (*self._received, *self._sent)]
        return missing(needed, self._namespace, there)

    def explain(self, lacks: list[Missing]) -> str:
        """Returns the explanation of these missing topics."""
        return explain(lacks, self.versions)

    def send(self, output: Output) -> None:
        """Publish one step's output: the heartbeat last, after what it stands for."""
        if output.setpoint is not None:
            self._publishers["TrajectorySetpoint"].publish(self._setpoint(output.setpoint))
        for command in output.commands:
            self._publishers["VehicleCommand"].publish(self._command(command))
        self._send_external(output)
        if output.heartbeat:
            kind = self._classes["OffboardControlMode"]
            self._publishers["OffboardControlMode"].publish(kind(timestamp=NOW, velocity=True))

    def _send_external(self, output: Output) -> None:
        """Publishes an external mode's registration and its answer to an arming check."""
        if output.registration is not None:
            kind, asked = self._classes["RegisterExtComponentRequest"], output.registration
            self._publishers["RegisterExtComponentRequest"].publish(
                kind(
                    timestamp=NOW,
                    request_id=asked.request_id,
                    name=list(asked.name),
                    px4_ros2_api_version=API_VERSION,
                    register_arming_check=True,
                    register_mode=True,
                )
            )
        if output.answer is not None:
            needed = {f"mode_req_{what}": True for what in REQUIREMENTS}
            reply = self._classes["ArmingCheckReply"](
                timestamp=NOW,
                request_id=output.answer.request_id,
                registration_id=output.answer.registration_id,
                can_arm_and_run=output.answer.can_run,
                **needed,
            )
            self._publishers["ArmingCheckReply"].publish(reply)
        if output.control is not None:
            flags = {f"flag_control_{what}_enabled": True for what in CONTROLLED}
            kind = self._classes["VehicleControlMode"]
            self._publishers["VehicleControlMode"].publish(kind(timestamp=NOW, source_id=output.control, **flags))

    def _setpoint(self, point: VelocitySetpoint) -> Any:
        return self._classes["TrajectorySetpoint"](
            timestamp=NOW,
            position=point.position,
            velocity=point.velocity,
            acceleration=point.acceleration,
            jerk=point.jerk,
            yaw=point.yaw,
            yawspeed=point.yawspeed,
        )

    def _command(self, command: Command) -> Any:
        return self._classes["VehicleCommand"](
            timestamp=NOW,
            command=command.command,
            param1=command.param1,
            param2=command.param2,
            param3=command.param3,
            param4=command.param4,
            param5=command.param5,
            param6=command.param6,
            param7=command.param7,
            target_system=self._target,
            target_component=AUTOPILOT,
            source_system=OWN_SYSTEM,
            source_component=OWN_COMPONENT,
            from_external=True,
        )
