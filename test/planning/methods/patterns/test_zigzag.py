"""Zigzag: lanes in order, blocked ones left out, a stop at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import GoalType, HeightReference
from esar_ros.planning.methods.patterns.pattern import lane_spacing
from esar_ros.planning.registry import create


def zigzag(brief: Any, **parameters: Any) -> Any:
    method = create("zigzag", parameters)
    method.reset(brief, 0)
    return method


def test_spacing_is_the_ground_seen_less_the_overlap() -> None:
    assert lane_spacing(30.0, 50.0, 0.0) == pytest.approx(80.0)
    assert lane_spacing(30.0, 50.0, 0.25) == pytest.approx(60.0)
    assert lane_spacing(60.0, 50.0, 0.0) == pytest.approx(120.0), "never less than the down camera shows"


def test_sweeps_a_small_area_and_stops(flight: Any, brief: Any) -> None:
    run = flight(zigzag(brief(half=150.0))).run(900)
    assert run.stopped and run.decisions[-1].why == "all lanes flown"
    track = np.array(run.track)
    rng = np.random.default_rng(0)
    for point in rng.uniform(-150, 150, (100, 2)):
        assert np.linalg.norm(track[:, :2] - point, axis=1).min() < 60.0
    assert run.method.act(run.observe(999.0)).stop


def test_a_large_area_is_cut_to_the_time(flight: Any, brief: Any) -> None:
    run = flight(zigzag(brief(t_max=300.0)), 5.0).run(300)
    assert run.stopped and run.stamp > 150.0


def test_goals_follow_the_ground_at_search_height(flight: Any, brief: Any) -> None:
    run = flight(zigzag(brief(half=150.0, ceiling=28.0))).run(900)
    goals = [d.goal for d in run.decisions if d.goal is not None and d.goal.type is GoalType.WAYPOINT]
    assert len(goals) > 4
    assert {goal.position[2] for goal in goals} == {23.0}
    assert all(goal.height_reference is HeightReference.GROUND for goal in goals)
    assert {goal.speed for goal in goals[1:]} == {5.0}


def test_a_blocked_lane_is_left_out(observe: Any, brief: Any) -> None:
    method = zigzag(brief(half=200.0))
    method.act(observe(0))
    entry = method.act(observe(1))
    assert entry.action == "lane 1 of 5"
    exit_ = method.act(observe(2, goal_reached=True))
    assert exit_.action == "lane 1 of 5"
    following = method.act(observe(3, goal_blocked=True))
    assert following.action == "lane 2 of 5", "the rest of lane 1"
    following = method.act(observe(4, goal_blocked=True))
    assert following.action == "lane 3 of 5", "lane 2 could not be entered"


def test_no_lane_can_be_flown(observe: Any, brief: Any) -> None:
    method = zigzag(brief(half=200.0))
    method.act(observe(0))
    decisions = [method.act(observe(t, goal_blocked=True)) for t in range(1, 20)]
    assert [d.stop for d in decisions].index(True) == 5


def test_same_brief_same_goals(flight: Any, brief: Any) -> None:
    tracks = [flight(zigzag(brief(half=300.0))).run(200).track for _ in range(2)]
    assert np.array_equal(*tracks)


def test_reports_once(observe: Any, brief: Any, clue: Any) -> None:
    method = zigzag(brief())
    counts = [len(method.act(observe(t, clues=(clue(1), clue(2, "person", (9, 9, 0))))).reports) for t in range(5)]
    assert counts == [2, 0, 0, 0, 0]
