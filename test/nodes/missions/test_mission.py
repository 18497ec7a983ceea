"""Whole missions on real DDS: the same twice, the same from the bag, and going on when a process dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.types import message_class
from esar_ros.safety.limits import load_limits
from esar_ros.scoring.bag import read_bag, score_bag
from esar_ros.scoring.record.episode import EpisodeRecord
from helpers.flight import Flight, Flown, comparable, write_short_task
from helpers.ros_domain import own_domain

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


@pytest.mark.full
def test_two_runs_of_one_task_and_seed_are_identical(flown: Flown, launch: Launch) -> None:
    """That the one comes home after its end, and the other does not, is not scored."""
    second = launch(25.0, planner="zigzag").finish()
    assert comparable(flown.result) == comparable(second)
    assert second["metrics"]["path_length"] > 20.0
    assert second["metrics"]["coverage"] > 0.0
    assert len(second["reports"]) >= 1


@pytest.mark.full
def test_sensing_in_processes_of_their_own_gives_the_same_result(launch: Launch) -> None:
    results = [
        launch(10.0, sensing, planner="zigzag", detector="esar_yolo", sensing=sensing).finish(600.0)
        for sensing in ("composed", "separate")
    ]
    assert comparable(results[0]) == comparable(results[1])
    assert results[0]["metrics"]["path_length"] > 1.0


def test_the_bag_scores_the_same(flown: Flown) -> None:
    assert score_bag(flown.out / "bag").dump() == (flown.out / "result.json").read_text(encoding="utf-8")


def test_a_vehicle_comes_home_and_lands_when_that_is_asked_for(flown: Flown) -> None:
    assert flown.result["end"] == "timeout"
    record = read_bag(flown.out / "bag")
    last = record.rows("uav1", names.VEHICLE_STATE)[-1]
    assert last.landed == 1
    assert not last.armed
    stamps, positions = record.track("uav1")
    assert stamps[-1] > 25e9
    away = np.abs(positions[:, :2] - positions[0, :2]).max(axis=1)
    assert away[stamps <= 25e9].max() > 10.0, "it had somewhere to come from"
    assert away[-1] < 5.0
    assert flown.restarted == []


class Ear:
    """A node beside a mission: the newest message of some topics, as it comes."""

    def __init__(self, *topics: str) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("ear", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self.newest: dict[str, Any] = {}
        for name in topics:
            entry = BY_NAME[name]
            self._node.create_subscription(
                message_class(entry.type),
                f"/uav1/{name}",
                lambda message, name=name: self.newest.update({name: message}),
                PROFILES[entry.quality],
            )

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Listen until it is true."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and not condition():
            self._executor.spin_once(timeout_sec=0.01)
        return condition()

    def stamp(self, name: str) -> int:
        return nanoseconds(self.newest[name].header.stamp)

    def close(self) -> None:
        self._node.destroy_node()
        self._context.try_shutdown()


@pytest.fixture
def ear(domain: int) -> Iterator[Callable[..., Ear]]:
    made: list[Ear] = []

    def listen(*topics: str) -> Ear:
        made.append(Ear(*topics))
        return made[-1]

    yield listen
    for each in made:
        each.close()


def kill(flight: Flight, label: str) -> None:
    pid = flight.supervisor.pid(label)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def killed_mission(launch: Launch, label: str, at: float, t_max: float) -> tuple[Flight, dict[str, Any]]:
    """Fly and SIGKILL one process at a mission time; flight and result."""
    flight = launch(t_max, planner="zigzag")
    flight.wait_until(at)
    kill(flight, label)
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


@dataclass(frozen=True)
class Survived:
    """A mission that lost its planner, and after that was back its sensing."""

    result: dict[str, Any]
    record: EpisodeRecord
    restarted: list[str]
    planner: int  # stamps (ns) before which each was killed
    sensing: int


@pytest.fixture(scope="module")
def survived(tmp_path_factory: pytest.TempPathFactory) -> Survived:
    folder = tmp_path_factory.mktemp("survived")
    with own_domain():
        ear = Ear(names.DECISION)
        flight = Flight(folder / "out", write_short_task(folder, 60.0), planner="zigzag")
        try:
            assert ear.until(lambda: bool(ear.newest) and ear.stamp(names.DECISION) >= 16 * NANO, 120.0), flight.tail()
            planner = ear.stamp(names.DECISION)
            kill(flight, "uav1-planner")
            assert ear.until(lambda: flight.supervisor.restarted == ["uav1-planner"], 30.0)
            ear.until(lambda: False, 0.1)  # the last words of the one that died
            ear.newest.clear()
            back = lambda: bool(ear.newest) and ear.stamp(names.DECISION) >= planner + 6 * NANO  # noqa: E731
            assert ear.until(back, 120.0), f"it never came back: {flight.tail()}"
            sensing = ear.stamp(names.DECISION)
            kill(flight, "uav1-sensing")
            result = flight.finish()
        finally:
            flight.abort()
            ear.close()
    return Survived(result, read_bag(flight.out / "bag"), flight.supervisor.restarted, planner, sensing)


def test_killed_processes_are_started_again_and_the_mission_is_flown_to_its_end(survived: Survived) -> None:
    assert survived.restarted == ["uav1-planner", "uav1-sensing"]
    assert survived.result["end"] == "timeout"
    assert survived.result["metrics"]["safe"]


def test_a_killed_planner_means_hold_and_it_flies_on(survived: Survived) -> None:
    record = survived.record
    # A planner that is ready again before its silence is noticed misses no frame: time stood still meanwhile.
    decisions = [row.stamp for row in record.rows("uav1", names.DECISION)]
    start, end = gap([stamp for stamp in decisions if survived.planner - 2 * NANO < stamp <= survived.sensing])
    _, positions = record.track("uav1", int(start + 4 * NANO), end)
    if len(positions) > 20:  # away long enough to have come to a stop
        assert float(abs(positions[-1] - positions[0]).max()) < 1.0
    assert max(decisions) > 55 * NANO
    reports = record.rows("uav1", names.REPORTS)
    assert [row.seq for row in reports] == list(range(reports[0].seq, reports[0].seq + len(reports))), (
        "a number given again would be the same report"
    )
    assert any(row.stamp <= survived.planner for row in reports) and any(row.stamp > end for row in reports)


def test_killed_sensing_never_flies_on_blind(survived: Survived) -> None:
    """Time stands still until it is back, or goes on without it: then the governor holds."""
    record = survived.record
    safety = record.rows("uav1", names.SAFETY_STATUS)
    status = [row.stamp for row in record.rows("uav1", names.MAP_STATUS)]
    start, end = gap([stamp for stamp in status if stamp > survived.sensing - 2 * NANO])
    # Its nodes come back one by one: with ranges and without a fresh map it may go on, but slowly.
    stamps, positions = record.track("uav1")
    limits = load_limits()
    speed = np.linalg.norm(np.gradient(positions, stamps / NANO, axis=0), axis=1)
    blind = (stamps > start + (limits.map_age + 0.1) * NANO) & (stamps < end)
    if blind.any():  # from the speed that it had it slows down no faster than a vehicle can
        slowed = speed[blind][0] - limits.acceleration * (stamps[blind] - stamps[blind][0]) / NANO
        assert (speed[blind] < np.maximum(slowed, limits.speed_without_map) + 0.3).all()
    assert all(row.mode >= 3 for row in safety if row.reason == 12)
    assert max(status) > 55 * NANO
    late = [row for row in safety if row.stamp > max(end, survived.sensing + 6 * NANO) + 3 * NANO]
    assert sum(row.mode == 1 for row in late) > 0.8 * len(late)


@pytest.mark.full
def test_a_killed_bridge_comes_back_and_the_vehicle_flies_on(launch: Launch) -> None:
    flight, result = killed_mission(launch, "airsim_bridge", 14.0, 30.0)
    assert result["end"] == "timeout"
    assert result["metrics"]["safe"]
    stamps, positions = read_bag(flight.out / "bag").track("uav1")
    late = positions[stamps > 22e9]
    assert float(abs(late[-1] - late[0]).max()) > 5.0


def test_real_time_flies_too(launch: Launch) -> None:
    began = time.monotonic()
    result = launch(14.0, planner="zigzag", pace="realtime").finish()
    assert result["pace"] == "realtime"
    assert time.monotonic() - began > 13.0
    assert result["metrics"]["path_length"] > 3.0
    assert result["safety"]["collisions"] == 0


@pytest.mark.full  # wall time: needs a machine that does nothing else
def test_in_real_time_the_vehicle_holds_within_half_a_second_of_a_death(
    launch: Launch, ear: Callable[..., Ear]
) -> None:
    """Stamps of the vehicle's own clock: from the last odometry before the kill to the first hold."""
    flight = launch(60.0, planner="zigzag", pace="realtime")
    heard = ear(names.ODOMETRY, names.PILOT_STATE, names.SAFETY_STATUS)
    seen, until = heard.newest, heard.until
    flight.wait_until(12.0)
    flying = lambda: names.PILOT_STATE in seen and seen[names.PILOT_STATE].phase == 4  # noqa: E731
    for label, name, holds in (
        ("uav1-planner", names.PILOT_STATE, lambda m: m.phase == 5),
        ("uav1-pilot", names.SAFETY_STATUS, lambda m: m.mode >= 3),
        ("uav1-sensing", names.SAFETY_STATUS, lambda m: m.mode >= 3),
    ):
        assert until(lambda: flying() and not holds(seen[name]), 30.0), f"{label}: not flying before"  # noqa: B023
        until(lambda: False, 2.0)  # take what has queued up: the newest must be seen
        kill(flight, label)
        killed = heard.stamp(names.ODOMETRY)
        assert until(lambda: holds(seen[name]), 3.0), f"{label}: no hold"  # noqa: B023
        assert (heard.stamp(name) - killed) / NANO <= 0.5, label
    assert flight.finish()["metrics"]["safe"]
