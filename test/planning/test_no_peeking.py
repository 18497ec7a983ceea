"""A planner that tries every route to the truth comes home with nothing by those that are barred."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.mission import names
from esar_ros.mission.system.environment import graph_environment
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.graph.mission import MissionOptions, mission_graph

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
from helpers.api_bench import Bench  # noqa: E402
from helpers.ros_domain import free_domain  # noqa: E402
from helpers.simulator_process import Process  # noqa: E402

TOKEN = "d41d8cd98f00b204"
PLACES = {"esar_5f2c": (123.457, -234.569), "esar_99ab": (-87.653, 45.679)}  # east, north


@pytest.fixture(scope="module")
def simulator() -> Iterator[Process]:
    """A simulator that holds two objects and opens the truth to the token alone."""
    made = Process("--paused", **{VARIABLE: TOKEN})
    with AirSimClient("127.0.0.1", made.port) as client:
        client.call("esarAuthorize", TOKEN)
        for name, (x, y) in PLACES.items():
            pose = {
                "position": {"x_val": y, "y_val": x, "z_val": -400.0},
                "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0},
            }
            one = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}
            asset = client.call("simListAssets")[0]
            client.call("simSpawnObject", name, asset, pose, one, False, False)
        assert set(PLACES) <= set(client.call("simListSceneObjects", "esar_.*"))
        assert tells(repr(client.call("simGetObjectPose", "esar_5f2c")))  # with the token it is told
    yield made
    made.end()


def cut(value: float, decimals: int = 2) -> str:
    """A coordinate as it begins wherever it is written out, without its sign."""
    return f"{math.floor(abs(value) * 10**decimals) / 10**decimals:.{decimals}f}"


def tells(text: str) -> list[str]:
    """Returns the parts of the truth in a text: names and coordinates of objects, or the token."""
    numbers = [cut(value) for place in PLACES.values() for value in place]
    return [word for word in (*PLACES, TOKEN, *numbers) if word in text]


def test_a_process_as_the_graph_starts_its_planner_gets_nothing(simulator: Process) -> None:
    options = MissionOptions(task="aotai-first", map="aotai", out="out", planner="fbe", port=simulator.port)
    (spec,) = [spec for spec in mission_graph(options) if spec.label == "uav1-planner"]
    environment = {**os.environ, **graph_environment(spec.images), **spec.truth_environment(TOKEN)}
    done = subprocess.run(
        [sys.executable, str(HERE / "peeker.py"), str(simulator.port)],
        env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    found: dict[str, str] = json.loads(done.stdout)
    assert len(found) == 3 + 16
    for route, answer in found.items():
        assert not tells(answer), route
        if route.startswith("rpc"):
            assert answer.startswith("refused: "), (route, answer)
    assert f"{VARIABLE}=\n" in found["environment"] + "\n"
    assert "aotai-first" not in json.dumps(spec.parameters) + " ".join(spec.arguments)


def test_no_call_that_is_open_to_all_tells_where_an_object_is(simulator: Process) -> None:
    """Every method that asks for something, with the arguments a nosy client would try."""
    nosy: list[list[Any]] = [
        [],
        ["uav1"],
        [""],
        ["esar_.*"],
        ["esar_5f2c"],
        ["front", "uav1"],
        ["front", "uav1", False],
    ]
    asked = answered = 0
    for method in Bench(TOKEN).api.names:
        if not method.lower().startswith(("simget", "simlist", "get", "is", "simis")):
            continue
        for arguments in nosy:
            asked += 1
            try:
                with AirSimClient("127.0.0.1", simulator.port) as client:
                    answer = repr(client.call(method, *arguments))
            except Exception:
                continue
            answered += 1
            assert not tells(answer), (method, arguments)
    assert asked > 100 and answered > 20


@pytest.mark.full
def test_a_planner_in_a_mission_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real graph, with the peeker as its planner from an outside package."""
    pytest.importorskip("rclpy")
    from helpers import flight

    site = tmp_path / "site"
    about = site / "peeker-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: peeker\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[esar_ros.planners]\npeeker = peeker:Peeker\n", encoding="utf-8")
    (site / "peeker.py").write_text((HERE / "peeker.py").read_text(encoding="utf-8"), encoding="utf-8")
    target = tmp_path / "found.json"
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{ROOT}")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PEEK_OUT", str(target))
    monkeypatch.setenv("ROS_DOMAIN_ID", str(free_domain()))
    port = flight.free_port()
    monkeypatch.setenv("PEEK_PORT", str(port))
    monkeypatch.setattr(flight, "free_port", lambda: port)
    mission = flight.Flight(tmp_path / "out", flight.write_short_task(tmp_path, 20.0), planner="peeker")
    try:
        result = mission.finish()
    finally:
        mission.abort()
    document = json.loads(target.read_text(encoding="utf-8"))
    places = [thing["position"] for thing in (*result["victims"], *result["clues"])]
    # Five decimals: enough that no other number begins alike.
    numbers = [cut(value, 5) for place in places for value in place if value % 1.0]
    assert numbers
    ids = [thing["description"] for thing in result["clues"]]
    for route, answer in document["enforced"].items():
        assert not [number for number in numbers if number in answer], route
        assert "short.json" not in answer, route
        if route.startswith("rpc"):
            assert answer.startswith("refused: "), (route, answer)
        if route not in ("brief", "observation"):  # the prompt may name what was carried
            assert not [word for word in ids if word in answer], route
    assert document["enforced"]["topics"] == ""
    assert names.TRUTH == "mission/truth"
    print("open by rule:", {route: len(answer) for route, answer in document["by rule"].items()})
