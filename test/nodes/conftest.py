"""Graph tests run on real DDS, each on a domain of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.flight import Flight, Flown, write_short_task
from helpers.ros_domain import own_domain

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain that no other test on this machine is likely to use."""
    with own_domain() as number:
        yield number


@pytest.fixture(scope="session")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Flown:
    """One mission that several tests look at: zigzag for 25 s, then home."""
    folder = tmp_path_factory.mktemp("flown")
    task = write_short_task(folder, 25.0)
    with own_domain():
        flight = Flight(folder / "out", task, planner="zigzag", end="return_land")
        try:
            return Flown(task, flight.out, flight.finish(), flight.supervisor.restarted)
        finally:
            flight.abort()


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
