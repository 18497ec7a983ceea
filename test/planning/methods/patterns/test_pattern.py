"""Search patterns: spacing of turns, what lies outside is left out, the time allowed is kept, a stop at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import GoalType, HeightReference
from esar_ros.planning.methods.patterns.concentric import rings
from esar_ros.planning.methods.patterns.greedy import Greedy, walk
from esar_ros.planning.methods.patterns.hedac import trajectory
from esar_ros.planning.methods.patterns.pattern import STEP, cut, inside
from esar_ros.planning.methods.patterns.spiral import archimedean
from esar_ros.planning.registry import create
from helpers.full import mostly_full

NAMES = (
    "spiral",
    "concentric",
    "greedy",
    "greedy@brief",
    "hedac",
    "hedac@brief",
    "tigris",
    "tigris@brief",
    "tigris@entropy",
)
SOME = mostly_full(NAMES, len(NAMES) - 2)  # trees are replanned at every leg: one prior of three by default


def flown(name: Any, brief: Any, flight: Any, seconds: int = 900, speed: float = 20.0) -> Any:
    method = create(name)
    method.reset(brief, 0)
    return flight(method, speed).run(seconds)


def test_spiral_turns_are_spacing_apart() -> None:
    points = archimedean(50.0, 400.0)
    radius = np.linalg.norm(points, axis=1)
    assert np.all(np.diff(radius) > 0) and radius[-1] >= 400.0
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.max() < 1.1 * STEP
    turns = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    radius_after_a_turn = np.interp(turns[10] + 2 * np.pi, turns, radius)
    assert radius_after_a_turn - radius[10] == pytest.approx(50.0, abs=0.5)


def test_rings_lie_spacing_apart_and_alternate() -> None:
    points = rings(50.0, 140.0)
    radius = np.round(np.linalg.norm(points, axis=1), 6)
    assert sorted(set(radius)) == [50.0, 100.0, 150.0]
    second = points[radius == 100.0]
    assert second[0] == pytest.approx([100.0, 0.0]) and second[1, 1] < 0.0, "the other way round"


def test_greedy_goes_to_the_best_neighbour_then_to_the_best_left() -> None:
    heat = np.zeros((5, 9))
    heat[2, 3], heat[2, 2], heat[3, 3], heat[2, 8] = 0.3, 0.2, 0.1, 0.4
    assert walk(heat, (2, 4), 100.0).tolist() == [[2, 3], [2, 2], [3, 3], [2, 8]], "the far cell last, though best"
    assert walk(heat, (2, 4), 1.5).tolist() == [[2, 3], [2, 2]]
    assert walk(np.zeros((3, 3)), (1, 1), 10.0).shape == (0, 2)


def test_greedy_with_the_brief_goes_where_belief_expects_them(brief: Any) -> None:
    story = brief(half=500.0, prompt="A man is missing. You start at the hut. He went 300 m west of the hut.")
    routes = {}
    for name in ("greedy", "greedy@brief"):
        method = create(name)
        assert isinstance(method, Greedy) and method.name == name
        method.reset(story, 0)
        routes[name] = method._route
    first = {name: route[:12].mean(axis=0) for name, route in routes.items()}
    assert np.linalg.norm(first["greedy"]) < 80.0 < 150.0 < -first["greedy@brief"][0]
    half = len(routes["greedy@brief"]) // 2
    east, west = (
        np.mean(side) for side in (routes["greedy@brief"][:half, 0] > 0, routes["greedy@brief"][:half, 0] < 0)
    )
    assert west > east


def test_hedac_visits_hills_of_probability_as_long_as_they_are_worth_it() -> None:
    rows, columns = np.indices((61, 61))
    hills = [np.exp(-((columns - x) ** 2 + (rows - 30) ** 2) / 30.0) for x in (15, 48)]
    prior, everywhere = 0.25 * hills[0] + 0.75 * hills[1], np.ones((61, 61), np.bool_)
    way = trajectory(prior, everywhere, 6.0, 600.0)
    assert np.abs(np.linalg.norm(np.diff(way, axis=0), axis=1) - 1.0).max() < 1e-9
    near = [np.linalg.norm(way - (x, 30), axis=1) < 10.0 for x in (15, 48)]
    assert np.flatnonzero(near[1])[0] < 25 < np.flatnonzero(near[0])[0], "first to the higher one, then to the other"
    shares = [side[:300].mean() for side in near]
    assert shares[1] > 1.5 * shares[0] > 0.0, "time follows probability"
    walled = everywhere.copy()
    walled[:, :31] = False
    walled[30, 30] = True
    assert (trajectory(prior, walled, 6.0, 200.0)[1:, 0] >= 30.0).all()


def test_way_is_cut_and_kept_inside() -> None:
    square = np.array([[-100.0, -100], [100, -100], [100, 100], [-100, 100]])
    points = np.array([[0.0, 50], [0, 90], [0, 80]])
    assert inside(points, square).tolist() == [[0, 50], [0, 80]]
    assert cut(points, np.zeros(2), 95.0).tolist() == [[0, 50], [0, 90]]


@pytest.mark.parametrize("name", SOME)
def test_covers_a_small_area_and_stops(name: str, brief: Any, flight: Any) -> None:
    run = flown(name, brief(half=150.0), flight)
    assert run.stopped and run.decisions[-1].why == "the way is flown"
    track = np.array(run.track)[:, :2]
    assert np.abs(track).max() <= 150.0
    near = [
        np.linalg.norm(track - point, axis=1).min() for point in np.random.default_rng(0).uniform(-120, 120, (99, 2))
    ]
    assert max(near) < 75.0
    assert run.method.act(run.observe(999.0)).stop


@pytest.mark.parametrize("name", SOME)
def test_time_allowed_is_kept(name: str, brief: Any, flight: Any) -> None:
    run = flown(name, brief(t_max=300.0), flight, 300, 5.0)
    assert run.stopped and 100.0 < run.stamp < 290.0


@pytest.mark.parametrize("name", SOME)
def test_goals_follow_the_ground_below_the_ceiling(name: str, brief: Any, flight: Any) -> None:
    run = flown(name, brief(half=150.0, ceiling=28.0), flight)
    goals = [d.goal for d in run.decisions if d.goal is not None and d.goal.type is GoalType.WAYPOINT]
    assert {goal.position[2] for goal in goals} == {23.0}
    assert all(goal.height_reference is HeightReference.GROUND for goal in goals)


@pytest.mark.parametrize("name", SOME)
def test_blocked_points_are_left_out(name: str, brief: Any, observe: Any) -> None:
    method = create(name)
    method.reset(brief(half=100.0), 0)
    decisions = [method.act(observe(t, goal_blocked=t > 0)) for t in range(300)]
    assert decisions[-1].stop
    places = [tuple(d.goal.position) for d in decisions if d.goal is not None and d.goal.type is GoalType.WAYPOINT]
    assert len(places) > 4


@pytest.mark.parametrize("name", SOME)
def test_same_brief_same_way(name: str, brief: Any, flight: Any) -> None:
    assert np.array_equal(*(flown(name, brief(half=200.0), flight, 200).track for _ in range(2)))
