"""Dryden turbulence: variances, scales, determinism; and the vehicle in it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.weather import Weather
from esar_ros.sim.weather.changes import GUSTINESS
from esar_ros.sim.weather.gusts import FOOT, Gusts, dryden

WIND = np.array([8.0, 0.0, 0.0])


def series(seed: int, ticks: int, weather: Weather = Weather.CLEAR, airspeed: float = 8.0) -> np.ndarray:
    gusts = Gusts(seed, "uav1")
    return np.array([gusts.next(k, WIND, airspeed, 20.0, GUSTINESS.get(weather, 1.0)) for k in range(ticks)])


def test_dryden_is_the_standards_at_a_known_height() -> None:
    """MIL-F-8785C, 3.7.3.4, at 200 ft and 10 m/s."""
    level, vertical, reach, reach_up = dryden(10.0, 200.0 * FOOT)
    assert vertical == pytest.approx(1.0)
    assert level == pytest.approx(1.0 / (0.177 + 0.1646) ** 0.4)
    assert reach_up == pytest.approx(200.0 * FOOT)
    assert reach == pytest.approx(200.0 / 0.3416**1.2 * FOOT)


def test_the_deviations_are_those_asked_for() -> None:
    level, vertical, _, _ = dryden(8.0, 20.0)
    # At 40 m/s the field passes quickly: 6 x 80 s hold some 160 independent gusts, a standard error of 8 %.
    made = np.concatenate([series(seed, 8000, airspeed=40.0) for seed in range(6)])
    assert made.std(axis=0) == pytest.approx([level, level, vertical], rel=0.2)
    assert np.abs(made.mean(axis=0)).max() < 4.0 * level / math.sqrt(160.0)
    assert series(1, 3000, Weather.THUNDERSTORM).std() > 1.4 * series(1, 3000).std()


def test_gusts_are_smooth_and_the_seeds() -> None:
    one = series(5, 4000)
    assert np.abs(np.diff(one, axis=0)).max() < 0.5  # m/s in 10 ms
    assert (one == series(5, 4000)).all()
    assert (one != series(6, 4000))[10:].all()


@settings(deadline=None, max_examples=20)
@given(st.floats(0.0, 30.0), st.floats(-10.0, 2000.0), st.floats(0.0, 40.0))
def test_any_wind_and_height_gives_finite_gusts(speed: float, height: float, airspeed: float) -> None:
    gusts = Gusts(3, "uav1")
    made = [gusts.next(k, np.array([0.0, speed, 0.0]), airspeed, height, 1.0) for k in range(200)]
    assert np.isfinite(made).all()
    if speed == 0.0:
        assert not np.any(made)
