"""Messages of a small flight as a bag's reader and writer know them, for whoever needs a bag."""

from __future__ import annotations

from typing import Any

from esar_ros.bags.built_messages import build, build_header

__all__ = ["SECOND", "START", "build", "header", "point"]

SECOND = 1_000_000_000
START = 10 * SECOND  # of every flight made of them


def header(seconds: float, frame: str = "map") -> Any:
    """Header of a moment of the flight, s."""
    return build_header(START + round(seconds * SECOND), frame)


def point(x: float, y: float, z: float) -> Any:
    """Point of three numbers."""
    return build("geometry_msgs/msg/Point", x=float(x), y=float(y), z=float(z))
