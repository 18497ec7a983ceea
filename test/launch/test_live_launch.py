"""The launch file under launch_pytest, ROS's own way of testing launch descriptions: its graph comes alive."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

try:
    import launch_pytest
except ImportError:
    pytest.skip("launch_pytest comes with a ROS install, not with the ROS wheels", allow_module_level=True)

import rclpy
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.executors import SingleThreadedExecutor

from esar_ros.mission import names
from esar_ros.mission.resources import resource
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class
from helpers.ros_domain import free_domain

DOMAIN = str(free_domain())


@launch_pytest.fixture
def mission(tmp_path: Path) -> LaunchDescription:
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    arguments = {"planner": "zigzag", "preset": "fast", "out": str(tmp_path / "out"), "record": "score"}
    file = PythonLaunchDescriptionSource(str(resource("launch/mission.launch.py")))
    return LaunchDescription(
        [
            IncludeLaunchDescription(file, launch_arguments=arguments.items()),
            launch_pytest.actions.ReadyToTest(),
        ]
    )


@pytest.mark.timeout(900)
@pytest.mark.launch(fixture=mission)
def test_the_launched_graph_flies() -> None:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("listener", context=context)
    heights: list[float] = []

    def hear(message: Any) -> None:
        heights.append(message.pose.pose.position.z)

    entry = BY_NAME[names.ODOMETRY]
    node.create_subscription(message_class(entry.type), f"/uav1/{entry.name}", hear, PROFILES[entry.quality])
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    limit = time.monotonic() + 600.0  # on a machine that compiles the kernels first
    while time.monotonic() < limit and not (heights and heights[-1] > 5.0):
        executor.spin_once(timeout_sec=0.1)
    node.destroy_node()
    context.try_shutdown()
    assert heights, "no odometry"
    assert heights[-1] > 5.0, "it took off"
