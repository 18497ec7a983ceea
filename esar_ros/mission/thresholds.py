"""Thresholds of the benchmark: read from config/thresholds.yaml, written into every result."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource


class Thresholds(BaseModel):
    """See config/thresholds.yaml for the meaning of each; m, s and shares."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    try:
        return Thresholds.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read thresholds {source}: {error}", "mend the file") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{source}, key {key}: {first['msg']}", "mend the file") from None
