"""Whole missions on real DDS: the same twice, the same from the bag, and going on when a process dies."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

sys.path.insert(0, str(Path(__file__).parent))
from flight import Flight, write_short_task

from esar_ros.bridges.airsim_client import AirSimClient, AirSimError
from esar_ros.bridges.airsim_types import image_request
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.truth_token import VARIABLE
from esar_ros.nodes.interface import BY_NAME
from esar_ros.nodes.qos import PROFILES
from esar_ros.nodes.types import message_class
from esar_ros.safety.limits import load_limits
from esar_ros.scoring.bag import read_bag, score_bag

Launch = Callable[..., Flight]
NANO = 1e9


@pytest.fixture
def launch(tmp_path: Path, domain: int) -> Iterator[Launch]:
    flights: list[Flight] = []

    def start(t_max: float, name: str = "out", **options: Any) -> Flight:
        flights.append(Flight(tmp_path / name, write_short_task(tmp_path, t_max), **options))
        return flights[-1]

    yield start
    for flight in flights:
        flight.abort()


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on the machine."""
    return {key: value for key, value in result.items() if key != "timing"}


def test_two_runs_of_one_task_and_seed_are_identical_and_the_bag_scores_the_same(launch: Launch) -> None:
    first = launch(25.0, "one", planner="zigzag").finish()
    flight = launch(25.0, "two", planner="zigzag")
    second = flight.finish()
    assert comparable(first) == comparable(second)
    assert first["metrics"]["path_length"] > 20.0
    assert first["metrics"]["coverage"] > 0.0
    assert len(first["reports"]) >= 1
    again = score_bag(flight.out / "bag")
    written = (flight.out / "result.json").read_text(encoding="utf-8")
    assert again.dump() == written


def killed_mission(launch: Launch, label: str, at: float, t_max: float) -> tuple[Flight, dict[str, Any]]:
    """Fly and SIGKILL one process at a mission time; flight and result."""
    flight = launch(t_max, planner="zigzag")
    flight.wait_until(at)
    pid = flight.supervisor.pid(label)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    result = flight.finish()
    assert flight.supervisor.restarted == [label]
    return flight, result


def gap(stamps: list[int]) -> tuple[int, int]:
    """Ends of the longest pause between stamps."""
    pairs = pairwise(stamps)
    return max(pairs, key=lambda pair: pair[1] - pair[0])


@pytest.mark.full  # by default: a killed planner here, a pilot that falls silent in test_fault_matrix
def test_a_killed_pilot_means_hold_and_is_started_again(launch: Launch) -> None:
    flight, result = killed_mission(launch, "uav1-pilot", 14.0, 45.0)
    assert result["end"] == "timeout"
    assert result["metrics"]["safe"]
    record = read_bag(flight.out / "bag")
    safety = record.rows("uav1", names.SAFETY_STATUS)
    link = [row for row in safety if row.reason == 17]
    assert link, "the governor noticed that the pilot was gone"
    assert all(row.mode >= 3 for row in link)
    before = max(row.stamp for row in safety if row.stamp < link[0].stamp)
    assert (link[0].stamp - before) / NANO <= 0.5
    # It came back and flew on.
    after = [row for row in safety if row.stamp > link[-1].stamp + 3 * NANO]
    assert after
    assert sum(row.mode == 1 for row in after) > 0.8 * len(after)


def test_a_killed_planner_means_hold_and_is_started_again(launch: Launch) -> None:
    flight, result = killed_mission(launch, "uav1-planner", 16.0, 45.0)
    assert result["end"] == "timeout"
    assert result["metrics"]["safe"]
    record = read_bag(flight.out / "bag")
    # A planner that is ready again before its silence is noticed misses no frame: time stood still meanwhile.
    decisions = [row.stamp for row in record.rows("uav1", names.DECISION)]
    start, end = gap([stamp for stamp in decisions if stamp > 14 * NANO])
    _, positions = record.track("uav1", int(start + 4 * NANO), end)
    if len(positions) > 20:  # away long enough to have come to a stop
        assert float(abs(positions[-1] - positions[0]).max()) < 1.0
    assert max(decisions) > 40 * NANO, "it never came back"
    reports = record.rows("uav1", names.REPORTS)
    assert [row.seq for row in reports] == list(range(reports[0].seq, reports[0].seq + len(reports))), (
        "a number given again would be the same report"
    )
    assert any(row.stamp < 16 * NANO for row in reports) and any(row.stamp > end for row in reports)


def test_killed_sensing_never_flies_on_blind_and_is_started_again(launch: Launch) -> None:
    """Time stands still until it is back, or goes on without it: then the governor holds."""
    flight, result = killed_mission(launch, "uav1-sensing", 14.0, 45.0)
    assert result["end"] == "timeout"
    assert result["metrics"]["safe"]
    record = read_bag(flight.out / "bag")
    safety = record.rows("uav1", names.SAFETY_STATUS)
    status = [row.stamp for row in record.rows("uav1", names.MAP_STATUS)]
    start, end = gap(status)
    # Its nodes come back one by one: with ranges and without a fresh map it may go on, but slowly.
    stamps, positions = record.track("uav1")
    limits = load_limits()
    speed = np.linalg.norm(np.gradient(positions, stamps / NANO, axis=0), axis=1)
    blind = (stamps > start + (limits.map_age + 0.1) * NANO) & (stamps < end)
    assert (speed[blind] < limits.speed_without_map + 0.3).all()
    assert all(row.mode >= 3 for row in safety if row.reason == 12)
    assert max(status) > 40 * NANO
    late = [row for row in safety if row.stamp > max(end, 20 * NANO) + 3 * NANO]
    assert sum(row.mode == 1 for row in late) > 0.8 * len(late)


@pytest.mark.full
def test_a_killed_bridge_comes_back_and_the_vehicle_flies_on(launch: Launch) -> None:
    flight, result = killed_mission(launch, "airsim_bridge", 14.0, 30.0)
    assert result["end"] == "timeout"
    assert result["metrics"]["safe"]
    stamps, positions = read_bag(flight.out / "bag").track("uav1")
    late = positions[stamps > 22e9]
    assert float(abs(late[-1] - late[0]).max()) > 5.0


def test_a_vehicle_comes_home_and_lands_when_that_is_asked_for(launch: Launch) -> None:
    flight = launch(22.0, planner="zigzag", end="return_land")
    result = flight.finish()
    assert result["end"] == "timeout"
    record = read_bag(flight.out / "bag")
    last = record.rows("uav1", names.VEHICLE_STATE)[-1]
    assert last.landed == 1
    assert not last.armed
    stamps, positions = record.track("uav1")
    assert stamps[-1] > 22e9
    assert float(abs(positions[-1][:2] - positions[0][:2]).max()) < 5.0
    assert flight.supervisor.restarted == []


def test_real_time_flies_too(launch: Launch) -> None:
    began = time.monotonic()
    result = launch(20.0, planner="zigzag", pace="realtime").finish()
    assert result["pace"] == "realtime"
    assert time.monotonic() - began > 19.0
    assert result["metrics"]["path_length"] > 3.0
    assert result["safety"]["collisions"] == 0


@pytest.mark.full  # wall time: needs a machine that does nothing else
def test_in_real_time_the_vehicle_holds_within_half_a_second_of_a_death(launch: Launch) -> None:
    """Stamps of the vehicle's own clock: from the last odometry before the kill to the first hold."""
    flight = launch(60.0, planner="zigzag", pace="realtime")
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("stopwatch", context=context)
    seen: dict[str, Any] = {}
    for name in (names.ODOMETRY, names.PILOT_STATE, names.SAFETY_STATUS):
        entry = BY_NAME[name]
        node.create_subscription(
            message_class(entry.type), f"/uav1/{name}", lambda m, n=name: seen.update({n: m}), PROFILES[entry.quality]
        )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def until(condition: Callable[[], bool], seconds: float) -> bool:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and not condition():
            executor.spin_once(timeout_sec=0.01)
        return condition()

    try:
        flight.wait_until(12.0)
        flying = lambda: seen.get(names.PILOT_STATE) is not None and seen[names.PILOT_STATE].phase == 4  # noqa: E731
        for label, name, holds in (
            ("uav1-planner", names.PILOT_STATE, lambda m: m.phase == 5),
            ("uav1-pilot", names.SAFETY_STATUS, lambda m: m.mode >= 3),
            ("uav1-sensing", names.SAFETY_STATUS, lambda m: m.mode >= 3),
        ):
            assert until(lambda: flying() and not holds(seen[name]), 30.0), f"{label}: not flying before"  # noqa: B023
            until(lambda: False, 2.0)  # take what has queued up: the newest must be seen
            pid = flight.supervisor.pid(label)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            killed = nanoseconds(seen[names.ODOMETRY].header.stamp)
            assert until(lambda: holds(seen[name]), 3.0), f"{label}: no hold"  # noqa: B023
            held = nanoseconds(seen[name].header.stamp)
            assert (held - killed) / NANO <= 0.5, label
        assert flight.finish()["metrics"]["safe"]
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_a_planner_s_process_cannot_read_the_truth(launch: Launch) -> None:
    """No token in its environment, and without one the simulator refuses every truth call."""
    flight = launch(60.0, planner="zigzag")
    flight.wait_until(2.0)
    planner = flight.supervisor.pid("uav1-planner")
    environment = Path(f"/proc/{planner}/environ").read_bytes().split(b"\0")
    tokens = [entry.partition(b"=")[2] for entry in environment if entry.startswith(VARIABLE.encode())]
    assert tokens == [b""]
    knowing = [flight.supervisor.pid(label) for label in ("simulator", "officials", "uav1-sensing")]
    secret = flight.token.encode()
    assert not any(
        secret in Path(f"/proc/{pid}/{what}").read_bytes() for pid in knowing for what in ("environ", "cmdline")
    )
    with AirSimClient("127.0.0.1", flight.options.port) as client:
        for call in (
            ("simListSceneObjects", ".*"),
            ("simGetObjectPose", "esar_object_"),
            ("simGetSegmentationObjectID", "esar_object_"),
            ("simGetImages", [image_request("front", 5, True)], "uav1", False),
            ("simSpawnObject", "x", "tent", {}, {}, False, False),
            ("esarAuthorize", "guess"),
        ):
            with pytest.raises(AirSimError):
                assert client.call(*call) is None
