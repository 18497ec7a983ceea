"""Changes of weather: any schedule runs without jumps and ends at what it asks for, in the order of a front."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from esar_ros.mission.weather import Weather
from esar_ros.sim.sensors.weather_effects import sensor_weather, sensors_in
from esar_ros.sim.weather.appearance import CONDITIONS, Falling
from esar_ros.sim.weather.changes import Air, Change, air_at, steady
from esar_ros.sim.world.environment import Environment

weathers = st.sampled_from(list(Weather))
winds = st.builds(
    lambda speed, angle: np.array([speed * math.cos(angle), speed * math.sin(angle), 0.0]),
    st.floats(0.0, 40.0),
    st.floats(-math.pi, math.pi),
)
STEPS = 400  # in which a change is sampled


@st.composite
def schedules(draw: st.DrawFn) -> tuple[Change, ...]:
    """Up to four changes without overlap."""
    at, made = 0.0, []
    for _ in range(draw(st.integers(1, 4))):
        begin, over = at + draw(st.floats(0.0, 300.0)), draw(st.floats(10.0, 600.0))
        made.append(Change(begin, over, draw(st.none() | weathers), draw(st.none() | winds)))
        at = begin + over
    return tuple(made)


def environment(weather: Weather, changes: tuple[Change, ...]) -> Environment:
    return Environment(weather=weather, wind=np.array([2.0, 1.0, 0.0]), changes=changes)


def numbers(air: Air, ground: Environment, now: float) -> np.ndarray:
    """Everything that pictures, sensors and flight take from the weather, each scaled to its range."""
    row, effects = air.conditions, sensors_in(air, 290.0)
    lies = ground.ground(now)
    return np.array(
        [
            math.log10(air.sight) / 3.0, math.log10(row.visibility) / 3.0, row.cloud_cover, row.dimming, row.density,
            row.frost, row.yellow, 10.0 * row.flashes, *(air.wind / 40.0), air.gustiness, effects.dropout,
            effects.magnetic / 3.0, effects.vibration / 2.0, lies.snow, lies.water, lies.dust, ground.ice(now),
        ]
    )  # fmt: skip


@given(weathers, schedules())
@example(Weather.CLEAR, (Change(0.0, 230.0, Weather.THUNDERSTORM, None), Change(230.0, 10.0, Weather.LIGHT_SNOW, None)))
@settings(deadline=None, max_examples=60)
def test_any_schedule_stays_in_range_and_has_no_jump(first: Weather, changes: tuple[Change, ...]) -> None:
    world = environment(first, changes)
    rows = [CONDITIONS[w] for w in (first, *(c.weather for c in changes if c.weather is not None))]
    fastest = max(float(np.linalg.norm(w)) for w in (world.wind, *(c.wind for c in changes if c.wind is not None)))
    beyond = min(change.duration for change in changes) / STEPS  # s, a step of the quickest, which may be the next one
    for change in changes:
        times = np.linspace(change.begin - beyond, change.begin + change.duration + beyond, STEPS)
        airs = [world.air(float(t)) for t in times]
        for air in airs:
            row = air.conditions
            for key in ("visibility", "cloud_cover", "dimming", "density", "frost", "yellow", "flashes"):
                bounds = [getattr(one, key) for one in rows] + ([0.0] if key == "density" else [])
                assert min(bounds) * (1 - 1e-9) <= getattr(row, key) <= max(bounds) * (1 + 1e-9), key
            assert float(np.linalg.norm(air.wind)) <= fastest + 1e-9
            assert 1.0 <= air.gustiness <= 1.6 * 1.5 and 0.0 <= air.share <= 1.0
            assert row.falling is not Falling.NOTHING or row.density == 0.0
        values = np.array([numbers(air, world, float(t)) for air, t in zip(airs, times, strict=True)])
        # A jump would be of the order of the whole range; of 400 steps the steepest take some hundredths of it.
        assert float(np.abs(np.diff(values, axis=0)).max()) < 0.12


@given(weathers, schedules())
@settings(deadline=None)
def test_at_its_end_a_change_is_what_it_asks_for(first: Weather, changes: tuple[Change, ...]) -> None:
    world, weather, wind = environment(first, changes), first, np.array([2.0, 1.0, 0.0])
    for change in changes:
        begin = world.air(change.begin)
        assert begin.weather is weather and begin.conditions is CONDITIONS[weather]
        np.testing.assert_array_equal(begin.wind, wind)
        weather = change.weather or weather
        wind = wind if change.wind is None else change.wind
        end = world.air(change.begin + change.duration)
        assert end.weather is weather and end.conditions is CONDITIONS[weather]
        assert end.sight == CONDITIONS[weather].visibility
        np.testing.assert_array_equal(end.wind, wind)


def test_wind_and_clouds_come_before_the_rain_and_the_rain_goes_before_them() -> None:
    storm = Change(100.0, 100.0, Weather.THUNDERSTORM, np.array([-9.0, 0.0, 0.0]))
    clears = Change(300.0, 100.0, Weather.CLEAR)
    world = environment(Weather.CLEAR, (storm, clears))
    before = world.air(139.0)  # the rain begins at 140
    assert before.conditions.density == 0.0 and before.conditions.cloud_cover > 0.7
    assert float(np.linalg.norm(before.wind)) > 5.0
    gusts = [world.air(100.0 + t).gustiness for t in range(101)]
    assert max(gusts) > gusts[-1] == 1.6, "a gust front runs ahead of what stays"
    after = world.air(361.0)
    assert (
        after.conditions.density == 0.0
        and after.sight == pytest.approx(30_000.0)
        and 0.4 < after.conditions.cloud_cover
    )


def test_rain_stops_before_snow_falls() -> None:
    start = steady(Weather.HEAVY_RAIN, 1500.0, np.zeros(3))
    change = (Change(0.0, 100.0, Weather.HEAVY_SNOW),)
    fall = [air_at(start, change, float(t)).conditions for t in range(101)]
    kinds = [row.falling for row in fall]
    turn = kinds.index(Falling.SNOW)
    assert set(kinds[:turn]) == {Falling.RAIN} and set(kinds[turn:]) == {Falling.SNOW}
    assert min(row.density for row in fall) < 0.05


def test_the_ground_remembers_and_dries_again() -> None:
    changes = (Change(60.0, 60.0, Weather.HEAVY_RAIN), Change(600.0, 60.0, Weather.CLEAR))
    world = environment(Weather.CLEAR, changes)
    water = [world.ground(float(t)).water for t in range(0, 1800, 20)]
    assert water[0] == 0.0 and max(water) > 0.6
    top = water.index(max(water))
    assert all(a <= b for a, b in pairwise(water[: top + 1])) and all(a >= b for a, b in pairwise(water[top:]))
    assert 0.0 < water[-1] < max(water)


def test_sensors_are_worse_by_the_share_of_what_falls() -> None:
    world = environment(Weather.CLEAR, (Change(0.0, 100.0, Weather.SANDSTORM),))
    dropouts = [sensors_in(world.air(float(t)), 290.0).dropout for t in range(0, 101, 10)]
    assert dropouts[0] == 0.0 and dropouts == sorted(dropouts)
    assert dropouts[-1] == sensor_weather(Weather.SANDSTORM, 290.0).dropout
    assert 0.0 < dropouts[7] < dropouts[-1]


def test_who_sets_the_weather_ends_the_schedule_and_keeps_the_ground() -> None:
    world = environment(Weather.HEAVY_RAIN, (Change(100.0, 100.0, Weather.CLEAR, np.array([9.0, 0.0, 0.0])),))
    ground = world.ground(160.0)
    still = world.changed(160.0, wind=np.zeros(3))
    assert still.changes == () and still.ground(160.0) == ground and not still.air(500.0).wind.any()
    foggy = world.changed(160.0, weather=Weather.FOG)
    assert foggy.air(500.0).weather is Weather.FOG and foggy.ground(160.0) == ground
    np.testing.assert_array_equal(foggy.wind, world.air(160.0).wind)
