"""Execution of safe commands and of the pilot's requests: the last checks before AirSim's calls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.mission.modes import Mode
from esar_ros.safety.limits import ON_GROUND, STANDING, TOUCH_DOWN_FROM

LANDING_PATIENCE = 60_000_000_000  # ns
STANDS_FOR = 300_000_000  # ns on the ground until the motors stop


class Refusal(Enum):
    """Reason for which a request was refused."""

    SAFETY = "the governor is in return or worse"
    HEIGHT = "no ground is seen near enough below"
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
    """Obeys and arms for one vehicle, and watches over its touch-down. Raises AirSimError where the server refuses."""

    def __init__(self, remote: AirSimVehicle) -> None:
        self._remote = remote
        self._landing_until: int | None = None  # ns
        self._down_since: int | None = None  # ns
        self.height: float | None = None  # m above the surface below, as the governor told last; None: not seen

    @property
    def landing(self) -> bool:
        """True while a touch-down is under way."""
        return self._landing_until is not None

    def obey(self, reading: VehicleReading, mode: Mode, command: tuple[Vector, float] | None, seconds: float) -> None:
        """Send a safe command (m/s ENU, rad/s) on, or hold without one; the autopilot keeps it for twice so long."""
        if not reading.armed:
            return
        if mode >= Mode.TERMINATE:
            self._remote.arm(False)
            return
        velocity, yaw_rate = (np.zeros(3), 0.0) if command is None else command
        if not (np.isfinite(velocity).all() and math.isfinite(yaw_rate)):
            velocity, yaw_rate = np.zeros(3), 0.0
        if self._is_down(reading) and velocity[2] <= 0.0:
            return  # standing on the ground needs no set-point
        self._remote.send_velocity(velocity, yaw_rate, 2.0 * seconds)

    def arm(self, wanted: bool, mode: Mode) -> Refused | None:
        """Arm or disarm."""
        reading = self._remote.read()
        if wanted and mode >= Mode.RETURN:
            return Refused.of(Refusal.SAFETY)
        if wanted and not reading.ready:
            return Refused(Refusal.NOT_READY, reading.ready_message)
        if not wanted and not self._is_down(reading):
            return Refused.of(Refusal.FLYING)
        self._remote.arm(wanted)
        return None if self._remote.read().armed == wanted else Refused.of(Refusal.FAILED)

    def touch_down(self, mode: Mode, ns: int) -> Refused | None:
        """Announce the last metres from now (ns) on: governor and pilot fly them, and on the ground the motors stop.

        Asked again while it is under way, it goes on.
        """
        if mode >= Mode.TERMINATE:
            return Refused.of(Refusal.TERMINATED)
        if self._landing_until is not None:
            return None
        if self._remote.read().landed:
            return Refused.of(Refusal.ON_GROUND)
        if self.height is None or not self.height <= TOUCH_DOWN_FROM:
            seen = "none is seen" if self.height is None else f"it is {self.height:.1f} m below"
            return Refused(Refusal.HEIGHT, f"the ground must be seen within {TOUCH_DOWN_FROM:.0f} m: {seen}")
        self._landing_until, self._down_since = ns + LANDING_PATIENCE, None
        return None

    def call_off(self) -> None:
        """End a touch-down where the vehicle is."""
        self._landing_until = None

    def finish_touch_down(self, reading: VehicleReading) -> bool:
        """Ends a touch-down that is over, and stops the motors of a vehicle that has landed; returns whether it ended.

        It is over when the vehicle has stood on the ground for STANDS_FOR, or when its time is out.
        """
        if self._landing_until is None:
            return False
        if not self._is_down(reading):
            self._down_since = None
        elif self._down_since is None:
            self._down_since = reading.ns
        if self._down_since is not None and reading.ns - self._down_since >= STANDS_FOR:
            self._remote.arm(False)
        elif reading.ns <= self._landing_until:
            return False
        self._landing_until = None
        return True

    def _is_down(self, reading: VehicleReading) -> bool:
        """Returns whether the vehicle stands: reported so, and contradicted neither by its speed nor by its height."""
        slow = magnitude(reading.velocity) <= STANDING
        return reading.landed and slow and (self.height is None or self.height <= ON_GROUND)
