"""Fly one mission on a machine with ROS: the graph of esar_ros/nodes/graph.py as launch actions."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

from esar_ros.mission.environment import graph_environment
from esar_ros.mission.resources import resource
from esar_ros.mission.task import load_task
from esar_ros.nodes.graph import MissionOptions, NodeSpec, mission_graph
from launch import LaunchDescription, LaunchContext
from launch.actions import DeclareLaunchArgument, EmitEvent, ExecuteProcess, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

DEFAULT = MissionOptions()
ARGUMENTS = {
    "namespace": ("", "namespace of the whole graph; vehicles' namespaces lie below it"),
    "vehicles": (",".join(DEFAULT.vehicles), "names of the vehicles, separated by commas"),
    "params_file": ("", "ROS parameter file that overrides the graph's parameters"),
    "use_sim_time": ("true", "nodes take the time from /clock"),
    "planner": (DEFAULT.planner, "search method"),
    "task": (DEFAULT.task, "task id, or path of a task file"),
    "map": ("", "must be the task's map; empty: the task's"),
    "seed": ("-1", "random seed; -1: the task's"),
    "out": (DEFAULT.out, "folder for the results"),
    "world": (DEFAULT.world, "what is flown in: embedded, airsim or px4"),
    "pace": (DEFAULT.pace, "who moves time: lockstep or realtime"),
    "preset": (DEFAULT.preset, "pictures: paper (640x480) or fast (320x240)"),
    "detector": (DEFAULT.detector, "clue detector backend"),
    "governor": ("true", "false: the safety governor only watches"),
    "end": (DEFAULT.end, "after the mission: hold or return_land"),
    "record": (DEFAULT.record, "what the bag keeps: score, view or full"),
    "rviz": ("false", "open RViz with rviz/mission.rviz"),
    "log_level": (DEFAULT.log_level, "of the nodes' logs: debug, info, warn, error or fatal"),
    "host": (DEFAULT.host, "of the AirSim server"),
    "port": ("0", "of the AirSim server; 0: a free one for the embedded simulator, 41451 for AirSim"),
}


def options_from(values: dict[str, str]) -> MissionOptions:
    """Checked options from launch arguments, all of them strings."""

    def yes(name: str) -> bool:
        return values[name].lower() in ("true", "1", "yes", "on")

    task = load_task(values["task"])
    port = int(values["port"])
    if port == 0 and values["world"] == "embedded":
        with socket.socket() as probe:
            probe.bind((values["host"], 0))
            port = probe.getsockname()[1]
    seed = int(values["seed"])
    options = MissionOptions(
        task=values["task"],
        planner=values["planner"],
        map=values["map"] or task.map,
        seed=task.seed if seed < 0 else seed,
        out=str(Path(values["out"]).resolve()),
        world=values["world"],
        pace=values["pace"],
        preset=values["preset"],
        vehicles=tuple(part.strip() for part in values["vehicles"].split(",") if part.strip()),
        namespace=values["namespace"],
        params_file=values["params_file"],
        use_sim_time=yes("use_sim_time"),
        record=values["record"],
        detector=values["detector"],
        governor=yes("governor"),
        end=values["end"],
        rviz=yes("rviz"),
        log_level=values["log_level"],
        host=values["host"],
        port=port or 41451,
    )
    options.check()
    return options


def action_for(spec: NodeSpec, options: MissionOptions) -> Node:
    """One process of the graph as a launch action."""
    environment = graph_environment(images=spec.images)
    if not spec.ros:
        return Node(
            package="esar_ros",
            executable=spec.executable,
            arguments=list(spec.arguments),
            additional_env=environment,
            output="screen",
        )
    overrides = [options.params_file] if options.params_file else []
    return Node(
        package="esar_ros",
        executable=spec.executable,
        namespace=spec.namespace,
        parameters=[spec.parameters, *overrides],
        arguments=["--ros-args", "--log-level", options.log_level],
        additional_env=environment,
        respawn=spec.restart,
        respawn_delay=0.5,
        output="screen",
    )


def start(context: LaunchContext) -> list[object]:
    """Actions of the mission described by the launch arguments."""
    options = options_from({name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS})
    os.environ.setdefault("ESAR_TRUTH_TOKEN", secrets.token_hex(16))
    actions: list[object] = []
    for spec in mission_graph(options):
        action = action_for(spec, options)
        actions.append(action)
        if not spec.restart:
            # The officials end when the result is written and the bag closed; nothing flies without a simulator.
            actions.append(
                RegisterEventHandler(
                    OnProcessExit(target_action=action, on_exit=[EmitEvent(event=Shutdown(reason="mission over"))])
                )
            )
    if options.rviz:
        actions.append(ExecuteProcess(cmd=["rviz2", "-d", str(resource("rviz/mission.rviz"))], output="log"))
    return actions


def generate_launch_description() -> LaunchDescription:
    """All arguments, described, and the graph."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=about)
        for name, (default, about) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
