"""Sun and moon; light, haze and clouds by their height and the weather."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.sim.weather.appearance import CONTRAST, Conditions
from esar_ros.sim.weather.moon import moon_direction

LUX = 1.75e-4  # of our radiance: 1 lux upright on white, 10 times what it has beside noon's sun (see NIGHT_SKY)
MOON = 6e-4  # of a full moon overhead: 90 times what it has beside the sun, or no camera would see by it
NIGHT_SKY = 1.6e-4  # ambient of a moonless night, exaggerated likewise: an image holds fewer stops than the eye

# Share of the noon sky's light at a sun elevation (degrees), from twilight photometry (Rozenberg, "Twilight", 1966).
_TWILIGHT = np.array(
    [
        [-18.0, -12.0, -9.0, -6.0, -4.0, -2.0, 0.0, 3.0, 8.0, 20.0],
        [-3.7, -3.1, -2.5, -1.9, -1.45, -1.1, -0.8, -0.5, -0.22, 0.0],
    ]
)  # powers of ten
_NOON_GROUND, _NOON_SKY = 1.85, 0.70


@dataclass(frozen=True)
class Lighting:
    """Lighting for the shaders: sky and air; colours are linear radiance, 1 about a sunlit white at noon."""

    to_sun: Vector  # (3,) unit ENU, to what throws the shadows: the sun, at night the moon
    sun: Vector  # (3,) its direct light
    ambient: Vector  # (3,) sky light on level ground
    haze: Vector  # (3,) colour of distant air
    zenith: Vector  # (3,)
    extinction: float  # 1/m
    cloud_cover: float  # 0..1
    to_moon: Vector  # (3,) unit ENU
    moon_phase: float  # lit share of its disc
    stars: float  # 0..1, how well they show
    afterglow: Vector  # (3,) added to the sky low over the sun
    sun_azimuth: float  # rad, east 0, counter-clockwise
    sun_height: float  # sine of its elevation, also when the moon throws the shadows

    @property
    def level(self) -> float:
        """Reading of an exposure meter, 1 at a clear noon: the light on level ground and the sky's brightness."""
        weights = np.array([0.21, 0.72, 0.07])
        ground = float(weights @ (self.ambient + self.sun * max(float(self.to_sun[2]), 0.0)))
        return 0.5 * ground / _NOON_GROUND + 0.5 * float(weights @ self.haze) / _NOON_SKY


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


def moon_at(latitude: float, longitude: float, utc_offset: float, local_time: datetime) -> tuple[Vector, float]:
    """Unit ENU vector to the moon and its lit share; a naive time is the place's own clock."""
    zone = timezone(timedelta(hours=utc_offset))
    return moon_direction(latitude, longitude, local_time if local_time.tzinfo else local_time.replace(tzinfo=zone))


def lighting(to_sun: Vector, row: Conditions, visibility: float, to_moon: Vector, moon_phase: float) -> Lighting:
    """Light of sun and moon under a weather's conditions with a visibility in m."""
    height = float(to_sun[2])
    degrees = math.degrees(math.asin(max(-1.0, min(1.0, height))))
    day = 10.0 ** float(np.interp(degrees, *_TWILIGHT))
    direct = _ramp(-0.01, 0.12, height)
    red = 1.0 - _ramp(0.0, 0.35, height)
    closed = max(0.0, (row.cloud_cover - 0.5) / 0.5)
    through = (1.0 - 0.95 * closed) * (0.35 + 0.65 * row.dimming)
    sun = np.array([1.75, 1.58 - 0.45 * red, 1.40 - 0.95 * red]) * direct * through
    key = to_sun
    moonlight = MOON * moon_phase**1.5 * _ramp(0.0, 0.25, float(to_moon[2])) * (1.0 - 0.97 * closed)
    if direct <= 0.0:
        key, sun = to_moon, np.array([0.82, 0.92, 1.0]) * moonlight
    open_sky, grey = np.array([0.36, 0.47, 0.66]), np.array([1.06, 1.11, 1.17])
    ambient = (open_sky * (1.0 - closed) + grey * closed * row.dimming) * day
    haze = np.array([0.62, 0.71, 0.82]) * (1.0 - closed) + np.array([0.78, 0.81, 0.85]) * closed * row.dimming
    haze = haze * (1.0 - 0.35 * red * direct)
    zenith = np.array([0.16, 0.32, 0.68]) * (1.0 - closed) + np.array([0.66, 0.70, 0.76]) * closed * row.dimming
    haze, zenith = haze * day, zenith * day
    glow = _ramp(-0.2, -0.02, height) * (1.0 - _ramp(0.1, 0.4, height)) * (1.0 - closed)
    afterglow = np.array([0.62, 0.26, 0.07]) * glow * max(day, 0.02) * 2.2
    if row.yellow:
        tone = 1.0 + row.yellow * (np.array([1.12, 0.80, 0.46]) - 1.0)
        haze, zenith, ambient = haze * tone, zenith * tone * 0.85, ambient * (0.4 + 0.6 * tone)
    night = NIGHT_SKY * (1.0 - 0.55 * closed) + 0.18 * moonlight
    blue = np.array([0.75, 0.9, 1.2])
    ambient = ambient + night * blue
    haze, zenith = haze + 0.55 * night * blue, zenith + 0.35 * night * blue
    stars = (1.0 - closed) * (1.0 - _ramp(-0.25, -0.1, height)) * (1.0 - 0.7 * moonlight / MOON)
    azimuth = math.atan2(to_sun[1], to_sun[0])
    extinction = CONTRAST / visibility
    cover = row.cloud_cover
    return Lighting(
        key, sun, ambient, haze, zenith, extinction, cover, to_moon, moon_phase, stars, afterglow, azimuth, height
    )


def _ramp(low: float, high: float, x: float) -> float:
    t = min(1.0, max(0.0, (x - low) / (high - low)))
    return t * t * (3.0 - 2.0 * t)
