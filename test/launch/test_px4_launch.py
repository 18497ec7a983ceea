"""The launch file of a PX4 vehicle: the graph it starts, what ends it, and a flight against the fake autopilot."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import graph_environment
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, options_from
from esar_ros.nodes.graph.px4 import vehicle_graph
from esar_ros.nodes.px4 import messages
from helpers.flight import free_port, write_short_task
from helpers.launched import Launch, Launched, StandIns, parameters
from helpers.ros_domain import free_domain

VEHICLES = {"detector": "mine", "vehicles": "uav1,uav2", "namespace": "/team", "log_level": "warn"}


def launch_px4(launch: Launch, arguments: dict[str, str], environment: dict[str, str]) -> Launched:
    return launch(arguments, environment, file="px4")


def options_of(arguments: dict[str, str]) -> Any:
    given = {"world": "px4", "pace": "realtime", "use_sim_time": "false", "end": "return_land", **arguments}
    return options_from({name: argument.default for name, argument in ARGUMENTS.items()} | given)


def test_what_is_started_is_the_graph_of_a_vehicle(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    arguments = VEHICLES | {"out": str(tmp_path / "out")}
    graph = vehicle_graph(options_of(arguments))
    stand_ins.plan(len(graph), {})
    launched = launch_px4(launch, arguments, stand_ins.environment())
    stand_ins.wait_for(len(graph), 60.0)
    launched.interrupt()
    launched.finish()
    assert stand_ins.starts() == {spec.label: 1 for spec in graph}
    for spec in graph:
        told = stand_ins.told(spec.label)
        assert VARIABLE not in told["environment"] or not told["environment"][VARIABLE], "nobody here knows the truth"
        assert f"__ns:={spec.namespace}" in told["argv"]
        assert parameters(told["argv"]) == spec.parameters, "with their types"
        for name, value in graph_environment(spec.images).items():
            assert told["environment"][name] == value
    assert launched.left() == []


def test_who_refuses_its_input_ends_the_launch(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    arguments = VEHICLES | {"out": str(tmp_path / "out")}
    stand_ins.plan(len(vehicle_graph(options_of(arguments))), {"team-uav2-px4_bridge": [2]})
    launched = launch_px4(launch, arguments, stand_ins.environment())
    assert launched.finish() == 1
    assert "team-uav2-px4_bridge ended with 2" in launched.output
    assert launched.left() == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("detector", "segmentation_oracle", "reads a simulator's object ids"),
        ("pace", "lockstep", "flies in real time only"),
        ("cameras", "eyes", "Valid options are"),
    ],
)
def test_bad_arguments_start_nothing(
    name: str, value: str, words: str, launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    stand_ins.plan(99, {})
    launched = launch_px4(launch, VEHICLES | {"out": str(tmp_path / "out"), name: value}, stand_ins.environment())
    assert launched.finish() == 1
    assert words in launched.output and "Traceback" not in launched.output
    assert stand_ins.starts() == {} and not (tmp_path / "out").exists()


def test_every_argument_is_declared_and_described() -> None:
    from launch.actions import DeclareLaunchArgument

    spec = importlib.util.spec_from_file_location("px4_launch", resource("launch/px4.launch.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = [e for e in module.generate_launch_description().entities if isinstance(e, DeclareLaunchArgument)]
    assert {e.name for e in declared} == {*ARGUMENTS, "cameras"}
    assert all(e.description for e in declared)


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.skipif(not messages.is_built(), reason="px4_msgs is not built here")
def test_it_flies_the_fake_autopilot_and_is_scored(launch: Launch, tmp_path: Path) -> None:
    """cameras:=simulator: a simulator draws from where the fake autopilot says that the vehicle is."""
    port, domain = free_port(), str(free_domain())
    environment = {**os.environ, **graph_environment(), "ROS_DOMAIN_ID": domain, VARIABLE: ""}
    fake = Path(__file__).resolve().parents[1] / "px4" / "fake_node.py"
    drawing = [sys.executable, "-m", "esar_ros.sim.server", "--port", str(port), "--map", "aotai", "--seed", "7"]
    commands = [
        [*drawing, "--vehicles", "uav1", "--image", "320x240"],
        [sys.executable, str(fake), "--port", str(port), "--map", "aotai"],
    ]
    beside = []
    for number, command in enumerate(commands):
        with (tmp_path / f"beside{number}.log").open("wb") as log:
            beside.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
    limit = time.monotonic() + 300.0
    while "ready on" not in (tmp_path / "beside0.log").read_text() and time.monotonic() < limit:
        time.sleep(0.2)
    task = write_short_task(tmp_path, 40.0)
    arguments = {
        "cameras": "simulator", "task": str(task), "planner": "fbe", "preset": "fast", "seed": "7", "end": "hold",
        "port": str(port), "out": str(tmp_path / "out"), "log_level": "warn",
    }  # fmt: skip
    try:
        launched = launch_px4(launch, arguments, {"ROS_DOMAIN_ID": domain})
        assert launched.finish(600.0) == 0, launched.output[-3000:]
    finally:
        for process in beside:
            process.send_signal(signal.SIGINT)
        for process in beside:
            process.wait(60.0)
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (result["world"], result["odometry"], result["end"]) == ("px4", "autopilot", "timeout")
    assert result["safety"]["collisions"] == 0
    assert result["metrics"]["path_length"] > 20.0, "it flew"
    assert "in offboard, obeying safe commands" in launched.output
