"""The other side of bridges in tests where there is neither a simulator nor an autopilot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter


class Remote:
    """A vehicle in the air that notes what it is told."""

    odom_in_map = None

    def __init__(self, *_: Any) -> None:
        self.armed = True
        self.sent: list[list[float]] = []

    def read(self) -> Any:
        return SimpleNamespace(ns=10**9, armed=self.armed, landed=False, velocity=np.zeros(3))

    def take_control(self) -> None:
        pass

    def arm(self, wanted: bool) -> bool:
        self.armed = wanted
        return True

    def send_velocity(self, velocity: Any, yaw_rate: float, seconds: float) -> None:
        self.sent.append([float(value) for value in velocity])


class Link:
    """An autopilot's side that is not there."""

    versions: dict[str, int] = {}  # noqa: RUF012

    def __init__(self, *_: Any) -> None:
        pass

    def send(self, output: Any) -> None:
        pass

    def lacks(self) -> list[Any]:
        return []


def make_node(kind: Any, space: str, parameters: dict[str, Any]) -> Any:
    """A node that takes no arguments, with a namespace and parameters."""
    original, given = Node.__init__, [Parameter(key, value=value) for key, value in parameters.items()]
    Node.__init__ = lambda self, name, **_: original(self, name, namespace=space, parameter_overrides=given)  # type: ignore[method-assign]
    try:
        return kind()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]
