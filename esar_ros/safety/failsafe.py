"""The failsafes: latched modes, the battery and the charge that a return needs, velocities of return and landing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from esar_ros.geometry.frames import Vector, magnitude
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.inputs import State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

_MAX_CLIMB = 1.5  # m/s, fastest change of height on a return
_CLIMB_GAIN = 0.5  # 1/s
_BELOW_CEILING = 5.0  # m that a return stays below the ceiling
_ABOVE_FLOOR = 1.0  # m that a return stays at least above the floor
_LEVEL_FROM = 0.5  # share of the return's height below which it only climbs
LAST_CHARGE = 0.02  # 0..1: half a minute of the endurance; who lands comes down on whatever is below
_SAMPLE = 10.0  # s between two samples of the charge
_DRAIN_MEMORY = 60.0  # s, time constant of the drain's mean


@dataclass(frozen=True)
class Latch:
    """A mode that stays until it is cleared; it is only ever raised."""

    mode: Mode = Mode.NORMAL
    reason: Reason = Reason.NONE
    text: str = ""

    def raised(self, mode: Mode, reason: Reason, text: str) -> Latch:
        """Returns a latch of the given mode where it is more severe, else this one."""
        return Latch(mode, reason, text) if mode > self.mode else self


@dataclass(frozen=True)
class Drain:
    """The charge used per second in recent flight, so that wind and cold count in a return."""

    stamp: float | None = None  # s, of the last sample
    charge: float = 1.0  # 0..1
    rate: float = 0.0  # 1/s, 0: not known yet

    def updated(self, charge: float, now: float) -> Drain:
        """Returns the drain at now (s); samples are taken _SAMPLE apart and fade over _DRAIN_MEMORY."""
        if self.stamp is None or now < self.stamp or charge > self.charge:
            return Drain(now, charge, self.rate)
        step = now - self.stamp
        if step < _SAMPLE:
            return self
        rate = (self.charge - charge) / step
        share = 1.0 if self.rate == 0.0 else min(step / _DRAIN_MEMORY, 1.0)
        return Drain(now, charge, self.rate + share * (rate - self.rate))


@dataclass(frozen=True)
class Battery:
    """The charge on which failsafes are decided, and its drain in flight."""

    charge: float | None = None  # 0..1, None: never reported
    stamp: float | None = None  # s, of the last report
    drain: Drain = field(default_factory=Drain)

    def updated(self, state: State, endurance: float) -> Battery:
        """Returns the battery after a state; without a report it stays as it is.

        An impossible charge counts as what the endurance (s) leaves of the last charge, or of a full one.
        """
        if state.battery is None:
            return self
        charge = state.charge
        if charge is None:
            since = 0.0 if self.stamp is None else max(state.stamp - self.stamp, 0.0)
            charge = max((1.0 if self.charge is None else self.charge) - since / endurance, 0.0)
        return replace(self, charge=charge, stamp=state.stamp)

    def with_drain(self, state: State) -> Battery:
        """Returns the battery with the drain after a state in flight."""
        return self if state.charge is None else replace(self, drain=self.drain.updated(state.charge, state.stamp))


def battery_needed(site: Site | None, position: Vector, limits: Limits, drain: float = 0.0) -> float:
    """Returns the charge (0..1) at which to turn back from a position (m, map), so that the landing reserve is left.

    drain: charge used per second in recent flight; the assumed endurance is never longer than it allows.
    """
    if site is None:
        return limits.battery_return
    away = np.abs(site.home - position)
    level, down = math.hypot(away[0], away[1]), away[2] + limits.return_height
    seconds = level / min(limits.return_speed, site.speed, site.speed_home) + down / limits.land_speed
    return max(limits.battery_return, limits.battery_land + seconds * max(1.0 / limits.endurance, drain))


def return_velocity(site: Site, position: Vector, height: float | None, limits: Limits) -> Vector:
    """Returns the velocity (m/s, map) straight home at the return height above ground; a low vehicle climbs first.

    It is no faster than the mission's weather and light allow. height: m above the surface below; None: not known.
    """
    to_home = (site.home - position)[:2]
    distance = max(math.hypot(to_home[0], to_home[1]), 1e-6)
    speed = min(limits.return_speed, limits.allowed_speed(distance))
    wanted = min(limits.return_height, max(site.ceiling - _BELOW_CEILING, limits.floor + _ABOVE_FLOOR))
    climb = 0.0
    if height is not None:
        climb = min(max(_CLIMB_GAIN * (wanted - height), -_MAX_CLIMB), _MAX_CLIMB)
        if height < _LEVEL_FROM * wanted:
            speed = 0.0
    velocity = np.array([*(to_home / distance * speed), climb])
    return velocity * min(1.0, site.speed / max(magnitude(velocity), 1e-9))


def landing_velocity(limits: Limits) -> Vector:
    """Returns the velocity (m/s, map) straight down to the ground."""
    return np.array([0.0, 0.0, -limits.land_speed])
