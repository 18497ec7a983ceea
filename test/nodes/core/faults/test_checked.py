"""Content that a schedule may name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from esar_ros.app import mission as command_line
from esar_ros.faults.schedule import PROCESS_KINDS
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.faults.checked import checked_schedule, inputs_of
from esar_ros.nodes.graph import launch_arguments
from esar_ros.nodes.graph.mission import mission_graph

EXAMPLES = sorted(resource("config/faults").glob("*.yaml"))

Write = Callable[..., Path]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_the_graph(path: Path) -> None:
    checked_schedule(path, ("uav1",), "realtime")


@pytest.mark.parametrize(
    ("fault", "pace", "words"),
    [
        ("kind: drop, node: safety_governor, topic: ranges, at: 5, vehicle: uav9", "lockstep", ("uav9", "uav1")),
        ("kind: drop, node: referee, topic: odometry, at: 5", "lockstep", ("referee", "safety_governor")),
        ("kind: drop, node: safety_governor, topic: frames, at: 5", "lockstep", ("frames", "map/local")),
        ("kind: drop, node: safety_governor, topic: heartbeat, at: 5", "lockstep", ("heartbeat",)),
        ("kind: kill, process: everybody, at: 5", "lockstep", ("everybody", "sensing")),
        ("kind: clock_reset, node: pilot, at: 5, by: 3", "lockstep", ("clock_reset", "realtime")),
        ("kind: drop, node: camera_driver, topic: odometry, at: 5", "lockstep", ("camera_driver", "realtime")),
        ("kind: drop, node: voxel_mapper, topic: frames, at: 5", "realtime", ("frames", "camera_lost")),
    ],
)
def test_what_the_graph_has_not_is_refused(write: Write, fault: str, pace: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refused:
        checked_schedule(write("kind: kill, process: pilot, at: 3", fault), ("uav1",), pace)
    text = str(refused.value)
    assert "faults.1" in text
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_inputs_are_those_of_the_table() -> None:
    assert inputs_of(node_names.SAFETY_GOVERNOR) == (
        "battery", "clues", "cmd_vel", "map/local", "odometry", "ranges", "vehicle_state",
    )  # fmt: skip
    assert "frames" in inputs_of(node_names.VOXEL_MAPPER)


def test_the_command_line_checks_the_schedule(write: Write) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    command_line.add_arguments(parser)
    path = write("kind: drop, node: nobody, topic: ranges, at: 5")
    with pytest.raises(UsageError, match="nobody"):
        command_line.options_from(parser.parse_args(["--fault", str(path)]))
    path = write("kind: drop, node: safety_governor, topic: ranges, at: 5")
    options, _ = command_line.options_from(parser.parse_args(["--fault", str(path)]))
    assert options.fault == str(path)
    assert all(spec.parameters["faults"] == str(path) for spec in mission_graph(options) if spec.ros)


@pytest.mark.parametrize("kind", PROCESS_KINDS)
def test_launch_refuses_signals(write: Write, kind: str) -> None:
    assert launch_arguments.SIGNALS == PROCESS_KINDS
    values = {name: argument.default for name, argument in launch_arguments.ARGUMENTS.items()}
    with pytest.raises(UsageError, match=kind):
        launch_arguments.options_from(values | {"fault": str(write(f"kind: {kind}, at: 5"))})
    with pytest.raises(UsageError, match="no file"):
        launch_arguments.options_from(values | {"fault": "/nowhere.yaml"})
    assert launch_arguments.options_from(values | {"fault": str(write("kind: drop, at: 5"))}).fault
