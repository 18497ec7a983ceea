"""AirSim's settings.json, read and checked; keys that have no effect here are collected as warnings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError, first_line
from esar_ros.mission.vehicle import Vehicle
from esar_ros.sim.settings import (
    DEFAULT_PORT,
    NAME_CURE,
    SENSOR_KINDS,
    TIME_FORMAT,
    CameraSettings,
    Capture,
    RecordedImage,
    RecordingSettings,
    SensorSettings,
    Settings,
    TimeOfDay,
    VehicleSettings,
    default_settings,
    is_name,
)

_LOOKS_ONLY = {  # of Unreal's window; silently without effect
    "SettingsVersion", "SeeDocsAt", "ViewMode", "SubWindows", "LogMessagesVisible", "EngineSound", "SpeedUnitFactor",
    "SpeedUnitLabel", "ShowLosDebugLines", "InitMessageVisible", "ClockType", "PhysicsEngineName", "RpcEnabled",
    "LocalHostIp", "CameraDirector", "RecordUIVisible",
}  # fmt: skip


_VEHICLE_LOOKS = (
    "AutoCreate", "EnableCollisions", "EnableCollisionPassthrogh", "EnableTrace", "PawnPath", "RC", "AllowAPIAlways",
    "IsFpvVehicle", "Model",
)  # fmt: skip


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
    except ValueError as error:  # a whole number of thousands of digits
        raise UsageError(f"{source}: {first_line(error)}", "mend the file") from None
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
    vehicles = [_vehicle(listed.child(name), name, template, captures, sensors) for name in listed.names()]
    origin = root.child("OriginGeopoint") if root.has("OriginGeopoint") else None
    wind = root.child("Wind")
    settings = Settings(
        tuple(vehicles) or (replace(template, cameras=_with(captures, template.cameras), sensors=sensors),),
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
        _recording(root.child("Recording"), vehicles),
        _time_of_day(root.child("TimeOfDay")),
    )
    root.done(_LOOKS_ONLY)
    return replace(settings, warnings=tuple(root.warnings))


class _Reader:
    """A JSON object with its path: checks types, and collects unused keys as warnings."""

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
            raise self.bad(key, f"must be a number in [{low:g}, {high:g}], is {value!r:.60}")
        return float(value)

    def text(self, key: str, default: str) -> str:
        self._read.add(key)
        value = self.data.get(key, default)
        if not isinstance(value, str):
            raise self.bad(key, f"must be text, is {value!r:.60}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        self._read.add(key)
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, f"must be true or false, is {value!r:.60}")
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
            int(item.number("Width", 256, 1, 8192)),
            int(item.number("Height", 144, 1, 8192)),
            item.number("FOV_Degrees", 90.0, 5.0, 170.0),
        )
    return out


def _with(captures: Mapping[int, Capture], cameras: Mapping[str, CameraSettings]) -> dict[str, CameraSettings]:
    return {name: replace(camera, captures=captures) for name, camera in cameras.items()}


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
    if not is_name(name):
        raise UsageError(f"{reader.source}, key Vehicles: {name!r:.60} is no vehicle's name", NAME_CURE)
    kind = reader.text("VehicleType", "SimpleFlight")
    if kind.lower() != "simpleflight":
        raise reader.bad("VehicleType", f"'{kind}' is not simulated; use SimpleFlight")
    for silent in _VEHICLE_LOOKS:
        reader._read.add(silent)
    state = reader.text("DefaultVehicleState", "")
    if state not in ("", "Inactive", "Disarmed", "Armed"):
        raise reader.bad("DefaultVehicleState", f"must be Armed or Disarmed, is '{state}'")
    listed = reader.child("Cameras")
    if wrong := [camera for camera in listed.names() if not is_name(camera)]:
        raise reader.bad("Cameras", f"{wrong[0]!r:.60} is no camera's name; {NAME_CURE}")
    # As in AirSim, listed cameras join the standard ones.
    cameras = _with(captures, template.cameras) | {
        camera: CameraSettings(captures=_captures(item) or captures, **_mount(item))
        for camera, item in ((camera, listed.child(camera)) for camera in listed.names())
    }
    z = reader.number("Z", 0.0) if reader.has("Z") else None
    return VehicleSettings(
        name,
        reader.number("X", 0.0),
        reader.number("Y", 0.0),
        z,
        reader.number("Yaw", 0.0),
        cameras,
        _sensors(reader.child("Sensors"), sensors),
        state == "Armed",
    )


def _recording(reader: _Reader, vehicles: list[VehicleSettings]) -> RecordingSettings:
    images: dict[str, tuple[RecordedImage, ...]] = {}
    for item in reader.children("Cameras"):
        image = RecordedImage(
            item.text("CameraName", "0"),
            int(item.number("ImageType", 0, 0, 7)),
            item.flag("PixelsAsFloat", False),
            item.flag("Compress", True),
        )
        vehicle = item.text("VehicleName", "") or (vehicles[0].name if vehicles else "SimpleFlight")
        if vehicles and vehicle not in {known.name for known in vehicles}:
            raise item.bad("VehicleName", f"there is no vehicle '{vehicle}'")
        images[vehicle] = (*images.get(vehicle, ()), image)
    return RecordingSettings(
        reader.flag("RecordOnMove", False),
        reader.number("RecordInterval", 0.05, 0.01, 3600.0),
        reader.text("Folder", ""),
        reader.flag("Enabled", False),
        images,
    )


def _time_of_day(reader: _Reader) -> TimeOfDay | None:
    start = reader.text("StartDateTime", "")
    try:
        if start:
            datetime.strptime(start, TIME_FORMAT)
    except ValueError:
        raise reader.bad("StartDateTime", f"must look like 2024-07-01 11:00:00, is '{start}'") from None
    read = TimeOfDay(
        start,
        reader.flag("StartDateTimeDst", False),
        reader.number("CelestialClockSpeed", 1.0, 0.0, 1e6),
        reader.number("UpdateIntervalSecs", 60.0, 0.01, 1e6),
        reader.flag("MoveSun", True),
    )
    return read if reader.flag("Enabled", False) else None


def _sensors(reader: _Reader, defaults: Mapping[str, SensorSettings]) -> dict[str, SensorSettings]:
    """The listed sensors; a kind that is not listed keeps its default."""
    listed: dict[str, SensorSettings] = {}
    for name in reader.names():
        item = reader.child(name)
        kind = SENSOR_KINDS.get(int(item.number("SensorType", 0, 0, 99)))
        if kind is None:
            raise item.bad("SensorType", f"must be one of {sorted(SENSOR_KINDS)}")
        span: dict[str, Any] = {
            "channels": int(item.number("NumberOfChannels", 16, 1, 512)),
            "range": item.number("Range", item.number("MaxDistance", 40.0, 0.1) if kind == "distance" else 100.0, 0.1),
            "min_range": item.number("MinDistance", 0.2, 0.0),
            "points_per_second": int(item.number("PointsPerSecond", 100_000, 1, 5_000_000)),
            "rotations_per_second": item.number("RotationsPerSecond", 10.0, 0.1, 1000.0),
            "horizontal_start": item.number("HorizontalFOVStart", 0.0, -360.0, 360.0),
            "horizontal_end": item.number("HorizontalFOVEnd", 359.0, -360.0, 360.0),
            "vertical_upper": item.number("VerticalFOVUpper", -15.0, -90.0, 90.0),
            "vertical_lower": item.number("VerticalFOVLower", -25.0, -90.0, 90.0),
            "data_frame": item.text("DataFrame", "VehicleInertialFrame"),
        }
        if span["data_frame"] not in ("VehicleInertialFrame", "SensorLocalFrame"):
            raise item.bad("DataFrame", "must be VehicleInertialFrame or SensorLocalFrame")
        item._read.add("DrawDebugPoints")
        listed[name] = SensorSettings(kind, item.flag("Enabled", True), **span, **_mount(item))
    kinds = {sensor.kind for sensor in listed.values()}
    kept = {name: sensor for name, sensor in defaults.items() if sensor.kind not in kinds}
    return kept | listed
