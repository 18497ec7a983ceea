"""IMU, GPS, barometer, magnetometer, distance sensor and LiDAR: what they would read, in ENU/FLU.

Noise is seeded and a function of the sample's time; a sensor asked between two samples answers the
last one's noise. Standard deviations are in NOISE, what weather adds in sensor_weather.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.simulation import RayWorld
from esar_ros.sim.sensor_noise import Noise
from esar_ros.sim.sensors.weather_effects import CLEAN, PORT_ERROR, SensorWeather
from esar_ros.sim.settings import SensorSettings


@dataclass(frozen=True)
class _Sigmas:
    """One standard deviation of each error; drifts change over `drift_period`."""

    gyro: float = 0.003  # rad/s
    gyro_bias: float = 0.002  # rad/s
    accelerometer: float = 0.03  # m/s^2
    accelerometer_bias: float = 0.02  # m/s^2
    gps_horizontal: float = 0.05  # m, sample to sample
    gps_vertical: float = 0.10  # m
    gps_drift: float = 0.6  # m, slow, horizontal
    gps_vertical_drift: float = 1.0  # m
    gps_velocity: float = 0.05  # m/s
    pressure: float = 1.5  # Pa, about 0.13 m
    pressure_drift: float = 6.0  # Pa
    magnetic: float = 0.002  # Gauss
    range: float = 0.02  # m


NOISE: Final = _Sigmas()
BIAS_PERIOD = 200.0  # s
GPS_PERIOD, GPS_DRIFT_PERIOD = 0.1, 30.0  # s
BAROMETER_PERIOD, PRESSURE_DRIFT_PERIOD = 0.02, 60.0  # s
MAGNETOMETER_PERIOD = 0.01  # s
STANDARD_PRESSURE, STANDARD_TEMPERATURE, LAPSE_RATE = 101_325.0, 288.15, 0.0065  # Pa, K, K/m
_DIPOLE = 0.312  # Gauss, at the magnetic equator


@dataclass(frozen=True)
class ImuReading:
    """Attitude FLU in ENU, rad/s and m/s^2 in FLU; at rest the accelerometer reads +g on z."""

    quaternion: Vector
    rates: Vector
    specific_force: Vector


@dataclass(frozen=True)
class GpsReading:
    """Degrees, m above mean sea level, m/s ENU, one-sigma errors in m."""

    geodetic: tuple[float, float, float]
    velocity: Vector
    eph: float
    epv: float


@dataclass(frozen=True)
class BarometerReading:
    """m above mean sea level by the standard atmosphere, and Pa."""

    altitude: float
    pressure: float


def imu(drone: Drone, noise: Noise, step: int, time: float, weather: SensorWeather = CLEAN) -> ImuReading:
    """Reading at a physics step."""
    white, bias = weather.vibration * noise.normal(step, 6), noise.drift(time, BIAS_PERIOD, 6)
    rates = drone.body.rates + NOISE.gyro * white[:3] + NOISE.gyro_bias * bias[:3]
    force = drone.body.specific_force + NOISE.accelerometer * white[3:] + NOISE.accelerometer_bias * bias[3:]
    return ImuReading(drone.body.quaternion.copy(), rates, force)


def gps(drone: Drone, origin: Origin, noise: Noise, time: float) -> GpsReading:
    """Reading at a time; its errors are those of the last 10 Hz sample."""
    tick = int(time / GPS_PERIOD + 1e-6)
    white, slow = noise.normal(tick, 6), noise.drift(tick * GPS_PERIOD, GPS_DRIFT_PERIOD, 3)
    flat = np.array([1.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    error = (NOISE.gps_horizontal * flat + NOISE.gps_vertical * up) * white[:3]
    error += (NOISE.gps_drift * flat + NOISE.gps_vertical_drift * up) * slow
    return GpsReading(
        origin.to_geodetic(drone.position + error),
        drone.velocity + NOISE.gps_velocity * white[3:],
        math.hypot(NOISE.gps_horizontal, NOISE.gps_drift),
        math.hypot(NOISE.gps_vertical, NOISE.gps_vertical_drift),
    )


def pressure_at(altitude: float) -> float:
    """Pa at m above mean sea level (ICAO standard atmosphere, troposphere)."""
    return float(STANDARD_PRESSURE * (1.0 - LAPSE_RATE * altitude / STANDARD_TEMPERATURE) ** 5.25588)


def altitude_at(pressure: float) -> float:
    """m above mean sea level of a pressure in Pa; inverse of pressure_at."""
    return float(STANDARD_TEMPERATURE / LAPSE_RATE * (1.0 - (pressure / STANDARD_PRESSURE) ** (1.0 / 5.25588)))


def barometer(
    drone: Drone, origin: Origin, noise: Noise, time: float, airspeed: float = 0.0, weather: SensorWeather = CLEAN
) -> BarometerReading:
    """Reading at a time; its errors are those of the last 50 Hz sample, and of the air (m/s) past its port."""
    tick = int(time / BAROMETER_PERIOD + 1e-6)
    altitude = origin.altitude + float(drone.position[2])
    pressure = pressure_at(altitude) + PORT_ERROR * weather.port * 0.5 * air_density(altitude) * airspeed**2
    pressure += NOISE.pressure * float(noise.normal(tick, 1)[0])
    pressure += NOISE.pressure_drift * float(noise.drift(tick * BAROMETER_PERIOD, PRESSURE_DRIFT_PERIOD, 1)[0])
    return BarometerReading(altitude_at(pressure), pressure)


def magnetic_field(origin: Origin) -> Vector:
    """ENU field in Gauss of a dipole along Earth's axis; declination is neglected."""
    latitude = math.radians(origin.latitude)
    return np.array([0.0, _DIPOLE * math.cos(latitude), -2.0 * _DIPOLE * math.sin(latitude)])


def magnetometer(drone: Drone, origin: Origin, noise: Noise, time: float, weather: SensorWeather = CLEAN) -> Vector:
    """Gauss in FLU."""
    tick = int(time / MAGNETOMETER_PERIOD + 1e-6)
    error = NOISE.magnetic * weather.magnetic * noise.normal(tick, 3)
    return drone.body.pose.rotation.T @ magnetic_field(origin) + error


def distance(
    drone: Drone,
    world: RayWorld,
    sensor: SensorSettings,
    noise: Noise,
    step: int,
    far: float = math.inf,
    weather: SensorWeather = CLEAN,
) -> float:
    """Returns the range (m) along the sensor's x axis, clipped to its limits; its maximum where no echo comes back.

    far: m, range of an echo in this air.
    """
    pose = drone.body.pose.compose(sensor.mount)
    ranges, _ = world.raycast(pose.position, pose.rotation[:, :1].T, min(sensor.range, far))
    white, luck = noise.normal(step, 1), noise.uniform(step, 1)
    if luck[0] < weather.dropout:
        return sensor.range
    return float(np.clip(float(ranges[0]) + NOISE.range * float(white[0]), sensor.min_range, sensor.range))


def scan_directions(sensor: SensorSettings) -> NDArray[np.float64]:
    """Unit rays (channels * columns, 3) of one turn in the sensor's FLU frame, row by row from the top."""
    columns = max(1, round(sensor.points_per_second / (sensor.channels * sensor.rotations_per_second)))
    elevation = np.radians(np.linspace(sensor.vertical_upper, sensor.vertical_lower, sensor.channels))
    start, end = sensor.horizontal_start, sensor.horizontal_end
    azimuth = -np.radians(np.linspace(start, end, columns))  # AirSim counts clockwise
    flat = np.cos(elevation)[:, None]
    rays = np.stack(
        [
            flat * np.cos(azimuth)[None, :],
            flat * np.sin(azimuth)[None, :],
            np.repeat(np.sin(elevation)[:, None], columns, axis=1),
        ],
        axis=-1,
    )
    return rays.reshape(-1, 3)


def lidar(
    pose: Pose,
    world: RayWorld,
    sensor: SensorSettings,
    rays: NDArray[np.float64],
    noise: Noise,
    step: int,
    far: float = math.inf,
    weather: SensorWeather = CLEAN,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points (N, 3) in the sensor's FLU frame and the ids of what they hit; rays without an echo are left out.

    far: m, how far an echo carries in this air.
    """
    ranges, ids = world.raycast(pose.position, rays @ pose.rotation.T, min(sensor.range, far))
    hit = np.isfinite(ranges)
    if weather.dropout > 0.0:
        hit &= noise.uniform(step, len(ranges)) >= weather.dropout
    measured = ranges[hit] + NOISE.range * noise.normal(step, len(ranges))[hit]
    return rays[hit] * measured[:, None], ids[hit]


def air_density(altitude: float) -> float:
    """kg/m^3 at m above mean sea level."""
    return pressure_at(altitude) / (287.05 * air_temperature(altitude))


def air_temperature(altitude: float) -> float:
    """K at m above mean sea level."""
    return STANDARD_TEMPERATURE - LAPSE_RATE * altitude
