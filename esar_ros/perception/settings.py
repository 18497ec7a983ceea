"""Parameters of the detector, localisation and fusion, read from config/detector.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated

_Model = TypeVar("_Model", bound=BaseModel)


class PoseSigmas(StrictModel):
    """Standard deviations of the pose that images are placed by."""

    horizontal: float = Field(default=0.5, ge=0, description="m, east and north")
    vertical: float = Field(default=0.8, ge=0, description="m")
    tilt: float = Field(default=0.0053, ge=0, description="rad, about east and north")
    heading: float = Field(default=0.0175, ge=0, description="rad, about up")

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(6, 6), m^2 and rad^2: position, then rotation, about the map's axes."""
        return np.diag([self.horizontal, self.horizontal, self.vertical, self.tilt, self.tilt, self.heading]) ** 2


class LocalisationSettings(StrictModel):
    """Error model of one sighting: standard deviations."""

    pixel_sigma: float = Field(default=0.5, gt=0, description="px, of the object's centre in the image")
    centre_share: float = Field(default=0.1, ge=0, le=0.5, description="of the box: visible middle against true centre")
    depth_sigma: float = Field(default=0.1, gt=0, description="m, at any range")
    depth_relative_sigma: float = Field(default=0.005, ge=0, description="share of the range")
    min_depth_pixels: int = Field(default=2, ge=1, description="valid depth pixels a position needs")
    pose: PoseSigmas = Field(default=PoseSigmas(), description="where odometry states no covariance")


class BearingSettings(StrictModel):
    """Triangulation of objects from sightings without depth."""

    sigma: float = Field(default=0.004, gt=0, description="rad, of a direction, beside the pose's error")
    least_angle: float = Field(default=0.12, gt=0, description="rad between two rays that may cross")
    gate: float = Field(default=9.0, gt=0, description="squared miss of the rays, in their deviations")
    farthest: float = Field(default=400.0, gt=0, description="m, range of an object found so")
    memory: float = Field(default=120.0, gt=0, description="s for which a ray is kept")
    kept: int = Field(default=64, ge=2, description="rays kept")


class EvidenceSettings(StrictModel):
    """Parameters of the probability that an object exists, given its sightings."""

    base_rate: float = Field(
        default=0.5, gt=0, lt=1, description="share of right detections in the set that reliability was measured on"
    )
    prior: float = Field(
        default=0.13, gt=0, lt=1, description="share of detected objects that are there and of their kind, in flight"
    )
    missed: float = Field(
        default=0.35,
        gt=0,
        le=0.5,
        description="probability from an image that should show an object and does not",
    )
    look_angle: float = Field(default=0.26, gt=0, description="rad: directions farther apart are another look")
    look_ratio: float = Field(default=1.5, gt=1, description="of two ranges: beyond it, another look")
    look_weight: float = Field(default=0.5, ge=0, lt=1, description="of each further look against the one before it")
    warm_people: float = Field(
        default=3.0, gt=0, description="people expected among all those that the thermal camera alone has shown"
    )


class FusionSettings(StrictModel):
    """Parameters of the association and fusion of sightings into objects."""

    gate: float = Field(
        default=14.16, gt=0, description="Mahalanobis distance squared: 99.73 % of chi-square, 3 degrees"
    )
    merge_gate: float = Field(default=11.34, gt=0, description="same, for two tracks to be one: 99 %")
    surface_sigma: float = Field(
        default=0.1, ge=0, description="m per axis: visible surface against the object's own place, alike in all views"
    )
    surface_share: float = Field(default=0.2, ge=0, description="of the object's size, beside it")
    position_time: float = Field(default=60.0, gt=0, description="s, correlation of the pose's position error")
    attitude_time: float = Field(default=40.0, gt=0, description="s, correlation of the pose's attitude error")
    contained: float = Field(
        default=0.7, gt=0, le=1, description="share of a box inside a surer one's from which both are one object"
    )
    confusable: tuple[tuple[str, ...], ...] = Field(default=(), description="groups of kinds that may be one object")
    bearings: BearingSettings = BearingSettings()
    evidence: EvidenceSettings = EvidenceSettings()


class DetectorSettings(StrictModel):
    """config/detector.yaml as a whole."""

    backends: dict[str, dict[str, Any]] = Field(default_factory=dict, description="parameters by backend name")
    thermal: dict[str, Any] = Field(
        default_factory=lambda: {"model": "esar-thermal.onnx"},
        description="parameters of the network for a thermal camera's images, as backend onnx has them",
    )
    localisation: LocalisationSettings = LocalisationSettings()
    fusion: FusionSettings = FusionSettings()


def parse(model: type[_Model], data: Mapping[str, Any] | None, where: str) -> _Model:
    """Checked settings. Raises UsageError naming where, the key and the reason."""
    return validated(model, data or {}, where, "all", "mend the value")


def load_detector_settings(path: Path | None = None) -> DetectorSettings:
    """Settings from a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/detector.yaml")
    data = read_yaml(source, "detector settings")
    if data is not None and not isinstance(data, dict):
        raise UsageError(f"{source}: not a table of settings", "mend the file")
    return parse(DetectorSettings, data, str(source))
