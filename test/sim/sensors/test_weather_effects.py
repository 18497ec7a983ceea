"""Effects of weather on sensors: monotone, bounded, and nothing in fair air."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.sim.physics.dynamics import Quadrotor
from esar_ros.sim.sensor_noise import Noise
from esar_ros.sim.sensors import instruments
from esar_ros.sim.sensors.weather_effects import CLEAN, CONTRAST, EFFECTS, SensorWeather, reach, sensor_weather
from esar_ros.sim.settings import SensorSettings
from esar_ros.sim.world.environment import Environment

NOISE = Noise(3, "uav1", "test")
WARM, COLD = 290.0, 260.0


class Wall:
    """Everything is 30 m away."""

    def raycast(self, origins: Any, directions: Any, max_range: float) -> Any:
        far = np.full(len(directions), 30.0 if max_range >= 30.0 else math.inf, dtype=np.float32)
        return far, np.zeros(len(directions), dtype=np.int32)


def hovering() -> Any:
    body = Quadrotor(Pose(np.array([0.0, 0.0, 10.0])))
    return SimpleNamespace(body=body, position=body.position, velocity=body.velocity)


@given(st.floats(5.0, 200.0), st.floats(20.0, 30_000.0))
def test_reach_is_where_the_echo_is_as_weak_as_at_the_range_in_clean_air(clear: float, visibility: float) -> None:
    far = reach(clear, visibility)
    assert 0.0 < far <= clear
    if visibility < 10_000.0:
        extinction = CONTRAST * (1.0 / visibility - 1.0 / 10_000.0)
        assert 2.0 * extinction * far + 2.0 * math.log(far / clear) == pytest.approx(0.0, abs=1e-6)
        assert reach(clear, visibility * 1.1) >= far
    else:
        assert far == clear


def test_fair_weather_changes_nothing_and_every_other_something() -> None:
    for weather in Weather:
        if weather.family is WeatherFamily.FAIR:
            assert sensor_weather(weather, COLD) == CLEAN
            assert reach(60.0, Environment(weather).sight) == 60.0
        else:
            assert weather in EFFECTS and sensor_weather(weather, WARM).dropout > 0.0
            assert reach(60.0, Environment(weather).sight) < 60.0


def test_ice_forms_in_wet_cold_air_alone() -> None:
    for weather in Weather:
        wet = weather.family in (WeatherFamily.RAIN, WeatherFamily.SNOW, WeatherFamily.FOG)
        warm, cold = sensor_weather(weather, WARM), sensor_weather(weather, COLD)
        assert (cold.vibration > warm.vibration) is wet
        assert (cold.dropout > warm.dropout) is wet


def test_returns_are_lost_at_the_share_stated() -> None:
    sensor = SensorSettings("lidar", range=60.0)
    rays = np.tile([1.0, 0.0, 0.0], (5000, 1))
    for dropout in (0.0, 0.2):
        points, ids = instruments.lidar(Pose(), Wall(), sensor, rays, NOISE, 7, weather=SensorWeather(dropout=dropout))
        assert len(points) == len(ids) == pytest.approx(5000 * (1.0 - dropout), rel=0.03)
    again, _ = instruments.lidar(Pose(), Wall(), sensor, rays, NOISE, 7, weather=SensorWeather(dropout=0.2))
    assert (again == points).all()
    assert len(instruments.lidar(Pose(), Wall(), sensor, rays, NOISE, 7, far=20.0)[0]) == 0


def test_the_distance_sensor_reads_its_range_where_nothing_comes_back() -> None:
    sensor = SensorSettings("distance", range=40.0)
    drone = hovering()
    assert instruments.distance(drone, Wall(), sensor, NOISE, 3) == pytest.approx(30.0, abs=0.2)
    assert instruments.distance(drone, Wall(), sensor, NOISE, 3, far=20.0) == 40.0
    lost = [
        instruments.distance(drone, Wall(), sensor, NOISE, k, weather=SensorWeather(dropout=0.3)) for k in range(2000)
    ]
    assert np.mean(np.array(lost) == 40.0) == pytest.approx(0.3, abs=0.04)


def test_air_past_the_port_moves_the_barometer() -> None:
    origin, drone = Origin(33.96, 107.74, 2800.0), hovering()
    still = instruments.barometer(drone, origin, NOISE, 1.0)
    blown = instruments.barometer(drone, origin, NOISE, 1.0, airspeed=10.0)
    iced = instruments.barometer(drone, origin, NOISE, 1.0, 10.0, SensorWeather(port=2.0))
    assert 0.3 < blown.altitude - still.altitude < 1.5  # m, at 10 m/s
    assert iced.altitude > blown.altitude


def test_storms_disturb_the_magnetometer_and_ice_the_imu() -> None:
    origin, drone = Origin(33.96, 107.74, 2800.0), hovering()
    field = instruments.magnetic_field(origin)
    for weather, times in ((CLEAN, 1.0), (SensorWeather(magnetic=3.0, vibration=2.0), 3.0)):
        errors = [instruments.magnetometer(drone, origin, NOISE, 0.01 * k, weather) - field for k in range(2000)]
        assert np.std(errors) == pytest.approx(times * instruments.NOISE.magnetic, rel=0.05)
    rates = {
        vibration: np.std(
            [instruments.imu(drone, NOISE, k, 0.0, SensorWeather(vibration=vibration)).rates for k in range(2000)],
            axis=0,
        )
        for vibration in (1.0, 2.0)
    }
    assert rates[2.0] == pytest.approx(2.0 * rates[1.0])
