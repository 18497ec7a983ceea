"""Weather's table, the ground it leaves, sun, moon and exposure."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.weather import Weather
from esar_ros.sim.airsim_api.weather_parameters import (
    DUST,
    ENABLED,
    FOG,
    ROAD_SNOW,
    ROAD_WETNESS,
    SNOW,
    WeatherParameters,
)
from esar_ros.sim.render.exposure import expose
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.appearance import CONDITIONS, Falling
from esar_ros.sim.weather.ground_state import BARE, INITIAL_DURATION, GroundState
from esar_ros.sim.weather.moon import moon_direction
from esar_ros.sim.world.environment import Environment

weathers = st.sampled_from(list(Weather))
shares = st.floats(0.0, 1.0)
grounds = st.builds(GroundState, shares, shares, shares)


def test_every_weather_has_a_row_and_sight_falls_with_severity() -> None:
    assert set(CONDITIONS) == set(Weather)
    sight = {weather: row.visibility for weather, row in CONDITIONS.items()}
    for mild, severe in (
        (Weather.LIGHT_RAIN, Weather.HEAVY_RAIN),
        (Weather.LIGHT_SNOW, Weather.HEAVY_SNOW),
        (Weather.HEAVY_SNOW, Weather.BLIZZARD),
        (Weather.FOG, Weather.DENSE_FOG),
        (Weather.DUST, Weather.SANDSTORM),
    ):
        assert sight[mild] > sight[severe]
    assert sight[Weather.FOG] < 1000.0 and sight[Weather.DENSE_FOG] < 200.0 and sight[Weather.SANDSTORM] < 500.0
    assert {weather for weather, row in CONDITIONS.items() if row.flashes} == {Weather.THUNDERSTORM}
    assert {row.falling for row in CONDITIONS.values()} == set(Falling)


@given(weather=weathers, start=grounds, t=st.floats(0.0, 5000.0), u=st.floats(0.0, 5000.0))
@settings(deadline=None, max_examples=200)
def test_ground_is_bounded_and_time_adds_up(weather: Weather, start: GroundState, t: float, u: float) -> None:
    at_once, in_two = start.after(weather, t + u), start.after(weather, t).after(weather, u)
    for name in ("snow", "water", "dust"):
        assert 0.0 <= getattr(at_once, name) <= 1.0
        assert getattr(at_once, name) == pytest.approx(getattr(in_two, name), abs=1e-9)
    assert start.after(weather, 0.0) == start


def test_snow_gathers_water_stands_and_dust_settles() -> None:
    for weather, name in (
        (Weather.HEAVY_SNOW, "snow"),
        (Weather.BLIZZARD, "snow"),
        (Weather.HEAVY_RAIN, "water"),
        (Weather.SANDSTORM, "dust"),
    ):
        shares = [getattr(BARE.after(weather, 60.0 * minute), name) for minute in range(16)]
        assert all(b >= a for a, b in pairwise(shares)) and shares[-1] > shares[0] + 0.5
    assert GroundState(snow=0.5).after(Weather.HEAVY_RAIN, 600.0).snow == 0.0  # rain melts it


def test_another_weather_goes_on_from_the_ground_there_is() -> None:
    snowing = Environment(weather=Weather.HEAVY_SNOW)
    assert snowing.ground(0.0) == BARE.after(Weather.HEAVY_SNOW, INITIAL_DURATION)
    cleared = snowing.changed(300.0, weather=Weather.CLEAR)
    assert cleared.ground(300.0) == snowing.ground(300.0)
    assert cleared.ground(1200.0).snow < snowing.ground(300.0).snow
    windy = cleared.changed(900.0, wind=np.array([5.0, 0.0, 0.0]))
    assert windy.ground(950.0) == cleared.ground(950.0)
    assert Environment().changed(50.0, weather=Weather.DUST, ground_start=BARE).ground(50.0) == BARE


def test_parameters_name_weather_and_ground() -> None:
    chosen = WeatherParameters()
    chosen.set(SNOW, 0.9)
    assert chosen.meaning() == (Weather.CLEAR, None) and chosen.ground() is None  # not enabled
    chosen.set(ENABLED, 1.0)
    assert chosen.meaning() == (Weather.BLIZZARD, None) and chosen.ground() is None
    chosen.set(ROAD_SNOW, 0.7)
    chosen.set(ROAD_WETNESS, 0.2)
    assert chosen.ground() == GroundState(snow=0.7, water=0.2)
    chosen.set(SNOW, 0.0)
    chosen.set(FOG, 0.8)
    weather, sight = chosen.meaning()
    assert weather is Weather.DENSE_FOG and sight is not None and 10.0 < sight < 100.0
    chosen.set(DUST, 1.0)
    assert chosen.meaning() == (Weather.SANDSTORM, None)


@pytest.mark.parametrize(
    ("when", "lit"),
    [  # United States Naval Observatory, phases of the moon 2024, UTC
        (datetime(2024, 6, 22, 1, 8), 1.0),
        (datetime(2024, 7, 5, 22, 57), 0.0),
        (datetime(2024, 7, 13, 22, 49), 0.5),
        (datetime(2024, 12, 15, 9, 2), 1.0),
    ],
)
def test_phases_of_the_moon(when: datetime, lit: float) -> None:
    assert moon_direction(34.0, 107.0, when.replace(tzinfo=timezone.utc))[1] == pytest.approx(lit, abs=0.02)


def test_the_full_moon_stands_opposite_the_sun_and_is_a_unit_vector(place: PlaceMap) -> None:
    night = Environment(local_time=datetime(2024, 6, 22, 0, 50))
    light = night.lighting(place)
    assert float(light.to_moon @ night.to_sun(place)) < math.cos(math.radians(165.0))
    assert np.linalg.norm(light.to_moon) == pytest.approx(1.0)
    assert light.to_sun is light.to_moon  # it throws the shadows now


def test_light_falls_from_noon_to_night_and_moonlight_counts(place: PlaceMap) -> None:
    evening = [datetime(2024, 7, 5, 13, 0) + timedelta(hours=h) for h in range(12)]  # new moon
    levels = [Environment(local_time=when).lighting(place).level for when in evening]
    assert levels[0] == pytest.approx(1.0, abs=0.1)
    assert all(b <= a * 1.001 for a, b in pairwise(levels[1:]))
    assert levels[-1] < 3e-4
    full = Environment(local_time=datetime(2024, 7, 21, 1, 0)).lighting(place).level
    assert full > 1.5 * levels[-1]


def test_exposure_has_limits_and_noise_only_in_the_dark(place: PlaceMap) -> None:
    noon = expose(Environment().lighting(place), 0.11)
    night = expose(Environment(local_time=datetime(2024, 7, 6, 1, 0)).lighting(place), 0.11)
    assert noon.gain == pytest.approx(1.0, abs=0.2) and noon.noise == 0.0
    assert night.gain == 320.0 and night.noise == 10.0
    assert expose(Environment().lighting(place), 0.8).gain < noon.gain  # snow
    assert expose(Environment(local_time=datetime(2024, 7, 6, 1, 0)).lighting(place), 0.11, 0.01).gain < night.gain
