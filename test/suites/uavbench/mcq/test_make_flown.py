"""Questions of what a flight showed: by the words alone one meets the flight's value, or nothing is asked."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from esar_ros.app.cli import main
from esar_ros.suites.uavbench.mcq.check import gate
from esar_ros.suites.uavbench.mcq.item import Item
from esar_ros.suites.uavbench.mcq.make.flown import STYLE
from esar_ros.suites.uavbench.mcq.make.making import make_items
from esar_ros.suites.uavbench.mcq.reading import read_items
from esar_ros.suites.uavbench.scenarios.flights.files import write_flight
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.scene import Scene
from helpers.questions import numbers, points
from helpers.scenarios import GONE, example, patched, varied

SECONDS = 90.5


def plain(seed: int, sound: bool = False) -> Scene:
    """A scenario in which all that moves is one other vehicle, and two zones stand; sound: without errors."""
    zones = [
        {"type": "cylinder", "center": [200 + 3 * seed, 150], "radius_m": 20, "floor_m": 0, "ceiling_m": 60},
        {"type": "cylinder", "center": [700, 20 * seed], "radius_m": 35, "floor_m": 10, "ceiling_m": 80},
    ]
    changed = {"/airspace/no_fly_zones_dynamic": GONE, "/moving_obstacles": GONE}
    if sound:
        return Scene(patched(example(), {**changed, "/name": f"mission_{seed}", "/spawn/xyz": [60 + seed, 200, 20]}))
    return Scene(patched(varied(4 * seed + 1).data, {**changed, "/airspace/no_fly_zones": zones}))


def flight(scene: Scene, off: float = 1.0, **changed: Any) -> dict[str, Any]:
    """A flight's result whose values are those of a patient walk along the route, times a factor."""
    power = scene["/uav/battery_model/hover_power_W"] + scene.payload_power
    metrics = {
        "mission_success": True,
        "min_nfz_slant_m": off * min(z.distance(p) for z in scene.zones for p in walked(scene.route)),
        "daa_min_separation_m": off * meeting(scene.route, others(scene), SECONDS),
        "battery_ending_Wh": off * (scene["/uav/battery_Wh"] - power * SECONDS / 3600),
    } | changed
    result = {"schema": "esar-scenario-flight/1", "status": "flown", "as_multirotor": False, "seconds": SECONDS}
    return {**result, "hash": digest(scene.data), "metrics": metrics}


STEPS = 300


def walked(route: Sequence[Sequence[float]]) -> list[list[float]]:
    """Points along a route, as many on each leg."""
    return [
        [p + i / STEPS * (q - p) for p, q in zip(a, b, strict=True)] for a, b in pairwise(route) for i in range(STEPS)
    ] + [list(route[-1])]


def others(scene: Scene) -> list[tuple[float, ...]]:
    return [(*other["spawn"], other["speed_mps"], other["heading_deg"]) for other in scene["/traffic"]]


def meeting(route: Sequence[Sequence[float]], flying: list[tuple[float, ...]], seconds: float) -> float:
    """Least distance of one that flies a route evenly in a time to others that fly straight on."""
    path, gone, least = walked(route), 0.0, math.inf
    whole = sum(math.dist(a, b) for a, b in pairwise(path))
    for before, p in pairwise([path[0], *path]):
        gone += math.dist(before, p)
        t = gone / whole * seconds
        for x, y, z, speed, heading in flying:
            turn = math.radians(90 - heading)
            least = min(least, math.dist(p, (x + speed * t * math.cos(turn), y + speed * t * math.sin(turn), z)))
    return least


def made(scenes: list[Scene], **changed: Any) -> list[Item]:
    flights = {digest(scene.data): flight(scene, **changed) for scene in scenes}
    items = make_items([(digest(scene.data), scene) for scene in scenes], 1000, 0, flights)
    return [item for item in items if item.style == STYLE]


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return made([plain(seed) for seed in range(25)], off=1.03)


# --- The second solver: by words alone --------------------------------------------------------------------------------


def clearance(d: str, q: str) -> float:
    centers = re.findall(r"\((\S+), (\S+)\) with a radius of (\S+) metres", d)
    heights = re.search(r"from ((?:\S+ to \S+ ?)+)metres", q)
    assert heights
    least = math.inf
    for (x, y, radius), band in zip(centers, heights[1].split(", "), strict=True):
        low, high = map(float, band.split(" to "))
        for p in walked(points(d)):
            flat = max(0.0, math.hypot(p[0] - float(x), p[1] - float(y)) - float(radius))
            least = min(least, math.hypot(flat, max(0.0, low - p[2], p[2] - high)))
    return least


def separation(d: str, q: str) -> float:
    flying = numbers(r"a vehicle from \(#, #, #\) at # m/s towards # degrees", d)
    return meeting(points(d), [flying], numbers("after # s", q)[0])


def energy(d: str, q: str) -> float:
    [battery], [seconds], [power] = numbers("# Wh of battery", d), numbers("after # s", q), numbers("on # W", q)
    return battery - power * seconds / 3600


SOLVERS: dict[str, Callable[[str, str], float]] = {
    "to a zone's surface": clearance,
    "to another vehicle": separation,
    "Wh were left": energy,
}


def test_a_second_solver_is_led_to_the_option_that_the_flight_showed(items: list[Item]) -> None:
    asked: Counter[str] = Counter()
    for item in items:
        [words] = [words for words in SOLVERS if words in item.question]
        value = SOLVERS[words](item.description, item.question)
        off = [abs(math.log(float(option.split()[0]) / value)) for option in item.options]
        assert off.index(min(off)) == item.key, (item.id, value, item.options)
        asked[words] += 1
    assert set(asked) == set(SOLVERS) and min(asked.values()) >= 5


def test_the_gate_passes_and_every_mistake_has_its_name(items: list[Item]) -> None:
    assert not gate(items)[0]
    named = {why for item in items for why in (item.solution or {})["why_not"].values()}
    assert len(named) > 10


def test_nothing_is_asked_that_the_description_does_not_lead_to() -> None:
    scenes = [plain(seed) for seed in range(5)]
    assert not made(scenes, off=1.08)
    assert {item.question.split()[-2] for item in made(scenes, mission_success=False)} <= {"the"}  # energy alone
    unmeasured = {"min_nfz_slant_m": None, "daa_min_separation_m": None, "battery_ending_Wh": 0.0}
    assert not made(scenes, **unmeasured)


def test_a_route_that_ends_where_it_began_is_asked_about() -> None:
    scene = plain(1)
    loop = Scene(patched(scene.data, {"/mission/waypoints/-": list(scene.spawn)}))
    assert any("another vehicle" in item.question for item in made([loop]))


# --- The verb -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Scenarios, and the folder of their flights."""
    scenarios, run = tmp_path / "scenarios", tmp_path / "flown"
    scenarios.mkdir()
    (run / "flights").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"governor": True, "as_multirotor": False, "told": True}))
    for seed in range(6):
        scene = plain(seed, sound=True)
        (scenarios / f"{seed}.json").write_text(json.dumps(scene.data))
        write_flight(run / "flights" / f"{digest(scene.data)}.json", flight(scene))
    wings = {"schema": "esar-scenario-flight/1", "status": "not_flown", "hash": "0", "why": "wings"}
    write_flight(run / "flights" / "not.json", wings)
    return scenarios, run


def test_the_verb_asks_about_flights(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios, run = folders
    out = tmp_path / "q.jsonl"
    command = ["mcq", "make", str(scenarios), "--flights", str(run), "--out", str(out), "--count", "50"]
    assert main(command) == 0
    assert "questions of 6 scenarios" in capsys.readouterr().out
    assert sum(item.style == STYLE for item in read_items([out]).items) == 10


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("run.json", {"governor": False, "told": True}, "fly them with --governor on"),
        ("flights/not.json", {"schema": "another/1"}, "no esar-scenario-flight/1"),
        ("flights/not.json", [], "no esar-scenario-flight/1"),
        ("flights/not.json", {"schema": "esar-scenario-flight/1", "status": "flown"}, "holds no digest"),
    ],
)
def test_other_folders_are_refused_in_one_line(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: Any, told: str
) -> None:
    scenarios, run = folders
    (run / name).write_text(json.dumps(content))
    command = ["mcq", "make", str(scenarios), "--flights", str(run), "--out", str(tmp_path / "q.jsonl")]
    assert main(command) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert told in line


def test_a_folder_without_flights_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["mcq", "make", str(tmp_path), "--flights", str(tmp_path), "--out", str(tmp_path / "q.jsonl")]
    assert main(command) == 2
    assert "run.json" in capsys.readouterr().err
