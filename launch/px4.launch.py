"""Fly PX4. cameras:=drivers (a real vehicle): images and ranges come from ROS drivers, remapped to this graph's
topics, and a person starts the mission. cameras:=simulator (SITL): an AirSim server draws them and the referee scores.
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration

from esar_ros.app.results import ResultsFolder
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, check_names, options_from
from esar_ros.nodes.graph.mission import PX4, NodeSpec
from esar_ros.nodes.graph.px4 import RANGES, ends_launch, vehicle_graph
from esar_ros.nodes.graph.shared_memory import sweep

DRIVERS, SIMULATOR = "drivers", "simulator"
DEFAULTS = {"world": PX4, "pace": "realtime", "use_sim_time": "false", "end": "return_land"}
KILLED = -9


def mission_launch() -> ModuleType:
    """launch/mission.launch.py, beside this file."""
    path = Path(__file__).resolve().with_name("mission.launch.py")
    spec = importlib.util.spec_from_file_location("mission_launch", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ended(spec: NodeSpec, event: ProcessExited, context: LaunchContext, begun: float) -> None:
    """A process that refuses its input at the start ends the launch, with its exit code in words.

    begun: s, steady clock, when the first of them was started: what was built and drawn before may take minutes.
    """
    if context.is_shutdown and event.returncode == KILLED:
        raise RuntimeError(f"{spec.label} did not end when told to and was killed")
    if context.is_shutdown:
        return
    if ends_launch(event.returncode, time.monotonic() - begun):
        raise RuntimeError(f"{spec.label} ended with {event.returncode}")
    if not spec.restart:
        get_logger(spec.label).error(f"ended with {event.returncode}: the flight goes on without it")


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Actions of the flight that the launch arguments describe."""
    check_names(context.launch_configurations, (*ARGUMENTS, "cameras", "ranges"))
    options = options_from({name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS})
    simulated = LaunchConfiguration("cameras").perform(context) == SIMULATOR
    ranges = LaunchConfiguration("ranges").perform(context)
    specs = [] if simulated else vehicle_graph(options, ranges)  # refuses before anything is moved
    ResultsFolder(Path(options.out)).prepare()
    sweep()
    mission = mission_launch()

    def actions() -> list[LaunchDescriptionEntity]:
        if simulated:
            return mission.Mission(options, dict(context.environment)).actions()
        made: list[LaunchDescriptionEntity] = []
        begun = time.monotonic()
        for spec in specs:
            action = mission.action_for(spec, options, graph_environment(spec.images, dict(context.environment)))
            watch = OnProcessExit(
                target_action=action, on_exit=lambda event, context, s=spec: ended(s, event, context, begun)
            )
            made += [RegisterEventHandler(watch), action]
        return [*made, *mission.rviz(options)] if options.rviz else made

    return mission.after_preparing(options, actions)


def generate_launch_description() -> LaunchDescription:
    """All arguments, described, and the graph."""
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=DEFAULTS.get(name, argument.default),
            description=argument.about,
            choices=argument.choices or None,
        )
        for name, argument in ARGUMENTS.items()
    ]
    cameras = DeclareLaunchArgument(
        "cameras", default_value=DRIVERS, description="who takes the pictures", choices=[DRIVERS, SIMULATOR]
    )
    about = "of cameras:=drivers: what range_driver makes ranges of; none: you start it yourself"
    ranges = DeclareLaunchArgument("ranges", default_value=RANGES[0], description=about, choices=RANGES)
    return LaunchDescription([*declared, cameras, ranges, OpaqueFunction(function=start)])
