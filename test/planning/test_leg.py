"""Legs: reached, blocked, under way."""

from __future__ import annotations

import math
from typing import Any

import pytest

from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.planning.leg import Leg, LegSettings, LegState, Progress, waypoint

SETTINGS = LegSettings(tolerance=4.0, patience=15.0)


def test_reached_by_place_height_and_heading(observe: Any) -> None:
    leg = Leg(waypoint(100.0, 0.0, 30.0, yaw=1.0), SETTINGS)
    assert leg.state(observe(0, (0, 0, 30), yaw=1.0)) is LegState.FLYING
    assert leg.state(observe(1, (97, 0, 20), yaw=1.0)) is LegState.FLYING, "too low"
    assert leg.state(observe(2, (97, 0, 30), yaw=0.5)) is LegState.FLYING, "looks elsewhere"
    assert leg.state(observe(3, (97, 0, 30), yaw=1.0 + 2 * math.pi)) is LegState.REACHED


def test_the_pilots_word_counts(observe: Any) -> None:
    leg = Leg(waypoint(100.0, 0.0, 30.0), SETTINGS)
    assert leg.state(observe(0, goal_blocked=True)) is LegState.BLOCKED
    assert leg.state(observe(1, goal_reached=True)) is LegState.REACHED


def test_without_progress_it_is_blocked_after_patience(observe: Any) -> None:
    leg = Leg(waypoint(100.0, 0.0, 30.0), SETTINGS)
    states = [leg.state(observe(t, (min(t, 20.0), 0, 30))) for t in range(0, 45, 2)]
    assert states.index(LegState.BLOCKED) == 18, "16 s after the last metre at t = 20"


def test_turning_is_progress(observe: Any) -> None:
    leg = Leg(waypoint(0.0, 0.0, 30.0, yaw=3.0), SETTINGS)
    assert all(leg.state(observe(t, yaw=0.05 * t)) is LegState.FLYING for t in range(50))


def test_height_in_the_map(observe: Any) -> None:
    leg = Leg(Goal(GoalType.WAYPOINT, waypoint(0, 0, 500.0).position, HeightReference.MAP), SETTINGS)
    assert leg.state(observe(0, (0, 0, 480), height=500.0)) is LegState.FLYING
    assert leg.state(observe(1, (0, 0, 497), height=20.0)) is LegState.REACHED


def test_unknown_height_holds_a_climb_but_not_a_way(observe: Any) -> None:
    climb, way = Leg(waypoint(0, 0, 30), SETTINGS), Leg(waypoint(50, 0, 30), SETTINGS)
    for leg in (climb, way):
        assert leg.state(observe(0, (0, 0, 0), height=None)) is LegState.FLYING
    assert climb.state(observe(1, (0, 0, 30), height=None)) is LegState.FLYING
    assert way.state(observe(1, (50, 0, 30), height=None)) is LegState.REACHED


def test_only_waypoints() -> None:
    with pytest.raises(ValueError, match="waypoint"):
        Leg(Goal(GoalType.HOLD), SETTINGS)


def test_progress_is_a_metre_or_more() -> None:
    progress = Progress(2.0)
    assert [progress.stalled(10.0 - 0.1 * t, float(t)) for t in range(5)] == [False, False, False, True, True]
    assert not progress.stalled(8.0, 5.0)
