"""What is done with safe commands and with the pilot's requests: the last rules before AirSim's calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from esar_ros.bridges.airsim_vehicle import AirSimVehicle, VehicleReading
from esar_ros.geometry.frames import Vector
from esar_ros.safety.codes import Mode

LANDING_PATIENCE = 60_000_000_000  # ns


class Refusal(Enum):
    """Why a request was not followed."""

    SAFETY = "the governor is in return or worse"
    TERMINATED = "the governor has terminated"
    NOT_READY = "not ready"
    FLYING = "it is in the air"
    ON_GROUND = "it is on the ground"
    FAILED = "the autopilot did not follow"


@dataclass(frozen=True)
class Refused:
    """A request that was not followed, in words."""

    why: Refusal
    text: str

    @staticmethod
    def of(why: Refusal) -> Refused:
        """With the usual words."""
        return Refused(why, why.value)


class Actuation:
    """Obeys, arms and touches down for one vehicle. Raises AirSimError where the server refuses."""

    def __init__(self, remote: AirSimVehicle) -> None:
        self._remote = remote
        self._landing_until: int | None = None  # ns

    @property
    def landing(self) -> bool:
        """Whether the autopilot is coming down by itself."""
        return self._landing_until is not None

    def obey(self, reading: VehicleReading, mode: Mode, command: tuple[Vector, float] | None, seconds: float) -> None:
        """Send a safe command (m/s ENU, rad/s) on, or hold without one; the autopilot keeps it for twice so long."""
        if not reading.armed:
            return
        if mode >= Mode.TERMINATE:
            self._remote.arm(False)
            return
        if self._landing_until is not None:
            return  # the autopilot is coming down by itself
        velocity, yaw_rate = (np.zeros(3), 0.0) if command is None else command
        if reading.landed and velocity[2] <= 0.0:
            return  # standing on the ground needs no set-point
        self._remote.send_velocity(velocity, yaw_rate, 2.0 * seconds)

    def arm(self, wanted: bool, mode: Mode) -> Refused | None:
        """Arm or disarm."""
        reading = self._remote.read()
        if wanted and mode >= Mode.RETURN:
            return Refused.of(Refusal.SAFETY)
        if wanted and not reading.ready:
            return Refused(Refusal.NOT_READY, reading.ready_message)
        if not wanted and not reading.landed:
            return Refused.of(Refusal.FLYING)
        self._remote.arm(wanted)
        return None if self._remote.read().armed == wanted else Refused.of(Refusal.FAILED)

    def touch_down(self, mode: Mode, ns: int) -> Refused | None:
        """Let the autopilot come down from now (ns) on."""
        if mode >= Mode.TERMINATE:
            return Refused.of(Refusal.TERMINATED)
        if self._remote.read().landed:
            return Refused.of(Refusal.ON_GROUND)
        self._landing_until = ns + LANDING_PATIENCE
        self._remote.start_landing()
        return None

    def has_come_down(self, reading: VehicleReading) -> bool:
        """Whether a touch-down ends with this reading: landed, or not in time."""
        if self._landing_until is None or not (reading.landed or reading.ns > self._landing_until):
            return False
        self._landing_until = None
        return True
