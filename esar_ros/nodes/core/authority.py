"""Authority over a vehicle: each topic that moves it has one writer, known by its node's name, or is not obeyed.

The graph names the nodes behind a topic's writers, not the writer of a message, and trusts each process's own name:
this guards against mistakes - a second mission in the same ROS domain, a tool that publishes - and not against malice,
for which ROS has SROS 2 (docs/how-to/sros2.md).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class

LISTEN = 1.0  # s before a node says anything
LOOK = 0.2  # s between two looks at the graph
UNNAMED = 3.0  # s after which discovery has told an endpoint's node
GHOST = 25.0  # s for which the writers of a process that was killed are still announced (Fast DDS's lease: 20 s)
_UNKNOWN = "_NODE_NAME_UNKNOWN_"  # rcl's word for what discovery has not told yet
_BRIDGES = (node_names.AIRSIM_BRIDGE, node_names.PX4_BRIDGE, node_names.ARDUPILOT_BRIDGE)
EARLY = 500_000_000  # ns that a command's stamp may be ahead: the governor goes on counting between two odometries


@dataclass(frozen=True)
class Endpoint:
    """A writer of a topic as discovered in the graph."""

    id: bytes
    node: str
    namespace: str


@dataclass
class Writers:
    """Writers of one topic as discovered. Times are s of a steady clock that the caller reads."""

    topic: str  # full name
    expected: tuple[str, ...]  # nodes, one of which may write it
    spaces: tuple[str, ...]  # namespaces these may live in
    _since: dict[bytes, float] = field(default_factory=dict)  # s, when each was seen first

    def complaint(self, found: Sequence[Endpoint], now: float) -> str:
        """Returns why no writer is to be obeyed; empty while there is one writer, or none."""
        self._since = {one.id: self._since.get(one.id, now) for one in found}
        strangers = [one for one in found if not self._is_known(one, now)]
        if strangers:
            who = ", ".join(sorted({f"{one.namespace.rstrip('/')}/{one.node}" for one in strangers}))
            return f"{self.topic} is written by {who}, only {' or '.join(self.expected)} may"
        # One that was killed and started again is announced twice for a while.
        if len(found) > 1 and now - max(self._since.values()) > GHOST:
            return f"{self.topic} is written {len(found)} times by {found[0].node}: two missions in one ROS domain?"
        return ""

    def _is_known(self, one: Endpoint, now: float) -> bool:
        if one.node == _UNKNOWN:
            return now - self._since[one.id] <= UNNAMED
        return one.node in self.expected and one.namespace in self.spaces


class Authority:
    """Looks at the writers of some topics of a vehicle, some times a second."""

    def __init__(self, node: Node, vehicle: str, topics: Iterable[str]) -> None:
        """vehicle: prefix of its topics as the node addresses them, empty where it lives there."""
        self.complaint = ""
        self._node = node
        self._writers = []
        for topic in topics:
            full = node.resolve_topic_name(f"{vehicle}/{topic}" if vehicle else topic)
            space = full.removesuffix(f"/{topic}") or "/"
            writer = BY_NAME[topic].writer
            expected: tuple[str, ...] = _BRIDGES if writer in _BRIDGES else (writer,)
            if topic == names.RANGES:
                expected = (writer, node_names.RANGE_DRIVER)
            if writer == node_names.REFEREE:
                expected = (node_names.REFEREE, node_names.MISSION_CONTROL)
            self._writers.append(Writers(full, expected, (space, space.rpartition("/")[0] or "/")))
        node.create_timer(LOOK, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def look(self) -> None:
        """Judge the writers that the graph shows now."""
        now = time.monotonic()
        complaints = [writers.complaint(self._found(writers.topic), now) for writers in self._writers]
        complaint = next(filter(None, complaints), "")
        if complaint != self.complaint:
            self._node.get_logger().error(f"holds: {complaint}" if complaint else "one writer a topic again")
        self.complaint = complaint

    def _found(self, topic: str) -> list[Endpoint]:
        found = self._node.get_publishers_info_by_topic(topic)
        return [Endpoint(bytes(one.endpoint_gid), one.node_name, one.node_namespace) for one in found]


def why_not_obeyed(command: Any, now: int, oldest: int) -> str:
    """Returns the fault of a set-point's header at now (ns): another frame, or a stamp older than `oldest` or ahead."""
    age = now - nanoseconds(command.header.stamp)
    if command.header.frame_id not in ("", names.MAP):
        return f"a set-point in {command.header.frame_id}"
    if not -EARLY <= age <= oldest:
        return f"a set-point {age * 1e-9:.2f} s old"
    return ""


def places_vehicle(transforms: Any) -> bool:
    """Returns whether a tf2_msgs/TFMessage places a vehicle of this package, of any name, as its bridge alone does.

    A bridge sends map -> odom and the cameras at once. Other robots have map -> odom as well, and where RViz shows the
    vehicle's model robot_state_publisher sends the cameras.
    """
    frames = {(transform.header.frame_id, transform.child_frame_id) for transform in transforms.transforms}
    vehicles = {child.partition("/")[0] for _, child in frames}
    return any(
        (names.MAP, names.vehicle_frame(vehicle, names.ODOM)) in frames
        and any(child == names.camera_frame(vehicle, names.CAMERAS[0]) for _, child in frames)
        for vehicle in vehicles
    )


class Rivals:
    """Detects another mission's node of the same name, by listening for LISTEN s before a node publishes anything."""

    def __init__(
        self, node: Node, topic: str, addresses: Iterable[str], is_rival: Callable[[Any], bool], everywhere: str = ""
    ) -> None:
        """topic: of the table, which that node publishes, at these addresses; is_rival(message): the message is its.

        everywhere: what there can be once in a domain, whatever the namespace; empty: one node of a name a namespace.
        Raises UsageError, out of a callback, once such a message comes.
        """
        self.alone = False  # whether nobody was heard
        self._node, self._is_rival, self._everywhere = node, is_rival, everywhere
        entry = BY_NAME[topic]
        kind, quality = message_class(entry.type), PROFILES[entry.quality]
        self._heard = [node.create_subscription(kind, one, self._on_message, quality) for one in addresses]
        self._timer = node.create_timer(LISTEN, self._end, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_message(self, message: Any) -> None:
        if not self._is_rival(message):
            return
        name, space = self._node.get_name(), self._node.get_namespace()
        where = f"on ROS domain {os.environ.get('ROS_DOMAIN_ID', '0')}"
        if self._everywhere:
            raise UsageError(
                f"another mission flies {where}, whose namespaces share {self._everywhere}",
                "end it, or set another ROS_DOMAIN_ID",
            )
        raise UsageError(
            f"another {name} lives in {space} {where}: another mission flies there",
            "end it, or set another ROS_DOMAIN_ID",
        )

    def _end(self) -> None:
        self._timer.cancel()
        for subscription in self._heard:
            self._node.destroy_subscription(subscription)
        self._heard.clear()
        self.alone = True
