"""Thresholds of the benchmark: read from config/thresholds.yaml, written into every result."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings


class Thresholds(StrictModel):
    """See config/thresholds.yaml for the meaning of each; m, s and shares."""

    error_threshold: float = Field(gt=0)
    sensitivity_thresholds: tuple[float, ...]
    report_cap: int = Field(ge=1)
    weight_safety: float = Field(ge=0, le=1)
    weight_success: float = Field(ge=0, le=1)
    weight_efficiency: float = Field(ge=0, le=1)
    weight_clues: float = Field(ge=0, le=1)
    weight_clue_located: float = Field(ge=0, le=1)
    weight_clue_exact: float = Field(ge=0, le=1)
    reserve_battery: float = Field(ge=0, le=1)
    coverage_range: float = Field(gt=0)
    take_off_height: float = Field(ge=0)
    path_spacing: float = Field(gt=0)


def load_thresholds(path: Path | None = None) -> Thresholds:
    """Thresholds from a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/thresholds.yaml")
    return load_settings(Thresholds, source, "thresholds")
