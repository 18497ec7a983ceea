"""The site of a brief: the greatest speeds in its weather and light, and the keep-out zones of a file.

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
from esar_ros.mission.observation import Brief, Forecast
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.safety.limits import Limits
from esar_ros.safety.pace import Pace, Spell
from esar_ros.safety.site import Site

_POOR = (WeatherFamily.FOG, WeatherFamily.SANDSTORM, WeatherFamily.DUST)
_HEAVY = (Weather.HEAVY_RAIN, Weather.THUNDERSTORM, Weather.HEAVY_SNOW, Weather.BLIZZARD)


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
    return _pace(weather, local_time, (), limits).at(0.0)


def pace_of(brief: Brief, limits: Limits) -> Pace:
    """Returns the greatest speeds of a mission as its clock goes on, in the weather that its brief foretells.

    From the earliest time of a change the slower of both weathers counts, until the change has surely come about.
    """
    return _pace(brief.weather, brief.local_time, brief.forecast, limits)


def _pace(weather: str, local_time: str, forecast: Sequence[Forecast], limits: Limits) -> Pace:
    """Returns the greatest speeds of a weather, of what follows it, and by the clock.

    A forecast that is out of order, or whose changes overlap, ends no weather before all that was to come has come.
    """
    spells, since, settled = [], -math.inf, -math.inf
    for change in sorted(forecast, key=lambda change: _or(change.earliest, -math.inf)):
        if change.weather:
            settled = max(settled, change.earliest, _or(change.latest, math.inf))
            spells.append(Spell(since, settled, _weather_speed(weather, limits)))
            weather, since = change.weather, change.earliest
    spells.append(Spell(since, math.inf, _weather_speed(weather, limits)))
    try:
        moment = datetime.fromisoformat(local_time)
    except ValueError:
        return Pace(tuple(spells))
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return Pace(tuple(spells), (moment - midnight).total_seconds(), limits.speed_night)


def _or(time: float, otherwise: float) -> float:
    """Returns a time, or another where it is no number."""
    return otherwise if math.isnan(time) else time


def _weather_speed(weather: str, limits: Limits) -> float:
    """Returns the greatest speed (m/s) in a weather by day."""
    try:
        kind = Weather(weather)
    except ValueError:
        return math.inf
    return limits.speed_poor_sight if kind.family in _POOR or kind in _HEAVY else math.inf


def site_of(brief: Brief, limits: Limits, zones: Sequence[Zone] = ()) -> Site:
    """Returns fence, ceilings, zones, speeds and forecast wind of a mission. Raises UsageError."""
    origin = Origin(*brief.origin)
    pace = pace_of(brief, limits)
    return Site.covering(
        brief.area,
        brief.ceiling,
        brief.home,
        keep_out=[zone.polygon(origin) for zone in zones],
        top=limits.sea_ceiling - origin.altitude,
        speed=pace.at(0.0),
        wind=brief.wind_speed,
        pace=pace,
    )
