"""TIGRIS in flight: where it goes, what it counts as looked at, what it does where it cannot come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import GoalType
from esar_ros.planning.method import details_of
from esar_ros.planning.registry import create

WEST = "A man is missing. You start at the hut. He went 300 m west of the hut."


def tigris(brief: Any, name: str = "tigris@brief", seed: int = 0, **values: Any) -> Any:
    method = create(name)
    method.reset(brief(half=400.0, prompt=WEST, **values), seed)
    return method


@pytest.mark.parametrize("name", ["tigris", "tigris@brief", "tigris@entropy", "tigris@brief+entropy"])
def test_a_row_is_named_after_prior_and_reward(name: str) -> None:
    method = create(name)
    assert method.name == name and method.eligible
    assert details_of(method)["reward"] == ("entropy" if "entropy" in name else "found")


def test_goes_where_the_brief_says_and_on_from_what_it_saw(brief: Any, flight: Any) -> None:
    run = flight(tigris(brief), 10.0).run(60)
    track = np.array(run.track)[:, :2]
    assert np.linalg.norm(track - [-300.0, 0.0], axis=1).min() < 80.0
    ground = run.method._ground
    seen = 1.0 - np.prod(1.0 - ground.seen, axis=0)
    rows, columns = np.indices(seen.shape)
    away = np.hypot(columns * ground.cell + run.method._corner[0], rows * ground.cell + run.method._corner[1])
    assert seen[away < 10.0].min() > 0.5, "the start was flown over"
    assert seen[columns * ground.cell + run.method._corner[0] > 250.0].max() == 0.0, "and the east was not"


def test_a_blind_flight_has_seen_nothing(brief: Any, flight: Any) -> None:
    assert flight(tigris(brief), 10.0).run(20, cameras=()).method._ground.seen.max() == 0.0


def test_the_way_is_the_seed_s(brief: Any, flight: Any) -> None:
    tracks = [flight(tigris(brief, seed=seed), 10.0).run(80).track for seed in (1, 1, 2)]
    assert np.array_equal(tracks[0], tracks[1]) and not np.array_equal(tracks[0], tracks[2])


def test_the_detector_in_use_decides_what_is_seen(brief: Any, observe: Any) -> None:
    method = tigris(brief)
    method.act(observe(0.0))
    assumed = method._ground.beside.person
    method.act(observe(1.0, detector="esar_yolo", focal=160.0))
    measured = method._ground.beside.person
    assert len(measured) != len(assumed) and method._tree.ground.beside.person is measured


def test_a_place_that_cannot_be_reached_is_not_flown_to_again(brief: Any, observe: Any) -> None:
    method = tigris(brief)
    goals = []
    for second in range(12):
        decision = method.act(observe(float(second), goal_blocked=second > 0))
        if decision.goal is not None and decision.goal.type is GoalType.WAYPOINT and second > 0:
            goals.append(decision.goal.position[:2])
    assert len(goals) > 5
    for later in range(1, len(goals)):
        assert np.linalg.norm(np.array(goals[:later]) - goals[later], axis=1).min() > 10.0


def test_the_way_is_no_longer_than_the_time_allows(brief: Any, flight: Any) -> None:
    run = flight(tigris(brief, t_max=200.0), 5.0).run(200)
    way = np.concatenate([np.zeros((1, 2)), run.method._route])
    assert run.stopped and np.linalg.norm(np.diff(way, axis=0), axis=1).sum() <= 5.0 * 200.0 * 0.85
