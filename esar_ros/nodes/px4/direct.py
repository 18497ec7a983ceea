"""PX4 without a graph: where its vehicles are, and a landing that a person asks for once no mission flies them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from esar_ros.bridges.px4.commands import End, Manoeuvre, Outcome
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
        self.done = False
        self.outcome: Outcome | None = None  # of the landing; None where none was begun
        self._vehicle, self._land, self._tell = vehicle, land, tell
        self._state = Px4State(address.system_id)
        self._offboard = Offboard(Stream(self._state))
        self.standing = Standing(vehicle, False)  # as of the last step
        self._asked: Manoeuvre | None = None
        self._began, self._over = time.monotonic(), 0.0
        self._link = Px4Link(self, address.namespace, address.system_id, self._on_message)
        self.create_timer(PERIOD, self._step, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_message(self, name: str, message: Any) -> None:
        if name == "VehicleCommandAck":
            self._offboard.on_ack(message)
        else:
            self._state.receive(name, message, time.monotonic())

    def _step(self) -> None:
        if self.done:
            return
        now = time.monotonic()
        self.standing = standing_of(self._vehicle, self._state, now)
        if self._asked is None:
            known = all(self._state.is_fresh(name, now) for name in AGES)
            if known or now - self._began > PATIENCE:
                self._begin(now)
            return
        self._link.send(self._offboard.step(now))
        if self.outcome is None:
            self.outcome, self._over = self._offboard.outcome(self._asked), now
        elif now - self._over > AFTER:
            self.done = True

    def _begin(self, now: float) -> None:
        """Tells where it is, and lands it or stops its motors on the ground where that is asked for."""
        standing = self.standing
        self._tell(standing.words)
        if not self._land or (standing.linked and not standing.armed):
            self.done = True
            return
        self._asked = Manoeuvre.DISARM if standing.landed else Manoeuvre.LAND
        refusal = self._offboard.ask(self._asked, now)
        if refusal is not None:
            self.outcome, self.done = refusal, True


def where(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Tells where vehicles are. Returns 1 where one is armed in the air, or silent."""
    nodes = _ran(vehicles, False, tell)
    return int(any(node.standing.aloft or not node.standing.linked for node in nodes))


def land(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Lands vehicles where they are and disarms them, one beside the other. Returns 1 where one is not down."""
    nodes = _ran(vehicles, True, tell)
    for node in nodes:
        if node.outcome is None and node.standing.aloft:
            tell(f"{node.standing.words}: PX4 goes on with it by itself")
        elif node.outcome is not None:
            tell(node.standing.words if node.outcome.end is End.DONE else f"not landed: {node.outcome.text}")
    return int(any(node.standing.armed or not node.standing.linked for node in nodes))


class _End(Node):
    """Ends the process once all nodes have done."""

    def __init__(self, nodes: Sequence[DirectNode]) -> None:
        super().__init__("esar_direct")
        self._nodes = nodes

    @property
    def exit_code(self) -> int | None:
        """0 once that is so."""
        return 0 if all(node.done for node in self._nodes) else None


def _ran(vehicles: Sequence[str], land: bool, tell: Callable[[str], None]) -> list[DirectNode]:
    nodes: list[DirectNode] = []

    def make() -> list[Node]:
        nodes.extend(DirectNode(vehicle, index, land, tell) for index, vehicle in enumerate(vehicles))
        return [_End(nodes), *nodes]

    run(make, [sys.argv[0], "--ros-args", "--log-level", "warn"])
    return nodes
