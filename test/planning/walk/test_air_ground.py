"""The air-ground pair: what the drone reports, and where the walker goes for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.rescue import PersonReport, StandingPose, WalkView
from esar_ros.planning.walk import air_ground, frontier, registry
from esar_ros.planning.walk.air_ground import AirGround, SquareScout
from helpers.walk_room import START, TASK, VICTIM, Eyes, Room

FAR = np.array([20.0, 13.0, 0.9])


class Ground:
    """Level ground, or roofs of a height, from straight above (mission.rescue.WalkView)."""

    model = CameraModel.from_horizontal_fov(64, 64, math.radians(90.0))

    def __init__(self, pose: Pose, roofs: float = 0.0) -> None:
        self.pose = pose
        self.colour = np.zeros((64, 64, 3), dtype=np.uint8)
        self.depth = np.full((64, 64), pose.position[2] - roofs, dtype=np.float32)


def flown(scout: SquareScout, seconds: float, roofs: float = 0.0) -> tuple[list[Vector], list[PersonReport]]:
    """Returns the places that a drone looked from within a time, and its reports."""
    places: list[Vector] = []
    reports: list[PersonReport] = []

    def look(pose: Pose) -> WalkView:
        places.append(pose.position)
        return Ground(pose, roofs)

    for step in range(round(seconds / TASK.step)):
        reports += scout.fly(step * TASK.step, look)
    return places, reports


def a_scout(monkeypatch: pytest.MonkeyPatch, *persons: Vector) -> SquareScout:
    monkeypatch.setattr(air_ground, "backend", lambda: Eyes(persons))
    scout = SquareScout()
    scout.reset(StandingPose(START, 0.0))
    return scout


def test_the_drone_reports_a_person_once_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    _, reports = flown(a_scout(monkeypatch, FAR), 60.0)
    (report,) = reports
    sigma = np.sqrt(np.linalg.eigvalsh(report.covariance))
    assert 0.0 < sigma.min() and math.dist(report.position[:2], FAR[:2]) < 3.0 * sigma.max()


def test_the_drone_flies_no_faster_than_it_can_and_leaves_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.array(flown(a_scout(monkeypatch), 90.0)[0])
    steps = np.hypot(*np.diff(places[:, :2], axis=0).T)
    assert len(places) == 45 and steps.max() <= 4.0 * 2.0 + 1e-6
    around = [(x, y) for x in range(-20, 21, 4) for y in range(-20, 21, 4)]  # m about the start
    for x, y in around:  # 12 m up it shows 12 m to each side
        assert np.abs(places[:, :2] - START[:2] - (x, y)).max(axis=1).min() < 12.0, (x, y)


def test_the_drone_keeps_above_what_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.array(flown(a_scout(monkeypatch), 12.0, roofs=6.0)[0])
    assert places[-1, 2] == pytest.approx(6.0 + 12.0) and np.diff(places[:, 2]).max() <= 3.0 * 2.0 + 1e-6


def a_pair(monkeypatch: pytest.MonkeyPatch, *persons: Vector) -> AirGround:
    """A walker that sees these persons itself."""
    monkeypatch.setattr(frontier, "backend", lambda: Eyes(persons))
    agent = registry.create("air_ground")
    assert isinstance(agent, AirGround)
    agent.reset(TASK, 0)
    return agent


def a_report(place: Vector) -> PersonReport:
    return PersonReport(0.0, place, 0.5 * np.eye(3))


def test_the_walker_goes_to_whom_only_the_drone_has_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Room(a_pair(monkeypatch), reports=(a_report(VICTIM),)).rescue(most=600)


@pytest.mark.full
def test_a_false_report_costs_a_way_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = np.array([-4.0, 0.5, 0.9])
    assert Room(a_pair(monkeypatch, VICTIM), reports=(a_report(wrong),)).rescue(most=700)
