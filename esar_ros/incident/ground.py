"""The elevation model as a grid in metres (a UTM zone), and straight lines cast upon it.

Grid coordinates are east and north of the zone; their scale differs from true lengths by at most 1 in 1000, which is
less than any error here. Between cell centres heights are bilinear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates  # type: ignore[import-untyped]

from esar_ros.incident.features import Floats, Raster
from esar_ros.mapping.kernels.kernel import inlined, kernel
from esar_ros.mission.errors import UsageError, install
from esar_ros.sim.terrain.map_layers import check_placed, raster_errors, read_heights, refused

ASIDE = 0.25  # of a cell, that a model is taken to lie aside of its place where nobody says it
# m, at most: SRTM's, 12.6 m at 90 % in North America, as one standard deviation of each direction (Rodriguez et al., "A
# global assessment of the SRTM performance", Photogrammetric Engineering and Remote Sensing 72, 2006, table 1)
MOST_ASIDE = 5.9
_WGS84 = "EPSG:4326"


@dataclass(frozen=True)
class Ground:
    """Heights (H, W) of cell centres, m above mean sea level, nan where unknown; row 0 is the northernmost."""

    heights: Floats
    west: float  # m, left edge
    north: float  # m, upper edge
    cell: float  # m
    crs: str  # "EPSG:<code>" of a grid in metres
    sigma: float = 5.0  # m, error of heights, one standard deviation
    aside: float = 0.0  # m, error of where the model lies, in each of two directions

    @staticmethod
    def of(raster: Raster, sigma: float = 5.0) -> Ground:
        """Returns the ground of an elevation raster in metres."""
        heights = np.ascontiguousarray(raster.values, dtype=np.float64)
        aside = min(ASIDE * raster.cell, MOST_ASIDE)
        return Ground(heights, raster.west, raster.north, raster.cell, raster.crs, sigma, aside)

    def coarser(self, cell: float) -> Ground:
        """Returns the same ground by cells of at least a size (m): means of whole blocks."""
        block = math.floor(cell / self.cell + 1e-9)
        if block < 2:
            return self
        rows, columns = (count // block for count in self.heights.shape)
        blocks = self.heights[: rows * block, : columns * block].reshape(rows, block, columns, block)
        return replace(self, heights=np.ascontiguousarray(blocks.mean(axis=(1, 3))), cell=self.cell * block)

    @cached_property
    def _transformers(self) -> tuple[Any, Any, Any]:
        try:
            import pyproj
        except ImportError:
            raise UsageError("elevation models need pyproj", install("geo")) from None
        to_grid = pyproj.Transformer.from_crs(_WGS84, self.crs, always_xy=True)
        back = pyproj.Transformer.from_crs(self.crs, _WGS84, always_xy=True)
        return to_grid, back, pyproj.Proj(self.crs)

    def to_grid(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Returns east and north (m) of degrees."""
        x, y = self._transformers[0].transform(longitude, latitude)
        return float(x), float(y)

    def on_grid(self, places: Floats) -> Floats:
        """Returns east and north (N, 2; m) of longitudes and latitudes (N, 2; degrees)."""
        return np.stack(self._transformers[0].transform(places[:, 0], places[:, 1]), axis=1)

    def cells(self, latitude: Floats, longitude: Floats) -> Floats:
        """Returns columns and rows (N, 2), in cells from the upper left corner, of degrees (N,)."""
        return (self.on_grid(np.stack([longitude, latitude], axis=1)) - (self.west, self.north)) / (
            self.cell,
            -self.cell,
        )

    def to_geodetic(self, x: float, y: float) -> tuple[float, float]:
        """Returns latitude and longitude in degrees of east and north (m)."""
        longitude, latitude = self._transformers[1].transform(x, y)
        return float(latitude), float(longitude)

    def convergence(self, latitude: float, longitude: float) -> float:
        """Returns by how many degrees grid north lies clockwise of true north."""
        return float(self._transformers[2].get_factors(longitude, latitude).meridian_convergence)

    def height(self, x: float, y: float) -> float:
        """Returns the height (m above the sea) at east and north (m); nan where it is not known."""
        return float(height_at(self.heights, (x - self.west) / self.cell, (self.north - y) / self.cell))

    def under(self, latitude: Floats, longitude: Floats) -> Floats:
        """Returns the heights (N,) below positions in degrees (N,); nan where they are not known."""
        column, row = self.cells(latitude, longitude).T - 0.5
        return np.asarray(map_coordinates(self.heights, [row, column], order=1, mode="constant", cval=np.nan))

    def cast(self, origin: NDArray[np.float64], direction: NDArray[np.float64], reach: float) -> float:
        """Returns how far (m) along a direction (3,) of length 1 a line from a point (3,) first meets the ground; nan
        where it does not within the reach (m), or leaves what is known."""
        start = np.array([(origin[0] - self.west) / self.cell, (self.north - origin[1]) / self.cell, origin[2]])
        step = np.array([direction[0] / self.cell, -direction[1] / self.cell, direction[2]])
        return float(cast(self.heights, start, step, reach, self.cell / 2.0))


def read_ground(path: Path, about: tuple[float, float] | None = None, sigma: float = 5.0) -> Ground:
    """Returns the ground of any raster of heights above the sea that GDAL reads, brought to a UTM zone.

    about: latitude and longitude (degrees) whose zone is taken, where they lie on it; None: its middle's.

    Raises UsageError where it is none, or does not say its coordinate system.
    """
    try:
        import rasterio
        from rasterio.warp import Resampling, calculate_default_transform, reproject
    except ImportError:
        raise UsageError(f"{path}: elevation models need rasterio", install("geo")) from None
    try:
        with rasterio.open(path) as dataset:
            check_placed(dataset, path)
            values = read_heights(dataset, path)
            crs = utm_zone(*_middle_of(dataset) if about is None or not _reaches(dataset, *about) else about)
            place, width, height = calculate_default_transform(
                dataset.crs, crs, dataset.width, dataset.height, *dataset.bounds
            )
            side = math.sqrt(abs(place.a * place.e))
            heights = np.full((height, width), np.nan)
            reproject(
                values, heights, src_transform=dataset.transform, src_crs=dataset.crs, src_nodata=np.nan,
                dst_transform=rasterio.Affine(side, 0.0, place.c, 0.0, -side, place.f), dst_crs=crs,
                dst_nodata=np.nan, resampling=Resampling.bilinear,
            )  # fmt: skip
    except raster_errors() as error:
        raise refused(path, "elevation model", error, "give a GeoTIFF with heights") from None
    return Ground(heights, place.c, place.f, side, crs, sigma)


def _middle_of(dataset: Any) -> tuple[float, float]:
    """Returns the latitude and longitude (degrees) of a raster's middle."""
    from rasterio.warp import transform

    x, y = dataset.xy(dataset.height // 2, dataset.width // 2)
    (longitude,), (latitude,) = transform(dataset.crs, _WGS84, [x], [y])
    return float(latitude), float(longitude)


def _reaches(dataset: Any, latitude: float, longitude: float) -> bool:
    """Returns whether a place (degrees) lies on a raster, whose longitudes may count to 360."""
    from rasterio.warp import transform

    (x,), (y,) = transform(_WGS84, dataset.crs, [longitude], [latitude])
    inverse = ~dataset.transform
    for east in (x, x + 360.0, x - 360.0) if dataset.crs.is_geographic else (x,):
        column, row = inverse.a * east + inverse.b * y + inverse.c, inverse.d * east + inverse.e * y + inverse.f
        if 0.0 <= column <= dataset.width and 0.0 <= row <= dataset.height:
            return True
    return False


def utm_zone(latitude: float, longitude: float) -> str:
    """Returns the UTM zone of a place, as "EPSG:<code>"; longitudes may count to 360."""
    east = longitude if abs(longitude) <= 180.0 else (longitude + 180.0) % 360.0 - 180.0
    return f"EPSG:{(32600 if latitude >= 0.0 else 32700) + min(60, int((east + 180.0) // 6.0) + 1)}"


@inlined
def height_at(heights: NDArray[np.float64], column: float, row: float) -> float:
    """Returns the height at a place in cells from the upper left corner, nan beside the centres of all."""
    u, v = column - 0.5, row - 0.5
    rows, columns = heights.shape
    if not (0.0 <= u <= columns - 1 and 0.0 <= v <= rows - 1):
        return math.nan
    i, j = min(int(u), columns - 2), min(int(v), rows - 2)
    a, b = u - i, v - j
    upper = (1.0 - a) * heights[j, i] + a * heights[j, i + 1]
    lower = (1.0 - a) * heights[j + 1, i] + a * heights[j + 1, i + 1]
    return float((1.0 - b) * upper + b * lower)


@kernel
def cast(
    heights: NDArray[np.float64], start: NDArray[np.float64], step: NDArray[np.float64], reach: float, stride: float
) -> float:
    """Returns the metres to the ground along a line; start and step a metre: columns, rows, height.

    The line is followed in strides (m) until it is below the ground, and there halved to a centimetre.
    """
    below, at = False, 0.0
    last = 0.0
    while at <= reach:
        ground = height_at(heights, start[0] + at * step[0], start[1] + at * step[1])
        if math.isnan(ground):
            return math.nan
        if start[2] + at * step[2] <= ground:
            below = True
            break
        last = at
        at += stride
    if not below or at == 0.0:
        return math.nan
    while at - last > 0.01:
        middle = 0.5 * (at + last)
        ground = height_at(heights, start[0] + middle * step[0], start[1] + middle * step[1])
        if start[2] + middle * step[2] <= ground:
            at = middle
        else:
            last = middle
    return at
