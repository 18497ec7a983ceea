"""Ground to look at: gentle hills on a UTM grid, written by a formula."""

from __future__ import annotations

import numpy as np

from esar_ros.incident.ground import Ground

LATITUDE, LONGITUDE = 34.0, 107.0
CRS = "EPSG:32648"
WEST, NORTH = 684_110.0, 3_764_560.0  # m, so that the middle lies about latitude and longitude
SIDE = 240  # cells


def hills(relief: float = 20.0, cell: float = 5.0, sigma: float = 2.0, lift: float = 0.0) -> Ground:
    """Returns the ground, 1.2 km square, about 1500 m above the sea. relief: m, amplitude; lift: m, added."""
    side = round(SIDE * 5.0 / cell)
    x, y = np.meshgrid((np.arange(side) + 0.5) * cell, (np.arange(side) + 0.5) * cell)
    heights = 1500.0 + relief * (np.sin(x / 90.0) * np.cos(y / 130.0) + 0.4 * np.sin((x + y) / 47.0)) + lift
    return Ground(heights, WEST, NORTH, cell, CRS, sigma)
