"""Parameters of the detector, localisation and fusion, read from config/detector.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import read_yaml, validated

_Model = TypeVar("_Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LocalisationSettings(_Strict):
    """Error model of one sighting: standard deviations."""

    pixel_sigma: float = Field(default=0.5, gt=0, description="px, of the object's centre in the picture")
    centre_share: float = Field(default=0.1, ge=0, le=0.5, description="of the box: visible middle against true centre")
    depth_sigma: float = Field(default=0.1, gt=0, description="m, at any range")
    depth_relative_sigma: float = Field(default=0.005, ge=0, description="share of the range")
    position_sigma: float = Field(default=0.3, ge=0, description="m, camera position, per axis")
    attitude_sigma: float = Field(default=0.01, ge=0, description="rad, camera attitude, per axis")
    min_depth_pixels: int = Field(default=2, ge=1, description="valid depth pixels a position needs")


class FusionSettings(_Strict):
    """How sightings become objects."""

    gate: float = Field(
        default=14.16, gt=0, description="Mahalanobis distance squared: 99.73 % of chi-square, 3 degrees"
    )
    merge_gate: float = Field(default=11.34, gt=0, description="same, for two tracks to be one: 99 %")
    systematic_sigma: float = Field(
        default=0.8, ge=0, description="m per axis: error that all views of one object share"
    )
    view_weight: float = Field(default=0.5, gt=0, le=1, description="how much a further view counts against the first")
    confusable: tuple[tuple[str, ...], ...] = Field(default=(), description="groups of kinds that may be one object")


class DetectorSettings(_Strict):
    """config/detector.yaml as a whole."""

    backend: str = "segmentation_oracle"
    backends: dict[str, dict[str, Any]] = Field(default_factory=dict, description="parameters by backend name")
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
