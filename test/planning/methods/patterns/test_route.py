"""A way that somebody else has planned: flown corner by corner at its heights, a blocked one left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import HeightReference
from esar_ros.planning.methods.patterns.route import Route
from esar_ros.planning.parameters import configured

CORNERS = np.array([[100.0, 0.0, 45.0], [100.0, 80.0, 60.0], [0.0, 0.0, 45.0]])


def route() -> Route:
    return Route(configured("route", {"height": 40.0, "speed": 4.0}), CORNERS)


def test_it_climbs_flies_each_corner_at_its_height_above_the_sea_and_stops(brief: Any, flight: Any) -> None:
    method = route()
    method.reset(brief(), 0)
    run = flight(method).run(200)
    goals = [decision.goal for decision in run.decisions if decision.goal is not None]
    assert run.stopped and goals[0].position.tolist() == [0.0, 0.0, 40.0]
    assert np.array([goal.position for goal in goals[1:4]]).tolist() == CORNERS.tolist()
    assert all(goal.height_reference is HeightReference.MAP and goal.speed == 4.0 for goal in goals[1:4])
    track = np.array(run.track)
    assert all(np.linalg.norm(track - corner, axis=1).min() < 10.0 for corner in CORNERS)


def test_a_corner_that_cannot_be_reached_is_left_out(brief: Any, observe: Any) -> None:
    method = route()
    method.reset(brief(), 0)
    method.act(observe(0.0, (0.0, 0.0, 0.0)))
    first = method.act(observe(1.0, (0.0, 0.0, 40.0)))
    second = method.act(observe(2.0, (10.0, 0.0, 40.0), goal_blocked=True))
    assert first.goal is not None and first.goal.position == pytest.approx(CORNERS[0])
    assert second.goal is not None and second.goal.position == pytest.approx(CORNERS[1])
