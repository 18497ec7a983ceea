"""Stamps of messages as whole nanoseconds."""

from __future__ import annotations

from typing import Any

NANO = 1_000_000_000
"""ns in a second."""


def nanoseconds(stamp: Any) -> int:
    """A builtin_interfaces/Time of ROS or of a bag's reader (the same attributes) as one integer."""
    return int(stamp.sec) * NANO + int(stamp.nanosec)
