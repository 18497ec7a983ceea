"""`esar px4 ask clear`: a hold that a person ends, without ROS's own tools."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.spinning import spun


@pytest.fixture
def governor(domain: int) -> Iterator[dict[str, Any]]:
    """A node with the governor's service; it answers with "success", and counts in "asked"."""
    import rclpy
    from std_srvs.srv import Trigger

    state: dict[str, Any] = {"success": True, "asked": 0}

    def clear(_: Any, response: Any) -> Any:
        state["asked"] += 1
        response.success, response.message = state["success"], "" if state["success"] else "termination is final"
        return response

    rclpy.init()
    node = rclpy.create_node("safety_governor", namespace="/uav1")
    node.create_service(Trigger, "~/clear", clear)
    with spun(node):
        yield state
    rclpy.shutdown()


def test_a_governor_is_cleared_and_says_so_where_it_does_not(governor: dict[str, Any]) -> None:
    command = [sys.executable, "-m", "esar_ros.app.cli", "px4", "ask", "clear"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0, check=False)
    assert (done.returncode, governor["asked"]) == (0, 1) and "cleared" in done.stdout
    governor["success"] = False
    done = subprocess.run(command, capture_output=True, text=True, timeout=120.0, check=False)
    assert done.returncode == 1 and "not cleared: termination is final" in done.stdout
