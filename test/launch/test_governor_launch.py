"""The launch file of the governor alone: what it starts and with what, what ends it, and what it refuses."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path

import pytest

from esar_ros.mission.resources import resource
from esar_ros.nodes.graph.governor import ARGUMENTS, governor_graph, options_from
from helpers.launched import Launch, StandIns, parameters

GIVEN = {"vehicle": "drone", "cmd_vel": "/nav/cmd_vel", "ranges": "scan", "scan": "/laser", "fence": "60.0"}


def graph() -> list:
    return governor_graph(options_from({name: argument.default for name, argument in ARGUMENTS.items()} | GIVEN))


def test_what_is_started_is_the_governor_alone(launch: Launch, stand_ins: StandIns) -> None:
    specs = graph()
    stand_ins.plan(len(specs), {})
    launched = launch(GIVEN, stand_ins.environment(), file="governor")
    stand_ins.wait_for(len(specs), 60.0)
    launched.interrupt()
    launched.finish()
    assert stand_ins.starts() == {spec.label: 1 for spec in specs}
    for spec in specs:
        argv = stand_ins.told(spec.label)["argv"]
        assert "__ns:=/drone" in argv
        assert parameters(argv) == spec.parameters, "with their types"
        told = {value for flag, value in pairwise(argv) if flag == "-r"}
        assert told >= {f"{topic}:={name}" for topic, name in spec.remap.items()}
    assert launched.left() == []


def test_a_process_that_dies_is_started_again_and_one_that_refuses_its_input_ends_all(
    launch: Launch, stand_ins: StandIns
) -> None:
    specs = graph()
    stand_ins.plan(len(specs), {"drone-governor": [1], "drone-range_driver": [-9, 2]})
    launched = launch(GIVEN, stand_ins.environment(), file="governor")
    assert launched.finish() == 1
    assert "drone-range_driver ended with 2" in launched.output
    assert stand_ins.starts()["drone-governor"] == 2
    assert launched.left() == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("timeout", "soon", "timeout 'soon' is no number"), ("ranges", "eyes", "Valid options are"),
     ("point", "/velodyne", "did you mean points?")],
)  # fmt: skip
def test_bad_arguments_start_nothing(name: str, value: str, words: str, launch: Launch, stand_ins: StandIns) -> None:
    stand_ins.plan(99, {})
    launched = launch({**GIVEN, name: value}, stand_ins.environment(), file="governor")
    assert launched.finish() == 1
    assert words in launched.output and "Traceback" not in launched.output
    assert stand_ins.starts() == {}


def test_every_argument_is_declared_and_described() -> None:
    from launch.actions import DeclareLaunchArgument

    spec = importlib.util.spec_from_file_location("governor_launch", Path(resource("launch/governor.launch.py")))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared = [e for e in module.generate_launch_description().entities if isinstance(e, DeclareLaunchArgument)]
    assert {e.name for e in declared} == ARGUMENTS.keys()
    assert all(e.description for e in declared)
