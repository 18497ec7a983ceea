"""Launch arguments: all described, all effective, read without anything but the standard library."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from esar_ros.app import mission as command_line
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, check_names, options_from
from esar_ros.nodes.graph.mission import AUTOPILOTS, MissionOptions, mission_graph
from esar_ros.nodes.graph.supervisor import command
from helpers.little_incident import little_incident

ROOT = Path(__file__).resolve().parents[3]
PORT = "41234"  # a fixed one, so that two graphs are comparable

# A value that is not the default of each argument; {tmp} is a folder with a parameter and a task file.
OTHER = {
    "namespace": "team",
    "vehicles": "uav1, uav2",
    "params_file": "{tmp}/extra.yaml",
    "use_sim_time": "false",
    "planner": "zigzag",
    "task": "aotai-second",
    "seed": "12345",
    "out": "somewhere",
    "world": "airsim",
    "pace": "realtime",
    "preset": "fast",
    "quality": "low",
    "detector": "another",
    "governor": "false",
    "keep_out": "{tmp}/extra.yaml",
    "fault": "{tmp}/extra.yaml",
    "odometry": "true",
    "sensing": "separate",
    "end": "return_land",
    "record": "full",
    "rviz": "true",
    "view": "8643",
    "foxglove": "0",
    "cot": "239.2.3.1:6969",
    "log_level": "debug",
    "host": "127.0.0.2",
    "port": "41999",
}


INCIDENT = {"incident", "sortie"}  # stand for those of a search of one's own and for the planner
OWN = {"brief", "map", "start", "t_max"} | INCIDENT  # of a search of one's own


def values(**changed: str) -> dict[str, str]:
    """Arguments as launch gives them."""
    return {name: argument.default for name, argument in ARGUMENTS.items()} | {"port": PORT} | changed


def started(options: MissionOptions, folder: Path) -> list[object]:
    """Everything that the options start: command lines, parameters and RViz."""
    specs = mission_graph(options)
    lines = [command(spec, folder, options.params_file, options.log_level) for spec in specs]
    return [*lines, [replace(spec, arguments=()) for spec in specs], options.rviz]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "extra.yaml").write_text("/**: {ros__parameters: {end: hold}}\n")
    task = json.loads((resource("config/tasks") / "aotai-first.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps(task | {"map": "elsewhere"}))
    return tmp_path


def test_every_choice_of_a_mission_is_an_argument_and_described() -> None:
    decided = {"progress"}  # by who starts it
    assert set(ARGUMENTS) == {field.name for field in fields(MissionOptions)} - decided | {"sortie"}
    assert set(OTHER) == set(ARGUMENTS) - OWN
    for name, argument in ARGUMENTS.items():
        assert len(argument.about) > 8, name
        assert not argument.choices or argument.default in argument.choices


def test_a_brief_makes_a_search_of_ones_own(folder: Path) -> None:
    brief = folder / "brief.txt"
    brief.write_text("words")
    own = options_from(values(brief=str(brief), map="k2", start="35.8,76.5", t_max="60", out=str(folder)))
    assert (own.task, own.map, own.brief) == (str(folder / "task.json"), "k2", str(brief))
    assert (own.start, own.t_max) == ("35.8,76.5", 60.0)
    for wrong, told in (
        ({"brief": str(brief)}, "brief without map"),
        ({"brief": "nowhere.txt", "map": "k2"}, "is no file"),
        ({"map": "k2"}, "map without brief"),
        ({"start": "35.8,76.5"}, "start without brief"),
        ({"t_max": "60"}, "t_max without brief"),
        ({"brief": str(brief), "map": "k2", "task": "aotai-first"}, "task and brief"),
        ({"brief": str(brief), "map": "k2", "t_max": "-1"}, "is no time"),
        ({"brief": str(brief), "map": "k2", "t_max": "soon"}, "is no time"),
    ):
        with pytest.raises(UsageError, match=told):
            options_from(values(**wrong))


def test_an_incidents_planned_sortie_is_flown_on_its_map(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_MAPS", "")
    valley = little_incident(folder / "valley")
    options = options_from(values(incident=str(valley), sortie="sortie 2", out=str(folder)))
    assert (options.task, options.map) == (str(folder / "task.json"), "incident_valley")
    assert (options.brief, options.t_max) == (str(valley / "brief.txt"), 540.0)
    assert options.incident == str(valley)
    assert options.planner == f"route:{valley}/plans/sortie_2.plan" and options.start == "46.5000000,10.0000000"
    for wrong, words in (
        ({"sortie": "sortie 2"}, "sortie without incident"),
        ({"incident": str(valley), "planner": "fbe"}, "planner fbe and incident"),
        ({"incident": str(valley), "task": "aotai-first"}, "task and incident"),
        ({"incident": str(valley), "start": "46.5,10.0"}, "start and incident"),
        ({"incident": str(folder)}, "holds no incident.gpkg"),
    ):
        with pytest.raises(UsageError, match=words):
            options_from(values(**wrong))


@pytest.mark.parametrize("name", list(OTHER))
def test_an_argument_reaches_its_option_and_changes_what_is_started(name: str, folder: Path) -> None:
    before = options_from(values())
    after = options_from(values(**{name: OTHER[name].format(tmp=folder)}))
    changed = {
        field.name for field in fields(MissionOptions) if getattr(before, field.name) != getattr(after, field.name)
    }
    assert changed == {name} | ({"seed"} if name == "task" else set()), "seed comes with the task"
    assert started(before, folder) != started(after, folder)


def test_the_map_is_the_tasks(folder: Path) -> None:
    task = str(folder / "task.json")
    assert "elsewhere" in mission_graph(options_from(values(task=task)))[0].arguments


def test_a_choice_that_is_offered_is_taken(folder: Path) -> None:
    for name, argument in ARGUMENTS.items():
        for choice in argument.choices:
            beside = {"pace": "realtime"} if choice in AUTOPILOTS else {}
            assert getattr(options_from(values(**{name: choice, **beside})), name) == choice


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("task", "nowhere", "unknown task 'nowhere': known: aotai-first"),
        ("task", "{tmp}/absent.json", "cannot read task"),
        ("task", "{tmp}/extra.yaml", "not JSON"),
        ("seed", "seven", "seed 'seven'"),
        ("seed", "-2", "seed '-2'"),
        ("port", "70000", "port '70000'"),
        ("governor", "flase", "neither true nor false"),
        ("use_sim_time", "", "neither true nor false"),
        ("rviz", "perhaps", "neither true nor false"),
        ("params_file", "{tmp}/absent.yaml", "is no file"),
        ("vehicles", "uav1,uav1", "different names"),
        ("vehicles", ",", "different names"),
        ("vehicles", "a/b", "vehicle 'a/b' is no ROS name"),
        ("vehicles", "dr\u00f6hne", "is no ROS name"),
        ("world", "moon", "world 'moon' does not exist"),
        ("pace", "slow", "pace 'slow' does not exist"),
    ],
)
def test_bad_values_are_refused_in_one_line(name: str, value: str, words: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        options_from(values(**{name: value.format(tmp=folder)}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("given", "meant"), [("planer", "planner"), ("detectors", "detector"), ("prest", "preset")])
def test_a_misspelt_argument_is_refused_and_not_ignored(given: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"unknown launch argument {given}: did you mean {meant}"):
        check_names(["task", given], ARGUMENTS)


def test_arguments_of_an_including_launch_file_pass() -> None:
    check_names([*ARGUMENTS, "robot_description", "map_server"], ARGUMENTS)


def test_port_zero_is_a_free_port_for_the_embedded_simulator_and_airsims_for_airsim() -> None:
    assert options_from(values(port="0")).port not in (0, 41451)
    assert options_from(values(port="0", world="airsim")).port == 41451
    with pytest.raises(UsageError, match=r"host 192\.0\.2\.1"):  # an address kept for documentation
        options_from(values(port="0", host="192.0.2.1"))


def test_the_command_line_flies_the_same_mission() -> None:
    parser = argparse.ArgumentParser()
    command_line.add_arguments(parser)
    for words in ({}, {"planner": "zigzag", "seed": "3", "preset": "fast", "namespace": "team", "end": "return_land"}):
        flags = [word for name, value in words.items() for word in (f"--{name}", value)]
        options, _ = command_line.options_from(parser.parse_args([*flags, "--port", PORT, "--log-level", "info"]))
        assert replace(options, progress=False) == options_from(values(**words))


def test_the_distributions_own_python_reads_them() -> None:
    """`ros2 launch` does not run in the nodes' environment: no module outside the standard library."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import esar_ros.app.results, esar_ros.nodes.graph.shared_memory;"
        "import esar_ros.mission.system.environment as environment;"
        "from esar_ros.nodes.graph.launch_arguments import ARGUMENTS, check_names, options_from;"
        "from esar_ros.nodes.graph.mission import mission_graph;"
        "environment.graph_environment();"
        "print(len(mission_graph(options_from({name: a.default for name, a in ARGUMENTS.items()}))))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT)], capture_output=True, text=True, timeout=60.0
    )
    assert done.stdout.strip() == str(len(mission_graph(MissionOptions()))), done.stderr
