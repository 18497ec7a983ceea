"""The launch file starts what esar_ros.nodes.graph.mission describes, and flies it to the end."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.resources import resource
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, options_from
from esar_ros.nodes.graph.mission import TRUTH_DETECTOR, mission_graph
from helpers.flight import Flight, write_short_task
from helpers.launched import Launch, StandIns, parameters

VARIANTS = {
    "as it comes": {"port": "41234"},
    "everything else": {
        "port": "41235",
        "namespace": "/team/a",
        "vehicles": "uav1,on",  # a name that YAML takes for a truth value
        "planner": "7",  # and one that it takes for a number
        "detector": "off",
        "governor": "false",
        "use_sim_time": "false",
        "pace": "realtime",
        "preset": "fast",
        "record": "full",
        "end": "return_land",
        "seed": "3",
        "log_level": "debug",
        "host": "127.0.0.2",
        "task": "aotai-second",
    },
    "no simulator of ours": {"world": "airsim", "port": "41236"},
}
PROCESSES = 7


def options_of(arguments: dict[str, str]) -> Any:
    return options_from({name: argument.default for name, argument in ARGUMENTS.items()} | arguments)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_started_is_the_graph(variant: str, launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    extra = tmp_path / "extra.yaml"
    extra.write_text("/**: {ros__parameters: {own: 5}}\n")
    arguments = VARIANTS[variant] | {"out": str(tmp_path / "out"), "params_file": str(extra)}
    options = options_of(arguments)
    graph = mission_graph(options)
    stand_ins.plan(len(graph), {spec.label: [0] for spec in graph if spec.ends_mission})
    launched = launch(arguments, stand_ins.environment())
    assert launched.finish() == 0, launched.output
    assert stand_ins.starts() == {spec.label if spec.ros else spec.executable: 1 for spec in graph}
    tokens = set()
    for spec in graph:
        told = stand_ins.told(spec.label)
        argv, environment = told["argv"], told["environment"]
        assert bool(environment["ESAR_TRUTH_TOKEN"]) == spec.truth
        tokens.add(environment["ESAR_TRUTH_TOKEN"])
        for name, value in graph_environment(spec.images).items():
            assert environment[name] == value
        if not spec.ros:
            assert argv == list(spec.arguments)
            continue
        assert (f"__ns:={spec.namespace}" in argv) == bool(spec.namespace)
        assert parameters(argv) == spec.parameters | {"own": 5}, "with their types"
        assert argv[argv.index("--log-level") + 1] == options.log_level
    assert {len(token) for token in tokens} == {0, 32}


@pytest.mark.parametrize("world", ["embedded", "px4"])
def test_rviz_comes_with_the_vehicles_models_and_the_missions_names_and_time(
    world: str, launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    arguments = {"rviz": "true", "namespace": "/team", "vehicles": "hawk,kite", "out": str(tmp_path / "out")}
    arguments |= {"world": world, "pace": "realtime"}
    simulated = world == "embedded"  # an autopilot's time is the system's: nobody publishes /clock
    graph = mission_graph(options_of(arguments | {"port": "41238"}))
    stand_ins.plan(len(graph) + 3, {spec.label: [0] for spec in graph if spec.ends_mission})
    launched = launch(arguments, stand_ins.environment())
    assert launched.finish() == 0, launched.output
    for vehicle in ("hawk", "kite"):
        argv = stand_ins.told(f"team-{vehicle}-robot_state_publisher")["argv"]
        told = parameters(argv)
        assert (told["frame_prefix"], told["use_sim_time"]) == (f"{vehicle}/", simulated)
        assert told["robot_description"] == resource("urdf/vehicle.urdf").read_text(encoding="utf-8")
    argv = stand_ins.told("team-rviz2")["argv"]
    shown = Path(argv[argv.index("-d") + 1])
    assert shown == tmp_path / "out" / "logs" / "multi.rviz" and "/team/hawk/" in shown.read_text(encoding="utf-8")
    assert parameters(argv) == {"use_sim_time": simulated}
    assert launched.left() == []


def test_the_end_of_the_mission_is_shown_and_ends_everything(
    launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "bag").mkdir(parents=True)
    (out / "result.json").write_text("earlier")
    stand_ins.plan(PROCESSES, {"referee_recorder": [0]})
    launched = launch({"out": str(out)}, stand_ins.environment())
    assert launched.finish() == 0, launched.output
    assert stand_ins.report() == f"esar_ros.app.cli report {out}"
    ended = stand_ins.ended()
    assert len(ended) == PROCESSES - 1
    assert all(line.endswith("SIGINT") for line in ended)
    assert launched.left() == []
    assert set(stand_ins.starts().values()) == {1}, "who is told to end is not started again"
    assert [path.read_text() for path in out.glob("earlier/*/result.json")] == ["earlier"]
    assert not (out / "result.json").exists()


def test_a_dead_node_is_started_again_but_not_for_ever(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    stand_ins.plan(PROCESSES, {"uav1-pilot": [1, -9], "uav1-planner": [3] * 9})
    launched = launch({"out": str(tmp_path / "out")}, stand_ins.environment())
    assert launched.finish() == 1
    assert stand_ins.starts()["uav1-pilot"] == 3
    assert stand_ins.starts()["uav1-planner"] == 6
    assert "uav1-planner ended with 3, so the mission is over" in launched.output
    assert launched.left() == []


@pytest.mark.parametrize(
    ("label", "code"),
    [("simulator", 1), ("referee_recorder", 1), ("referee_recorder", 2), ("uav1-planner", 2), ("uav1-sensing", 2)],
)
def test_what_cannot_go_on_ends_the_launch_with_an_error(
    label: str, code: int, launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    stand_ins.plan(PROCESSES, {label: [code]})
    launched = launch({"out": str(tmp_path / "out")}, stand_ins.environment())
    assert launched.finish() == 1
    assert f"{label} ended with {code}, so the mission is over" in launched.output
    assert stand_ins.starts()[label] == 1
    assert stand_ins.report() == ""
    assert launched.left() == []


def test_the_mission_goes_on_without_a_page_that_cannot_start_again(
    launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    """Its port may be another program's by then."""
    stand_ins.plan(PROCESSES + 1, {"viewer": [1, 2, 2]})
    launched = launch({"out": str(tmp_path / "out"), "view": "0"}, stand_ins.environment())
    stand_ins.wait_for(PROCESSES + 4)
    assert launched.process.poll() is None and stand_ins.starts()["viewer"] == 4
    launched.interrupt()
    launched.finish()
    assert launched.left() == []


def test_a_report_that_fails_fails_the_launch(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    stand_ins.plan(PROCESSES, {"referee_recorder": [0]}, report_code=1)
    launched = launch({"out": str(tmp_path / "out")}, stand_ins.environment())
    assert launched.finish() == 1
    assert "the report ended with 1; the result is in" in launched.output
    assert launched.left() == []


@pytest.mark.parametrize("terminal", [True, False])
def test_ctrl_c_leaves_no_process(terminal: bool, launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    stand_ins.plan(PROCESSES, {})
    launched = launch({"out": str(tmp_path / "out")}, stand_ins.environment(), terminal)
    stand_ins.wait_for(PROCESSES)
    began = time.monotonic()
    launched.interrupt()
    launched.finish()
    assert time.monotonic() - began < 4.0, "nobody had to be told twice"
    assert launched.left() == []
    assert set(stand_ins.starts().values()) == {1}


def test_bad_arguments_are_one_line_and_start_nothing(launch: Launch, stand_ins: StandIns, tmp_path: Path) -> None:
    stand_ins.plan(PROCESSES, {})
    for name, value, words in (
        ("task", "nowhere", "unknown task 'nowhere'"),
        ("pace", "slow", "Valid options are: ('lockstep', 'realtime')"),
        ("record", "none", "Valid options are: ('score', 'private', 'view', 'full')"),
        ("governor", "flase", "neither true nor false"),
        ("planer", "fbe", "unknown launch argument planer: did you mean planner?"),
    ):
        launched = launch({name: value, "out": str(tmp_path / "out")}, stand_ins.environment())
        assert launched.finish() == 1
        assert words in launched.output
        assert "Traceback" not in launched.output
    assert stand_ins.starts() == {}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["planner", "detector"])
def test_what_cannot_be_made_is_refused_before_any_node_starts(
    name: str, launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    stand_ins.plan(PROCESSES, {})
    launched = launch({name: "nosuch", "out": str(tmp_path / "out")}, stand_ins.environment())
    assert launched.finish() == 1
    assert "preparing ended with 2, so nothing was flown" in launched.output
    assert stand_ins.starts() == {} and launched.left() == []


def test_every_argument_is_declared_and_described() -> None:
    from launch.actions import DeclareLaunchArgument

    spec = importlib.util.spec_from_file_location("mission_launch", resource("launch/mission.launch.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    description = module.generate_launch_description()
    declared = {e.name: e for e in description.entities if isinstance(e, DeclareLaunchArgument)}
    assert set(declared) == set(ARGUMENTS)
    for name, action in declared.items():
        assert action.description.startswith(ARGUMENTS[name].about)
        assert tuple(action.choices or ()) == ARGUMENTS[name].choices


def test_it_flies_what_the_command_line_flies(launch: Launch, tmp_path: Path) -> None:
    task = write_short_task(tmp_path, 20.0)
    out = tmp_path / "launched"
    chosen = {"planner": "zigzag", "detector": TRUTH_DETECTOR}
    launched = launch({**chosen, "task": str(task), "preset": "fast", "seed": "7", "out": str(out)})
    assert launched.finish(240.0) == 0, launched.output
    assert launched.left() == []
    assert (out / "report.html").stat().st_size > 10_000
    assert (out / "scorecard.png").read_bytes().startswith(b"\x89PNG")
    flown = json.loads((out / "result.json").read_text())
    assert flown["end"] == "timeout"
    other = Flight(tmp_path / "supervised", task, **chosen).finish()
    assert {**flown, "timing": None} == {**other, "timing": None}


@pytest.mark.full
def test_a_node_that_has_to_be_killed_is_told_and_no_success(
    launch: Launch, stand_ins: StandIns, tmp_path: Path
) -> None:
    arguments = {"port": "41237", "out": str(tmp_path / "out")}
    graph = mission_graph(options_of(arguments))
    stand_ins.plan(len(graph), {s.label: [0] for s in graph if s.ends_mission}, deaf=["uav1-planner"])
    launched = launch(arguments, stand_ins.environment())
    assert launched.finish(90.0) == 1
    assert "uav1-planner did not end when told to and was killed" in launched.output
    assert launched.left() == []
