"""Difficulty of a task: points and tier (ESARBench, appendix A, equation 8)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.task import Tier
from esar_ros.mission.weather import Weather

# Quartiles of the mean distance from the start to the victims, m.
DISTANCE_QUARTILES = (116.6, 230.3, 373.6)
_CLUE_RELIEF = {ClueKind.TENT: 1, ClueKind.CAMPFIRE: 2, ClueKind.SIGNAL_FLARE: 3}


def distance_points(distance: float) -> int:
    """1 to 4 by the quartile of the mean start-to-victim distance (m, 3D)."""
    return 1 + sum(bool(distance > quartile) for quartile in DISTANCE_QUARTILES)


def light_points(local_time: datetime) -> int:
    """0 by daylight (07 to 17 h), 1 in twilight (06 to 07, 17 to 18 h), 2 at night."""
    hour = local_time.hour + local_time.minute / 60 + local_time.second / 3600
    if 7 <= hour <= 17:
        return 0
    return 1 if 6 <= hour <= 18 else 2


def difficulty(
    distances: Iterable[float], weather: Weather, local_time: datetime, clues: Iterable[ClueKind]
) -> tuple[int, Tier]:
    """Score S and its tier.

    distances: m from the start to each victim, 3D. clues: kinds placed; tent, campfire and flare each ease the task
    once however many there are.
    """
    away = list(distances)
    score = distance_points(sum(away) / len(away)) + weather.difficulty + light_points(local_time) + len(away)
    score -= sum(_CLUE_RELIEF.get(kind, 0) for kind in set(clues))
    return score, tier(score)


def tier(score: int) -> Tier:
    """Simple to 3, medium to 5, hard to 7, extreme beyond."""
    if score <= 3:
        return "simple"
    if score <= 5:
        return "medium"
    return "hard" if score <= 7 else "extreme"
