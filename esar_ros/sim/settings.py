"""AirSim's settings.json: vehicles, cameras, sensors, origin and clock, read, checked and written back.

Positions are NED metres (vehicles, in the world) or FRD metres (cameras and sensors, in the body);
angles are degrees, as in AirSim. Keys that have no effect here are collected as warnings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Pose, flu_to_frd, frd_to_flu, quaternion_from_rpy
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import Vehicle

DEFAULT_PORT = 41451
IMAGE_TYPES = range(8)
_LOOKS_ONLY = {  # of Unreal's window; silently without effect
    "SettingsVersion", "SeeDocsAt", "ViewMode", "SubWindows", "LogMessagesVisible", "EngineSound", "SpeedUnitFactor",
    "SpeedUnitLabel", "ShowLosDebugLines", "InitMessageVisible", "ClockType", "PhysicsEngineName", "RpcEnabled",
    "LocalHostIp", "CameraDirector",
}  # fmt: skip
_SENSOR_KINDS = {1: "barometer", 2: "imu", 3: "gps", 4: "magnetometer", 5: "distance", 6: "lidar"}
SENSOR_TYPE = {kind: number for number, kind in _SENSOR_KINDS.items()}


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


@dataclass(frozen=True)
class Settings:
    """What a simulator is started with."""

    vehicles: tuple[VehicleSettings, ...]
    clock_speed: float = 1.0
    port: int = DEFAULT_PORT
    origin: tuple[float, float, float] | None = None  # latitude, longitude (degrees), altitude (m)
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s, NED
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


def load_settings(path: Path, vehicle: Vehicle) -> Settings:
    """Settings from a file; what it leaves out comes from the project's vehicle. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read settings {path}: {error}", "check the path") from None
    return parse_settings(text, str(path), vehicle)


def parse_settings(text: str, source: str, vehicle: Vehicle) -> Settings:
    """Settings from JSON text; source names it in errors. Raises UsageError."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{source}, line {error.lineno}: not JSON: {error.msg}", "mend the file") from None
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply", "mend the file") from None
    root = _Reader(data, source, "")
    mode = root.text("SimMode", "Multirotor")
    if mode not in ("", "Multirotor"):
        raise UsageError(f"{source}, key SimMode: '{mode}' is not simulated", "use Multirotor")
    base = default_settings(vehicle, ("SimpleFlight",))
    template = base.vehicles[0]
    defaults = root.child("CameraDefaults")
    captures = _captures(defaults) or template.cameras["front"].captures
    sensors = _sensors(root.child("DefaultSensors"), template.sensors)
    listed = root.child("Vehicles")
    vehicles = [
        _vehicle(listed.child(name), name, template, captures, sensors) for name in listed.names()
    ]
    origin = root.child("OriginGeopoint") if root.has("OriginGeopoint") else None
    wind = root.child("Wind")
    settings = Settings(
        tuple(vehicles) or (replace(template, sensors=sensors),),
        root.number("ClockSpeed", 1.0, 0.01, 100.0),
        int(root.number("ApiServerPort", DEFAULT_PORT, 0, 65535)),
        (
            origin.number("Latitude", 0.0, -90.0, 90.0),
            origin.number("Longitude", 0.0, -180.0, 180.0),
            origin.number("Altitude", 0.0),
        )
        if origin is not None
        else None,
        (wind.number("X", 0.0), wind.number("Y", 0.0), wind.number("Z", 0.0)),
    )
    root.done(_LOOKS_ONLY)
    return replace(settings, warnings=tuple(root.warnings))


class _Reader:
    """A JSON object that knows its place, checks types, and tells what nobody asked for."""

    def __init__(self, data: Any, source: str, path: str, warnings: list[str] | None = None) -> None:
        self.source, self.path = source, path
        self.warnings = [] if warnings is None else warnings
        if not isinstance(data, dict):
            raise UsageError(f"{source}, key {path or 'the file'}: must be a JSON object", "mend the file")
        self.data = data
        self._read: set[str] = set()
        self._children: list[_Reader] = []

    def has(self, key: str) -> bool:
        return key in self.data

    def names(self) -> list[str]:
        return list(self.data)

    def child(self, key: str) -> _Reader:
        self._read.add(key)
        reader = _Reader(self.data.get(key, {}), self.source, self._at(key), self.warnings)
        self._children.append(reader)
        return reader

    def children(self, key: str) -> list[_Reader]:
        self._read.add(key)
        items = self.data.get(key, [])
        if not isinstance(items, list):
            raise self.bad(key, "must be a list")
        readers = [_Reader(x, self.source, f"{self._at(key)}[{i}]", self.warnings) for i, x in enumerate(items)]
        self._children += readers
        return readers

    def number(self, key: str, default: float, low: float = -1e9, high: float = 1e9) -> float:
        self._read.add(key)
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self.bad(key, f"must be a number in [{low:g}, {high:g}], is {value!r}")
        return float(value)

    def text(self, key: str, default: str) -> str:
        self._read.add(key)
        value = self.data.get(key, default)
        if not isinstance(value, str):
            raise self.bad(key, f"must be text, is {value!r}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        self._read.add(key)
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, f"must be true or false, is {value!r}")
        return value

    def bad(self, key: str, why: str) -> UsageError:
        return UsageError(f"{self.source}, key {self._at(key)}: {why}", "mend the file")

    def done(self, silent: set[str]) -> None:
        """Warn of keys without effect, here and below."""
        ignored = [self._at(key) for key in self.data if key not in self._read and key not in silent]
        if ignored:
            self.warnings.append(f"{self.source}: without effect here: {', '.join(ignored)}")
        for child in self._children:
            child.done({"#"})

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


def _captures(reader: _Reader) -> dict[int, Capture]:
    out: dict[int, Capture] = {}
    for item in reader.children("CaptureSettings"):
        kind = int(item.number("ImageType", 0, -1, 7))
        out[kind] = Capture(
            int(item.number("Width", 256, 1, 4096)),
            int(item.number("Height", 144, 1, 4096)),
            item.number("FOV_Degrees", 90.0, 5.0, 170.0),
        )
    return out


def _mount(reader: _Reader) -> dict[str, Any]:
    position = tuple(reader.number(axis, 0.0) for axis in "XYZ")
    return {"position": position} | {key.lower(): reader.number(key, 0.0) for key in ("Roll", "Pitch", "Yaw")}


def _vehicle(
    reader: _Reader,
    name: str,
    template: VehicleSettings,
    captures: Mapping[int, Capture],
    sensors: Mapping[str, SensorSettings],
) -> VehicleSettings:
    kind = reader.text("VehicleType", "SimpleFlight")
    if kind.lower() != "simpleflight":
        raise reader.bad("VehicleType", f"'{kind}' is not simulated; use SimpleFlight")
    for silent in ("DefaultVehicleState", "AutoCreate", "EnableCollisions", "EnableCollisionPassthrogh", "PawnPath"):
        reader._read.add(silent)
    listed = reader.child("Cameras")
    cameras = {
        camera: CameraSettings(captures=_captures(item) or captures, **_mount(item))
        for camera, item in ((camera, listed.child(camera)) for camera in listed.names())
    }
    if not cameras:
        cameras = {camera: replace(item, captures=captures) for camera, item in template.cameras.items()}
    z = reader.number("Z", 0.0) if reader.has("Z") else None
    return VehicleSettings(
        name,
        reader.number("X", 0.0),
        reader.number("Y", 0.0),
        z,
        reader.number("Yaw", 0.0),
        cameras,
        _sensors(reader.child("Sensors"), sensors),
    )


def _sensors(reader: _Reader, defaults: Mapping[str, SensorSettings]) -> dict[str, SensorSettings]:
    """The listed sensors; a kind that is not listed keeps its default."""
    listed: dict[str, SensorSettings] = {}
    for name in reader.names():
        item = reader.child(name)
        kind = _SENSOR_KINDS.get(int(item.number("SensorType", 0, 0, 99)))
        if kind is None:
            raise item.bad("SensorType", f"must be one of {sorted(_SENSOR_KINDS)}")
        top = -20.0 if kind == "lidar" else 0.0
        span = {
            "channels": int(item.number("NumberOfChannels", 16, 1, 512)),
            "range": item.number("Range", item.number("MaxDistance", 40.0, 0.1) if kind == "distance" else 100.0, 0.1),
            "min_range": item.number("MinDistance", 0.2, 0.0),
            "points_per_second": int(item.number("PointsPerSecond", 100_000, 1, 5_000_000)),
            "rotations_per_second": item.number("RotationsPerSecond", 10.0, 0.1, 1000.0),
            "horizontal_start": item.number("HorizontalFOVStart", 0.0, -360.0, 360.0),
            "horizontal_end": item.number("HorizontalFOVEnd", 359.0, -360.0, 360.0),
            "vertical_upper": item.number("VerticalFOVUpper", top + 5.0, -90.0, 90.0),
            "vertical_lower": item.number("VerticalFOVLower", top - 5.0, -90.0, 90.0),
            "data_frame": item.text("DataFrame", "VehicleInertialFrame"),
        }
        if span["data_frame"] not in ("VehicleInertialFrame", "SensorLocalFrame"):
            raise item.bad("DataFrame", "must be VehicleInertialFrame or SensorLocalFrame")
        item._read.add("DrawDebugPoints")
        listed[name] = SensorSettings(kind, item.flag("Enabled", True), **span, **_mount(item))
    kinds = {sensor.kind for sensor in listed.values()}
    kept = {name: sensor for name, sensor in defaults.items() if sensor.kind not in kinds}
    return kept | listed


def _vehicle_json(vehicle: VehicleSettings) -> dict[str, Any]:
    out: dict[str, Any] = {"VehicleType": "SimpleFlight", "X": vehicle.x, "Y": vehicle.y, "Yaw": vehicle.yaw}
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
