"""Foxglove bridge node: the graph's topics for Foxglove, on a machine without ROS as well.

Messages pass as the bytes they are (CDR) beside their ROS 2 definitions; a topic is subscribed to while a client of
Foxglove is. Nothing can be sent into the graph this way. Until the mission runs only latched topics are read, as in
nodes/viewer.py.
"""

from __future__ import annotations

import queue
from collections import Counter, deque
from typing import Any, cast

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.subscription import Subscription

from esar_ros.bags.writer import typestore
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError, install
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import MissionState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME, TOPICS, Topic
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import header_nanoseconds
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.graph.progress import SERVING

HOST = "127.0.0.1"
PERIOD = 0.1  # s wall between looks at who wants what
ENCODING = "cdr"
SCHEMA_ENCODING = "ros2msg"


class Clients:
    """Subscriptions of clients: a foxglove.websocket.ServerListener, called from the server's thread."""

    def __init__(self) -> None:
        self.changes: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """One more reader of a channel."""
        self.changes.put((channel.topic, 1))

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """One fewer; also called when a client has gone."""
        self.changes.put((channel.topic, -1))


class FoxgloveBridgeNode(Node):
    """Serves the topics of nodes/core/interface.py by Foxglove's WebSocket protocol on the loopback address."""

    def __init__(self) -> None:
        super().__init__(node_names.FOXGLOVE_BRIDGE)
        vehicles = list(declare(self, "vehicles", ["uav1"], "names of the vehicles"))
        port = int(declare(self, "port", 0, "TCP port on the loopback; 0: a free one", minimum=0, maximum=65535))
        try:
            import foxglove
            from foxglove.websocket import Capability
        except ImportError:
            raise UsageError("no Foxglove SDK is installed", install("foxglove")) from None
        self._listener = Clients()
        self._foxglove = foxglove.Context()
        self._entries: dict[str, Topic] = {}
        self._channels: dict[str, Any] = {}
        self._readers: Counter[str] = Counter()
        self._subscriptions_of: dict[str, Subscription] = {}
        self._latched: dict[str, deque[bytes]] = {}
        self._stamped: dict[str, bool] = {}
        self._now = 0  # ns
        self._published = 0  # ns
        self._running = False
        space = self.get_namespace().rstrip("/")
        for vehicle in vehicles:
            for entry in TOPICS:
                name = entry.name if entry.name.startswith("/") else f"{space}/{vehicle}/{entry.name}"
                if name not in self._entries:
                    self._entries[name] = entry
                    self._channels[name] = self._channel(foxglove, name, entry)
        try:
            self._server = foxglove.start_server(
                name="esar_ros",
                host=HOST,
                port=port,
                capabilities=[Capability.Time],
                supported_encodings=[ENCODING],
                server_listener=cast(Any, self._listener),  # the others belong to capabilities not offered
                context=self._foxglove,
            )
        except RuntimeError as error:
            raise UsageError(f"port {port} for Foxglove: {error}", "choose another, or 0 for a free one") from None
        self.address_port = int(self._server.port)
        state = BY_NAME[names.MISSION_STATE]
        self.create_subscription(MissionState, f"{vehicles[0]}/{state.name}", self._on_state, PROFILES[state.quality])
        self.create_timer(PERIOD, self._on_time, clock=Clock(clock_type=ClockType.STEADY_TIME))
        print(f"{SERVING} ws://{HOST}:{self.address_port} with Foxglove", flush=True)

    def _channel(self, foxglove: Any, name: str, entry: Topic) -> Any:
        definition, _ = typestore().generate_msgdef(entry.type, ros_version=2)
        schema = foxglove.Schema(name=entry.type, encoding=SCHEMA_ENCODING, data=definition.encode())
        self._stamped[name] = "header" in message_class(entry.type).get_fields_and_field_types()
        return foxglove.Channel(name, schema=schema, message_encoding=ENCODING, context=self._foxglove)

    def _on_state(self, message: MissionState) -> None:
        self._running = self._running or message.phase != MissionState.PREPARING
        self._now = max(self._now, nanoseconds(message.header.stamp))

    def _on_time(self) -> None:
        while not self._listener.changes.empty():
            name, change = self._listener.changes.get()
            self._readers[name] += change
            if change > 0:
                for raw in self._latched.get(name, ()):
                    self._channels[name].log(raw, log_time=self._now)
        for name, entry in self._entries.items():
            wanted = self._readers[name] > 0 and (self._running or entry.quality.kept_for_late > 0)
            if wanted and name not in self._subscriptions_of:
                self._subscriptions_of[name] = self.create_subscription(
                    message_class(entry.type),
                    name,
                    lambda raw, n=name: self._pass_on(n, bytes(raw)),
                    PROFILES[entry.quality],
                    raw=True,
                )
            elif not wanted and name in self._subscriptions_of:
                self.destroy_subscription(self._subscriptions_of.pop(name))
                self._latched.pop(name, None)
        if self._now != self._published:
            self._published = self._now
            self._server.broadcast_time(self._now)

    def _pass_on(self, name: str, raw: bytes) -> None:
        """Filed under its own stamp; what has none, or may have one in wall time, under the mission's newest."""
        entry = self._entries[name]
        if self._stamped[name] and entry.name not in (names.HEARTBEAT, names.DIAGNOSTICS):
            ns = header_nanoseconds(raw)
            self._now = max(self._now, ns)
        else:
            ns = self._now
        self._channels[name].log(raw, log_time=ns or self._now)
        if entry.quality.kept_for_late:
            self._latched.setdefault(name, deque(maxlen=entry.quality.kept_for_late)).append(raw)

    def close(self) -> None:
        """Stop serving."""
        self._server.stop()


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [FoxgloveBridgeNode()])


if __name__ == "__main__":
    raise SystemExit(main())
