"""Settings of the suite: config/suites/uav-on.yaml."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from esar_ros.mission.names import CAMERAS
from esar_ros.mission.object_goal import StepKind
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.mission.vehicle import CameraMount

FILE = "config/suites/uav-on.yaml"
_MOVING = tuple(kind for kind in StepKind if kind is not StepKind.STOP)


class VehicleSettings(StrictModel):
    """The vehicle, and when a step of it is done."""

    radius: float = Field(gt=0, description="m, sphere that collides")
    speed: float = Field(gt=0, description="m/s")
    reached: float = Field(gt=0, description="m from the commanded position at which a step is done")
    turned: float = Field(gt=0, description="degrees from the commanded heading at which a step is done")
    settle: float = Field(ge=0, description="s after the teleport, and of a stop")


class StandInSettings(StrictModel):
    """A scene of the authors' that is not here."""

    here: str = Field(description="the scene that stands in for it")
    launcher: str = Field(description="where their scene server looks for its binary, without .sh")


class SuiteSettings(StrictModel):
    """The suite's file."""

    vehicle: VehicleSettings
    sizes: dict[StepKind, float] = Field(description="m or degrees, of each action but stop")
    largest: float = Field(gt=0, description="size of an action beyond which it is the agent's error")
    half_side: float = Field(gt=0, description="m, of the box around the start that agents are told")
    cameras: dict[str, CameraMount]
    fov_deg: float = Field(gt=10, lt=170)
    colour: int = Field(gt=0, le=4096, description="px, side of a colour image")
    depth: int = Field(gt=0, le=4096, description="px, side of a depth image")
    depth_range: float = Field(gt=0, description="m, of depth as the public code gives it")
    agents: dict[str, dict[str, Any]] = Field(description="parameters by agent")
    stand_ins: dict[str, StandInSettings] = Field(description="by the first letters of the authors' scenes' names")

    @field_validator("sizes")
    @classmethod
    def _of_each_action(cls, sizes: dict[StepKind, float]) -> dict[StepKind, float]:
        if set(sizes) != set(_MOVING) or not all(size > 0.0 for size in sizes.values()):
            raise ValueError(f"name a size above 0 of each of {', '.join(kind.value for kind in _MOVING)}")
        return {kind: sizes[kind] for kind in _MOVING}

    @field_validator("cameras")
    @classmethod
    def _each_camera(cls, cameras: dict[str, CameraMount]) -> dict[str, CameraMount]:
        if set(cameras) != set(CAMERAS):
            raise ValueError(f"name exactly {', '.join(CAMERAS)}")
        return {name: cameras[name] for name in CAMERAS}


def load_suite_settings() -> SuiteSettings:
    """The file of the package. Raises UsageError."""
    return load_settings(SuiteSettings, resource(FILE), "suite")
