"""Conditions of a run: weather, sight, time of day and wind."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather
from esar_ros.sim.maps import PlaceMap
from esar_ros.sim.sky import VISIBILITY, Lighting, lighting, sun_direction

_SUN_STEP = math.radians(0.5)


@dataclass(frozen=True)
class Environment:
    """Immutable; replace it in World.environment to change the weather or the hour."""

    weather: Weather = Weather.CLEAR
    local_time: datetime = datetime(2024, 7, 1, 11, 0)
    wind: Vector = field(default_factory=lambda: np.zeros(3))  # m/s, ENU, where it blows to
    visibility: float | None = None  # m, None: as the weather has it

    @property
    def sight(self) -> float:
        """Meteorological visibility, m."""
        return VISIBILITY[self.weather] if self.visibility is None else max(self.visibility, 1.0)

    def to_sun(self, place: PlaceMap) -> Vector:
        """Unit ENU vector to the sun."""
        origin = place.origin
        return sun_direction(origin.latitude, origin.longitude, place.utc_offset, self.local_time)

    def lighting(self, place: PlaceMap) -> Lighting:
        """Light for the renderer; the sun moves in steps of half a degree, since shadows are baked."""
        sun = self.to_sun(place)
        elevation = round(math.asin(max(-1.0, min(1.0, sun[2]))) / _SUN_STEP) * _SUN_STEP
        azimuth = round(math.atan2(sun[1], sun[0]) / _SUN_STEP) * _SUN_STEP
        flat = math.cos(elevation)
        stepped = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
        return lighting(stepped, self.weather, self.sight)
