"""What pages give as examples is what the package takes."""

from __future__ import annotations

import re

from esar_ros.mission.names import PX4
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.node_names import CAMERA_DRIVER, RANGE_DRIVER, RECORDER, REFEREE, REFEREE_RECORDER
from esar_ros.nodes.graph.mission import SEPARATE, MissionOptions, NodeSpec, mission_graph
from esar_ros.nodes.graph.px4 import vehicle_graph
from helpers.blocks import ROOT

HOW_TO = ROOT / "docs" / "how-to"


def nodes(specs: list[NodeSpec]) -> set[str]:
    return {f"{spec.namespace}/{spec.executable}".strip("/") for spec in specs if spec.ros}


def test_enclaves_are_made_for_every_process_of_the_simulator_and_of_a_vehicle() -> None:
    page = (HOW_TO / "sros2.md").read_text(encoding="utf-8")
    common, vehicle, simulator = (line.split() for line in re.findall(r'nodes="(?:\$nodes )?([^"]+)"', page))
    flown = nodes(mission_graph(MissionOptions(sensing=SEPARATE)))
    assert {*common, *simulator} == flown - {REFEREE_RECORDER} | {REFEREE, RECORDER}, "which share a process"
    assert {*common, *vehicle} == nodes(vehicle_graph(MissionOptions(world=PX4, pace="realtime")))


def test_the_permissions_name_who_writes_the_ranges() -> None:
    page = (HOW_TO / "sros2.md").read_text(encoding="utf-8")
    (writers,) = re.findall(r"^\| `uav1/ranges` \| (.+) \|$", page, re.M)
    assert set(re.findall("`([^`]+)`", writers)) == {BY_NAME["ranges"].writer, RANGE_DRIVER}
    assert BY_NAME["ranges"].writer == CAMERA_DRIVER
