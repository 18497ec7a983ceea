"""Conditions of a run: weather, sight, time of day, wind, and the ground as weather has left it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather
from esar_ros.sim.ground_state import GroundState, usual_ground
from esar_ros.sim.maps import PlaceMap
from esar_ros.sim.sky import Lighting, lighting, moon_at, sun_direction
from esar_ros.sim.weather import VISIBILITY

_SUN_STEP = math.radians(0.5)


@dataclass(frozen=True)
class Environment:
    """Immutable; put another in World.environment to change the weather or the hour (see `changed`)."""

    weather: Weather = Weather.CLEAR
    local_time: datetime = datetime(2024, 7, 1, 11, 0)
    wind: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, ENU, where it blows to
    visibility: float | None = None  # m, None: as the weather has it
    ground_start: GroundState | None = None  # when the weather began; None: bare ground ten minutes into it
    since: float = 0.0  # s of simulation time at which the weather began

    @property
    def sight(self) -> float:
        """Meteorological visibility, m."""
        return VISIBILITY[self.weather] if self.visibility is None else max(self.visibility, 1.0)

    def ground(self, now: float) -> GroundState:
        """Snow, water and dust at a simulation time, s."""
        start = usual_ground(self.weather) if self.ground_start is None else self.ground_start
        return start.after(self.weather, now - self.since)

    def changed(self, now: float, **changes: Any) -> Environment:
        """With other fields from simulation time `now` (s) on; another weather goes on from the ground as it is."""
        if changes.get("weather", self.weather) is not self.weather:
            changes = {"ground_start": self.ground(now), "since": now} | changes
        return replace(self, **changes)

    def to_sun(self, place: PlaceMap) -> Vector:
        """Unit ENU vector to the sun."""
        origin = place.origin
        return sun_direction(origin.latitude, origin.longitude, place.utc_offset, self.local_time)

    def lighting(self, place: PlaceMap) -> Lighting:
        """Light for the renderer; sun and moon move in steps of half a degree, since shadows are baked."""
        origin = place.origin
        moon, phase = moon_at(origin.latitude, origin.longitude, place.utc_offset, self.local_time)
        return lighting(_stepped(self.to_sun(place)), self.weather, self.sight, _stepped(moon), phase)


def _stepped(direction: Vector) -> Vector:
    elevation = round(math.asin(max(-1.0, min(1.0, direction[2]))) / _SUN_STEP) * _SUN_STEP
    azimuth = round(math.atan2(direction[1], direction[0]) / _SUN_STEP) * _SUN_STEP
    flat = math.cos(elevation)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
