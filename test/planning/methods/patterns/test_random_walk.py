"""Random: uniform, seeded, and within its limits."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.decision import GoalType, HeightReference
from esar_ros.planning.discrete import ACTIONS
from esar_ros.planning.registry import create


def walk(flight: Any, brief: Any, seed: int = 0, seconds: int = 900, **parameters: Any) -> Any:
    method = create("random", parameters)
    method.reset(brief, seed)
    return flight(method, 5.0).run(seconds)


def actions(run: Any) -> Any:
    return [d.action for d in run.decisions if d.action in ACTIONS]


def test_same_seed_same_walk_other_seed_other_walk(flight: Any, brief: Any) -> None:
    first, again, other = (walk(flight, brief(), seed) for seed in (4, 4, 5))
    assert [d.action for d in first.decisions] == [d.action for d in again.decisions]
    assert np.array_equal(first.track, again.track)
    assert actions(first) != actions(other)


def test_reset_begins_anew(flight: Any, brief: Any) -> None:
    method = create("random")
    tracks = []
    for _ in range(2):
        method.reset(brief(), 7)
        tracks.append(flight(method, 5.0).run(200).track)
    assert np.array_equal(*tracks)


def test_begins_with_a_climb_to_search_height(flight: Any, brief: Any) -> None:
    run = walk(flight, brief(), seconds=1)
    goal = run.decisions[0].goal
    assert run.decisions[0].action == "climb"
    assert (goal.type, goal.height_reference) == (GoalType.WAYPOINT, HeightReference.GROUND)
    np.testing.assert_array_equal(goal.position, [0, 0, 30])


def test_every_move_is_one_step_of_its_kind(observe: Any, brief: Any) -> None:
    """Each action against the pose it is drawn at: 10 m ahead or aside, 5 m up or down, a quarter turn."""
    method = create("random", {"stop_from_step": 1000})
    method.reset(brief(), 1)
    seen: set[str] = set()
    position, yaw = np.array([0.0, 0.0, 30.0]), 0.3
    method.act(observe(0, position, yaw))
    for stamp in range(1, 200):
        decision = method.act(observe(stamp, position, yaw, goal_reached=True))
        goal = decision.goal
        assert goal is not None and goal.yaw is not None
        ahead, aside = np.array([math.cos(yaw), math.sin(yaw), 0]), np.array([-math.sin(yaw), math.cos(yaw), 0])
        up, still = np.array([0, 0, 5]), np.zeros(3)
        expected = {
            "forward": 10 * ahead, "left": 10 * aside, "right": -10 * aside, "up": up, "down": -up,
            "turn_left": still, "turn_right": still,
        }[decision.action]  # fmt: skip
        turn = {"turn_left": math.pi / 2, "turn_right": -math.pi / 2}.get(decision.action, 0.0)
        height = np.clip(position[2] + expected[2], 10.0, 115.0)
        np.testing.assert_allclose(goal.position, [*(position + expected)[:2], height], atol=1e-9)
        assert wrap_angle(goal.yaw - yaw - turn) == pytest.approx(0.0, abs=1e-9)
        position, yaw = goal.position, goal.yaw
        seen.add(decision.action)
    assert seen == set(ACTIONS) - {"stop"}


def test_actions_are_uniform(observe: Any, brief: Any) -> None:
    method = create("random", {"stop_from_step": 100_000})
    method.reset(brief(), 0)
    method.act(observe(0))
    drawn = Counter(method.act(observe(t, goal_reached=True)).action for t in range(1, 3501))
    assert set(drawn) == set(ACTIONS) - {"stop"}
    # Chi-square with 6 degrees of freedom, 99.9 %.
    assert sum((n - 500) ** 2 / 500 for n in drawn.values()) < 22.5


@pytest.mark.parametrize(("stop_from", "least"), [(0, 0), (10, 10)])
def test_stop_is_drawn_from_the_stated_step_on(observe: Any, brief: Any, stop_from: Any, least: Any) -> None:
    lengths = []
    method = create("random", {"stop_from_step": stop_from})
    for seed in range(300):
        method.reset(brief(), seed)
        method.act(observe(0))
        lengths.append(next(t for t in range(1000) if method.act(observe(t, goal_reached=True)).stop))
    assert min(lengths) == least
    # Geometric with p = 1/8: 7 actions before stop on average, standard error 0.43.
    assert np.mean(lengths) - least == pytest.approx(7.0, abs=1.5)


def test_stopped_stays_stopped(observe: Any, brief: Any) -> None:
    method = create("random", {"stop_from_step": 0})
    method.reset(brief(), 0)
    decisions = [method.act(observe(t, goal_reached=True)) for t in range(60)]
    stops = [d.stop for d in decisions]
    assert all(stops[stops.index(True) :])
    last = decisions[stops.index(True)].goal
    assert last is not None and last.type is GoalType.HOLD


def test_stays_in_the_area_and_below_the_ceiling(flight: Any, brief: Any) -> None:
    run = walk(flight, brief(half=30.0, ceiling=45.0), seconds=3000, stop_from_step=100_000)
    track = np.array(run.track)
    assert np.abs(track[:, :2]).max() <= 30.0
    assert track[:, 2].max() <= 40.0 and track[20:, 2].min() >= 10.0
    assert any(d.why == "would leave the search area" for d in run.decisions)


def test_waits_for_the_action_and_gives_up_a_blocked_one(observe: Any, brief: Any) -> None:
    method = create("random", {"stop_from_step": 1000})
    method.reset(brief(), 2)
    first = method.act(observe(0, (0, 0, 0)))
    assert method.act(observe(1, (0, 0, 5))).goal is None
    assert first.goal is not None
    assert method.act(observe(2, (0, 0, 5), goal_blocked=True)).why == "last action blocked"


def test_reports_once(observe: Any, brief: Any, clue: Any) -> None:
    method = create("random")
    method.reset(brief(), 0)
    counts = [len(method.act(observe(t, clues=(clue(1), clue(2, "person", (9, 9, 0))))).reports) for t in range(5)]
    assert counts == [2, 0, 0, 0, 0]
