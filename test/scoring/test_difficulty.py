"""Appendix A at its edges, and the tasks that ship with the package."""

from __future__ import annotations

from datetime import datetime

import pytest

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import difficulty, distance_points, light_points, tier


@pytest.mark.parametrize(
    ("distance", "points"), [(0.0, 1), (116.6, 1), (116.7, 2), (230.3, 2), (230.4, 3), (373.6, 3), (373.7, 4)]
)
def test_distance(distance: float, points: int) -> None:
    assert distance_points(distance) == points


@pytest.mark.parametrize(
    ("clock", "points"),
    [("07:00", 0), ("17:00", 0), ("06:59", 1), ("06:00", 1), ("17:01", 1), ("18:00", 1), ("18:01", 2), ("05:59", 2)],
)
def test_light(clock: str, points: int) -> None:
    assert light_points(datetime.fromisoformat(f"2021-10-01T{clock}:00")) == points


@pytest.mark.parametrize(
    ("score", "name"),
    [(-3, "simple"), (3, "simple"), (4, "medium"), (5, "medium"), (6, "hard"), (7, "hard"), (8, "extreme")],
)
def test_tiers(score: int, name: str) -> None:
    assert tier(score) == name


def test_the_whole_sum_and_each_relief_once() -> None:
    night = datetime.fromisoformat("2021-10-01T22:00:00")
    tents = [ClueKind.TENT, ClueKind.TENT, ClueKind.CAMPFIRE, ClueKind.SIGNAL_FLARE, ClueKind.ROPE]
    # mean 300 m: 3, fog: 3, night: 2, two victims: 2, tent -1, fire -2, flare -3
    assert difficulty([200.0, 400.0], Weather.FOG, night, tents) == (4, "medium")
    assert difficulty([200.0, 400.0], Weather.FOG, night, [ClueKind.ROPE]) == (10, "extreme")
