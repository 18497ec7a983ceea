"""Actions for arming and touching down, whose results are confirmed by the vehicle's state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from esar_ros.action import Arm, TouchDown
from esar_ros.bridges.airsim.actuation import Refusal, Refused
from esar_ros.bridges.airsim.vehicle import VehicleReading
from esar_ros.mission import names
from esar_ros.nodes.airsim.bridged_vehicle import BridgedVehicle
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.operator_log import OperatorLog, is_goal_of

_ARM_CODES = {
    Refusal.SAFETY: Arm.Result.REFUSED_SAFETY,
    Refusal.NOT_READY: Arm.Result.REFUSED_NOT_READY,
    Refusal.FLYING: Arm.Result.REFUSED_FLYING,
    Refusal.FAILED: Arm.Result.FAILED,
}
_TOUCH_DOWN_CODES = {
    Refusal.TERMINATED: TouchDown.Result.REFUSED_SAFETY,
    Refusal.HEIGHT: TouchDown.Result.REFUSED_SAFETY,
    Refusal.ON_GROUND: TouchDown.Result.REFUSED_ON_GROUND,
    Refusal.FAILED: TouchDown.Result.FAILED,
}


class BridgeActions:
    """Both actions of one vehicle; `settle` ends the touch-downs that are over.

    All touch-down goals that are open are one touch-down: they end together, and cancelling any of them calls it off.
    """

    def __init__(self, node: Node, bridged: BridgedVehicle, now: Callable[[], int], operator_log: OperatorLog) -> None:
        """now: the vehicle's stamp, ns."""
        self._craft, self._now, self._operator_log = bridged, now, operator_log
        self._open: list[Any] = []
        self._ends: dict[bytes, Refused | None] = {}
        accept = {"goal_callback": lambda goal: GoalResponse.ACCEPT}
        ActionServer(
            node,
            Arm,
            f"{bridged.name}/{names.ARM}",
            self._arm,
            cancel_callback=lambda handle: CancelResponse.REJECT,
            **accept,
        )
        ActionServer(
            node,
            TouchDown,
            f"{bridged.name}/{names.TOUCH_DOWN}",
            self._answer_touch_down,
            cancel_callback=self._on_cancel,
            handle_accepted_callback=self._begin_touch_down,
            **accept,
        )

    def settle(self, reading: VehicleReading) -> None:
        """Calls off cancelled touch-downs and ends those that are over; called after each reading."""
        actuation = self._craft.actuation
        if any(handle.is_cancel_requested for handle in self._open):
            actuation.call_off()
            self._end_all(Refused(Refusal.FAILED, "it was called off"))
        elif actuation.finish_touch_down(reading):
            down = reading.landed and not self._craft.remote.read().armed
            late = ": ".join(filter(None, ("it did not come down in time", self._craft.text)))
            self._end_all(None if down else Refused(Refusal.FAILED, late))

    def _trace(self, handle: Any, what: str) -> None:
        """Records a goal that is not the pilot's."""
        if not is_goal_of(handle.goal_id, self._craft.roster.boot_id(node_names.PILOT)):
            self._operator_log.record(what)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self._operator_log.record(f"{names.TOUCH_DOWN} called off")
        return CancelResponse.ACCEPT

    def _arm(self, handle: Any) -> Any:
        self._trace(handle, names.ARM if handle.request.arm else "disarm")
        result = Arm.Result()
        refused = self._craft.actuation.arm(bool(handle.request.arm), self._craft.mode)
        if refused is not None:
            result.error_code, result.error_msg = _ARM_CODES[refused.why], refused.text
        result.armed = self._craft.remote.read().armed
        _finish(handle, refused is None)
        return result

    def _begin_touch_down(self, handle: Any) -> None:
        """Refuse at once, or let it come down; the goal ends on the ground, or when that took too long."""
        self._trace(handle, names.TOUCH_DOWN)
        refused = self._craft.actuation.touch_down(self._craft.mode, self._now())
        if refused is None:
            self._open.append(handle)
        else:
            self._end(handle, refused)

    def _end_all(self, refused: Refused | None) -> None:
        over, self._open = self._open, []
        for handle in over:
            self._end(handle, refused)

    def _end(self, handle: Any, refused: Refused | None) -> None:
        self._ends[bytes(handle.goal_id.uuid)] = refused
        handle.execute()

    def _answer_touch_down(self, handle: Any) -> Any:
        refused = self._ends.pop(bytes(handle.goal_id.uuid))
        result = TouchDown.Result(landed=self._craft.reading is not None and self._craft.reading.landed)
        if refused is not None:
            result.error_code, result.error_msg = _TOUCH_DOWN_CODES[refused.why], refused.text
        if refused is not None and handle.is_cancel_requested:
            handle.canceled()
        else:
            _finish(handle, refused is None)
        return result


def _finish(handle: Any, succeeded: bool) -> None:
    if succeeded:
        handle.succeed()
    else:
        handle.abort()
