"""Direction of the moon and lit share of its disc, to about half a degree."""

from __future__ import annotations

import math
from datetime import datetime, timezone

import numpy as np

from esar_ros.geometry.frames import Vector


def moon_direction(latitude: float, longitude: float, when: datetime) -> tuple[Vector, float]:
    """Unit ENU vector to the moon and the lit share of its disc, 0 new .. 1 full.

    Degrees; `when` must carry its zone. Series of Meeus, "Astronomical Algorithms", 1998, chapter 47, cut to the
    terms above 0.2 degrees; parallax is left out (it lowers the moon by up to a degree).
    """
    days = (when - datetime(2000, 1, 1, 12, tzinfo=timezone.utc)).total_seconds() / 86400.0
    t = days / 36525.0
    rad = math.radians
    length = rad(218.3164477 + 481267.88123421 * t)
    elongation = rad(297.8501921 + 445267.1114034 * t)
    sun_anomaly = rad(357.5291092 + 35999.0502909 * t)
    anomaly = rad(134.9633964 + 477198.8675055 * t)
    node = rad(93.2720950 + 483202.0175233 * t)
    longitude_ecliptic = length + rad(
        6.289 * math.sin(anomaly)
        + 1.274 * math.sin(2 * elongation - anomaly)
        + 0.658 * math.sin(2 * elongation)
        + 0.214 * math.sin(2 * anomaly)
        - 0.185 * math.sin(sun_anomaly)
    )
    latitude_ecliptic = rad(5.128 * math.sin(node) + 0.281 * math.sin(anomaly + node))
    sun_longitude = rad(280.46646 + 36000.76983 * t) + rad(1.915 * math.sin(sun_anomaly))
    tilt = rad(23.4393 - 0.0130 * t)
    x = math.cos(latitude_ecliptic) * math.cos(longitude_ecliptic)
    y = math.cos(latitude_ecliptic) * math.sin(longitude_ecliptic)
    z = math.sin(latitude_ecliptic)
    right_ascension = math.atan2(y * math.cos(tilt) - z * math.sin(tilt), x)
    declination = math.asin(y * math.sin(tilt) + z * math.cos(tilt))
    sidereal = rad(280.46061837 + 360.98564736629 * days + longitude)
    angle = sidereal - right_ascension
    lat = rad(latitude)
    east = -math.cos(declination) * math.sin(angle)
    north = math.sin(declination) * math.cos(lat) - math.cos(declination) * math.sin(lat) * math.cos(angle)
    up = math.sin(declination) * math.sin(lat) + math.cos(declination) * math.cos(lat) * math.cos(angle)
    lit = 0.5 * (1.0 - math.cos(latitude_ecliptic) * math.cos(longitude_ecliptic - sun_longitude))
    return np.array([east, north, up]), lit
