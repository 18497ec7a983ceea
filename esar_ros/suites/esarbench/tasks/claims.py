"""Claims of a brief: each measurable statement, with its words and its subject.

Claims are made while a brief is written and never enter a task file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from esar_ros.mission.weather import Weather
from esar_ros.suites.esarbench.tasks.ground import Points


@dataclass(frozen=True)
class Claim:
    """One statement. kind and about:

    direction, distance: two points; uphill, downhill: two points; walk: a line; days: an ISO date; clock, light,
    weather, wind: nothing; wears: a person; item: a clue kind; cover: a point, a land cover and metres;
    count: nothing; story: nothing that could be measured, the author vouches for it.
    """

    kind: str
    words: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Situation:
    """A task's facts as its brief may state them; points and lines in m, map frame."""

    map: str
    day: date
    local_time: datetime
    weather: Weather
    wind_speed: float  # m/s
    wind_direction: float  # rad, where it blows to
    start: tuple[float, float]
    places: Mapping[str, tuple[float, float]]  # of the story
    lines: Mapping[str, Points]
    victims: tuple[Mapping[str, Any], ...]  # as in task files
    clues: tuple[Mapping[str, Any], ...]

    def point(self, name: str) -> tuple[float, float]:
        """A point by name: a place, a victim's id or "start". Raises KeyError."""
        if name == "start":
            return self.start
        for victim in self.victims:
            if victim["id"] == name:
                x, y = victim["position"]
                return float(x), float(y)
        return self.places[name]
