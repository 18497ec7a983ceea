"""One vehicle as the AirSim bridge keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.bridges.odometry_error import Estimate, OdometryError
from esar_ros.mission.modes import Mode
from esar_ros.nodes.core.authority import Authority, why_not_obeyed
from esar_ros.nodes.core.roster import Roster
from esar_ros.nodes.messages.governor_status import GovernorStatus


@dataclass
class BridgedVehicle:
    """A vehicle's server side, its participants and the last messages from them."""

    name: str
    remote: AirSimVehicle
    roster: Roster
    error: OdometryError | None  # of its odometry; None: the truth
    actuation: Actuation
    publishers: dict[str, Any] = field(default_factory=dict)
    command: Any = None
    command_arrived: float = -1e9
    safety: Any = None  # the last status, whoever sent it
    reading: VehicleReading | None = None
    collisions: int = 0
    last_collision: int = 0
    holding: bool = True
    authority: Authority | None = None  # over what it obeys
    told: GovernorStatus | None = None  # by the governor

    @property
    def height(self) -> float | None:
        """Height (m) above the surface below, as last reported by the governor; None: not seen."""
        return self.told.height if self.told is not None else None

    @property
    def text(self) -> str:
        """The reason for which the governor changes what the pilot commands, in words; empty: it does not."""
        return self.told.text if self.told is not None else ""

    @property
    def mode(self) -> Mode:
        """The mode last reported by the governor, as far as it is believed."""
        return self.told.mode if self.told is not None else Mode.UNKNOWN

    def refusal(self, now: int, oldest: int) -> str:
        """Returns why its command is refused at now (ns), however fresh, or empty; oldest: ns, see why_not_obeyed."""
        assert self.authority is not None and self.told is not None
        if self.authority.complaint:
            return self.authority.complaint
        if not self.told.is_known:
            return "a mode of the governor that nobody knows"
        return why_not_obeyed(self.command, now, oldest)

    def estimate(self, reading: VehicleReading) -> Estimate:
        """Returns pose and velocity with the odometry's simulated error."""
        if self.error is None:
            return Estimate(reading.pose, reading.velocity)
        return self.error.estimate(reading.ns, reading.pose, reading.velocity)
