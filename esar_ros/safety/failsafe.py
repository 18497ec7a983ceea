"""The end of a flight as the governor flies it: latched modes, battery needed, the way home, the landing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.braking import allowed_speed
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

_CLIMB = 1.5  # m/s, fastest change of height on the way home
_CLIMB_GAIN = 0.5  # 1/s
_SAMPLE = 10.0  # s between looks at the charge
_MEMORY = 60.0  # s over which its use is averaged


@dataclass(frozen=True)
class Latch:
    """A mode that stays until it is cleared; it is only ever raised."""

    mode: Mode = Mode.NORMAL
    reason: Reason = Reason.NONE
    text: str = ""

    def raised(self, mode: Mode, reason: Reason, text: str) -> Latch:
        """This latch, or the given one when it is more severe."""
        return Latch(mode, reason, text) if mode > self.mode else self


@dataclass(frozen=True)
class Drain:
    """Charge used per second of late, so that wind and cold count in the way home."""

    stamp: float | None = None  # s, of the last sample
    charge: float = 1.0
    rate: float = 0.0  # 1/s, 0: not known yet

    def measured(self, charge: float, now: float) -> Drain:
        """After another look at the battery; samples are taken _SAMPLE apart and fade over _MEMORY."""
        if self.stamp is None or now < self.stamp or charge > self.charge:
            return Drain(now, charge, self.rate)
        step = now - self.stamp
        if step < _SAMPLE:
            return self
        rate = (self.charge - charge) / step
        share = 1.0 if self.rate == 0.0 else min(step / _MEMORY, 1.0)
        return Drain(now, charge, self.rate + share * (rate - self.rate))


def battery_needed(site: Site | None, position: Vector, limits: Limits, drain: float = 0.0) -> float:
    """Charge (0..1) at which to turn back from position (m, map) to be home with the landing reserve left.

    drain: charge used per second of late; the endurance assumed is never longer than it allows.
    """
    if site is None:
        return limits.battery_return
    away = np.abs(site.home - position)
    seconds = math.hypot(away[0], away[1]) / limits.return_speed + (away[2] + limits.return_height) / limits.land_speed
    return max(limits.battery_return, limits.battery_land + seconds * max(1.0 / limits.endurance, drain))


def way_home(site: Site, position: Vector, height: float | None, limits: Limits) -> Vector:
    """Velocity (m/s, map) straight home at the return height above ground; up first when low."""
    to_home = (site.home - position)[:2]
    distance = max(math.hypot(to_home[0], to_home[1]), 1e-6)
    speed = min(limits.return_speed, float(allowed_speed(distance, limits.deceleration, limits.latency)))
    wanted = min(limits.return_height, max(site.ceiling - 5.0, limits.floor + 1.0))
    climb = 0.0
    if height is not None:
        climb = min(max(_CLIMB_GAIN * (wanted - height), -_CLIMB), _CLIMB)
        if height < 0.5 * wanted:
            speed = 0.0
    return np.array([*(to_home / distance * speed), climb])


def landing(limits: Limits) -> Vector:
    """Velocity (m/s, map) straight down to the ground."""
    return np.array([0.0, 0.0, -limits.land_speed])
