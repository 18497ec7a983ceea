"""Graph tests run on real DDS, each on a domain of its own."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain that no other test on this machine is likely to use."""
    number = random.SystemRandom().randrange(20, 220)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return number


Spin = Callable[..., bool]


@pytest.fixture
def ros(domain: int) -> Iterator[Spin]:
    """rclpy in this process; yields spin(nodes, until, seconds) -> whether until() came true."""
    import time

    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    assert os.environ["ROS_DOMAIN_ID"] == str(domain)
    rclpy.init()
    executor = SingleThreadedExecutor()
    known: list[object] = []

    def spin(nodes: list, until: Callable[[], bool], seconds: float = 15.0) -> bool:
        for node in nodes:
            if node not in known:
                known.append(node)
                executor.add_node(node)
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if until():
                return True
            executor.spin_once(timeout_sec=0.02)
        return until()

    yield spin
    for node in known:
        node.destroy_node()  # type: ignore[attr-defined]
    rclpy.shutdown()
