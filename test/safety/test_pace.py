"""The greatest speeds of a mission as its weather and its light change."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.briefing import make_brief
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.modes import Reason
from esar_ros.mission.observation import Brief, Forecast
from esar_ros.mission.task import Task, load_task, task_from
from esar_ros.mission.weather import Weather
from esar_ros.safety.conditions import conditions_speed, pace_of, site_of
from esar_ros.safety.failsafe import battery_needed
from esar_ros.safety.limits import Limits, load_limits
from esar_ros.safety.pace import Pace, Spell
from esar_ros.safety.site import Site

NOON = "2024-05-01T12:00:00"


def brief(weather: str = "clear", local_time: str = NOON, *forecast: Forecast) -> Brief:
    half = 400.0
    area = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    return Brief("m", "aotai", "", weather, local_time, 900.0, area, 120.0, np.zeros(3), 5, forecast=forecast)


def to(weather: str, earliest: float, latest: float) -> Forecast:
    return Forecast(earliest, latest, weather, math.nan)


def changing(start: str, local_time: str, *changes: dict[str, Any]) -> Task:
    data = load_task("aotai-first").model_dump(mode="json", by_alias=True)
    data |= {"weather": start, "local_time": local_time, "t_max": 7200.0, "changes": list(changes)}
    return task_from(data, "here")


def test_it_slows_when_worse_may_begin_and_speeds_up_when_better_is_surely_there(limits: Limits) -> None:
    pace = pace_of(brief("clear", NOON, to("fog", 100.0, 400.0), to("clear", 900.0, 1300.0)), limits)
    slow = limits.speed_poor_sight
    expected = {0.0: math.inf, 99.9: math.inf, 100.0: slow, 1299.9: slow, 1300.0: math.inf, 9000.0: math.inf}
    assert {moment: pace.at(moment) for moment in expected} == expected


def test_the_clock_brings_night_and_day_without_any_change(limits: Limits) -> None:
    evening = pace_of(brief("clear", "2024-05-01T17:50:00.250"), limits)
    assert (evening.at(599.0), evening.at(600.0)) == (math.inf, limits.speed_night)
    morning = pace_of(brief("clear", "2024-05-01T05:59:00+08:00"), limits)
    assert (morning.at(59.9), morning.at(60.0), morning.at(12 * 3600 + 60.0)) == (
        limits.speed_night, math.inf, limits.speed_night,
    )  # fmt: skip
    unknown = pace_of(brief("clear", "at noon"), limits)
    assert [unknown.at(hour * 3600.0) for hour in range(24)] == [math.inf] * 24


@pytest.mark.parametrize("weather", [*(one.value for one in Weather), "", "unheard_of"])
@pytest.mark.parametrize("hour", [0, 5, 6, 12, 17, 18, 23])
def test_without_changes_it_is_the_speed_of_weather_and_hour(limits: Limits, weather: str, hour: int) -> None:
    local_time = f"2024-05-01T{hour:02d}:00:00"
    pace = pace_of(brief(weather, local_time), limits)
    assert pace.at(0.0) == pace.at(3599.0) == conditions_speed(weather, local_time, limits)


CHANGE = st.tuples(st.sampled_from(list(Weather)), st.booleans(), st.integers(0, 1500), st.integers(10, 1500))


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(list(Weather)), st.lists(CHANGE, max_size=3), st.integers(0, 24 * 60 - 1), st.integers(0, 59),
    st.data(),
)  # fmt: skip
def test_never_faster_than_what_is_there_allows(
    start: Weather, drawn: list[tuple[Weather, bool, int, int]], minutes: int, second: int, data: st.DataObject
) -> None:
    """Before, during and after every change that is foretold, its true times known to nobody: both neighbours count."""
    limits, since = load_limits(), 0
    changes: list[dict[str, Any]] = []
    for weather, foretold, pause, over in drawn:
        changes.append({"at": since + pause, "over": over, "weather": weather.value, "forecast": foretold})
        since += pause + over
    changes = [change for change in changes if change["at"] + change["over"] <= 7200.0]
    local = datetime(2024, 5, 1) + timedelta(minutes=minutes, seconds=second)
    task = changing(start.value, local.isoformat(), *changes)
    pace = pace_of(make_brief(task, map_extent("aotai"), "m", 5, np.zeros(3)), limits)
    told = [change for change in task.changes if change.forecast and change.weather]
    moments = [0.0, *(time + shift for c in told for time in (c.at, c.end) for shift in (-0.5, 0.0, 0.5))]
    for now in (*moments, data.draw(st.floats(0.0, 7200.0))):
        there = [start, *(c.weather for c in told if c.weather)]
        done = sum(c.end <= now for c in told)
        begun = sum(c.at <= now for c in told)
        hour = (local + timedelta(seconds=now)).isoformat()
        for weather in there[done : begun + 1]:
            assert pace.at(now) <= conditions_speed(weather.value, hour, limits)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 2), max_size=4), st.floats(0.0, 1e5))
def test_a_forecast_of_any_times_leaves_no_moment_without_weather(times: list[tuple[float, float]], now: float) -> None:
    limits = load_limits()
    pace = pace_of(brief("fog", "", *(to("dense_fog", *pair) for pair in times)), limits)
    assert pace.at(now) == limits.speed_poor_sight == pace.slowest(now, now + 100.0)


def test_a_time_that_is_no_number_ends_no_weather_and_keeps_none_away(limits: Limits) -> None:
    fog = pace_of(brief("fog"), limits).at(0.0)
    never = pace_of(brief("fog", NOON, to("clear", 100.0, math.nan)), limits)
    assert [never.at(moment) for moment in (0.0, 99.0, 101.0, 9000.0)] == [fog] * 4
    early = pace_of(brief("clear", NOON, to("fog", math.nan, 200.0), to("clear", 400.0, 500.0)), limits)
    assert [early.at(moment) for moment in (0.0, 100.0, 450.0, 501.0)] == [fog, fog, fog, math.inf]


def test_a_forecast_out_of_order_slows_as_the_same_in_order_does(limits: Limits) -> None:
    fog, clear = to("fog", 100.0, 400.0), to("clear", 900.0, 1300.0)
    assert pace_of(brief("clear", NOON, clear, fog), limits) == pace_of(brief("clear", NOON, fog, clear), limits)


def test_a_change_that_may_come_late_is_counted_with_beyond_the_next_one(limits: Limits) -> None:
    pace = pace_of(brief("fog", NOON, to("clear", 0.0, 500.0), to("overcast", 100.0, 200.0)), limits)
    assert (pace.at(499.0), pace.at(500.0)) == (limits.speed_poor_sight, math.inf), "it may be foggy till then"


def test_weather_that_comes_unannounced_is_not_known(limits: Limits) -> None:
    hidden = {"at": 60.0, "over": 60.0, "weather": "dense_fog", "forecast": False}
    told = make_brief(changing("clear", NOON, hidden), map_extent("aotai"), "m", 5, np.zeros(3))
    assert told.forecast == ()
    assert [pace_of(told, limits).at(10.0 * n) for n in range(700)] == [math.inf] * 700


def test_the_slowest_of_a_span_and_which_of_two_is_faster() -> None:
    pace = Pace((Spell(-math.inf, 200.0, 9.0), Spell(100.0, math.inf, 3.0)), clock=18 * 3600.0 - 500.0, night=2.0)
    assert (pace.slowest(0.0, 50.0), pace.slowest(0.0, 101.0), pace.slowest(0.0, 600.0)) == (9.0, 3.0, 2.0)
    assert pace.at(500.0) == 2.0, "at six o'clock"
    assert not pace.exceeds(pace)
    assert Pace(pace.spells, pace.clock).exceeds(pace) and not pace.exceeds(Pace(pace.spells, pace.clock))
    assert Pace(pace.spells[:1], pace.clock, 2.0).exceeds(pace)


def test_a_governor_slows_with_the_forecast_and_a_brief_without_it_is_looser(
    kit: SimpleNamespace, limits: Limits
) -> None:
    front = brief("clear", NOON, to("heavy_rain", 100.0, 400.0), to("clear", 900.0, 1300.0))
    scene = kit.Scene(limits, velocity=[5.0, 0.0, 0.0], site=site_of(front, limits))
    governor, speeds = scene.governor(), []
    for elapsed in (99.0, 101.0, 899.0, 1299.0, 1301.0):
        governor.keep_pace(elapsed)
        answer = kit.Scene(limits, velocity=[5.0, 0.0, 0.0], site=site_of(front, limits)).decide(
            [5.0, 0.0, 0.0], governor=governor
        )
        speeds.append((round(float(np.linalg.norm(answer.velocity)), 6), Reason.CONDITIONS in answer.reasons))
    slow = (limits.speed_poor_sight, True)
    assert speeds == [(5.0, False), slow, slow, slow, (5.0, False)]
    sites = [site_of(one, limits).at(moment) for one in (front, brief()) for moment in (0.0, 500.0)]
    assert [sites[3].is_looser_than(sites[1]), sites[2].is_looser_than(sites[0])] == [True, True]
    assert not any(one.is_looser_than(other) for one, other in pairwise([sites[1], sites[1], sites[2]]))


def test_the_charge_for_the_way_home_counts_what_will_slow_it(limits: Limits) -> None:
    far = np.array([300.0, 0.0, 20.0])
    front = site_of(brief("clear", NOON, to("fog", 900.0, 1300.0)), limits)
    long_before, shortly_before, within = (
        battery_needed(site, far, limits, 1e-3) for site in (front.at(-400.0), front.at(0.0), front.at(1000.0))
    )
    assert long_before < shortly_before == within or limits.return_speed <= limits.speed_poor_sight


def test_a_site_without_a_pace_has_one_speed() -> None:
    corners = 100.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    site = Site(corners, 50.0, np.zeros(3), speed=4.0)
    assert site.at(1e6) is site
