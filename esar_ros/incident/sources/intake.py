"""The intake of foreign files: what a reader is told of the search, and one line on each thing that is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import time as time_now

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pygeodesy.formy import haversine  # type: ignore[import-untyped]

from esar_ros.bags.flight_logs.flight_log import YEAR_2000
from esar_ros.incident.features import Floats, Mover, Position, Track, wrapped

DAY = 86_400.0  # s
FAR = 50_000.0  # m from the search's place, beyond which nothing belongs to it
_NULL_ISLAND = 1e-3  # degrees about 0, 0, where a receiver without a fix puts everybody
_SWAPPED = ("its latitude and longitude are swapped", "mend the file")


@dataclass
class Intake:
    """The facts of a search that readers are told, and all that they say of its files.

    A fault that many files share is kept once, with a count, so that 100,000 photographs take no more memory than one.
    """

    near: Position | None = None  # where the search is; None: not known, and nothing is held against it
    undulation: float | None = None  # m, of the geoid (EGM96) above the ellipsoid there
    utc_offset: float | None = None  # h, of clocks that do not state theirs
    _faults: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)

    def fault(self, where: Path | str, what: str, cure: str) -> None:
        """Notes that something of a file is left out or in doubt, and how that is mended."""
        first, count = self._faults.get((what, cure), (str(where), 0))
        self._faults[what, cure] = first, count + 1

    @property
    def faults(self) -> list[str]:
        """One line a fault: the first file that has it, and how many more do."""
        return [
            f"{first}{f' and {count - 1} more' * (count > 1)}: {what}: {cure}"
            for (what, cure), (first, count) in self._faults.items()
        ]

    def why_not(self, latitude: ArrayLike, longitude: ArrayLike) -> tuple[str, str] | None:
        """Returns what is wrong with coordinates (degrees) as a whole, and how to mend it; None where nothing is.

        The words hold no numbers, so that files with the same fault are counted under one.
        """
        lat, lon = np.asarray(latitude, dtype=np.float64), np.asarray(longitude, dtype=np.float64)
        middle = 0.0 if self.near is None else self.near.longitude  # about which longitudes are counted
        here = (float(np.median(lat)), float(np.median((lon - middle + 180.0) % 360.0 - 180.0)) + middle)
        if abs(here[0]) > 90.0 >= abs(here[1]):
            return _SWAPPED
        if self.near is None or distance(here, self.near) <= FAR:
            return None
        if distance((here[1], here[0]), self.near) <= FAR:
            return _SWAPPED
        if any(distance((here[0] * a, here[1] * b), self.near) <= FAR for a, b in ((-1, 1), (1, -1), (-1, -1))):
            return "north, south, east or west is lost from its coordinates", "mend the file"
        return f"it lies more than {FAR / 1000:.0f} km from the search", "give files of this search"

    def why_not_area(self, outline: Floats) -> tuple[str, str] | None:
        """As why_not, of a polygon's longitudes and latitudes (N, 2; degrees): it may be large, and reach the search
        from afar."""
        if self.near is not None and np.abs(outline[:, 1]).max() <= 90.0:
            from shapely import Point, Polygon
            from shapely.ops import nearest_points

            nearest = nearest_points(Polygon(outline), Point(self.near.longitude, self.near.latitude))[0]
            if distance((nearest.y, nearest.x), self.near) <= FAR:
                return None
        return self.why_not(outline[:, 1], outline[:, 0])

    def track(
        self,
        path: Path,
        name: str,
        mover: Mover,
        latitude: Sequence[float] | Floats,
        longitude: Sequence[float] | Floats,
        altitude: Sequence[float] | Floats,
        time: Sequence[float] | Floats,
    ) -> list[Track]:
        """Returns the track through points, in the order of time; none, and a line why, where they make none.

        Points without a position are left out, and those that lie far from the search: there it is parted. Units as of
        Track; all of length N.
        """
        lat, lon, alt, when = (np.asarray(each, dtype=np.float64) for each in (latitude, longitude, altitude, time))
        placed = is_placed(lat, lon)
        if lost := int((~placed).sum()):
            self.fault(path, f"{name}: {lost} of {len(placed)} points have no position", "they are left out")
        if placed.sum() < 2:
            self.fault(path, f"{name} holds fewer than two positions", "give a file with a track")
            return []
        if wrong := self.why_not(lat[placed], lon[placed]):
            self.fault(path, f"{name}: {wrong[0]}", wrong[1])
            return []
        lat, lon, alt, when = lat[placed], wrapped(lon[placed]), alt[placed], when[placed]
        with np.errstate(invalid="ignore"):
            impossible = (when < YEAR_2000) | (when > time_now() + DAY)
        if impossible.any():
            words = f"{name}: {int(impossible.sum())} of {len(when)} times lie before 2000 or in the future"
            self.fault(path, words, "they are left out: set the clock")
            when = np.where(impossible, np.nan, when)
        order = np.argsort(when, kind="stable")
        if np.isfinite(when).all() and (order != np.arange(len(order))).any():
            self.fault(path, f"{name}: its clock goes back", "points are put in the order of their times")
            lat, lon, alt, when = lat[order], lon[order], alt[order], when[order]
        here = self._is_here(lat, lon)
        if away := int((~here).sum()):
            words = f"{name}: {away} of {len(here)} points lie more than {FAR / 1000:.0f} km from the search"
            self.fault(path, words, "they are left out, and it is parted there")
        parts = [part for part in np.split(np.arange(len(here)), np.flatnonzero(~here)) if here[part].sum() > 1]
        tracks = []
        for number, part in enumerate(parts, start=1):
            own, kept = name if len(parts) == 1 else f"{name}, part {number}", part[here[part]]
            tracks.append(Track(own, mover, lat[kept], lon[kept], alt[kept], when[kept], path.name))
        return tracks

    def _is_here(self, latitude: Floats, longitude: Floats) -> NDArray[np.bool_]:
        """Returns which points (N,; degrees) are on Earth, and not far from the search."""
        near = self.near
        if near is None:
            return np.asarray(np.abs(latitude) <= 90.0)
        return np.array([distance(at, near) <= FAR for at in zip(latitude, longitude, strict=True)], dtype=np.bool_)

    def above_sea(self, ellipsoidal: Floats, path: Path, name: str) -> Floats:
        """Returns heights above the sea (m) of heights above the ellipsoid; nan, and a line why, where the geoid's
        height is not known."""
        if self.undulation is not None:
            return ellipsoidal - self.undulation
        self.fault(
            path, f"{name}: heights above the ellipsoid are left out", "say how high the geoid is there: --geoid M"
        )
        return np.full_like(ellipsoidal, np.nan)


def is_placed(latitude: Floats, longitude: Floats) -> NDArray[np.bool_]:
    """Returns which points are somewhere: finite, on Earth (either way round), not where a receiver has no fix."""
    with np.errstate(invalid="ignore"):
        on_earth = (np.abs(latitude) <= 180.0) & (np.abs(longitude) <= 180.0)
        nowhere = (np.abs(latitude) < _NULL_ISLAND) & (np.abs(longitude) < _NULL_ISLAND)
    return on_earth & ~nowhere


def distance(a: tuple[float, float], b: Position) -> float:
    """Returns the distance (m) on a sphere, of latitude and longitude in degrees (haversine); inf where a is not on
    Earth."""
    if abs(a[0]) > 90.0:
        return math.inf
    return float(haversine(*a, b.latitude, b.longitude))
