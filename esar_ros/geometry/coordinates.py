"""Positions in words that other people's maps, radios and phones take: WGS 84 degrees, UTM and MGRS.

UTM is computed by pygeodesy after Karney (Transverse Mercator with an accuracy of a few nanometers, 2011), MGRS follows
NGA.STND.0037 (2014): the reference names a square of 1 m by its south-west corner, so digits are cut off and never
rounded. UTM is written likewise, so that both name the same square. Poleward of 84° N and 80° S neither is defined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from pygeodesy.mgrs import parseMGRS  # type: ignore[import-untyped]
from pygeodesy.utm import Utm, toUtm8  # type: ignore[import-untyped]

CHI_SQUARE_95 = 5.991  # two degrees of freedom: an ellipse of this squared radius holds 95 %
SOUTHERNMOST, NORTHERNMOST = -80.0, 84.0  # degrees, of UTM


@dataclass(frozen=True)
class GridPosition:
    """A position in its zone of UTM."""

    zone: int  # 1 to 60
    band: str  # of latitude, C to X, as MGRS letters it
    easting: float  # m
    northing: float  # m
    convergence: float  # degrees clockwise from true north to grid north
    mgrs: str  # to 1 m

    @property
    def utm(self) -> str:
        """Zone with its band, easting and northing in whole metres, e.g. "48S 713353 3764698"."""
        return f"{self.zone}{self.band} {int(self.easting)} {int(self.northing)}"

    @property
    def crs(self) -> str:
        """Code of the zone's reference system, e.g. "EPSG:32648"."""
        return f"EPSG:{(32600 if self.band >= 'N' else 32700) + self.zone}"


def grid_position(latitude: float, longitude: float) -> GridPosition | None:
    """Returns where a point (degrees WGS 84) lies in UTM; None where UTM is not defined."""
    if not SOUTHERNMOST <= latitude < NORTHERNMOST:
        return None
    utm = toUtm8(round(latitude, 12) + 0.0, longitude)  # the least latitudes south are given a northern band
    square = utm.toMgrs()
    mgrs = f"{utm.zone:02d}{utm.band}{square.EN}{int(utm.easting) % 100_000:05d}{int(utm.northing) % 100_000:05d}"
    return GridPosition(utm.zone, utm.band, utm.easting, utm.northing, utm.convergence, mgrs)


def tell_position(latitude: float, longitude: float, error: float | None = None) -> str:
    """Returns a position (degrees WGS 84) in a line: degrees, UTM and MGRS, e.g.
    "34.00123, 107.31012 ±6 m · 48S 713353 3764698 · MGRS 48SYC1335364698".

    error: m, radius of the circle that holds 95 %; None: not known, and nothing is told of it.
    """
    grid = grid_position(latitude, longitude)
    return joined(latitude, longitude, error, *(("", "") if grid is None else (grid.utm, grid.mgrs)))


def joined(latitude: float, longitude: float, error: float | None, utm: str, mgrs: str) -> str:
    """As tell_position, of what is known already; utm and mgrs are empty where they are not defined."""
    words = f"{latitude:.5f}, {longitude:.5f}{tell_error(error)}"
    return f"{words} · {utm} · MGRS {mgrs}" if utm else words


def radius_95(covariance: ArrayLike) -> float | None:
    """Returns the radius (m) of the circle about the ellipse that holds 95 % of a level error; None: not known.

    covariance: (2, 2) m², of which each number must be finite.
    """
    level = np.asarray(covariance, dtype=np.float64)
    if not np.isfinite(level).all():
        return None
    return math.sqrt(max(float(np.linalg.eigvalsh(level)[-1]), 0.0) * CHI_SQUARE_95)


def tell_error(error: float | None) -> str:
    """Returns an error (m) with its sign, rounded up to whole metres from 1 m on; empty where none is known."""
    if error is None:
        return ""
    return f" ±{error:.1f} m" if error < 1.0 else f" ±{math.ceil(error)} m"


def read_utm(zone: int, hemisphere: str, easting: float, northing: float) -> tuple[float, float]:
    """Returns latitude and longitude (degrees WGS 84) of UTM coordinates (m). Raises ValueError.

    hemisphere: N or S.
    """
    latitude, longitude, *_ = Utm(zone, hemisphere, easting, northing).toLatLon()
    return float(latitude), float(longitude)


def read_mgrs(text: str) -> tuple[float, float]:
    """Returns latitude and longitude (degrees WGS 84) of the middle of the square that an MGRS reference names.

    Raises ValueError.
    """
    latitude, longitude, *_ = parseMGRS(text).toLatLon(center=True)
    return float(latitude), float(longitude)
