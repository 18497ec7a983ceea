"""Two vehicles search together on real DDS: one map, one voice, apart from each other, and the same twice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from esar_ros.mission import names
from esar_ros.nodes.core import interface, node_names
from esar_ros.safety.limits import load_limits
from esar_ros.scoring.bag import read_bag, score_bag
from esar_ros.scoring.record.episode import EpisodeRecord
from helpers.flight import Flight, comparable, write_short_task
from helpers.ros_domain import own_domain
from helpers.rviz_displays import SHOWS, shown

TEAM = ("uav1", "uav2")
T_MAX = 12.0


@dataclass
class Seen:
    """A flight, and what was on its graph."""

    publishers: dict[str, list[Any]]  # by topic of multi.rviz
    nodes: list[tuple[str, str]]
    result: dict[str, Any]
    task: Path
    out: Path

    @cached_property
    def record(self) -> EpisodeRecord:
        return read_bag(self.out / "bag")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("team")
    task = write_short_task(folder, T_MAX)
    with own_domain():
        context = rclpy.Context()
        rclpy.init(context=context)
        observer = rclpy.create_node("observer", context=context)
        flight = Flight(folder / "one", task, planner="fbe", vehicles=TEAM)
        try:
            flight.wait_until(2.0, 300.0)
            publishers = {
                display["Topic"]["Value"]: observer.get_publishers_info_by_topic(display["Topic"]["Value"])
                for display, _, _ in shown("multi.rviz")
            }
            nodes = [n for n in observer.get_node_names_and_namespaces() if n[0] != "observer"]
            return Seen(publishers, nodes, flight.finish(600.0), task, folder / "one")
        finally:
            observer.destroy_node()
            context.try_shutdown()
            flight.abort()


def test_they_fly_and_the_bag_scores_the_same(seen: Seen) -> None:
    assert score_bag(seen.out / "bag").dump() == (seen.out / "result.json").read_text(encoding="utf-8")
    assert seen.result["vehicles"] == list(TEAM)
    assert seen.result["metrics"]["path_length"] > 15.0 and seen.result["safety"]["collisions"] == 0


@pytest.mark.full
def test_the_same_twice(seen: Seen, tmp_path: Path, domain: int) -> None:
    flight = Flight(tmp_path / "two", seen.task, planner="fbe", vehicles=TEAM)
    try:
        assert comparable(flight.finish(600.0)) == comparable(seen.result)
    finally:
        flight.abort()


def test_every_node_lives_once_in_its_vehicle_s_namespace(seen: Seen) -> None:
    own = {(node, f"/{vehicle}") for node in node_names.VEHICLE_PARTICIPANTS for vehicle in TEAM}
    shared = {(node, "/") for node in (*node_names.MISSION_PARTICIPANTS, node_names.AIRSIM_BRIDGE)}
    assert sorted(seen.nodes) == sorted(own | shared)


def test_every_display_of_the_view_of_two_has_a_publisher_that_reaches_it(seen: Seen) -> None:
    for display, vehicle, topic in shown("multi.rviz"):
        found = seen.publishers[display["Topic"]["Value"]]
        assert len(found) == 1, display["Topic"]["Value"]
        bridged = interface.BY_NAME[topic].writer == node_names.AIRSIM_BRIDGE
        assert found[0].node_namespace == ("/" if bridged else f"/{vehicle}")
        assert found[0].topic_type == SHOWS[display["Class"].split("/")[1]], topic
        assert found[0].qos_profile.reliability == ReliabilityPolicy.RELIABLE
        if display["Topic"]["Durability Policy"] == "Transient Local":
            assert found[0].qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


def test_both_know_one_map(seen: Seen) -> None:
    one, other = ({row.stamp: row.coverage for row in seen.record.rows(v, names.MAP_STATUS)} for v in TEAM)
    assert len(one) >= T_MAX
    assert one == other
    assert max(one.values()) > 0.0


def test_they_keep_apart_and_go_different_ways(seen: Seen) -> None:
    # After the end the graph is shut down: whose last step is still recorded is the machine's business.
    (stamps, one), (others, other) = (seen.record.track(vehicle, 0, int(T_MAX * 1e9)) for vehicle in TEAM)
    assert np.array_equal(stamps, others) and stamps[-1] == int(T_MAX * 1e9)
    apart = np.linalg.norm(one - other, axis=1)
    assert apart.min() > load_limits().separation - 2.0, "they start 4 m apart, with odometry that errs"
    assert apart[-1] > load_limits().separation


def test_each_thing_is_told_by_one_of_them(seen: Seen) -> None:
    metrics = seen.result["metrics"]
    assert metrics["reports"] >= 2
    assert metrics["duplicate_reports"] == 0
