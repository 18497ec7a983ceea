"""Settings of the suite: config/suites/rescuebench.yaml."""

from __future__ import annotations

from pydantic import Field

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings

FILE = "config/suites/rescuebench.yaml"


class SimilaritySettings(StrictModel):
    """Settings of the comparison with people's tracks."""

    sigma: float = Field(gt=0, description="m, of the paper's equation")
    alias: bool = Field(description="tasks in a place *_dooropen have the tracks of the place without it")


class SuiteSettings(StrictModel):
    """The suite's file."""

    step: float = Field(gt=0, le=10, description="s that an action is in force")
    image: int = Field(gt=0, le=4096, description="px, side of what the walker sees")
    hands: float = Field(gt=0, le=10, description="m, level, from the camera to what can be picked up")
    similarity: SimilaritySettings


def load_suite_settings() -> SuiteSettings:
    """Returns the settings of the package's file. Raises UsageError."""
    return load_settings(SuiteSettings, resource(FILE), "suite")
