"""Examples on pages are what the package takes, and figures on them those that it shows."""

from __future__ import annotations

import argparse
import re
import textwrap
from pathlib import Path

import cv2
import numpy as np
import pytest

from esar_ros.app import mission
from esar_ros.app.maps import facts
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.names import PX4
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.node_names import CAMERA_DRIVER, RANGE_DRIVER, RECORDER, REFEREE, REFEREE_RECORDER
from esar_ros.nodes.graph.mission import SEPARATE, MissionOptions, NodeSpec, mission_graph
from esar_ros.nodes.graph.px4 import vehicle_graph
from esar_ros.safety.conditions import load_keep_out
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.tasks.validation import load_valid_task
from helpers.blocks import ROOT, pages

HOW_TO = ROOT / "docs" / "how-to"


def nodes(specs: list[NodeSpec]) -> set[str]:
    return {f"{spec.namespace}/{spec.executable}".strip("/") for spec in specs if spec.ros}


def test_enclaves_are_made_for_every_process_of_the_simulator_and_of_a_vehicle() -> None:
    page = (HOW_TO / "sros2.md").read_text(encoding="utf-8")
    common, vehicle, simulator = (line.split() for line in re.findall(r'nodes="(?:\$nodes )?([^"]+)"', page))
    flown = nodes(mission_graph(MissionOptions(sensing=SEPARATE)))
    assert {*common, *simulator} == flown - {REFEREE_RECORDER} | {REFEREE, RECORDER}, "which share a process"
    assert {*common, *vehicle} == nodes(vehicle_graph(MissionOptions(world=PX4, pace="realtime", use_sim_time=False)))


def test_the_permissions_name_who_writes_the_ranges() -> None:
    page = (HOW_TO / "sros2.md").read_text(encoding="utf-8")
    (writers,) = re.findall(r"^\| `uav1/ranges` \| (.+) \|$", page, re.M)
    assert set(re.findall("`([^`]+)`", writers)) == {BY_NAME["ranges"].writer, RANGE_DRIVER}
    assert BY_NAME["ranges"].writer == CAMERA_DRIVER


def test_no_page_lets_a_benchmark_write_among_the_submissions() -> None:
    written = re.compile(r"--out results\b|report results\b|--from results\b")
    assert not [str(page) for page in pages() if written.search(page.read_text(encoding="utf-8"))]


def test_the_episode_to_fly_again_is_one_of_the_page_s_run() -> None:
    page = (HOW_TO / "benchmark.md").read_text(encoding="utf-8")
    (task, method, seed, folder), *others = re.findall(r"--rerun (\S+?)/(\w+)/(\d+) --from (\S+)", page)
    assert not others
    flown = re.findall(r"--tasks (\S+) --planners (\S+) .*?--out (\S+)", page.replace("\\\n", " "))[0]
    assert task in flown[0].split(",") and method in flown[1].split(",") and folder == flown[2]
    assert int(seed) == load_valid_task(task).seed


def test_the_zones_lie_on_the_map_that_the_command_flies_and_off_its_start(tmp_path: Path) -> None:
    page = (HOW_TO / "governor.md").read_text(encoding="utf-8")
    file = tmp_path / "zones.yaml"
    file.write_text(re.findall(r"^```yaml\n(zones:.*?)^```$", page, re.M | re.S)[0], encoding="utf-8")
    parser = argparse.ArgumentParser()
    mission.add_arguments(parser)
    _, task = mission.options_from(parser.parse_args(["--keep-out", str(file)]))  # raises where the start lies in one
    place = map_extent(task.map)
    zones = load_keep_out(file)
    assert {zone.name: bool(zone.geodetic) for zone in zones} == {"hut": False, "road": True}
    for zone in zones:
        assert np.abs(zone.polygon(place.origin)).max() < place.size / 2, zone.name


def test_the_map_page_says_how_steep_k2_is_as_maps_show_does() -> None:
    page = (ROOT / "docs" / "reference" / "maps.md").read_text(encoding="utf-8")
    (share,) = re.findall(r"^\| `k2` .* (\d+ %) of it 45 degrees", page, re.M)
    assert f"{share} at least 45 deg" in facts(load_map("k2"))["slope"]


def test_the_page_of_px4_names_the_firmware_that_was_flown() -> None:
    results = (ROOT / "docs" / "results" / "px4_sitl.md").read_text(encoding="utf-8")
    (commit,) = re.findall(r"^\| firmware \| PX4 .*, commit (\w+) \|$", results, re.M)
    page = (HOW_TO / "px4.md").read_text(encoding="utf-8")
    assert page.count(commit) == 2, "in what was flown, and in what to build"


def test_a_report_of_security_goes_to_no_address_that_is_none() -> None:
    mail = re.findall(r'<maintainer email="([^"]+)"', (ROOT / "package.xml").read_text(encoding="utf-8"))[0]
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in page
    assert not mail.endswith(".example") or not re.search(r"\bmail\b|package\.xml", page)


def test_the_exported_heights_have_north_along_columns_and_east_along_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (HOW_TO / "unreal.md").read_text(encoding="utf-8")
    script = textwrap.dedent(re.findall(r"<<'END'\n(.*?) *END$", page, re.M | re.S)[0])
    exec(compile(script, "unreal.md", "exec"), {})
    image = cv2.imread("k2.png", cv2.IMREAD_UNCHANGED)
    place = load_map("k2")
    low, span = place.heights.min(), np.ptp(place.heights)
    for north, east in ((-600.0, -300.0), (-600.0, 700.0), (500.0, -300.0), (500.0, 700.0)):
        row, column = (round((at / place.size + 0.5) * (place.samples - 1)) for at in (east, north))
        assert abs(image[row, column] / 65535 * span + low - place.ground_height((east, north))) < 2.0
