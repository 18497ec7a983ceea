"""Places of PX4's vehicles, and a landing without any graph, on real DDS against the fake autopilot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from esar_ros.nodes.px4 import messages as px4_messages
from helpers.spinning import spun

pytestmark = [] if px4_messages.is_built() else [pytest.mark.full]


@pytest.fixture
def fake(domain: int) -> Iterator[Any]:
    """An autopilot behind its agent, spun by a thread."""
    import rclpy
    from fake_autopilot import FakeAutopilot
    from fake_node import FakeNode

    px4_messages.ensure()
    FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
    rclpy.init()
    made = FakeAutopilot()
    with spun(FakeNode(made)):
        yield made
    rclpy.shutdown()


def px4(*arguments: str) -> tuple[int, str]:
    """Returns the exit code of `esar px4`, and what it printed."""
    command = [sys.executable, "-m", "esar_ros.app.cli", "px4", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0, check=False)
    return done.returncode, done.stdout


def hover(fake: Any) -> None:
    """As a mission that was interrupted leaves it."""
    fake.landed, fake.armed, fake.flown = False, True, True
    fake.body.position[:] = 5.0, 0.0, 4.0
    fake.switch_mode(4)
    fake.changed = True


def test_a_vehicle_that_hovers_is_told_and_landed(fake: Any) -> None:
    hover(fake)
    code, told = px4("where")
    assert code == 1 and told.startswith("uav1 hovers at ") and len(told.splitlines()) == 1
    code, told = px4("land")
    assert code == 0, told
    assert "uav1 hovers at " in told and "uav1 stands on the ground" in told and told.rstrip().endswith("disarmed")
    assert fake.landed and not fake.armed


def test_one_that_stands_disarmed_is_left_alone(fake: Any) -> None:
    code, told = px4("land")
    assert code == 0 and told.rstrip().endswith("disarmed") and len(told.splitlines()) == 1
    assert not fake.commands


def test_an_autopilot_that_is_silent_is_not_landed(domain: int) -> None:
    code, told = px4("land", "--vehicles", "2")
    assert code == 1
    assert "uav1: PX4 is silent" in told and "uav2: PX4 is silent" in told and "not landed" in told
