"""WGS 84 geodetic coordinates and the local ENU frame of a map."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.frames import Vector, vector

SEMI_MAJOR = 6_378_137.0  # m, WGS 84
FLATTENING = 1.0 / 298.257223563
_E2 = FLATTENING * (2.0 - FLATTENING)


def geodetic_to_ecef(latitude: float, longitude: float, altitude: float) -> Vector:
    """Earth-centred x, y, z in m from degrees and m above the ellipsoid."""
    lat, lon = math.radians(latitude), math.radians(longitude)
    n = SEMI_MAJOR / math.sqrt(1.0 - _E2 * math.sin(lat) ** 2)
    return np.array(
        [
            (n + altitude) * math.cos(lat) * math.cos(lon),
            (n + altitude) * math.cos(lat) * math.sin(lon),
            (n * (1.0 - _E2) + altitude) * math.sin(lat),
        ]
    )


def ecef_to_geodetic(xyz: ArrayLike) -> tuple[float, float, float]:
    """Latitude and longitude in degrees, altitude in m; fixed-point iteration, converged below 1e-9 m."""
    x, y, z = vector(xyz)
    p = math.hypot(x, y)
    lat = math.atan2(z, p * (1.0 - _E2))
    altitude = 0.0
    for _ in range(8):
        n = SEMI_MAJOR / math.sqrt(1.0 - _E2 * math.sin(lat) ** 2)
        altitude = p * math.cos(lat) + z * math.sin(lat) - SEMI_MAJOR**2 / n
        lat = math.atan2(z, p * (1.0 - _E2 * n / (n + altitude)))
    return math.degrees(lat), math.degrees(math.atan2(y, x)), altitude


@dataclass(frozen=True)
class Origin:
    """Geodetic position of a map frame's (0, 0, 0): degrees WGS 84, m above mean sea level."""

    latitude: float
    longitude: float
    altitude: float

    def to_geodetic(self, enu: ArrayLike) -> tuple[float, float, float]:
        """Latitude, longitude (degrees) and altitude (m) of an ENU point (m) of the map frame."""
        return ecef_to_geodetic(self._ecef() + self._axes().T @ vector(enu))

    def to_enu(self, latitude: float, longitude: float, altitude: float) -> Vector:
        """Map-frame ENU (m) of geodetic coordinates."""
        return self._axes() @ (geodetic_to_ecef(latitude, longitude, altitude) - self._ecef())

    def to_level(self, latitude: ArrayLike, longitude: ArrayLike) -> Vector:
        """Returns map-frame east and north (..., 2), m, of points (...) at the origin's altitude, degrees."""
        lat, lon = np.radians(latitude), np.radians(longitude)
        n = SEMI_MAJOR / np.sqrt(1.0 - _E2 * np.sin(lat) ** 2)
        level = (n + self.altitude) * np.cos(lat)
        up = (n * (1.0 - _E2) + self.altitude) * np.sin(lat)
        xyz = np.stack([level * np.cos(lon), level * np.sin(lon), up], axis=-1)
        enu: Vector = (xyz - self._ecef()) @ self._axes()[:2].T
        return enu

    def _ecef(self) -> Vector:
        return geodetic_to_ecef(self.latitude, self.longitude, self.altitude)

    def _axes(self) -> Vector:
        """Rows: east, north, up in ECEF."""
        lat, lon = math.radians(self.latitude), math.radians(self.longitude)
        sl, cl, so, co = math.sin(lat), math.cos(lat), math.sin(lon), math.cos(lon)
        return np.array([[-so, co, 0.0], [-sl * co, -sl * so, cl], [cl * co, cl * so, sl]])
