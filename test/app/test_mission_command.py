"""`esar mission`: its flags reach the graph, results are kept apart, and what a process refuses is one line too."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.app import mission
from esar_ros.app.mission import add_arguments, options_from
from esar_ros.app.progress import ProgressLine
from esar_ros.app.results import ResultsFolder
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import load_task
from esar_ros.nodes.graph.mission import MissionOptions, mission_graph
from esar_ros.sim.terrain.maps import ground_is_drawn


def options(*arguments: str) -> MissionOptions:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return options_from(parser.parse_args(list(arguments)))[0]


# -- flags --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (("--task", "aotai-second"), "task", "aotai-second"),
        (("--planner", "zigzag"), "planner", "zigzag"),
        (("--seed", "3"), "seed", 3),
        (("--out", "/tmp/there"), "out", "/tmp/there"),
        (("--world", "airsim"), "world", "airsim"),
        (("--pace", "realtime"), "pace", "realtime"),
        (("--preset", "fast"), "preset", "fast"),
        (("--quality", "low"), "quality", "low"),
        (("--vehicles", "a, b"), "vehicles", ("a", "b")),
        (("--namespace", "team/one"), "namespace", "team/one"),
        (("--record", "full"), "record", "full"),
        (("--end", "return_land"), "end", "return_land"),
        (("--governor", "off"), "governor", False),
        (("--log-level", "debug"), "log_level", "debug"),
        (("--world", "airsim", "--host", "192.0.2.1"), "host", "192.0.2.1"),
        (("--world", "airsim", "--port", "4000"), "port", 4000),
        (("--world", "airsim"), "port", 41451),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_flag_reaches_the_graph_s_options(arguments: tuple[str, ...], field: str, value: Any) -> None:
    assert getattr(options(*arguments), field) == value


@pytest.mark.parametrize(
    ("detector", "words"),
    [
        ("eagle", "unknown detector 'eagle'"),
        ("onnx", "--detector onnx:FILE"),
        ("onnx:/nowhere.onnx", "there is no model /nowhere.onnx"),
        ("onnx:page.onnx", "cannot be loaded as a network"),
        ("esar_yolo:page.onnx", "takes no file"),
    ],
)
def test_a_detector_that_cannot_be_had_is_told_before_take_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detector: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.onnx").write_text("<html>404</html>", encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        options("--detector", detector)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--map", "aotai"), "--map without --brief"),
        (("--start", "33.95,107.75"), "--start without --brief"),
        (("--t-max", "60"), "--t-max without --brief"),
        (("--brief", "brief.txt", "--map", "aotai", "--task", "aotai-first"), "--task and --brief: give one of them"),
    ],
)
def test_a_task_and_a_search_of_ones_own_are_not_mixed(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        options(*arguments)


def test_what_is_not_said_comes_from_the_task() -> None:
    chosen = options("--task", "aotai-first")
    assert chosen.map == "aotai"
    assert chosen.seed == 2021
    assert chosen.pace == "lockstep"
    assert 0 < chosen.port < 65536


def test_paths_do_not_depend_on_where_the_processes_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parameters.yaml").write_text("/**:\n  ros__parameters: {}\n", encoding="utf-8")
    chosen = options("--out", "results", "--params-file", "parameters.yaml")
    assert chosen.out == str(tmp_path / "results")
    assert chosen.params_file == str(tmp_path / "parameters.yaml")


def test_every_option_but_the_launch_file_s_own_has_a_flag() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    flags = {action.dest for action in parser._actions}
    # RViz, the clock's choice and sensing in several processes belong to the launch file; the progress lines are what
    # this command reads.
    own = {"rviz", "use_sim_time", "sensing", "progress"}
    assert {field.name for field in fields(MissionOptions)} - flags == own


@pytest.mark.parametrize(
    "text",
    [
        "/**:\n  ros__parameters:\n    pace: realtime\n",
        "uav1:\n  pilot:\n    ros__parameters: {speed: 4.0}\n",
        "/team:\n  uav1:\n    pilot: {ros__parameters: {}}\n    planner: {ros__parameters: {}}\n",
    ],
)
def test_parameter_files_as_ros_knows_them_are_taken(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(text, encoding="utf-8")
    assert options("--params-file", str(path)).params_file == str(path)


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        ("[[-3, -3], [3, -3], [3, 3], [-3, 3]]", "home lies in a keep-out zone"),
        ("[[0, 0], [10, 0], [20, 0]]", "keep-out zone 1 encloses no area"),
        ("[[0, 0], [90000, 0], [0, 90000]]", "keep-out zone 1 reaches farther than 20 km"),
    ],
)
@pytest.mark.parametrize("vehicles", ["1", "3"])
def test_keep_out_zones_that_the_governor_would_refuse_are_told_before_the_start(
    tmp_path: Path, corners: str, words: str, vehicles: str
) -> None:
    x, y = load_task("aotai-first").start.position
    path = tmp_path / "zones.yaml"
    shifted = [[x + east, y + north] for east, north in yaml.safe_load(corners)]
    path.write_text(yaml.safe_dump({"zones": [{"name": "hut", "corners": shifted}]}), encoding="utf-8")
    with pytest.raises(UsageError, match=rf"zones\.yaml: {words}"):
        options("--keep-out", str(path), "--vehicles", vehicles)


def test_keep_out_zones_are_checked_before_the_map_s_ground_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "zones.yaml"
    path.write_text("zones: [{name: hut, corners: [[300, 300], [340, 300], [340, 340]]}]\n", encoding="utf-8")
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    options("--keep-out", str(path))
    assert not ground_is_drawn("aotai")


def test_keep_out_zones_reach_governor_and_referee(tmp_path: Path) -> None:
    path = tmp_path / "zones.yaml"
    path.write_text("zones: [{name: hut, corners: [[300, 300], [340, 300], [340, 340]]}]\n", encoding="utf-8")
    graph = mission_graph(options("--keep-out", str(path)))
    told = {spec.label: spec.parameters["keep_out"] for spec in graph if "keep_out" in spec.parameters}
    assert told == {"referee_recorder": str(path), "uav1-safety_governor": str(path)}


# -- the results' folder ------------------------------------------------------------------------


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def put_results(folder: Path, text: str) -> None:
    (folder / "bag").mkdir(parents=True)
    (folder / "bag" / "bag.mcap").write_text(text, encoding="utf-8")
    (folder / "result.json").write_text(text, encoding="utf-8")


def test_a_new_folder_is_made_with_a_place_for_logs(tmp_path: Path) -> None:
    ResultsFolder(tmp_path / "a" / "b").prepare()
    assert content(tmp_path) == {} and (tmp_path / "a" / "b" / "logs").is_dir()


def test_earlier_results_are_moved_aside_and_never_overwritten(tmp_path: Path) -> None:
    for number in range(3):
        ResultsFolder(tmp_path).prepare()
        put_results(tmp_path, f"run {number}")
    kept = sorted((tmp_path / "earlier").iterdir())
    assert [(folder / "result.json").read_text(encoding="utf-8") for folder in kept] == ["run 0", "run 1"]
    assert [(folder / "bag" / "bag.mcap").read_text(encoding="utf-8") for folder in kept] == ["run 0", "run 1"]
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == "run 2"


def test_a_move_that_fails_half_way_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_results(tmp_path, "first")
    before = content(tmp_path)
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path == tmp_path / "bag":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(UsageError, match="Input/output error"):
        ResultsFolder(tmp_path).prepare()
    assert content(tmp_path) == before
    assert not (tmp_path / "earlier").exists()


@pytest.mark.parametrize("ending", [UsageError("the disk is full"), KeyboardInterrupt(), 130, 1])
def test_however_it_ends_there_are_logs_and_no_result_of_another_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: Any
) -> None:
    put_results(tmp_path, "earlier")

    def fly(options: MissionOptions, line: ProgressLine) -> int:
        (tmp_path / "logs" / "pilot.log").write_text("what it said", encoding="utf-8")
        if isinstance(ending, BaseException):
            raise ending
        return int(ending)

    monkeypatch.setattr(mission.prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(mission, "fly", fly)
    if isinstance(ending, int):
        assert mission.main(["--out", str(tmp_path)]) == ending
    else:
        with pytest.raises(type(ending)):
            mission.main(["--out", str(tmp_path)])
    assert (tmp_path / "logs" / "pilot.log").is_file()
    assert not (tmp_path / "result.json").exists() and not (tmp_path / "bag").exists()
    (earlier,) = (tmp_path / "earlier").iterdir()
    assert (earlier / "result.json").read_text(encoding="utf-8") == "earlier"


def test_a_corrected_brief_is_flown_as_a_task_beside_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flown: list[str] = []

    def fly(options: Any, line: Any) -> int:
        flown.append(options.task)
        return 0

    monkeypatch.setattr(mission.prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(mission, "fly", fly)
    arguments = ["--out", str(tmp_path), "--task", "aotai-first"]
    assert mission.main([*arguments, "--correct", "two are missing"]) == 0
    asked, told = load_task("aotai-first"), load_task(flown[0])
    assert told.prompt == f"{asked.prompt}\nCorrection: two are missing" and told.victims == asked.victims
    assert mission.main(arguments) == 0 and flown[1] == "aotai-first"
    assert not (tmp_path / "task.json").exists(), "moved aside"
    with pytest.raises(UsageError, match="the corrected task"):
        mission.main([*arguments, "--correct", "x" * 6000])


def test_preparing_a_brief_needs_a_file_to_write_the_task_to() -> None:
    with pytest.raises(UsageError, match="--brief without --out"):
        mission.prepare.main(["aotai", "--brief", "Anna, 8, was last seen 200 m north of the start on Monday."])


def test_a_preparation_that_fails_is_one_line_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    told: list[str] = []
    with pytest.raises(UsageError, match=r"^preparing failed: unknown map 'atlantis'.*see .*prepare.log") as refusal:
        mission.prepare.ensure("atlantis", told.append, tmp_path / "prepare.log")
    assert "\n" not in str(refusal.value)
    assert "atlantis" in (tmp_path / "prepare.log").read_text(encoding="utf-8")


# -- what only a process finds out --------------------------------------------------------------


def refused_by_a_process(esar: Callable[..., Any], out: Path, *arguments: str, **environment: str) -> str:
    """The one line of a mission that cannot start, with earlier results in its folder."""
    put_results(out, "earlier")
    before = content(out)
    command = esar("mission", "--preset", "fast", "--out", str(out), *arguments, **environment)
    ended = command.end()
    assert ended.code == 2
    (earlier,) = (out / "earlier").iterdir()
    assert content(earlier) == before
    assert (out / "logs").is_dir() and not (out / "result.json").exists()
    assert command.processes() == []
    return str(ended.one_line())


def test_a_machine_that_cannot_draw_is_told_so(esar: Callable[..., Any], tmp_path: Path) -> None:
    line = refused_by_a_process(esar, tmp_path / "out", __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent")
    assert "EGL" in line
    assert "apt install" in line


@pytest.mark.full
def test_a_parameter_of_the_wrong_type_is_named(esar: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text("/**/pilot:\n  ros__parameters:\n    pace: 3\n", encoding="utf-8")
    line = refused_by_a_process(esar, tmp_path / "out", "--params-file", str(path))
    assert "/uav1/pilot parameter pace" in line


@pytest.mark.full
def test_a_choice_that_a_parameter_does_not_have_is_named(esar: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text("airsim_bridge:\n  ros__parameters:\n    pace: warp\n", encoding="utf-8")
    line = refused_by_a_process(esar, tmp_path / "out", "--params-file", str(path))
    assert "/airsim_bridge parameter pace: 'warp'" in line


# -- before a flight ----------------------------------------------------------------------------


@pytest.mark.parametrize("world", ["px4", "embedded"])
def test_world_px4_says_before_it_flies_what_the_detector_is_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: str
) -> None:
    told: list[str] = []

    def fly(chosen: MissionOptions, line: ProgressLine) -> int:
        told.append(capsys.readouterr().out)
        return 1

    monkeypatch.setattr(mission, "fly", fly)
    monkeypatch.setattr(mission, "wait_for_outside", lambda *_: None)
    monkeypatch.setattr(mission.messages, "ensure", lambda: None)
    monkeypatch.setattr(mission.prepare, "ensure", lambda *_: None)
    assert mission.main(["--world", world, "--out", str(tmp_path / "out")]) == 1
    assert ("! not for real flights: esar_yolo found" in told[0]) is (world == "px4")


@pytest.mark.parametrize(
    ("planner", "told"),
    [("belief", True), ("belief@no_stop", True), ("greedy@brief", True), ("greedy", False), ("zigzag", False)],
)
def test_what_the_rules_leave_unread_is_told_of_planners_that_search_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], planner: str, told: bool
) -> None:
    monkeypatch.setattr(mission, "fly", lambda chosen, line: 1)
    monkeypatch.setattr(mission.prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(mission, "unread_in", lambda task, told: ["not obeyed: Do not fly at the dam"])
    assert mission.main(["--planner", planner, "--out", str(tmp_path / "out")]) == 1
    assert ("not obeyed: Do not fly at the dam" in capsys.readouterr().out) is told


def test_a_server_that_nobody_started_is_told_before_anything_is_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_results(tmp_path, "earlier")
    before = content(tmp_path)
    arguments = ["--world", "airsim", "--port", "1", "--wait", "0.5", "--out", str(tmp_path)]
    with pytest.raises(
        UsageError, match=r"AirSim server not reached on 127\.0\.0\.1:1: .* \(0\.5 s waited; --wait S waits longer\)"
    ):
        mission.main(arguments)
    assert "Waiting" in capsys.readouterr().out
    assert content(tmp_path) == before


@pytest.mark.parametrize("seconds", ["-1", "nan", "1e9"])
def test_a_wait_that_is_none_is_refused(tmp_path: Path, seconds: str) -> None:
    with pytest.raises(UsageError, match="--wait"):
        mission.main(["--world", "airsim", "--wait", seconds, "--out", str(tmp_path)])


@pytest.mark.parametrize("world", ["px4", "embedded"])
def test_the_launch_files_first_process_says_it_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: str
) -> None:
    for name in ("_draw", "_compile"):
        monkeypatch.setattr(mission.prepare, name, lambda *_: None)
    assert mission.prepare.main(["aotai", "--detector", "esar_yolo", "--world", world]) == 0
    assert ("! not for real flights: esar_yolo found" in capsys.readouterr().out) is (world == "px4")
    launch = (Path(__file__).resolve().parents[2] / "launch" / "mission.launch.py").read_text(encoding="utf-8")
    assert '"--world", options.world' in launch


@pytest.mark.parametrize("page", ["view", "foxglove"])
def test_a_port_that_another_has_is_told_before_anything_is_moved(page: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        with pytest.raises(UsageError, match=f"port {port} on .*: choose another --{page}"):
            options_from(parser.parse_args([f"--{page}", str(port)]))


def test_what_is_no_name_of_a_machine_is_one_line() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    with pytest.raises(UsageError, match=r"port 0 on 192.168..5: .*choose another --port or --host"):
        options_from(parser.parse_args(["--host", "192.168..5"]))
