"""Sensor models against closed forms on flat ground."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy, quaternion_from_yaw
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.physics.dynamics import GRAVITY, Quadrotor
from esar_ros.sim.sensor_noise import Noise
from esar_ros.sim.sensors import instruments
from esar_ros.sim.settings import SensorSettings, default_settings

ORIGIN = Origin(33.96, 107.74, 2800.0)
NOISE = Noise(3, "uav1", "test")


class Plain:
    """Flat ground at z = 0."""

    def raycast(self, origins: Any, directions: Any, max_range: float) -> Any:
        start = np.broadcast_to(origins, directions.shape)
        with np.errstate(divide="ignore"):
            t = -start[:, 2] / directions[:, 2]
        hit = (t > 0) & (t <= max_range)
        return np.where(hit, t, np.inf).astype(np.float32), np.where(hit, 0, -1).astype(np.int32)


def drone_at(position: tuple[float, float, float], quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Any:
    body = Quadrotor(Pose(np.array(position), np.array(quaternion)))
    return SimpleNamespace(body=body, position=body.position, velocity=body.velocity)


def test_noise_depends_on_seed_sensor_and_time_alone() -> None:
    again = Noise(3, "uav1", "test")
    assert (NOISE.normal(17, 4) == again.normal(17, 4)).all()
    others = [Noise(4, "uav1", "test"), Noise(3, "uav2", "test"), Noise(3, "uav1", "imu")]
    assert all((NOISE.normal(17, 4) != other.normal(17, 4)).all() for other in others)
    assert (NOISE.normal(17, 4) != NOISE.normal(18, 4)).all()
    many = np.array([NOISE.normal(k, 8) for k in range(1000)])
    assert abs(many.mean()) < 0.05 and many.std() == pytest.approx(1.0, abs=0.03)


def test_drift_is_continuous() -> None:
    values = np.array([NOISE.drift(t, 10.0, 1)[0] for t in np.arange(0.0, 100.0, 0.01)])
    assert np.abs(np.diff(values)).max() < 0.01
    assert values.std() > 0.2


def test_the_imu_at_rest_reads_gravity_upward() -> None:
    drone = drone_at((0, 0, 0), quaternion_from_yaw(1.0))
    readings = [instruments.imu(drone, NOISE, k, 0.002 * k) for k in range(500)]
    force = np.mean([r.specific_force for r in readings], axis=0)
    rates = np.mean([r.rates for r in readings], axis=0)
    assert force == pytest.approx([0.0, 0.0, GRAVITY], abs=0.1)
    assert rates == pytest.approx([0.0, 0.0, 0.0], abs=0.01)
    assert np.std([r.rates[0] for r in readings]) == pytest.approx(instruments.NOISE.gyro, rel=0.15)


def test_gps_is_right_on_average_and_steady_within_a_sample() -> None:
    drone = drone_at((120.0, -45.0, 30.0))
    errors = []
    for k in range(600):
        reading = instruments.gps(drone, ORIGIN, NOISE, 0.5 * k)
        errors.append(ORIGIN.to_enu(*reading.geodetic) - drone.position)
    assert np.abs(np.mean(errors, axis=0)).max() < 1.0
    assert np.std(errors, axis=0)[0] < 1.0
    one, same = instruments.gps(drone, ORIGIN, NOISE, 5.01), instruments.gps(drone, ORIGIN, NOISE, 5.09)
    assert one.geodetic == same.geodetic


@settings(deadline=None)
@given(st.floats(-400.0, 9000.0))
def test_pressure_and_altitude_are_inverse(altitude: float) -> None:
    assert instruments.altitude_at(instruments.pressure_at(altitude)) == pytest.approx(altitude, abs=1e-6)


def test_the_barometer_tells_height_to_a_few_metres() -> None:
    assert instruments.pressure_at(0.0) == pytest.approx(101325.0)
    assert instruments.pressure_at(5500.0) == pytest.approx(50507.0, rel=0.001)  # ICAO table
    drone = drone_at((0.0, 0.0, 50.0))
    read = [instruments.barometer(drone, ORIGIN, NOISE, 0.02 * k).altitude for k in range(200)]
    assert np.mean(read) == pytest.approx(2850.0, abs=3.0)


def test_the_magnetic_needle_points_north_and_down_here() -> None:
    field = instruments.magnetic_field(ORIGIN)
    assert field[0] == 0.0 and field[1] > 0.2 and field[2] < -0.2
    facing_north = drone_at((0, 0, 0), quaternion_from_yaw(math.pi / 2))
    seen = instruments.magnetometer(facing_north, ORIGIN, NOISE, 1.0)
    assert seen == pytest.approx([field[1], 0.0, field[2]], abs=0.01)


def test_the_distance_sensor_looks_along_its_mount() -> None:
    down = SensorSettings("distance", pitch=-90.0, range=40.0)
    assert instruments.distance(drone_at((0, 0, 12.0)), Plain(), down, NOISE, 1) == pytest.approx(12.0, abs=0.1)
    assert instruments.distance(drone_at((0, 0, 90.0)), Plain(), down, NOISE, 1) == 40.0
    leaning = drone_at((0, 0, 10.0), quaternion_from_rpy(0.0, math.radians(30.0), 0.0))
    expected = 10.0 / math.cos(math.radians(30.0))
    assert instruments.distance(leaning, Plain(), down, NOISE, 1) == pytest.approx(expected, abs=0.1)


def test_the_scan_covers_what_the_vehicle_file_says() -> None:
    vehicle = load_vehicle()
    settings_ = default_settings(vehicle, ("uav1",)).vehicles[0].sensors["lidar"]
    rays = instruments.scan_directions(settings_)
    spec = vehicle.lidar
    assert rays.shape == (spec.channels * spec.columns, 3)
    assert np.linalg.norm(rays, axis=1) == pytest.approx(1.0)
    elevation = np.degrees(np.arcsin(rays[:, 2])).reshape(spec.channels, spec.columns)
    assert elevation[0] == pytest.approx(spec.elevation_max_deg) and elevation[-1] == pytest.approx(-90.0)
    azimuth = np.degrees(np.arctan2(rays[:, 1], rays[:, 0])).reshape(spec.channels, spec.columns)[0]
    gaps = np.diff(np.sort(np.mod(azimuth, 360.0)))
    assert gaps == pytest.approx(360.0 / spec.columns)


def test_lidar_points_lie_on_the_ground() -> None:
    sensor = SensorSettings("lidar", channels=8, vertical_lower=-60.0, vertical_upper=-20.0, range=60.0)
    rays = instruments.scan_directions(sensor)
    pose = Pose(np.array([5.0, -3.0, 15.0]), quaternion_from_rpy(0.1, -0.2, 1.3))
    points, ids = instruments.lidar(pose, Plain(), sensor, rays, NOISE, 4)
    assert len(points) == len(ids) > 100
    world = pose.apply(points)
    assert np.abs(world[:, 2]).max() < 0.15
    again, _ = instruments.lidar(pose, Plain(), sensor, rays, NOISE, 4)
    assert again.tobytes() == points.tobytes()
