"""PX4 without a graph: where its vehicles are, and a landing that a person asks for once no mission flies them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from esar_ros.bridges.px4.direct import DirectRequest, land_code, where_code
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.settings import load_px4_settings
from esar_ros.bridges.px4.standing import Standing, standing_of
from esar_ros.bridges.px4.state import AGES, Px4State
from esar_ros.bridges.px4.stream import Stream
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.px4.link import Px4Link

PATIENCE = 5.0  # s until an autopilot that says nothing counts as silent
AFTER = 1.0  # s, in which PX4 is brought out of the mode that it would go back to
PERIOD = 0.02  # s


class DirectNode(Node):
    """One vehicle. It ends once it has told where it is, or has landed."""

    def __init__(self, vehicle: str, index: int, land: bool, tell: Callable[[str], None]) -> None:
        super().__init__(f"esar_{vehicle}")
        address = load_px4_settings().address(vehicle, index)
        self._vehicle = vehicle
        self._state = Px4State(address.system_id)
        self._offboard = Offboard(Stream(self._state))
        self.request = DirectRequest(self._offboard, Standing(vehicle, False), land, tell)
        self._began, self._over = time.monotonic(), 0.0
        self._link = Px4Link(self, address.namespace, address.system_id, self._on_message)
        self.create_timer(PERIOD, self._step, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_message(self, name: str, message: Any) -> None:
        if name == "VehicleCommandAck":
            self._offboard.on_ack(message)
        else:
            self._state.receive(name, message, time.monotonic())

    def _step(self) -> None:
        request = self.request
        if request.done:
            return
        now = time.monotonic()
        request.standing = standing_of(self._vehicle, self._state, now)
        if request.asked is None:
            known = all(self._state.is_fresh(name, now) for name in AGES)
            if known or now - self._began > PATIENCE:
                request.begin(now)
            return
        self._link.send(self._offboard.step(now))
        if request.outcome is None:
            request.outcome, self._over = self._offboard.outcome(request.asked), now
        elif now - self._over > AFTER:
            request.done = True


def where(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Tells where vehicles are. Returns 1 where one is armed in the air, or silent."""
    return where_code(_ran(vehicles, False, tell))


def land(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Lands vehicles where they are and disarms them, one beside the other. Returns 1 where one is not down."""
    return land_code(_ran(vehicles, True, tell), tell)


class _End(Node):
    """Ends the process once all nodes have done."""

    def __init__(self, nodes: Sequence[DirectNode]) -> None:
        super().__init__("esar_direct")
        self._nodes = nodes

    @property
    def exit_code(self) -> int | None:
        """0 once that is so."""
        return 0 if all(node.request.done for node in self._nodes) else None


def _ran(vehicles: Sequence[str], land: bool, tell: Callable[[str], None]) -> list[DirectRequest]:
    nodes: list[DirectNode] = []

    def make() -> list[Node]:
        nodes.extend(DirectNode(vehicle, index, land, tell) for index, vehicle in enumerate(vehicles))
        return [_End(nodes), *nodes]

    run(make, [sys.argv[0], "--ros-args", "--log-level", "warn"])
    return [node.request for node in nodes]
