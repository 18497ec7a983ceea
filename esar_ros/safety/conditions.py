"""The greatest speed in a mission's weather and light, and the site of a brief."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.observation import Brief
from esar_ros.mission.weather import Weather, WeatherFamily
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.zones import Zone

_POOR = (WeatherFamily.FOG, WeatherFamily.SANDSTORM, WeatherFamily.DUST)
_HEAVY = (Weather.HEAVY_RAIN, Weather.THUNDERSTORM, Weather.HEAVY_SNOW, Weather.BLIZZARD)
_DAY = (6, 18)  # h, local time: between them it is light (ESARBench, appendix A)


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
