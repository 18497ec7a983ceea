"""Observations of a running graph or a bag from which its faults are diagnosed: endpoints, times, a few values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from esar_ros.bags.files import open_bag
from esar_ros.mission.stamps import NANO, nanoseconds

TF, CLOCK = "tf2_msgs/msg/TFMessage", "rosgraph_msgs/msg/Clock"
ODOMETRY, IMU, TWIST = "nav_msgs/msg/Odometry", "sensor_msgs/msg/Imu", "geometry_msgs/msg/TwistStamped"
READ = (TF, CLOCK, ODOMETRY, IMU, TWIST)
"""Types whose values are looked at; of others only the header's stamp."""


@dataclass(frozen=True)
class Endpoint:
    """A publisher or subscription."""

    topic: str
    type: str
    node: str
    publishes: bool
    reliable: bool
    latched: bool


@dataclass
class Stream:
    """Messages of a topic (of TF: of a child frame). Times in s, one an entry: arrival and stamp."""

    type: str
    frame: str = ""
    arrivals: list[float] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)


@dataclass
class Facts:
    """All observations of a source."""

    streams: dict[str, Stream] = field(default_factory=dict)
    endpoints: list[Endpoint] = field(default_factory=list)

    def take(self, topic: str, message_type: str, arrival: float, message: Any) -> None:
        """Note a message (of rclpy or of a bag: the same attributes) that arrived at a time (s)."""
        if message_type == TF:
            for transform in message.transforms:
                frame = transform.header.frame_id
                self._note(f"{topic} {transform.child_frame_id}", TF, arrival, transform.header.stamp, frame, ())
        elif message_type == CLOCK:
            self._note(topic, CLOCK, arrival, message.clock, "", ())
        else:
            header = getattr(message, "header", None)
            if header is not None:
                self._note(
                    topic, message_type, arrival, header.stamp, str(header.frame_id), _values(message_type, message)
                )

    def _note(self, key: str, kind: str, arrival: float, stamp: Any, frame: str, values: tuple[float, ...]) -> None:
        stream = self.streams.setdefault(key, Stream(kind, frame))
        stream.arrivals.append(arrival)
        stream.stamps.append(nanoseconds(stamp) / NANO)
        stream.values.append(values)

    def of(self, *types: str) -> Iterable[tuple[str, Stream]]:
        """Topics of some types."""
        return [(topic, stream) for topic, stream in self.streams.items() if stream.type in types]

    def dump(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))


def parse_facts(text: str) -> Facts:
    """Returns the facts that `Facts.dump` wrote."""
    data = json.loads(text)
    streams = {name: Stream(**stream) for name, stream in data["streams"].items()}
    return Facts(streams, [Endpoint(**endpoint) for endpoint in data["endpoints"]])


def facts_of_bag(path: Path) -> Facts:
    """Facts of a bag; its log times stand for arrivals. Raises UsageError."""
    facts = Facts()
    with open_bag(path) as bag:
        stamped = [
            connection
            for connection in bag.connections
            if connection.msgtype in READ or _has_header(bag.types.fielddefs.get(connection.msgtype))
        ]
        for connection, ns, raw in bag.messages(stamped):
            message = bag.deserialize(raw, connection.msgtype)
            facts.take(connection.topic, connection.msgtype, ns / NANO, message)
        for connection in bag.connections:
            facts.streams.setdefault(connection.topic, Stream(connection.msgtype))
    return facts


def _has_header(definition: Any) -> bool:
    fields = list(definition[1]) if definition else []
    return bool(fields) and fields[0][0] == "header"


def _values(message_type: str, m: Any) -> tuple[float, ...]:
    if message_type == ODOMETRY:
        p, v = m.pose.pose.position, m.twist.twist.linear
        return float(p.x), float(p.y), float(p.z), float(v.x), float(v.y), float(v.z)
    if message_type == IMU:
        return (float(m.linear_acceleration.z),)
    if message_type == TWIST:
        v = m.twist.linear
        return float(v.x), float(v.y), float(v.z)
    return ()
