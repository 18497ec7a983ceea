"""The AirSim server that a node talks to, from its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.bridges.airsim.connect import AS_LONG_AS_IT_TAKES, PATIENCE, connect
from esar_ros.nodes.core.parameters import declare


@dataclass(frozen=True)
class Server:
    """Address of a server, and the time (s) within which it must answer first."""

    host: str
    port: int
    patience: float

    @classmethod
    def of(cls, node: Node) -> Server:
        """Declares a node's parameters of the server. Raises UsageError."""
        host = str(declare(node, "host", "127.0.0.1", "of the AirSim server"))
        port = int(declare(node, "port", 41451, "of the AirSim server", minimum=1, maximum=65535))
        about = "s until the AirSim server must answer; 0: as long as it takes, its starter watches it"
        seconds = float(declare(node, "connect_timeout", PATIENCE, about, minimum=0.0))
        return cls(host, port, seconds or AS_LONG_AS_IT_TAKES)

    def connect(self, patience: float | None = None) -> AirSimClient:
        """Returns a connection of its own. Raises UsageError when the server does not answer in time."""
        return connect(self.host, self.port, self.patience if patience is None else patience)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
