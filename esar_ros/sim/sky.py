"""Sun by date, time and place; light, haze and clouds by sun and weather."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.weather import Weather

# Meteorological visibility (m, 2 % contrast): fog below 1 km and dense fog below 200 m by WMO's code table 4677,
# blizzard 400 m or less by the US National Weather Service; the rest typical of the intensity.
VISIBILITY: dict[Weather, float] = {
    Weather.CLEAR: 30_000.0,
    Weather.PARTLY_CLOUDY: 25_000.0,
    Weather.OVERCAST: 12_000.0,
    Weather.LIGHT_RAIN: 5_000.0,
    Weather.HEAVY_RAIN: 1_500.0,
    Weather.THUNDERSTORM: 1_200.0,
    Weather.LIGHT_SNOW: 2_000.0,
    Weather.HEAVY_SNOW: 500.0,
    Weather.BLIZZARD: 150.0,
    Weather.FOG: 300.0,
    Weather.DENSE_FOG: 100.0,
    Weather.SANDSTORM: 200.0,
    Weather.DUST: 900.0,
}

_CLOUD_COVER: dict[Weather, float] = {Weather.CLEAR: 0.15, Weather.PARTLY_CLOUDY: 0.5}  # all others: closed
_YELLOW_AIR = (Weather.SANDSTORM, Weather.DUST)


@dataclass(frozen=True)
class Lighting:
    """What shaders need of sky and air; colours are linear radiance, 1 about a sunlit white at noon."""

    to_sun: Vector  # (3,) unit ENU
    sun: Vector  # (3,) direct light
    ambient: Vector  # (3,) sky light on level ground
    haze: Vector  # (3,) colour of distant air
    zenith: Vector  # (3,)
    extinction: float  # 1/m
    cloud_cover: float  # 0..1


def sun_direction(latitude: float, longitude: float, utc_offset: float, local_time: datetime) -> Vector:
    """Unit ENU vector to the sun, to about 0.3 degrees (Spencer's series, 1971).

    Degrees, hours east of Greenwich; a naive time is the place's own clock, an aware one is converted.
    """
    zone = timezone(timedelta(hours=utc_offset))
    clock = local_time.astimezone(zone) if local_time.tzinfo else local_time
    hours = clock.hour + clock.minute / 60.0 + clock.second / 3600.0
    year = 2.0 * math.pi * (clock.timetuple().tm_yday - 1 + (hours - 12.0) / 24.0) / 365.0
    equation = 229.18 * (
        0.000075
        + 0.001868 * math.cos(year)
        - 0.032077 * math.sin(year)
        - 0.014615 * math.cos(2 * year)
        - 0.040849 * math.sin(2 * year)
    )  # minutes, apparent minus mean solar time
    declination = (
        0.006918
        - 0.399912 * math.cos(year)
        + 0.070257 * math.sin(year)
        - 0.006758 * math.cos(2 * year)
        + 0.000907 * math.sin(2 * year)
        - 0.002697 * math.cos(3 * year)
        + 0.00148 * math.sin(3 * year)
    )
    solar = hours + equation / 60.0 + longitude / 15.0 - utc_offset
    angle = math.radians(15.0 * (solar - 12.0))
    lat = math.radians(latitude)
    east = -math.cos(declination) * math.sin(angle)
    north = math.sin(declination) * math.cos(lat) - math.cos(declination) * math.sin(lat) * math.cos(angle)
    up = math.sin(declination) * math.sin(lat) + math.cos(declination) * math.cos(lat) * math.cos(angle)
    return np.array([east, north, up])


def lighting(to_sun: Vector, weather: Weather, visibility: float) -> Lighting:
    """Light of a sun direction under a weather with a visibility in m. At night a faint moonless sky remains."""
    height = float(to_sun[2])
    day = _ramp(-0.12, 0.25, height)
    direct = _ramp(-0.01, 0.12, height)
    red = 1.0 - _ramp(0.0, 0.35, height)
    cover = _CLOUD_COVER.get(weather, 1.0)
    through = 1.0 - 0.93 * max(0.0, (cover - 0.5) / 0.5)
    sun = np.array([1.75, 1.58 - 0.45 * red, 1.40 - 0.95 * red]) * direct * through
    blue = np.array([0.36, 0.47, 0.66])
    grey = np.array([0.70, 0.73, 0.77])
    closed = max(0.0, (cover - 0.5) / 0.5)
    ambient = (blue * (1.0 - closed) + grey * 0.85 * closed) * (0.015 + 0.985 * day)
    haze = np.array([0.62, 0.71, 0.82]) * (1.0 - closed) + np.array([0.62, 0.65, 0.68]) * closed
    haze = haze * (1.0 - 0.35 * red * direct) + np.array([0.34, 0.17, 0.05]) * red * direct * (1.0 - closed)
    zenith = np.array([0.16, 0.32, 0.68]) * (1.0 - closed) + np.array([0.50, 0.53, 0.57]) * closed
    if weather in _YELLOW_AIR:
        tone = np.array([1.05, 0.82, 0.52])
        haze, zenith, ambient = haze * tone, haze * tone * 0.9, ambient * (0.5 + 0.5 * tone)
    dim = 0.012 + 0.988 * day
    return Lighting(to_sun, sun, ambient, haze * dim, zenith * dim, 3.912 / visibility, cover)


def _ramp(low: float, high: float, x: float) -> float:
    t = min(1.0, max(0.0, (x - low) / (high - low)))
    return t * t * (3.0 - 2.0 * t)
