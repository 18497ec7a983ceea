"""Arming and touching down, as actions that tell the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from esar_ros.action import Arm, TouchDown
from esar_ros.mission import names
from esar_ros.msg import SafetyStatus
from esar_ros.nodes.bridge_craft import Craft, Landing

LANDING_PATIENCE = 60_000_000_000  # ns


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


def _mode(craft: Craft) -> int:
    return int(craft.safety.mode) if craft.safety is not None else int(SafetyStatus.MODE_UNKNOWN)


def _arm(craft: Craft, handle: Any) -> Any:
    result = Arm.Result()
    wanted = bool(handle.request.arm)
    reading = craft.remote.read()
    if wanted and _mode(craft) >= SafetyStatus.MODE_RETURN:
        result.error_code, result.error_msg = Arm.Result.REFUSED_SAFETY, "the governor is in return or worse"
    elif wanted and not reading.ready:
        result.error_code, result.error_msg = Arm.Result.REFUSED_NOT_READY, reading.ready_message
    elif not wanted and not reading.landed:
        result.error_code, result.error_msg = Arm.Result.REFUSED_FLYING, "it is in the air"
    else:
        craft.remote.arm(wanted)
        reading = craft.remote.read()
        if reading.armed != wanted:
            result.error_code, result.error_msg = Arm.Result.FAILED, "the autopilot did not follow"
    result.armed = reading.armed
    _finish(handle, result.error_code == Arm.Result.NONE)
    return result


def _start_touch_down(craft: Craft, handle: Any, ns: int) -> None:
    """Refuse at once, or come down; the action ends when the autopilot has landed, or did not in time."""
    if _mode(craft) >= SafetyStatus.MODE_TERMINATE:
        craft.refusal = TouchDown.Result.REFUSED_SAFETY, "the governor has terminated"
    elif craft.remote.read().landed:
        craft.refusal = TouchDown.Result.REFUSED_ON_GROUND, "it is on the ground"
    else:
        craft.landing = Landing(handle, ns + LANDING_PATIENCE)
        craft.remote.start_landing()
        return
    handle.execute()


def _end_touch_down(craft: Craft, handle: Any) -> Any:
    result = TouchDown.Result(landed=craft.reading is not None and craft.reading.landed)
    if craft.refusal is not None:
        result.error_code, result.error_msg = craft.refusal
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
