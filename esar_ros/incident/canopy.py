"""Canopy: the share of the ground under crowns, of any raster that tells it, by the cells of a ground.

Through crowns that stand at random, each opaque, a line of sight is free with the power 1 / cos(zenith) of the share
that is free straight above: Li and Strahler (*Geometric-Optical Bidirectional Reflectance Modeling of the Discrete
Crown Vegetation Canopy*, IEEE Transactions on Geoscience and Remote Sensing 30, 1992), for round crowns.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.mission.errors import UsageError, install
from esar_ros.sim.terrain.map_layers import check_placed, check_size, raster_errors, refused, window_about

_WHOLE = 100.0  # percent


def read_canopy(path: Path, ground: Ground) -> Floats:
    """Returns the share (H, W) of each cell that lies under crowns, nan where the raster does not tell.

    The raster holds percent (Hansen's tree cover, Copernicus' tree cover density, NLCD's canopy), or shares of 1 as
    fractions; what exceeds 100 is no data. Raises UsageError where it is none, says no coordinate system, or does not
    reach the ground.
    """
    try:
        import rasterio
        from rasterio.warp import Resampling, reproject
    except ImportError:
        raise UsageError(f"{path}: canopy needs rasterio", install("geo")) from None
    out = np.full(ground.heights.shape, np.nan)
    try:
        with rasterio.open(path) as dataset:
            check_placed(dataset, path)
            is_fraction = np.dtype(dataset.dtypes[0]).kind == "f" or dataset.scales[0] != 1.0
            rows, columns = ground.heights.shape
            east, south = ground.west + columns * ground.cell, ground.north - rows * ground.cell
            # Whether fractions are percent, the whole raster tells alone.
            about = None if is_fraction else window_about(dataset, ground.crs, (ground.west, south, east, ground.north))
            if about is None:
                check_size(path, dataset.width, dataset.height)
            values = dataset.read(1, masked=True, window=about).astype(np.float64).filled(np.nan)
            values = values * dataset.scales[0] + dataset.offsets[0]
            values[(values < 0.0) | (values > _WHOLE)] = np.nan
            place = dataset.transform if about is None else dataset.window_transform(about)
            reproject(
                values, out, src_transform=place, src_crs=dataset.crs, src_nodata=np.nan,
                dst_transform=rasterio.Affine(ground.cell, 0.0, ground.west, 0.0, -ground.cell, ground.north),
                dst_crs=ground.crs, dst_nodata=np.nan, resampling=Resampling.average,
            )  # fmt: skip
            is_share = is_fraction and not np.nanmax(values, initial=0.0) > 1.0
    except raster_errors() as error:
        raise refused(path, "raster", error, "give a GeoTIFF with percent") from None
    if not np.isfinite(out).any():
        raise UsageError(f"{path} does not reach the map", "give one of this place, in percent of ground under crowns")
    return out if is_share else out / _WHOLE
