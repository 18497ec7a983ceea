"""Asks the bridge of a running graph what a person wants of a PX4 vehicle, without ROS's own tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from esar_ros.action import Arm
from esar_ros.action import Manoeuvre as ManoeuvreAction
from esar_ros.bridges.px4.commands import Manoeuvre
from esar_ros.mission import names
from esar_ros.nodes.core.node_names import SAFETY_GOVERNOR

ASKED: dict[str, bool | Manoeuvre] = {  # what is asked for -> to be armed, or a manoeuvre
    "arm": True,
    "disarm": False,
    "take-off": Manoeuvre.TAKE_OFF,
    "hand-over": Manoeuvre.MISSION,
    "hold": Manoeuvre.HOLD,
    "return": Manoeuvre.RETURN,
    "land": Manoeuvre.LAND,
}
CLEAR = "clear"  # asked of the governor, not of the bridge
PATIENCE = 10.0  # s until a bridge that does not answer counts as absent


def ask(space: str, what: str, height: float, tell: Callable[[str], None]) -> int:
    """Asks for one of ASKED, or CLEAR, waits until it has ended and tells its stages. Returns 1 where it was not done.

    space: the vehicle's namespace, e.g. /uav1. height: m above where it stands, of a take-off.
    """
    rclpy.init(args=[sys.argv[0], "--ros-args", "--log-level", "warn"])
    node = rclpy.create_node(f"esar_ask{space.replace('/', '_')}")
    try:
        if what == CLEAR:
            return _cleared(node, space, tell)
        wanted = ASKED[what]
        if isinstance(wanted, Manoeuvre):
            goal = ManoeuvreAction.Goal(manoeuvre=int(wanted), height=height)
            return _sent(node, ActionClient(node, ManoeuvreAction, f"{space}/{names.MANOEUVRE}"), goal, tell)
        return _sent(node, ActionClient(node, Arm, f"{space}/{names.ARM}"), Arm.Goal(arm=wanted), tell)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _cleared(node: Node, space: str, tell: Callable[[str], None]) -> int:
    client = node.create_client(Trigger, f"{space}/{SAFETY_GOVERNOR}/clear")
    if not client.wait_for_service(PATIENCE):
        tell("no governor answers: is the graph running, in this ROS_DOMAIN_ID, for this vehicle?")
        return 1
    answered = client.call_async(Trigger.Request())
    rclpy.spin_until_future_complete(node, answered, timeout_sec=PATIENCE)
    response = answered.result()
    if response is None or not response.success:
        tell(f"not cleared: {'no answer' if response is None else response.message}")
        return 1
    tell("cleared: while a cause is still there, the governor acts again")
    return 0


def _sent(node: Node, client: Any, goal: Any, tell: Callable[[str], None]) -> int:
    if not client.wait_for_server(PATIENCE):
        tell("no bridge answers: is the graph running, in this ROS_DOMAIN_ID, for this vehicle?")
        return 1
    sent = client.send_goal_async(goal, feedback_callback=lambda message: tell(message.feedback.stage))
    rclpy.spin_until_future_complete(node, sent, timeout_sec=PATIENCE)
    accepted = sent.result()
    if accepted is None:
        tell("the bridge does not answer: ./esar px4 land asks the autopilot itself")
        return 1
    if not accepted.accepted:
        tell("refused: the bridge takes nothing now")
        return 1
    ended = accepted.get_result_async()
    rclpy.spin_until_future_complete(node, ended)
    result = ended.result().result
    tell("done" if not result.error_code else f"not done: {result.error_msg}")
    return int(bool(result.error_code))
