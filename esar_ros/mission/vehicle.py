"""The vehicle's sensors, rates and body, read from config/vehicle.yaml: equal for every method."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS, PRESETS, THERMAL
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings


class CameraMount(StrictModel):
    """Optical centre in base_link (m, FLU) and where it looks (degrees)."""

    position: tuple[float, float, float]
    yaw_deg: float
    pitch_deg: float

    @property
    def pose(self) -> Pose:
        """Pose of the optical frame in base_link."""
        rotation = optical_rotation(math.radians(self.yaw_deg), math.radians(self.pitch_deg))
        return Pose(np.array(self.position), quaternion_from_rotation(rotation))


class ImageSpec(StrictModel):
    """Size and field of view of every camera."""

    width: int = Field(gt=0, le=4096)
    height: int = Field(gt=0, le=4096)
    fov_deg: float = Field(gt=10, lt=170)
    depth_max: float = Field(gt=1)

    @property
    def model(self) -> CameraModel:
        """Pinhole intrinsics."""
        return CameraModel.from_horizontal_fov(self.width, self.height, math.radians(self.fov_deg))


class ThermalCamera(CameraMount):
    """A thermal camera beside the others, with depth registered to it."""

    mounted: bool = False
    position: tuple[float, float, float] = (0.2, 0.0, -0.1)
    yaw_deg: float = 0.0
    pitch_deg: float = -50.0
    width: int = Field(default=640, gt=0, le=4096)
    height: int = Field(default=512, gt=0, le=4096)
    fov_deg: float = Field(default=50.0, gt=10, lt=170)

    @property
    def model(self) -> CameraModel:
        """Pinhole intrinsics."""
        return CameraModel.from_horizontal_fov(self.width, self.height, math.radians(self.fov_deg))


class LidarSpec(StrictModel):
    """Scan pattern of the LiDAR at base_link's origin."""

    channels: int = Field(gt=1)
    columns: int = Field(gt=3)
    elevation_min_deg: float = Field(ge=-90, le=90)
    elevation_max_deg: float = Field(ge=-90, le=90)
    range_max: float = Field(gt=1)

    @model_validator(mode="after")
    def _rising(self) -> LidarSpec:
        if not self.elevation_min_deg < self.elevation_max_deg:
            raise ValueError(f"elevation_min_deg {self.elevation_min_deg:g} is not below {self.elevation_max_deg:g}")
        return self


class Rates(StrictModel):
    """Hz of simulation time; ranges and cameras divide the control rate."""

    control: float = Field(gt=0)
    ranges: float = Field(gt=0)
    cameras: float = Field(gt=0)


class Body(StrictModel):
    """Airframe and battery."""

    radius: float = Field(gt=0)
    mass: float = Field(gt=0)
    hover_power: float = Field(gt=0)
    battery_energy: float = Field(gt=0)
    velocity_tau: float | None = Field(ge=0.4, le=5)


class OdometryErrorSpec(StrictModel):
    """Odometry error of a simulated vehicle: standard deviations per axis and correlation times (s)."""

    horizontal: float = Field(ge=0)
    vertical: float = Field(ge=0)
    position_time: float = Field(gt=0)
    tilt_deg: float = Field(ge=0)
    heading_deg: float = Field(ge=0)
    attitude_time: float = Field(gt=0)


class Vehicle(StrictModel):
    """Everything the nodes and the simulator must agree on about the airframe."""

    cameras: dict[str, CameraMount]
    image: ImageSpec
    lidar: LidarSpec
    rates: Rates
    body: Body
    odometry_error: OdometryErrorSpec
    thermal: ThermalCamera = ThermalCamera()

    @property
    def eyes(self) -> dict[str, CameraMount]:
        """Every camera in the order of names.CAMERAS, the thermal one last where it is mounted."""
        colour = {name: self.cameras[name] for name in CAMERAS if name in self.cameras}
        return {**colour, **({THERMAL: self.thermal} if self.thermal.mounted else {})}

    def model_of(self, camera: str) -> CameraModel:
        """Intrinsics of a camera's images."""
        return self.thermal.model if camera == THERMAL else self.image.model

    @property
    def content(self) -> dict[str, Any]:
        """The vehicle as JSON, for its digest: without a thermal camera that is not mounted."""
        return self.model_dump(mode="json", exclude=None if self.thermal.mounted else {"thermal"})

    def with_image_size(self, width: int, height: int) -> Vehicle:
        """The same vehicle with other images (a preset)."""
        return self.model_copy(update={"image": self.image.model_copy(update={"width": width, "height": height})})


def load_vehicle(path: Path | None = None) -> Vehicle:
    """Vehicle from a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/vehicle.yaml")
    vehicle = load_settings(Vehicle, source, "vehicle")
    if set(vehicle.cameras) != set(CAMERAS):
        raise UsageError(f"{source}, key cameras: has {sorted(vehicle.cameras)}", f"name exactly {list(CAMERAS)}")
    for name in ("ranges", "cameras"):
        ratio = vehicle.rates.control / getattr(vehicle.rates, name)
        if abs(ratio - round(ratio)) > 1e-9:
            raise UsageError(f"{source}, key rates.{name}: does not divide rates.control", "choose a divisor")
    return vehicle


def overridden(vehicle: Vehicle, preset: str) -> str:
    """Returns in one line that a preset's pictures replace those that a person gave the vehicle; empty: none do."""
    own, drawn = (vehicle.image.width, vehicle.image.height), PRESETS[preset]
    if own in (drawn, next(iter(PRESETS.values()))):  # the first are config/vehicle.yaml's as it is shipped
        return ""
    return (
        f"config/vehicle.yaml's pictures of {own[0]}x{own[1]} are not drawn: preset {preset} has {drawn[0]}x{drawn[1]}"
    )
