"""A small elevation model with a known place on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SOUTH, WEST, SIDE = 44.2, -71.4, 0.1  # degrees: a model of 8 by 11 km
IPP = "44.2500,-71.3500"


def elevation_model(path: Path) -> Path:
    """Writes hills of 120 m about 900 m above the sea as a GeoTIFF in WGS 84; returns its path."""
    import rasterio

    x, y = np.meshgrid(np.linspace(0.0, 20.0, 400), np.linspace(0.0, 25.0, 400))
    heights = (900.0 + 120.0 * np.sin(x) * np.cos(y)).astype(np.float32)
    place = rasterio.Affine(SIDE / 400, 0.0, WEST, 0.0, -SIDE / 400, SOUTH + SIDE)
    with rasterio.open(
        path, "w", driver="GTiff", width=400, height=400, count=1, dtype="float32", crs="EPSG:4326", transform=place
    ) as file:
        file.write(heights, 1)
    return path
