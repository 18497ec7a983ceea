"""The governor alone as data: its processes, and what of its options is refused."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.graph.governor import ARGUMENTS, RANGES, TOPICS, GovernorOptions, governor_graph, options_from
from esar_ros.nodes.graph.mission import PX4_TAU

DEFAULTS = {name: argument.default for name, argument in ARGUMENTS.items()}


def test_it_needs_neither_mission_nor_map_nor_referee() -> None:
    graph = governor_graph(GovernorOptions())
    assert [spec.executable for spec in graph] == ["governor", node_names.PX4_BRIDGE, node_names.RANGE_DRIVER]
    assert {spec.namespace for spec in graph} == {"/uav1"}
    assert not any(spec.truth or spec.ends_mission for spec in graph)
    assert all(spec.restart for spec in graph)
    assert graph[0].parameters["limits.tau"] == PX4_TAU


def test_ardupilots_bridge_tells_the_site_that_the_governors_process_then_does_not() -> None:
    governor, bridge, _ = governor_graph(GovernorOptions(autopilot="ardupilot", fence=60.0, ceiling=40.0, index=1))
    assert bridge.executable == node_names.ARDUPILOT_BRIDGE and not governor.parameters["site"]
    assert {"site": True, "fence": 60.0, "ceiling": 40.0, "index": 1}.items() <= bridge.parameters.items()
    governor, bridge, _ = governor_graph(GovernorOptions())
    assert governor.parameters["site"] and "site" not in bridge.parameters


@pytest.mark.parametrize("ranges", RANGES)
def test_topics_are_what_a_person_calls_them(ranges: str) -> None:
    options = GovernorOptions(ranges=ranges, cmd_vel="/nav/cmd_vel", points="/velodyne", scan="/laser", z=0.2)
    governor, _, *driver = governor_graph(options)
    assert governor.remap == {"/cmd_vel": "/nav/cmd_vel"}
    assert len(driver) == (ranges != "none")
    for spec in driver:
        assert (spec.parameters["source"], spec.parameters["z"]) == (ranges, 0.2)
        assert spec.remap.keys() == TOPICS[ranges].keys()
        assert spec.remap.get("lidar/points", "/velodyne") == "/velodyne"
        assert spec.remap.get("scan", "/laser") == "/laser"


def test_strings_describe_the_options_and_each_is_described() -> None:
    assert options_from(DEFAULTS) == GovernorOptions()
    told = options_from({**DEFAULTS, "timeout": "1.5", "index": "2", "ranges": "scan"})
    assert (told.timeout, told.index, told.ranges) == (1.5, 2, "scan")
    assert all(argument.about for argument in ARGUMENTS.values())
    assert ARGUMENTS.keys() == {each.name for each in fields(GovernorOptions)}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("timeout", "soon", "timeout 'soon' is no number"),
        ("index", "1.5", "index '1.5' is no number"),
        ("ranges", "eyes", "choose one of lidar"),
        ("fence", "-10", "45 to 5000"),
        ("pitch", "-20", "-1.571 to 1.571"),
        ("vehicle", "1 st", "is no ROS name"),
        ("keep_out", "/nowhere.yaml", "is no file"),
        ("cmd_vel", "/uav1/cmd_vel", "the governor's own input"),
        ("cmd_vel", "cmd_vel", "the governor's own input"),
        ("cmd_vel", "/uav1/cmd_vel_safe", "the governor's own output"),
    ],
)
def test_bad_options_are_refused_by_name(name: str, value: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        options_from({**DEFAULTS, name: value})


def test_files_are_found_from_where_the_command_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zones.yaml").write_text("zones: []")
    monkeypatch.chdir(tmp_path)
    options = options_from({**DEFAULTS, "keep_out": "zones.yaml"})
    assert options == replace(GovernorOptions(), keep_out=str(tmp_path / "zones.yaml"))
