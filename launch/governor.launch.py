"""The safety governor between any planner's /cmd_vel and an autopilot: no mission, map, referee or simulator."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration

from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.governor import ARGUMENTS, governor_graph, options_from
from esar_ros.nodes.graph.launch_arguments import check_names
from esar_ros.nodes.graph.mission import PX4


def beside(name: str) -> ModuleType:
    """The launch file of that name beside this one."""
    path = Path(__file__).resolve().with_name(f"{name}.launch.py")
    spec = importlib.util.spec_from_file_location(f"{name}_launch", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Builds px4_msgs where PX4 needs them, and then starts the processes that the arguments describe."""
    check_names(context.launch_configurations, ARGUMENTS)
    options = options_from({name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS})
    mission, px4 = beside("mission"), beside("px4")

    def processes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        made: list[LaunchDescriptionEntity] = []
        begun = time.monotonic()
        for spec in governor_graph(options):
            action = mission.action_for(spec, options, graph_environment(spec.images, dict(context.environment)))
            watch = OnProcessExit(
                target_action=action, on_exit=lambda event, context, s=spec: px4.ended(s, event, context, begun)
            )
            made += [RegisterEventHandler(watch), action]
        return made

    def built(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if context.is_shutdown:
            return None
        if event.returncode:
            raise RuntimeError(f"building px4_msgs ended with {event.returncode}")
        return processes(context)

    if options.autopilot != PX4:
        return processes(context)
    first = mission.in_nodes_python("esar_ros.nodes.px4.messages", name="px4_msgs")
    return [RegisterEventHandler(OnProcessExit(target_action=first, on_exit=built)), first]


def generate_launch_description() -> LaunchDescription:
    """All arguments, described, and the processes."""
    declared = [
        DeclareLaunchArgument(
            name, default_value=argument.default, description=argument.about, choices=argument.choices or None
        )
        for name, argument in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
