"""The greatest speed in weather and darkness."""

from __future__ import annotations

import math

import pytest

from esar_ros.mission.weather import Weather
from esar_ros.safety.conditions import conditions_speed
from esar_ros.safety.limits import Limits


@pytest.mark.parametrize(
    ("weather", "time", "expected"),
    [
        ("clear", "2024-05-01T12:00:00", math.inf),
        ("light_rain", "2024-05-01T06:00:00", math.inf),
        ("clear", "2024-05-01T18:00:00", "speed_night"),
        ("clear", "2024-05-01T05:59:00", "speed_night"),
        ("fog", "2024-05-01T12:00:00", "speed_poor_sight"),
        ("blizzard", "2024-05-01T02:00:00", "speed_poor_sight"),
        ("", "", math.inf),
        ("unheard_of", "at noon", math.inf),
        ("sandstorm", "", "speed_poor_sight"),
    ],
)
def test_the_greatest_speed(limits: Limits, weather: str, time: str, expected: object) -> None:
    wanted = getattr(limits, expected) if isinstance(expected, str) else expected
    assert conditions_speed(weather, time, limits) == wanted


def test_every_weather_has_one(limits: Limits) -> None:
    for weather in Weather:
        assert conditions_speed(weather.value, "2024-05-01T12:00:00", limits) >= limits.speed_poor_sight
