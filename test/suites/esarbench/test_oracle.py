"""The oracle finds its task by the brief alone, visits every victim, and is not eligible."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.decision import GoalType, Report, ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.task import load_task
from esar_ros.suites.esarbench.oracle import Oracle, task_of


def brief_of(id: str) -> Brief:
    task = load_task(id)
    half = 950.0
    return Brief(
        mission_id="m",
        map_id=task.map,
        prompt=task.prompt,
        weather=task.weather.value,
        local_time=task.local_time.isoformat(),
        t_max=task.t_max,
        area=np.array([[-half, -half], [half, -half], [half, half], [-half, half]]),
        ceiling=120.0,
        home=np.zeros(3),
        report_cap=100,
    )


def seen(t: float, position: np.ndarray, reached: bool = False, blocked: bool = False) -> Observation:
    return Observation(
        stamp=t,
        elapsed=t,
        vehicle="uav1",
        pose=Pose(position, quaternion_from_yaw(0.0)),
        velocity=np.zeros(3),
        height=30.0,
        battery=1.0,
        clues=(),
        goal_reached=reached,
        goal_blocked=blocked,
    )


@pytest.mark.parametrize("id", ["k2-storm-1-03", "aotai-pair", "dapeng-tide-3-10"])
def test_it_goes_to_every_victim_reports_each_and_stops(id: str) -> None:
    task = load_task(id)
    oracle = Oracle({})
    assert not oracle.eligible
    oracle.reset(brief_of(id), 0)
    position = np.array([*task.start.position, 30.0])
    reports: list[Report] = []
    decision = None
    for second in range(3 * len(task.victims) + 3):
        decision = oracle.act(seen(float(second), position))
        reports += decision.reports
        if decision.stop:
            break
        if decision.goal is not None:
            position = np.array([*decision.goal.position[:2], 30.0])
    assert decision is not None and decision.stop
    assert decision.goal is not None and decision.goal.type is GoalType.HOLD
    assert all(report.type is ReportType.VICTIM for report in reports)
    places = sorted(tuple(report.position[:2]) for report in reports)
    assert places == sorted(victim.position for victim in task.victims)


def test_a_blocked_way_is_tried_at_another_height() -> None:
    oracle = Oracle({})
    oracle.reset(brief_of("aotai-first"), 0)
    first = oracle.act(seen(0.0, np.array([0.0, 0.0, 30.0])))
    second = oracle.act(seen(1.0, np.array([0.0, 0.0, 30.0]), blocked=True))
    assert first.goal is not None and second.goal is not None
    assert second.goal.position[2] > first.goal.position[2]
    assert (second.goal.position[:2] == first.goal.position[:2]).all()


def test_a_foreign_brief_is_refused_unless_the_task_is_named() -> None:
    with pytest.raises(UsageError, match="no shipped task has this brief"):
        task_of("Find somebody somewhere, please, and be quick about it.")
    foreign = brief_of("aotai-first")
    object.__setattr__(foreign, "prompt", "Somebody is missing somewhere near the camp on the crest.")
    with pytest.raises(UsageError, match="name the task"):
        Oracle({}).reset(foreign, 0)
    Oracle({"task": "aotai-first"}).reset(foreign, 0)
