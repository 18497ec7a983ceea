"""Settings of ardupilot_bridge: config/ardupilot.yaml, each with its range."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from esar_ros.bridges.px4.settings import RuleSettings, refuse_shared
from esar_ros.bridges.px4.stream import Timing
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated

_FIRST_PORT, _PORTS = 5762, 10  # of instance 0, and from one instance to the next: SITL's second serial port


class MavlinkAddress(StrictModel):
    """One vehicle's link and MAVLink system id."""

    link: str = Field(min_length=1)  # as pymavlink takes it
    system_id: int = Field(1, ge=1, le=255)


class SomeMavlinkAddress(StrictModel):
    """The same as the settings say it; the system id is by default as SITL's instances have it."""

    link: str = Field(min_length=1)
    system_id: int | None = Field(None, ge=1, le=255)


class ArdupilotSettings(RuleSettings):
    """All of config/ardupilot.yaml; s."""

    vehicles: dict[str, SomeMavlinkAddress] = Field(default_factory=dict)
    baud: int = Field(921600, ge=9600, le=4_000_000)

    @model_validator(mode="after")
    def _links_are_apart(self) -> ArdupilotSettings:
        links = [address.link for address in self.vehicles.values()]
        if len(set(links)) < len(links):
            raise ValueError("two vehicles have one link: one autopilot would obey two governors")
        return self

    @property
    def timing(self) -> Timing:
        """As the mode rules take them; set-points alone keep GUIDED alive."""
        return Timing(
            fresh=self.fresh, stream=self.window, window=self.window, again=self.again, patience=self.patience,
            climb=self.climb, landing=self.landing, comebacks=self.comebacks,
        )  # fmt: skip

    def address(self, vehicle: str, index: int) -> MavlinkAddress:
        """Of a mission's vehicle; by default as SITL's instances are: ports 5762, 5772, ... and systems 1, 2, ..."""
        said = self.vehicles.get(vehicle)
        link = f"tcp:127.0.0.1:{_FIRST_PORT + _PORTS * index}" if said is None else said.link
        refuse_shared(vehicle, link, {name: each.link for name, each in self.vehicles.items()})
        system_id = index + 1 if said is None or said.system_id is None else said.system_id
        return MavlinkAddress(link=link, system_id=system_id)


def load_ardupilot_settings(path: Path | None = None) -> ArdupilotSettings:
    """From a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/ardupilot.yaml")
    return validated(ArdupilotSettings, read_yaml(source, "the settings") or {}, source)
