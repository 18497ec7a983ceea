"""The launch file of a PX4 vehicle: the graph it starts, what ends it, and a flight against the fake autopilot."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.bags.files import open_bag
from esar_ros.geometry.occupancy_window import FREE, UNKNOWN
from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import graph_environment
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, options_from
from esar_ros.nodes.graph.mission import TRUTH_DETECTOR
from esar_ros.nodes.graph.px4 import STARTING, vehicle_graph
from esar_ros.nodes.px4 import messages
from esar_ros.sim.terrain.maps import load_map
from helpers.flight import free_port, write_short_task
from helpers.launched import Launch, Launched, StandIns, parameters
from helpers.ros_domain import free_domain, own_domain

FAKE = Path(__file__).resolve().parents[1] / "px4" / "fake_node.py"
LACKING = "no pictures of left, right"
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


def test_a_flight_goes_on_without_its_recorder(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    """As the one that the system kills for want of memory: governor and bridge are not taken from a vehicle for it."""
    arguments = VEHICLES | {"out": str(tmp_path / "out")}
    count = len(vehicle_graph(options_of(arguments)))
    stand_ins.plan(count, {"team-recorder": [9], "team-uav1-voxel_mapper": [1]})
    launched = launch_px4(launch, arguments, stand_ins.environment())
    stand_ins.wait_for(count + 1)
    assert launched.process.poll() is None
    assert "ended with 9: the flight goes on without it" in launched.output
    assert stand_ins.starts()["team-recorder"] == 1 and stand_ins.starts()["team-uav1-voxel_mapper"] == 2
    launched.interrupt()
    launched.finish()
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


def loaded() -> Any:
    """The launch file as a module."""
    spec = importlib.util.spec_from_file_location("px4_launch", resource("launch/px4.launch.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_who_refuses_its_input_ends_the_launch_however_long_was_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where px4_msgs are built first."""
    module, node = loaded(), SimpleNamespace(label="uav1-range_driver", restart=True)
    event, context = SimpleNamespace(returncode=2), SimpleNamespace(is_shutdown=False)
    now = time.monotonic() + 1000.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    with pytest.raises(RuntimeError, match="uav1-range_driver ended with 2"):
        module.ended(node, event, context, now - 3.0)
    module.ended(node, event, context, now - STARTING - 1.0)  # its vehicle may fly by then


def test_every_argument_is_declared_and_described() -> None:
    from launch.actions import DeclareLaunchArgument

    module = loaded()
    declared = [e for e in module.generate_launch_description().entities if isinstance(e, DeclareLaunchArgument)]
    assert {e.name for e in declared} == {*ARGUMENTS, "cameras", "ranges"}
    assert all(e.description for e in declared)


@contextmanager
def beside(folder: Path, domain: str, *commands: list[str]) -> Iterator[list[Path]]:
    """Python processes in a domain; yields what each printed."""
    environment = {**os.environ, **graph_environment(), "ROS_DOMAIN_ID": domain, VARIABLE: ""}
    logs = [folder / f"beside{number}.log" for number in range(len(commands))]
    processes = []
    for path, command in zip(logs, commands, strict=True):
        with path.open("wb") as log:
            arguments = [sys.executable, "-u", *command]
            processes.append(subprocess.Popen(arguments, env=environment, stdout=log, stderr=subprocess.STDOUT))
    try:
        yield logs
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(60.0)


@pytest.mark.full
@pytest.mark.timeout(1500)
@pytest.mark.skipif(not messages.is_built(), reason="px4_msgs is not built here")
def test_a_belief_mission_through_the_mirror_reports_and_lands_at_home(launch: Launch, tmp_path: Path) -> None:
    """cameras:=simulator: the fake autopilot knows nothing of the simulator, which draws where the mirror puts it."""
    port, domain = str(free_port()), str(free_domain())
    task = str(write_short_task(tmp_path, 120.0))
    drawing = ["-m", "esar_ros.sim.server", "--port", port, "--map", "aotai", "--seed", "7", "--vehicles", "uav1"]
    mirror = ["-m", "esar_ros.app.cli", "px4", "mirror", "--port", port]
    arguments = {
        "cameras": "simulator", "task": task, "planner": "belief", "detector": TRUTH_DETECTOR, "preset": "fast",
        "seed": "7", "port": port, "out": str(tmp_path / "out"), "log_level": "warn",
    }  # fmt: skip
    with beside(tmp_path, domain, [*drawing, "--image", "320x240"], [str(FAKE), "--task", task], mirror) as logs:
        wait_for("ready on", logs[0], 300.0)
        launched = launch_px4(launch, arguments, {"ROS_DOMAIN_ID": domain})
        assert launched.finish(1000.0) == 0, launched.output[-3000:]
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (result["world"], result["odometry"]) == ("px4", "autopilot")
    assert result["end"] in ("stop", "timeout")
    assert result["safety"]["collisions"] == 0
    assert result["metrics"]["path_length"] > 20.0, "it flew"
    assert result["metrics"]["reports"] > 0
    assert "in offboard, obeying safe commands" in launched.output
    assert "no pictures" not in launched.output
    began, ended, state = flown(tmp_path / "out" / "bag")
    assert (state.armed, state.landed) == (False, state.LANDED_ON_GROUND)
    assert math.dist(began[:2], ended[:2]) < 5.0, "m from home"
    assert "poses were shown" in logs[2].read_text()


LEFT, AHEAD, BEHIND = (0.0, 6.0, -3.0), (6.0, 0.0, -3.0), (-6.0, 0.0, -3.0)  # m, base_link


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.skipif(not messages.is_built(), reason="px4_msgs is not built here")
@pytest.mark.parametrize("ranges", ["lidar", "depth"])
def test_a_vehicle_with_two_cameras_is_driven_from_a_recorded_bag(ranges: str, launch: Launch, tmp_path: Path) -> None:
    """Front and down camera, and a LiDAR or these cameras' depth as ranges: what nobody shows stays unknown."""
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.executors import SingleThreadedExecutor

    from esar_ros.mission import names
    from esar_ros.msg import Clues, LocalMap, RangeImage
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from esar_ros.nodes.messages.convert import window_of
    from helpers.recorded_sensors import HEIGHT, Player, record

    told = json.loads(write_short_task(tmp_path, 60.0).read_text()) | {
        "start": {"position": [-25.0, -45.0], "yaw": 0.0}
    }
    task = tmp_path / "short.json"
    task.write_text(json.dumps(told))
    arguments = {"task": str(task), "ranges": ranges, "out": str(tmp_path / "out"), "log_level": "warn"}
    topics = ("/image", "/depth", "/camera_info", *(["/points"] if ranges == "lidar" else []))
    heard: dict[str, Any] = {}
    lacks: set[str] = set()

    def diagnose(message: Any) -> None:
        lacks.update(status.message for status in message.status)

    with own_domain() as domain, beside(tmp_path, str(domain), [str(FAKE), "--task", str(task)]):
        launched = launch_px4(launch, arguments, {"ROS_DOMAIN_ID": str(domain)})
        rclpy.init()
        executor = SingleThreadedExecutor()
        try:
            node = rclpy.create_node("drivers")
            executor.add_node(node)
            kinds = {names.RANGES: RangeImage, names.CLUES: Clues, names.MAP_LOCAL: LocalMap}
            for name, kind in kinds.items():
                node.create_subscription(
                    kind, f"/uav1/{name}", lambda m, n=name: heard.__setitem__(n, m), PROFILES[BY_NAME[name].quality]
                )
            quality = PROFILES[BY_NAME[names.DIAGNOSTICS].quality]
            node.create_subscription(DiagnosticArray, names.DIAGNOSTICS, diagnose, quality)
            player = Player(node, record(tmp_path / "recorded"), topics)

            def is_told() -> bool:
                return len(heard) == len(kinds) and bool(heard[names.CLUES].cameras) and bool(lacks & {LACKING})

            limit = time.monotonic() + 400.0
            while not is_told() and launched.process.poll() is None and time.monotonic() < limit:
                player.step()
                executor.spin_once(timeout_sec=0.01)
        finally:
            rclpy.try_shutdown()
            launched.interrupt()
            launched.finish()
    assert heard.keys() == kinds.keys(), launched.output[-3000:]
    assert set(heard[names.CLUES].cameras) == {"front", "down"} and LACKING in lacks
    image = heard[names.RANGES]
    out = np.array(image.ranges, np.float32).reshape(image.rows, image.columns)
    assert out[0, image.columns // 2] == pytest.approx(HEIGHT, rel=0.05), "straight down"
    aside = out[int((-image.elevation_min - math.radians(30.0)) / image.elevation_step), image.columns * 3 // 4]
    assert aside == pytest.approx(2.0 * HEIGHT, rel=0.25) if ranges == "lidar" else math.isnan(aside)
    window, ground = window_of(heard[names.MAP_LOCAL]), float(load_map("aotai").ground_height([-25.0, -45.0]))
    here = np.array([-25.0, -45.0, ground])
    assert [cell_at(window, here + place) for place in (AHEAD, LEFT, BEHIND)] == [FREE, UNKNOWN, UNKNOWN]


def cell_at(window: Any, place: Any) -> int:
    """Returns the cell that holds a place in the map."""
    return int(window.cells[tuple(np.floor((place - window.origin) / window.resolution).astype(int))])


def wait_for(words: str, log: Path, seconds: float) -> None:
    """Waits until a process has printed these words."""
    limit = time.monotonic() + seconds
    while words not in log.read_text(errors="replace"):
        assert time.monotonic() < limit, log.read_text(errors="replace")[-2000:]
        time.sleep(0.2)


def flown(path: Path) -> tuple[tuple[float, float], tuple[float, float], Any]:
    """Returns the vehicle's first and last place in its bag, m, and its last state."""
    places: list[tuple[float, float]] = []
    state: Any = None
    with open_bag(path) as bag:
        wanted = [c for c in bag.connections if c.topic in ("/uav1/odometry", "/uav1/vehicle_state")]
        for connection, _, raw in bag.messages(wanted):
            message = bag.deserialize(raw, connection.msgtype)
            if connection.topic.endswith("odometry"):
                places.append((message.pose.pose.position.x, message.pose.pose.position.y))
            else:
                state = message
    return places[0], places[-1], state
