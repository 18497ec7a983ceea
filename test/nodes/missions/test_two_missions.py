"""Two missions on one machine: in one ROS domain the second is refused in a line; in two they score as one alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.nodes.graph.mission import mission_graph
from esar_ros.scoring.bag import score_bag
from helpers.flight import Flight, Flown, comparable, write_short_task
from helpers.ros_domain import own_domain


def refused(out: Path, namespace: str, domain: int) -> None:
    """Flies a second mission, which has to be refused."""
    flight = Flight(out, write_short_task(out.parent, 300.0, out.name), planner="zigzag", namespace=namespace)
    try:
        limit = time.monotonic() + 120.0
        while flight.error is None and time.monotonic() < limit:
            time.sleep(0.1)
        assert isinstance(flight.error, UsageError), flight.tail()
        assert f"on ROS domain {domain}" in str(flight.error) and "\n" not in str(flight.error)
        assert not (out / "result.json").exists()
    finally:
        flight.abort()


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("namespace", ["/other", ""])
def test_a_second_mission_is_refused_and_the_first_goes_on(tmp_path: Path, domain: int, namespace: str) -> None:
    """In a namespace of its own, too: clock and frames are one for the domain."""
    first = Flight(tmp_path / "first", write_short_task(tmp_path, 300.0), planner="zigzag")
    try:
        first.wait_until(4.0, 240.0)
        refused(tmp_path / "second", namespace, domain)
        stood = first.progress()["elapsed"]
        first.wait_until(stood + 5.0, 120.0)
        assert first.error is None and not first.supervisor.restarted
    finally:
        first.abort()


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_two_missions_beside_each_other_score_as_one_alone(flown: Flown, tmp_path: Path) -> None:
    """Each in a domain of its own, the second one also in a namespace."""
    flights: list[Flight] = []
    try:
        for name, namespace in (("first", ""), ("second", "/team")):
            flights.append(
                started(tmp_path / name, flown.task, planner="zigzag", end="return_land", namespace=namespace)
            )
        first, second = flights
        second.wait_until(0.0, 300.0)
        assert first.progress().get("phase") != "ended", "they fly at the same time"
        for flight in flights:
            assert comparable(flight.finish(600.0)) == comparable(flown.result)
            written = (flight.out / "result.json").read_text(encoding="utf-8")
            assert score_bag(flight.out / "bag").dump() == written and not flight.supervisor.restarted
    finally:
        for flight in flights:
            flight.abort()


def started(out: Path, task: Path, **options: str) -> Flight:
    """A mission of which every process was started in a domain of its own."""
    with own_domain():
        flight = Flight(out, task, **options)
        limit = time.monotonic() + 60.0
        labels = [spec.label for spec in mission_graph(flight.options)]
        while any(flight.supervisor.pid(label) is None for label in labels) and time.monotonic() < limit:
            time.sleep(0.05)
    return flight
