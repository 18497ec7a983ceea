"""The governor as a managed node: out of action only on the ground and disarmed, and never for longer."""

from __future__ import annotations

from typing import Any

import pytest
import rclpy

from esar_ros.mission import names
from esar_ros.msg import VehicleState
from esar_ros.nodes.safety_governor import SafetyGovernorNode
from esar_ros.nodes.steps import Step

LANDED = VehicleState.LANDED_ON_GROUND


@pytest.fixture
def governor(ros: Any) -> Any:
    node = SafetyGovernorNode()
    sent: list[tuple[str, Any]] = []
    node.send = lambda name, message, vehicle=None: sent.append((name, message))
    node.sent = sent
    yield node
    node.destroy_node()


def say(governor: Any, armed: bool, landed: int) -> None:
    governor.inbox(names.VEHICLE_STATE).put(1, VehicleState(armed=armed, landed=landed))


def test_it_stays_active_while_nothing_is_known(governor: Any) -> None:
    assert "not known" in governor._lifecycle.change(False)
    assert governor._lifecycle.active


@pytest.mark.parametrize("armed", [False, True])
@pytest.mark.parametrize("landed", range(4))
def test_only_a_disarmed_vehicle_on_the_ground_may_be_without(governor: Any, armed: bool, landed: int) -> None:
    say(governor, armed, landed)
    refusal = governor._lifecycle.change(False)
    assert bool(refusal) == (armed or landed != LANDED)
    assert governor._lifecycle.active == bool(refusal)


def test_inactive_it_commands_zero_and_wakes_with_the_motors(governor: Any) -> None:
    say(governor, False, LANDED)
    assert governor._lifecycle.change(False) == ""
    step = Step(50_000_000, 1, 0, 0.05, None, frozenset())
    governor.on_step(step)
    given = next(message for name, message in governor.sent if name == names.CMD_VEL_SAFE).twist
    assert (given.linear.x, given.linear.y, given.linear.z, given.angular.z) == (0.0, 0.0, 0.0, 0.0)
    assert not governor._lifecycle.active
    say(governor, True, LANDED)
    governor.on_step(step)
    assert governor._lifecycle.active


def test_its_diagnostics_say_what_it_does(governor: Any) -> None:
    finding, lifecycle = governor.diagnose()
    assert (finding.what, lifecycle.what) == ("governor", "lifecycle")
    assert rclpy.ok() and finding.message
