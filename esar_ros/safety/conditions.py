"""The site of a brief: the greatest speed in its weather and light, and the keep-out zones of a file.

Zones have their corners in the map frame or as latitude and longitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.observation import Brief
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site

_POOR = (WeatherFamily.FOG, WeatherFamily.SANDSTORM, WeatherFamily.DUST)
_HEAVY = (Weather.HEAVY_RAIN, Weather.THUNDERSTORM, Weather.HEAVY_SNOW, Weather.BLIZZARD)
_DAY = (6, 18)  # h, local time: between them it is light (ESARBench, appendix A)


class Zone(StrictModel):
    """A polygon by `corners` in m east and north of the map's origin, or as `geodetic` points in deg."""

    name: str = ""
    corners: tuple[tuple[float, float], ...] = Field(default=())
    geodetic: tuple[tuple[float, float], ...] = Field(default=())

    @model_validator(mode="after")
    def _one_of_both(self) -> Zone:
        if (len(self.corners) >= 3) == (len(self.geodetic) >= 3):
            raise ValueError("give three or more corners, or as many geodetic points")
        return self

    def polygon(self, origin: Origin) -> NDArray[np.float64]:
        """Returns the corners (n, 2), m, map frame."""
        if self.corners:
            return np.array(self.corners, dtype=np.float64)
        return np.array([origin.to_enu(lat, lon, origin.altitude)[:2] for lat, lon in self.geodetic])


class _File(StrictModel):
    """The form of a file of keep-out zones."""

    zones: tuple[Zone, ...]


def load_keep_out(path: Path) -> tuple[Zone, ...]:
    """Returns the zones of a YAML file `zones: [{name, corners | geodetic}]`. Raises UsageError."""
    return load_settings(_File, path, "keep-out zones", "write zones: [{corners: [[x, y], ...]}]").zones


def polygons_of(zones: Sequence[Zone], origin: Origin) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Returns each zone's corners, m, map frame, in plain numbers."""
    return tuple(tuple((float(x), float(y)) for x, y in zone.polygon(origin)) for zone in zones)


def conditions_speed(weather: str, local_time: str, limits: Limits) -> float:
    """Returns the greatest speed (m/s) in a weather and at a local time (ISO 8601).

    A weather or a time that is empty or not known limits nothing.
    """
    speed = math.inf
    try:
        kind = Weather(weather)
    except ValueError:
        pass
    else:
        if kind.family in _POOR or kind in _HEAVY:
            speed = limits.speed_poor_sight
    try:
        hour = datetime.fromisoformat(local_time).hour
    except ValueError:
        return speed
    return speed if _DAY[0] <= hour < _DAY[1] else min(speed, limits.speed_night)


def site_of(brief: Brief, limits: Limits, zones: Sequence[Zone] = ()) -> Site:
    """Returns fence, ceilings, zones, speed and forecast wind of a mission. Raises UsageError."""
    origin = Origin(*brief.origin)
    return Site.covering(
        brief.area,
        brief.ceiling,
        brief.home,
        keep_out=[zone.polygon(origin) for zone in zones],
        top=limits.sea_ceiling - origin.altitude,
        speed=conditions_speed(brief.weather, brief.local_time, limits),
        wind=brief.wind_speed,
    )
