"""The keep-out zones of a file, with corners in the map frame or as latitude and longitude."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.settings_file import StrictModel, load_settings


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
