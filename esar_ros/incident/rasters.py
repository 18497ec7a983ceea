"""Rasters of an incident: what each holds, where it lies in the folder, and one on another's grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import Floats, Raster
from esar_ros.incident.ground import Ground
from esar_ros.mission.errors import UsageError, install

POA, POD, ELEVATION = "probability of area", "probability of detection", "m above mean sea level"
POD_ON_FOOT = "probability of detection on foot"
CANOPY, OFFSET = "share of ground under crowns", "m to the nearest trail or road"
FOLDERS = {POA: "poa", POD: "pod", POD_ON_FOOT: "pod", ELEVATION: "map", CANOPY: "map", OFFSET: "map"}  # by the unit


def raster_on(ground: Ground, values: Floats, name: str, unit: str) -> Raster:
    """Returns values (H, W) of a ground's cells as a raster, in single precision."""
    return Raster(name, values.astype(np.float32), ground.west, ground.north, ground.cell, ground.crs, unit)


def read_raster(path: Path, name: str, unit: str) -> Raster:
    """Returns a raster of an incident's folder."""
    import rasterio

    with rasterio.open(path) as dataset:
        place = dataset.transform
        return Raster(name, dataset.read(1), place.c, place.f, place.a, dataset.crs.to_string(), unit)


def on_raster(target: Raster, source: Raster) -> Floats:
    """Returns the means (H, W) of a raster's cells within each of another's, held to 0 to 1; 0 where it holds none."""
    try:
        from rasterio import Affine
        from rasterio.warp import Resampling, reproject
    except ImportError as error:
        raise UsageError(f"rasters need {error.name}", install("geo")) from None
    out = np.zeros(target.values.shape)

    def place(raster: Raster) -> object:
        return Affine(raster.cell, 0.0, raster.west, 0.0, -raster.cell, raster.north)

    reproject(
        np.nan_to_num(source.values.astype(np.float64)), out, src_transform=place(source), src_crs=source.crs,
        dst_transform=place(target), dst_crs=target.crs, resampling=Resampling.average,
    )  # fmt: skip
    return np.clip(np.nan_to_num(out), 0.0, 1.0)
