"""Start settings of a simulator in the terms of AirSim's settings.json, and their JSON form.

Positions are NED metres (vehicles, in the world) or FRD metres (cameras and sensors, in the body);
angles are degrees, as in AirSim.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Pose, flu_to_frd, frd_to_flu, quaternion_from_rpy
from esar_ros.mission.names import THERMAL
from esar_ros.mission.vehicle import Vehicle

DEFAULT_PORT = 41451
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
SENSOR_KINDS = {1: "barometer", 2: "imu", 3: "gps", 4: "magnetometer", 5: "distance", 6: "lidar"}
SENSOR_TYPE = {kind: number for number, kind in SENSOR_KINDS.items()}


@dataclass(frozen=True)
class Capture:
    """Size (px) and horizontal field of view (degrees) of one image type."""

    width: int = 256
    height: int = 144
    fov: float = 90.0


@dataclass(frozen=True)
class CameraSettings:
    """Mounting in FRD and what each image type captures; type -1 is the default for the rest."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    captures: Mapping[int, Capture] = field(default_factory=dict)

    def capture(self, image_type: int) -> Capture:
        """Size and field of view of an image type."""
        return self.captures.get(image_type) or self.captures.get(-1) or self.captures.get(0) or Capture()

    @property
    def mount(self) -> Pose:
        """FLU pose of the camera's body (x forward) in base_link."""
        return flu_mount(self.position, self.roll, self.pitch, self.yaw)


@dataclass(frozen=True)
class SensorSettings:
    """One sensor; the LiDAR and distance numbers are AirSim's (degrees, m, points)."""

    kind: str
    enabled: bool = True
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0
    channels: int = 16
    range: float = 100.0
    min_range: float = 0.2
    points_per_second: int = 100_000
    rotations_per_second: float = 10.0
    horizontal_start: float = 0.0
    horizontal_end: float = 359.0
    vertical_upper: float = -15.0
    vertical_lower: float = -25.0
    data_frame: str = "VehicleInertialFrame"

    @property
    def mount(self) -> Pose:
        """FLU pose of the sensor in base_link."""
        return flu_mount(self.position, self.roll, self.pitch, self.yaw)


@dataclass(frozen=True)
class VehicleSettings:
    """A multirotor at its start. z None: on the ground there."""

    name: str
    x: float = 0.0
    y: float = 0.0
    z: float | None = None
    yaw: float = 0.0
    cameras: Mapping[str, CameraSettings] = field(default_factory=dict)
    sensors: Mapping[str, SensorSettings] = field(default_factory=dict)
    armed: bool = False  # at the start and after a reset


@dataclass(frozen=True)
class RecordedImage:
    """One image of each sample of a recording."""

    camera: str = "0"
    kind: int = 0
    as_float: bool = False
    compress: bool = True


@dataclass(frozen=True)
class RecordingSettings:
    """Content and interval of the recording begun by startRecording."""

    on_move: bool = False  # only when the vehicle has moved
    interval: float = 0.05  # s of simulation time
    folder: str = ""
    enabled: bool = False  # from the start
    images: Mapping[str, tuple[RecordedImage, ...]] = field(default_factory=dict)  # by vehicle

    def images_of(self, vehicle: str) -> tuple[RecordedImage, ...]:
        """Images of a vehicle; where none are listed at all, the front camera's colour, as AirSim."""
        return self.images.get(vehicle, ()) if self.images else (RecordedImage(),)


@dataclass(frozen=True)
class TimeOfDay:
    """Start time of the sun, and its motion."""

    start: str = ""  # "%Y-%m-%d %H:%M:%S", local; empty: as the map has it
    is_dst: bool = False
    speed: float = 1.0  # celestial seconds a second
    interval: float = 60.0  # s between the sun's steps
    move_sun: bool = True


@dataclass(frozen=True)
class Settings:
    """Start settings of a simulator."""

    vehicles: tuple[VehicleSettings, ...]
    clock_speed: float = 1.0
    port: int = DEFAULT_PORT
    origin: tuple[float, float, float] | None = None  # latitude, longitude (degrees), altitude (m)
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s, NED
    recording: RecordingSettings = field(default_factory=RecordingSettings)
    time_of_day: TimeOfDay | None = None  # None: the sun stands still
    warnings: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The settings in force, as AirSim writes them."""
        root: dict[str, Any] = {
            "SettingsVersion": 1.2,
            "SimMode": "Multirotor",
            "ClockSpeed": self.clock_speed,
            "ApiServerPort": self.port,
            "Wind": dict(zip("XYZ", self.wind, strict=True)),
            "Vehicles": {vehicle.name: _vehicle_json(vehicle) for vehicle in self.vehicles},
        }
        if self.origin is not None:
            root["OriginGeopoint"] = dict(zip(("Latitude", "Longitude", "Altitude"), self.origin, strict=True))
        return json.dumps(root, indent=2)


NAME_CURE = "use up to 80 characters, no slash, backslash or control character"


def is_name(text: str) -> bool:
    """Returns whether a vehicle or camera may be called so: recordings name their files and lines after them."""
    return 0 < len(text) <= 80 and text.isprintable() and not {"/", "\\"} & set(text)


def flu_mount(position: tuple[float, float, float], roll: float, pitch: float, yaw: float) -> Pose:
    """FLU pose of something mounted at an FRD position (m) with FRD angles (degrees)."""
    roll, pitch, yaw = np.radians([roll, pitch, yaw])
    return Pose(frd_to_flu(position), quaternion_from_rpy(roll, -pitch, -yaw))


def default_settings(vehicle: Vehicle, names: tuple[str, ...]) -> Settings:
    """Settings of the project's own vehicle (config/vehicle.yaml): from the origin westward, 4 m apart."""
    capture = {-1: Capture(vehicle.image.width, vehicle.image.height, vehicle.image.fov_deg)}
    cameras = {}
    for name, mount in vehicle.cameras.items():
        x, y, z = (float(v) for v in flu_to_frd(mount.position))
        cameras[name] = CameraSettings((x, y, z), 0.0, mount.pitch_deg, -mount.yaw_deg, capture)
    if (thermal := vehicle.thermal).mounted:
        x, y, z = (float(v) for v in flu_to_frd(thermal.position))
        capture = {-1: Capture(thermal.width, thermal.height, thermal.fov_deg)}
        cameras[THERMAL] = CameraSettings((x, y, z), 0.0, thermal.pitch_deg, -thermal.yaw_deg, capture)
    lidar = vehicle.lidar
    sensors = {kind: SensorSettings(kind) for kind in ("imu", "gps", "barometer", "magnetometer")}
    sensors["distance"] = SensorSettings("distance", pitch=-90.0, range=40.0)
    sensors["lidar"] = SensorSettings(
        "lidar",
        channels=lidar.channels,
        range=lidar.range_max,
        points_per_second=round(lidar.channels * lidar.columns * vehicle.rates.ranges),
        rotations_per_second=vehicle.rates.ranges,
        horizontal_end=360.0 - 360.0 / lidar.columns,
        vertical_upper=lidar.elevation_max_deg,
        vertical_lower=lidar.elevation_min_deg,
        data_frame="SensorLocalFrame",
    )
    return Settings(
        tuple(VehicleSettings(name, 0.0, -4.0 * i, None, 0.0, cameras, sensors) for i, name in enumerate(names))
    )


def _vehicle_json(vehicle: VehicleSettings) -> dict[str, Any]:
    out: dict[str, Any] = {"VehicleType": "SimpleFlight", "X": vehicle.x, "Y": vehicle.y, "Yaw": vehicle.yaw}
    if vehicle.armed:
        out["DefaultVehicleState"] = "Armed"
    if vehicle.z is not None:
        out["Z"] = vehicle.z
    out["Cameras"] = {name: _camera_json(camera) for name, camera in vehicle.cameras.items()}
    out["Sensors"] = {name: _sensor_json(sensor) for name, sensor in vehicle.sensors.items()}
    return out


def _mount_json(item: CameraSettings | SensorSettings) -> dict[str, float]:
    angles = {"Roll": item.roll, "Pitch": item.pitch, "Yaw": item.yaw}
    return dict(zip("XYZ", item.position, strict=True)) | angles


def _camera_json(camera: CameraSettings) -> dict[str, Any]:
    captures = [
        {"ImageType": kind, "Width": c.width, "Height": c.height, "FOV_Degrees": c.fov}
        for kind, c in sorted(camera.captures.items())
    ]
    return _mount_json(camera) | {"CaptureSettings": captures}


def _sensor_json(sensor: SensorSettings) -> dict[str, Any]:
    out: dict[str, Any] = {"SensorType": SENSOR_TYPE[sensor.kind], "Enabled": sensor.enabled} | _mount_json(sensor)
    if sensor.kind == "distance":
        out |= {"MinDistance": sensor.min_range, "MaxDistance": sensor.range}
    if sensor.kind == "lidar":
        out |= {
            "NumberOfChannels": sensor.channels,
            "Range": sensor.range,
            "PointsPerSecond": sensor.points_per_second,
            "RotationsPerSecond": sensor.rotations_per_second,
            "HorizontalFOVStart": sensor.horizontal_start,
            "HorizontalFOVEnd": sensor.horizontal_end,
            "VerticalFOVUpper": sensor.vertical_upper,
            "VerticalFOVLower": sensor.vertical_lower,
            "DataFrame": sensor.data_frame,
        }
    return out
