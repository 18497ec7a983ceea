"""Diagnostics of a node, once a second of wall time (REP-107: `node: what`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES

PERIOD = 1.0  # s
MISSION = "mission"  # hardware_id of nodes that belong to no vehicle


@dataclass(frozen=True)
class Finding:
    """Status of a part of a node: DiagnosticStatus.OK, WARN, ERROR or STALE, words and numbers."""

    what: str
    level: bytes = DiagnosticStatus.OK
    message: str = "ok"
    values: Mapping[str, object] = field(default_factory=dict)


class Diagnostics:
    """Publishes findings; `due` says when it is time again."""

    def __init__(self, node: Node, vehicle: str | None = None) -> None:
        """vehicle: whose node it is; empty: the mission's; None: of the vehicle whose namespace it lives in."""
        self._node = node
        self._hardware = (node.get_namespace().rsplit("/", 1)[-1] if vehicle is None else vehicle) or MISSION
        self._publisher = node.create_publisher(
            DiagnosticArray, names.DIAGNOSTICS, PROFILES[BY_NAME[names.DIAGNOSTICS].quality]
        )
        self._last = 0.0

    def due(self) -> bool:
        """Returns whether a period has passed since the last publication."""
        return time.monotonic() - self._last >= PERIOD

    def publish(self, findings: list[Finding]) -> None:
        """Send findings, stamped with the node's time."""
        self._last = time.monotonic()
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        name = self._node.get_fully_qualified_name().strip("/")
        for finding in findings:
            message.status.append(
                DiagnosticStatus(
                    level=finding.level,
                    name=f"{name}: {finding.what}",
                    message=finding.message,
                    hardware_id=self._hardware,
                    values=[KeyValue(key=key, value=str(value)) for key, value in finding.values.items()],
                )
            )
        self._publisher.publish(message)
