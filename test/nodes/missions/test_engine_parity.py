"""The engine without ROS and the graph on real DDS give the same result for the same task, method and seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.nodes.graph.mission import TRUTH_DETECTOR
from esar_ros.safety.limits import load_limits
from esar_ros.scoring.bag import read_bag
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.suite import ESARBENCH
from esar_ros.suites.esarbench.tasks.validation import true_difficulty
from helpers.flight import Flight, Flown, comparable, write_short_task


def in_graph(folder: Path, task: Path, planner: str, **options: Any) -> dict[str, Any]:
    """Result of the graph; Flight flies seed 7 with the fast preset."""
    flight = Flight(folder / planner, task, planner=planner, **options)
    try:
        return flight.finish(1200.0)
    finally:
        flight.abort()


def in_engine(task: Path, planner: str, **options: Any) -> dict[str, Any]:
    flown = fly_episode(
        ESARBENCH,
        load_task(str(task)),
        planner,
        7,
        RunConditions(preset="fast", **{"detector": TRUTH_DETECTOR, **options}),
    )
    assert flown.error is None
    return dict(json.loads(flown.result.dump()))


def test_graph_and_engine_give_the_same_result(flown: Flown) -> None:
    graph, engine = flown.result, in_engine(flown.task, "zigzag")
    assert comparable(graph) == comparable(engine)
    assert engine["metrics"]["path_length"] > 20.0, "it flew"
    assert engine["reports"], "it reported"
    assert graph["timing"]["decisions"] == engine["timing"]["decisions"]


@pytest.mark.full  # by default the same with the oracle
def test_graph_and_engine_agree_with_a_real_detector(tmp_path: Path, domain: int) -> None:
    task = write_short_task(tmp_path, 12.0)
    graph = in_graph(tmp_path, task, "zigzag", detector="esar_yolo")
    engine = in_engine(task, "zigzag", detector="esar_yolo")
    assert comparable(graph) == comparable(engine)
    assert engine["eligible"] and engine["detector_details"]["backend"] == "esar_yolo"
    assert len(engine["detector_details"]["digest"]) == 64


def a_task(folder: Path, name: str, **changes: Any) -> Path:
    """The demo task with other conditions, as difficult as they make it."""
    path = write_short_task(folder, 25.0, name)
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(document))
    task = load_task(str(path))
    score, tier = true_difficulty(task, load_map(task.map))
    path.write_text(json.dumps(document | {"difficulty": score, "tier": tier}))
    return path


FRONT: dict[str, Any] = {
    "t_max": 60.0,
    "local_time": "2026-02-01T09:02:00",
    "changes": [
        {"at": 40.0, "over": 10.0, "weather": "heavy_rain", "wind": {"speed": 4.0, "direction": 1.0}},
        {"at": 50.0, "over": 10.0, "weather": "fog", "forecast": False},
    ],
}  # "from about 09:05": from 30 s on it may rain


@pytest.mark.full
@pytest.mark.timeout(3000)
def test_a_front_that_is_forecast_slows_graph_and_engine_alike(tmp_path: Path, domain: int) -> None:
    task = a_task(tmp_path, "front", **FRONT)
    graph, engine = in_graph(tmp_path, task, "zigzag"), in_engine(task, "zigzag")
    assert comparable(graph) == comparable(engine)
    stamps, positions = read_bag(tmp_path / "zigzag" / "bag").track("uav1")
    ways, seconds = np.linalg.norm(np.diff(positions, axis=0), axis=1), np.diff(stamps) * 1e-9
    now, speeds = (stamps[1:] - stamps[0]) * 1e-9, ways / seconds
    slow = load_limits().speed_poor_sight
    assert speeds[now < 30.0].max() > slow + 0.9, "in the clear"
    assert slow - 0.2 < speeds[now > 33.0].max() < slow + 0.5, "it may rain; a quadrotor overshoots"


@pytest.mark.full
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    ("planner", "changes", "options"),
    [
        ("fbe", {"t_max": 240.0}, {}),
        ("random", {"t_max": 90.0, "weather": "fog", "wind": {"speed": 7.0, "direction": 1.0}}, {}),
        ("zigzag", {"t_max": 120.0, "local_time": "2026-02-01T19:30:00"}, {"governor": False}),
        ("fbe", {"t_max": 90.0}, {"odometry": "true"}),
        ("flooder", {"t_max": 60.0}, {}),
        ("stay", {"t_max": 30.0}, {}),
    ],
    ids=["fbe", "random-fog-wind", "zigzag-night-unguarded", "fbe-true", "flooder", "stay"],
)
def test_graph_and_engine_agree_under_other_conditions(
    tmp_path: Path, domain: int, planner: str, changes: dict[str, Any], options: dict[str, Any]
) -> None:
    task = a_task(tmp_path, "parity", **changes)
    assert comparable(in_graph(tmp_path, task, planner, **options)) == comparable(in_engine(task, planner, **options))


@pytest.mark.full
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("event_map", ["lop_nur", "k2", "dapeng"])
def test_graph_and_engine_agree_on_the_other_maps(tmp_path: Path, domain: int, event_map: str) -> None:
    from esar_ros.suites.esarbench.tasks import task_set

    name = next((task for task in task_set("dev") if load_task(task).map == event_map), None)
    assert name is not None, f"the dev split holds tasks on {event_map}"
    short = load_task(name).model_dump(mode="json", by_alias=True) | {"t_max": 60.0}
    path = tmp_path / "elsewhere.json"
    path.write_text(json.dumps(short))
    graph = in_graph(tmp_path, path, "fbe", map=event_map)
    assert comparable(graph) == comparable(in_engine(path, "fbe"))
