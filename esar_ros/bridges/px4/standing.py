"""The place and state of a vehicle as its autopilot reports them, in words for a person who has ended a mission."""

from __future__ import annotations

import math
from dataclasses import dataclass

from esar_ros.bridges.px4.state import HOLD, Px4State, mode_name
from esar_ros.geometry.frames import ned_to_enu
from esar_ros.geometry.geodesy import Origin


@dataclass(frozen=True)
class Standing:
    """One vehicle's. linked: the autopilot speaks; all else is of its last words."""

    vehicle: str
    linked: bool
    armed: bool = False
    landed: bool = False
    mode: int = -1
    failsafe: str = ""  # in words; empty: none
    place: tuple[float, float] | None = None  # degrees WGS 84
    height: float = math.nan  # m above the autopilot's origin
    autopilot: str = "PX4"

    @property
    def aloft(self) -> bool:
        """True where it is armed and not on the ground."""
        return self.linked and self.armed and not self.landed

    @property
    def words(self) -> str:
        """The state as a sentence without a full stop."""
        if not self.linked:
            return f"{self.vehicle}: {self.autopilot} is silent, where it is is not known"
        where = "at a place that it does not know" if self.place is None else "at {:.6f}, {:.6f}".format(*self.place)
        armed = "armed" if self.armed else "disarmed"
        if self.landed:
            return f"{self.vehicle} stands on the ground {where}, {armed}"
        does = "hovers" if self.mode == HOLD else f"flies in mode {mode_name(self.mode)}"
        why = f", {self.failsafe}" if self.failsafe else ""
        return f"{self.vehicle} {does} {where}, {self.height:.0f} m above where {self.autopilot} started, {armed}{why}"


def standing_of(vehicle: str, state: Px4State, now: float, autopilot: str = "PX4") -> Standing:
    """Returns where a vehicle is at now (s, steady clock)."""
    if not state.is_linked(now):
        return Standing(vehicle, False, autopilot=autopilot)
    local = state.newest("VehicleLocalPosition")
    place, enu = None, ned_to_enu([local.x, local.y, local.z])
    if local.xy_global and local.z_global:
        latitude, longitude, _ = Origin(float(local.ref_lat), float(local.ref_lon), float(local.ref_alt)).to_geodetic(
            enu
        )
        place = float(latitude), float(longitude)
    failsafe = state.failsafe_words if state.failsafe else ""
    height = float(enu[2])
    return Standing(vehicle, True, state.armed, state.landed, state.nav_state, failsafe, place, height, autopilot)
