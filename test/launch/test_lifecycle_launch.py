"""The governor under launch_ros's LifecycleNode: launch configures and activates it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from lifecycle_msgs.srv import GetState
from rclpy.executors import SingleThreadedExecutor

from helpers.ros_domain import own_domain

FILE = """
from launch import LaunchDescription
from launch.actions import EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition


def generate_launch_description():
    governor = LifecycleNode(
        executable={python!r}, arguments=["-m", "esar_ros.nodes.safety_governor"],
        name="safety_governor", namespace="uav1", parameters=[{{"autostart": False}}],
    )

    def ask(transition):
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(governor), transition_id=transition))

    configured = OnStateTransition(
        target_lifecycle_node=governor, goal_state="inactive", entities=[ask(Transition.TRANSITION_ACTIVATE)]
    )
    return LaunchDescription(
        [RegisterEventHandler(configured), governor, ask(Transition.TRANSITION_CONFIGURE)]
    )
"""


def test_launch_brings_the_governor_up(tmp_path: Path) -> None:
    (tmp_path / "managed.launch.py").write_text(FILE.format(python=sys.executable))
    environment = os.environ | {"ROS_HOME": str(tmp_path)}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment["AMENT_PREFIX_PATH"] = os.environ.get("AMENT_PREFIX_PATH") or sys.prefix
    with own_domain() as domain:
        environment["ROS_DOMAIN_ID"] = str(domain)
        with (tmp_path / "launch.log").open("wb") as log:
            launched = subprocess.Popen(
                ["ros2", "launch", str(tmp_path / "managed.launch.py")],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
        try:
            states = states_until("active", 120.0)
        finally:
            os.killpg(launched.pid, signal.SIGINT)
            launched.wait(60.0)
    assert states and states[-1] == "active", (states[-5:], (tmp_path / "launch.log").read_text(errors="replace"))


def states_until(wanted: str, seconds: float) -> list[str]:
    """Returns the governor's states as its service gives them, until it is in the wanted one."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("asker", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    client = node.create_client(GetState, "/uav1/safety_governor/get_state")
    states: list[str] = []
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and states[-1:] != [wanted]:
        if client.wait_for_service(timeout_sec=1.0):
            future = client.call_async(GetState.Request())
            executor.spin_until_future_complete(future, timeout_sec=2.0)
            if future.done():
                states.append(future.result().current_state.label)
    node.destroy_node()
    context.try_shutdown()
    return states
