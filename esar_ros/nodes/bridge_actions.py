"""Arming and touching down, as actions that tell the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from esar_ros.action import Arm, TouchDown
from esar_ros.bridges.airsim_actuation import Refusal
from esar_ros.mission import names
from esar_ros.nodes.bridge_craft import Craft

_ARM_CODES = {
    Refusal.SAFETY: Arm.Result.REFUSED_SAFETY,
    Refusal.NOT_READY: Arm.Result.REFUSED_NOT_READY,
    Refusal.FLYING: Arm.Result.REFUSED_FLYING,
    Refusal.FAILED: Arm.Result.FAILED,
}
_TOUCH_DOWN_CODES = {
    Refusal.TERMINATED: TouchDown.Result.REFUSED_SAFETY,
    Refusal.ON_GROUND: TouchDown.Result.REFUSED_ON_GROUND,
}


def serve_actions(node: Node, craft: Craft, now: Callable[[], int]) -> None:
    """Offer both actions of one vehicle; now: the vehicle's stamp, ns."""
    common: dict[str, Any] = {
        "goal_callback": lambda goal: GoalResponse.ACCEPT,
        "cancel_callback": lambda goal: CancelResponse.REJECT,
    }
    ActionServer(node, Arm, f"{craft.name}/{names.ARM}", lambda handle: _arm(craft, handle), **common)
    ActionServer(
        node,
        TouchDown,
        f"{craft.name}/{names.TOUCH_DOWN}",
        lambda handle: _end_touch_down(craft, handle),
        handle_accepted_callback=lambda handle: _start_touch_down(craft, handle, now()),
        **common,
    )


def _arm(craft: Craft, handle: Any) -> Any:
    result = Arm.Result()
    refused = craft.actuation.arm(bool(handle.request.arm), craft.mode)
    if refused is not None:
        result.error_code, result.error_msg = _ARM_CODES[refused.why], refused.text
    result.armed = craft.remote.read().armed
    _finish(handle, refused is None)
    return result


def _start_touch_down(craft: Craft, handle: Any, ns: int) -> None:
    """Refuse at once, or come down; the action ends when the autopilot has landed, or did not in time."""
    craft.refusal = craft.actuation.touch_down(craft.mode, ns)
    if craft.refusal is None:
        craft.landing = handle
        return
    handle.execute()


def _end_touch_down(craft: Craft, handle: Any) -> Any:
    result = TouchDown.Result(landed=craft.reading is not None and craft.reading.landed)
    if craft.refusal is not None:
        result.error_code, result.error_msg = _TOUCH_DOWN_CODES[craft.refusal.why], craft.refusal.text
        craft.refusal = None
    elif not result.landed:
        result.error_code, result.error_msg = TouchDown.Result.FAILED, "it did not come down in time"
    _finish(handle, result.error_code == TouchDown.Result.NONE)
    return result


def _finish(handle: Any, succeeded: bool) -> None:
    if succeeded:
        handle.succeed()
    else:
        handle.abort()
