"""Rasters as Cloud Optimized GeoTIFF, by rasterio: a file each in a folder, in the system of their UTM zone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import Raster, Search
from esar_ros.incident.formats import words
from esar_ros.mission.errors import UsageError, install
from esar_ros.mission.system.incident_files import file_stem
from esar_ros.scoring.result import write_atomically


def write(search: Search, path: Path) -> None:
    """Writes a search's rasters into a folder, each named after itself. Raises UsageError, also without the extra
    geo."""
    names: set[str] = set()
    for raster in search.rasters:
        name = words.free_name(file_stem(raster.name), names)
        write_atomically(path / f"{name}.tif", geotiff_bytes(raster))


def geotiff_bytes(raster: Raster) -> bytes:
    """Returns a raster's file. Raises UsageError without the extra geo."""
    try:
        import rasterio
        from rasterio.io import MemoryFile
        from rasterio.shutil import copy
    except ImportError:
        raise UsageError("GeoTIFF is written by rasterio, which is not installed", install("geo")) from None

    height, width = raster.values.shape
    place = rasterio.Affine(raster.cell, 0.0, raster.west, 0.0, -raster.cell, raster.north)
    with MemoryFile() as plain, MemoryFile() as optimised:
        with plain.open(
            driver="GTiff", width=width, height=height, count=1, dtype="float32", crs=raster.crs, transform=place,
            nodata=float("nan"),
        ) as file:  # fmt: skip
            file.write(raster.values.astype(np.float32), 1)
            file.set_band_description(1, words.clean(raster.name))
            file.units = (words.clean(raster.unit),)
        with plain.open() as file:
            copy(file, optimised.name, driver="COG", compress="DEFLATE", overview_resampling="average")
        return bytes(optimised.read())
