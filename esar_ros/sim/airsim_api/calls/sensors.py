"""Sensor readings in AirSim's shapes; an empty sensor name means the first of its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import flu_to_frd
from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.values import ApiError, geo_point_dict, ned_dict, pose_dict, quaternion_dict, vector3_dict
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.sensor_noise import Noise
from esar_ros.sim.sensors import instruments
from esar_ros.sim.sensors.weather_effects import SensorWeather, reach, sensors_in
from esar_ros.sim.settings import SensorSettings
from esar_ros.sim.weather.changes import Air
from esar_ros.sim.world.raycast import PLANT_BASE

FIX_3D = 3


class SensorsApi:
    """Reads the vehicle's sensors at the present step."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._noises: dict[tuple[str, str], Noise] = {}
        self._scans: dict[tuple[str, str], NDArray[np.float64]] = {}

    @method("getImuData")
    def imu(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        drone, name, _ = self._find("imu", sensor, vehicle)
        clock = self._context.simulation.clock
        reading = instruments.imu(drone, self._noise(drone, name), clock.step, clock.now, self._weather(drone))
        return {
            "time_stamp": clock.now_ns,
            "orientation": quaternion_dict(reading.quaternion),
            "angular_velocity": vector3_dict(flu_to_frd(reading.rates)),
            "linear_acceleration": vector3_dict(flu_to_frd(reading.specific_force)),
        }

    @method("getGpsData")
    def gps(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        drone, name, _ = self._find("gps", sensor, vehicle)
        clock = self._context.simulation.clock
        reading = instruments.gps(drone, self._context.origin, self._noise(drone, name), clock.now)
        return {
            "time_stamp": clock.now_ns,
            "gnss": {
                "geo_point": geo_point_dict(reading.geodetic),
                "eph": reading.eph,
                "epv": reading.epv,
                "velocity": ned_dict(reading.velocity),
                "fix_type": FIX_3D,
                "time_utc": clock.now_ns // 1_000_000,
            },
            "is_valid": True,
        }

    @method("getBarometerData")
    def barometer(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        drone, name, _ = self._find("barometer", sensor, vehicle)
        clock = self._context.simulation.clock
        noise = self._noise(drone, name)
        reading = instruments.barometer(
            drone, self._context.origin, noise, clock.now, drone.airspeed, self._weather(drone)
        )
        return {
            "time_stamp": clock.now_ns,
            "altitude": reading.altitude,
            "pressure": reading.pressure,
            "qnh": instruments.STANDARD_PRESSURE / 100.0,
        }

    @method("getMagnetometerData")
    def magnetometer(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        drone, name, _ = self._find("magnetometer", sensor, vehicle)
        clock = self._context.simulation.clock
        noise, weather = self._noise(drone, name), self._weather(drone)
        field = instruments.magnetometer(drone, self._context.origin, noise, clock.now, weather)
        variance = (instruments.NOISE.magnetic * weather.magnetic) ** 2
        return {
            "time_stamp": clock.now_ns,
            "magnetic_field_body": vector3_dict(flu_to_frd(field)),
            "magnetic_field_covariance": [variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance],
        }

    @method("getDistanceSensorData")
    def distance(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        drone, name, settings = self._find("distance", sensor, vehicle)
        clock = self._context.simulation.clock
        noise, weather = self._noise(drone, name), self._weather(drone)
        far, seen = self._far(settings), self._context.simulation.seen_by(drone)
        return {
            "time_stamp": clock.now_ns,
            "distance": instruments.distance(drone, seen, settings, noise, clock.step, far, weather),
            "min_distance": settings.min_range,
            "max_distance": settings.range,
            "relative_pose": pose_dict(drone.body.pose.compose(settings.mount), drone.offset),
        }

    @method("getLidarData")
    def lidar(self, session: Session, sensor: Any = "", vehicle: Any = "") -> dict[str, Any]:
        """One whole turn, taken at the present step."""
        drone, name, settings = self._find("lidar", sensor, vehicle)
        clock = self._context.simulation.clock
        rays = self._rays(drone, name, settings)
        pose = drone.body.pose.compose(settings.mount)
        noise, seen = self._noise(drone, name), self._context.simulation.seen_by(drone)
        points, ids = instruments.lidar(
            pose, seen, settings, rays, noise, clock.step, self._far(settings), self._weather(drone)
        )
        if settings.data_frame == "SensorLocalFrame":
            points = flu_to_frd(points)
        else:
            world = points @ pose.rotation.T + (pose.position - drone.offset)
            points = np.stack([world[:, 1], world[:, 0], -world[:, 2]], axis=-1)
        own: NDArray[np.int32] = np.where((ids > 0) & (ids < PLANT_BASE), ids, 0)
        labels = self._context.segmentation[own]
        if not self._context.may_see_truth(session):
            labels = labels[:0]
        return {
            "time_stamp": clock.now_ns,
            "point_cloud": points.astype(np.float32).reshape(-1),
            "pose": pose_dict(pose, drone.offset),
            "segmentation": labels.tolist(),
        }

    def _rays(self, drone: Drone, name: str, settings: SensorSettings) -> NDArray[np.float64]:
        """Directions of one turn, made once."""
        key = (drone.name, name)
        if key not in self._scans:
            self._scans[key] = instruments.scan_directions(settings)
        return self._scans[key]

    def _weather(self, drone: Drone) -> SensorWeather:
        altitude = self._context.origin.altitude + float(drone.position[2])
        return sensors_in(self._air(), instruments.air_temperature(altitude))

    def _air(self) -> Air:
        return self._context.world.environment.air(self._context.simulation.clock.now)

    def _far(self, settings: SensorSettings) -> float:
        """m, how far an echo carries now."""
        return reach(settings.range, self._air().sight)

    def _find(self, kind: str, sensor: Any, vehicle: Any) -> tuple[Drone, str, SensorSettings]:
        drone = self._context.drone(vehicle)
        own = {n: s for n, s in self._context.vehicles[drone.name].sensors.items() if s.kind == kind and s.enabled}
        name = next(iter(own), None) if sensor == "" else sensor
        if not isinstance(name, str) or name not in own:
            raise ApiError(f"No {kind} with name {sensor!s:.40} exist on vehicle {drone.name}")
        return drone, name, own[name]

    def _noise(self, drone: Drone, sensor: str) -> Noise:
        key = (drone.name, sensor)
        if key not in self._noises:
            self._noises[key] = Noise(self._context.seed, *key)
        return self._noises[key]
