"""Settings of px4_bridge: config/px4.yaml, each with its range."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from esar_ros.bridges.px4.stream import Timing
from esar_ros.bridges.px4.versions import DEFAULT, RELEASES
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated


class VehicleAddress(StrictModel):
    """Address of one vehicle's autopilot: topic namespace and MAVLink system id."""

    namespace: str = Field("", pattern=r"^[A-Za-z0-9_/]*$")  # of its agent's topics
    system_id: int = Field(1, ge=1, le=255)  # MAV_SYS_ID


class SomeAddress(StrictModel):
    """Part of an address, as the settings say it; the rest is as PX4 SITL's instances have it."""

    namespace: str | None = Field(None, pattern=r"^[A-Za-z0-9_/]*$")
    system_id: int | None = Field(None, ge=1, le=255)


class RuleSettings(StrictModel):
    """Settings of the rules that fly any autopilot; s."""

    appear: float = Field(10.0, gt=0.0, le=600.0)
    fresh: float = Field(0.2, ge=0.05, le=0.5)
    window: float = Field(0.3, ge=0.1, le=1.0)
    again: float = Field(0.4, ge=0.1, le=2.0)
    patience: float = Field(3.0, ge=1.0, le=30.0)
    climb: float = Field(60.0, ge=5.0, le=600.0)
    landing: float = Field(120.0, ge=10.0, le=1200.0)
    comebacks: int = Field(3, ge=0, le=100)


class Px4Settings(RuleSettings):
    """All of config/px4.yaml; s. What PX4 wants (1 s of heartbeats, 2 Hz) bounds the ranges."""

    release: str = DEFAULT
    mode: Literal["offboard", "external"] = "offboard"
    vehicles: dict[str, SomeAddress] = Field(default_factory=dict)
    heartbeat: float = Field(0.05, ge=0.02, le=0.25)
    stream: float = Field(1.2, ge=1.1, le=10.0)

    @model_validator(mode="after")
    def _release_is_known(self) -> Px4Settings:
        if self.release not in RELEASES:
            raise ValueError(f"release {self.release} is not known, only {', '.join(RELEASES)}")
        return self

    @model_validator(mode="after")
    def _addresses_are_apart(self) -> Px4Settings:
        told = [said.namespace for said in self.vehicles.values() if said.namespace is not None]
        if len(set(told)) < len(told):
            raise ValueError("two vehicles have one namespace: one autopilot would obey two governors")
        return self

    @property
    def timing(self) -> Timing:
        """As the mode rules take them."""
        return Timing(
            self.heartbeat, self.fresh, self.stream, self.window, self.again, self.patience, self.climb, self.landing,
            comebacks=self.comebacks,
        )  # fmt: skip

    def address(self, vehicle: str, index: int) -> VehicleAddress:
        """Of a mission's vehicle; by default as PX4 SITL's instances are: "", px4_1, px4_2 and 1, 2, 3."""
        said = self.vehicles.get(vehicle, SomeAddress())
        namespace = said.namespace if said.namespace is not None else f"px4_{index}" if index else ""
        refuse_shared(vehicle, namespace, {name: each.namespace for name, each in self.vehicles.items()})
        return VehicleAddress(namespace=namespace, system_id=said.system_id or index + 1)


def refuse_shared(vehicle: str, place: str, named: Mapping[str, str | None]) -> None:
    """Raises UsageError where another vehicle's named place is this one's, which may be a default."""
    other = next((name for name, its in named.items() if name != vehicle and its == place), None)
    if other is not None:
        words = f"{vehicle} and {other} have one autopilot, '{place}', which would obey two governors"
        raise UsageError(words, "name each vehicle's address")


def load_px4_settings(path: Path | None = None) -> Px4Settings:
    """From a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/px4.yaml")
    return validated(Px4Settings, read_yaml(source, "the settings") or {}, source)
