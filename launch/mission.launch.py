"""Fly one mission on a machine with ROS: the graph of esar_ros/nodes/graph/mission.py as launch actions."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, EmitEvent, ExecuteProcess, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown, matches_action
from launch.events.process import ProcessExited, ShutdownProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import ExecutableInPackage

from esar_ros.app.results import ResultsFolder
from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.core.node_names import REFEREE_RECORDER
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, check_names, options_from
from esar_ros.nodes.graph.mission import AUTOPILOTS, BAD_INPUT, MissionOptions, NodeSpec, mission_graph
from esar_ros.nodes.graph.rviz_config import rviz_config
from esar_ros.nodes.graph.shared_memory import sweep
from esar_ros.nodes.graph.start import LAUNCHED

PACKAGE = "esar_ros"
MAX_RESTARTS = 5  # of one process
# s from SIGINT to SIGTERM on a busy machine: the process that has a score to write and a bag to close, and the others;
# then as many to SIGKILL
PATIENCE_CLOSING, PATIENCE, PATIENCE_TERMINATED = "60", "20", "10"
KILLED = -9


def parameters_of(spec: NodeSpec) -> dict[str, Any]:
    """A process's parameters, typed: launch would read the string '7' as a number and 'off' as a truth value."""
    typed: dict[str, Any] = {}
    for name, value in spec.parameters.items():
        kind = list[str] if isinstance(value, list) else type(value)
        typed[name] = ParameterValue(value, value_type=kind)
    return typed


def action_for(spec: NodeSpec, options: MissionOptions, environment: dict[str, str]) -> ExecuteProcess:
    """One process of the graph as a launch action; environment: variables beside the inherited ones."""
    if not spec.ros:  # a Node would be given ROS arguments
        executable = ExecutableInPackage(package=PACKAGE, executable=spec.executable)
        return ExecuteProcess(
            cmd=[executable, *spec.arguments],
            name=spec.executable,
            additional_env=environment,
            output="screen",
            sigterm_timeout=PATIENCE,
            sigkill_timeout=PATIENCE_TERMINATED,
        )
    return Node(
        package=PACKAGE,
        executable=spec.executable,
        namespace=spec.namespace or None,  # an empty one would be forced on nodes with namespaces of their own
        parameters=[parameters_of(spec), *([options.params_file] if options.params_file else [])],
        remappings=list(spec.remap.items()),
        ros_arguments=["--log-level", options.log_level],
        additional_env=environment,
        respawn=spec.restart,
        respawn_delay=0.5,
        output="screen",
        sigterm_timeout=PATIENCE_CLOSING if spec.ends_mission else PATIENCE,
        sigkill_timeout=PATIENCE_TERMINATED,
    )


def in_nodes_python(*module_and_arguments: str, name: str) -> ExecuteProcess:
    """A command of this package in the nodes' Python, which need not be launch's own."""
    script = Path(get_package_prefix(PACKAGE), "lib", PACKAGE, REFEREE_RECORDER)
    python = script.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").split()
    return ExecuteProcess(cmd=[*python, "-u", "-m", *module_and_arguments], name=name, output="screen")


def after_preparing(
    options: MissionOptions, actions: Callable[[], list[LaunchDescriptionEntity]]
) -> list[LaunchDescriptionEntity]:
    """Compiles and draws what is not there yet, as `esar mission` does, and then goes on with the actions.

    A planner or detector that cannot be made is refused there, in the nodes' Python, before any node starts; in world
    px4 it is said there what the detector finds on real photographs. The task of a search of one's own is written
    there, too.
    """
    chosen = ("--planner", options.planner, "--detector", options.detector, "--world", options.world)
    chosen += ("--quality", options.quality)
    own = ("--brief", options.brief, f"--start={options.start}", "--t-max", str(options.t_max), "--out", options.task)
    more = own if options.brief else ()
    first = in_nodes_python("esar_ros.app.prepare", options.map, *chosen, *more, name="prepare")

    def prepared(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if context.is_shutdown:
            return None
        if event.returncode:
            raise RuntimeError(f"preparing ended with {event.returncode}, so nothing was flown")
        return actions()

    return [RegisterEventHandler(OnProcessExit(target_action=first, on_exit=prepared)), first]


def rviz(options: MissionOptions) -> list[Node]:
    """RViz on the mission's topics, in the mission's time, and the model of each vehicle."""
    root = options.root
    config = rviz_config(options.vehicles, root, Path(options.out) / "logs")
    time = {"use_sim_time": options.use_sim_time and options.world not in AUTOPILOTS}  # there nobody publishes /clock
    model = ParameterValue(resource("urdf/vehicle.urdf").read_text(encoding="utf-8"), value_type=str)
    models = [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            namespace=f"{root}/{vehicle}",
            parameters=[{**time, "robot_description": model, "frame_prefix": f"{vehicle}/"}],
            output="log",
        )
        for vehicle in options.vehicles
    ]
    viewer = Node(
        package="rviz2",
        executable="rviz2",
        namespace=options.namespace,
        arguments=["-d", str(config)],
        parameters=[time],
        output="log",
    )
    return [*models, viewer]


class Mission:
    """The processes of one mission, and what it means when one of them ends."""

    def __init__(self, options: MissionOptions, inherited: dict[str, str]) -> None:
        token = secrets.token_hex(16)
        self.options = options
        self.processes = {
            spec.label: (
                spec,
                action_for(
                    spec,
                    options,
                    {**graph_environment(spec.images, inherited), **spec.truth_environment(token), LAUNCHED: "1"},
                ),
            )
            for spec in mission_graph(options)
        }
        self._deaths: Counter[str] = Counter()
        self._over = False

    def actions(self) -> list[LaunchDescriptionEntity]:
        """Every process, each with a watch over its end."""
        actions: list[LaunchDescriptionEntity] = []
        for spec, action in self.processes.values():
            watch = OnProcessExit(
                target_action=action, on_exit=lambda event, context, s=spec: self._ended(s, event, context)
            )
            actions += [RegisterEventHandler(watch), action]
        return [*actions, *rviz(self.options)] if self.options.rviz else actions

    def _ended(
        self, spec: NodeSpec, event: ProcessExited, context: LaunchContext
    ) -> list[LaunchDescriptionEntity] | None:
        """Returns the actions that follow. An exception ends the launch with exit code 1, its text as the last
        error."""
        if event.returncode == KILLED and (self._over or context.is_shutdown):
            raise RuntimeError(f"{spec.label} did not end when told to and was killed")
        if self._over or context.is_shutdown:
            return None
        if spec.ends_mission and event.returncode == 0:
            self._over = True
            return self._epilogue()
        self._deaths[spec.label] += 1
        worn_out = self._deaths[spec.label] > MAX_RESTARTS and not spec.optional
        refused = event.returncode == BAD_INPUT and not (spec.optional and self._deaths[spec.label] > 1)
        if refused or not spec.restart or worn_out:
            raise RuntimeError(f"{spec.label} ended with {event.returncode}, so the mission is over")
        return None

    def _epilogue(self) -> list[LaunchDescriptionEntity]:
        """Ends the nodes once the result is written and the bag closed, shows the flight, ends the rest."""
        # What `esar mission` shows at its end: the scorecard as a table and an image, and the report.
        report = in_nodes_python("esar_ros.app.cli", "report", self.options.out, name="report")
        done = OnProcessExit(target_action=report, on_exit=self._shown)
        nodes = [action for spec, action in self.processes.values() if spec.restart]
        ends = [EmitEvent(event=ShutdownProcess(process_matcher=matches_action(action))) for action in nodes]
        return [*ends, RegisterEventHandler(done), report]

    def _shown(self, event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if event.returncode:
            raise RuntimeError(f"the report ended with {event.returncode}; the result is in {self.options.out}")
        return [EmitEvent(event=Shutdown(reason="mission over"))]


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Actions of the mission that the launch arguments describe."""
    check_names(context.launch_configurations, ARGUMENTS)
    options = options_from({name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS})
    ResultsFolder(Path(options.out)).prepare()
    sweep()  # what killed processes of earlier missions left in shared memory
    return after_preparing(options, lambda: Mission(options, dict(context.environment)).actions())


def generate_launch_description() -> LaunchDescription:
    """All arguments, described, and the graph."""
    declared = [
        DeclareLaunchArgument(
            name, default_value=argument.default, description=argument.about, choices=argument.choices or None
        )
        for name, argument in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
