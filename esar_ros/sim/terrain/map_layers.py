"""Layers of an imported map: its elevation model's heights, and an orthophoto, land cover, tracks beside it.

Each is a file of a GIS in any coordinate system and comes onto the map's own square. Photographs stay their owner's:
the map file names what was made of them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.sim.terrain.drawings import projection, read_drawing
from esar_ros.sim.terrain.land_cover import UNKNOWN, LandCover
from esar_ros.sim.terrain.relief import surface_normals

# GDAL's drivers of plain files. Others, such as VRT, name further files and addresses to be read.
DRIVERS = ("GTiff", "AAIGrid", "DTED", "EHdr", "ENVI", "HFA", "SRTMHGT", "USGSDEM")
PICTURES = ("GTiff", "JP2OpenJPEG", "PNG", "JPEG", "HFA", "ENVI")
MOST_TEXELS = 2048  # of a photograph along the map's side, as many as the ground's texture has
_FOOT, _SURVEY_FOOT = 0.3048, 1200.0 / 3937.0  # m
_METRES = {  # of the units that rasters' bands name
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), 1.0),
    **dict.fromkeys(("ft", "foot", "feet", "international foot"), _FOOT),
    **dict.fromkeys(("us-ft", "ftus", "us survey foot", "us survey feet", "us_survey_foot"), _SURVEY_FOOT),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), 0.01),
}
_NO_GEOID = "give one above the sea: gdalwarp -t_srs EPSG:4326+5773 subtracts the geoid"
_PLAUSIBLE = (-500.0, 9000.0)  # m; what lies outside counts as no data
_MOST_CELLS = 200_000_000  # of a raster, that are unpacked at once
_PAD = 16  # cells about a part of a raster
TRACK_WIDTH = 1.5  # m, where a file does not say `width`
# ESA WorldCover's classes (Zanaga et al., WorldCover 10 m 2021 v200, product user manual, table 3).
WORLD_COVER: Mapping[int, LandCover] = {
    10: LandCover.FOREST,
    20: LandCover.SCRUB,
    30: LandCover.GRASS,
    40: LandCover.GRASS,  # cropland
    50: LandCover.PAVED,  # built-up
    70: LandCover.SNOW,
    80: LandCover.WATER,
    90: LandCover.GRASS,  # herbaceous wetland
    95: LandCover.FOREST,  # mangroves
    100: LandCover.GRASS,  # moss and lichen
}
BARE = 60  # and sparse vegetation: what lies bare is the character's
_BARE_BY_CHARACTER = {"desert": LandCover.GOBI, "coastal": LandCover.DIRT}  # of others: boulders
_CLIFF = 0.8  # rise over run from which bare ground is bedrock
_LEVEL = 0.12  # rise over run of water at most: what a coarse raster calls water on a slope is not
_LONGEST = 64  # tracks that are taken at most, the longest ones
_STEP = 2.0  # m that a simplified track may lie aside
_KEPT = 10.0  # m, shortest piece of a track on the map
_FIT_EVERY = 8  # texels between those that the photograph's own light is fitted on
_DIMMEST = 0.25  # of the mean light: darker slopes are not brightened more


@dataclass(frozen=True)
class Square:
    """The map's square: x east and y north of a point on the Earth, in an azimuthal equidistant projection, m."""

    latitude: float  # degrees
    longitude: float  # degrees
    size: float  # m, side

    @property
    def projection(self) -> str:
        """The projection as PROJ reads it."""
        return f"+proj=aeqd +lat_0={self.latitude} +lon_0={self.longitude} +datum=WGS84 +units=m"


def read_photo(path: Path, square: Square, altitudes: NDArray[np.float64]) -> bytes:
    """Returns a photograph's albedo as a PNG (RGBA): square roots of linear colour, rows south to north.

    The photograph's own light is taken out of it: the sun and sky that explain its brightness best by the normals of
    the ground (Lambert; least squares) are divided out. Where it shows nothing, alpha is 0. Raises UsageError.
    """
    texels = min(2 * (altitudes.shape[0] - 1), MOST_TEXELS)
    bands, seen = _on_square(path, square, texels, 3, average=True)
    if not seen.any():
        raise UsageError(f"{path} does not reach the map", "give a photograph of this place")
    bright = float(np.percentile(bands[:, seen], 99.9))
    whole = 255.0 if bright <= 255.0 else 65_535.0 if bright > 20_000.0 else bright  # 16 bits are seldom used up
    share = np.clip(np.moveaxis(bands, 0, -1) / whole, 0.0, 1.0)
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    cell = square.size / (altitudes.shape[0] - 1)
    light = _own_light(linear, seen, surface_normals(altitudes.astype(np.float32), cell))
    albedo = np.clip(255.0 * np.sqrt(linear / light[..., None]), 0.0, 255.0)
    picture = np.dstack([np.where(seen[..., None], albedo, 0.0), 255.0 * seen]).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(picture, "RGBA").save(buffer, "PNG")
    return buffer.getvalue()


def _own_light(linear: NDArray[Any], seen: NDArray[np.bool_], normals: NDArray[np.float32]) -> NDArray[np.float64]:
    """Returns the light (rows, columns) on each texel as the photograph was taken, 1 in the mean."""
    import cv2

    texels = linear.shape[0]
    turned = cv2.resize(normals, (texels, texels), interpolation=cv2.INTER_LINEAR).astype(np.float64)
    grey = linear @ np.array([0.2126, 0.7152, 0.0722])  # of Rec. 709
    some = seen[::_FIT_EVERY, ::_FIT_EVERY]
    fit, *_ = np.linalg.lstsq(
        turned[::_FIT_EVERY, ::_FIT_EVERY][some], grey[::_FIT_EVERY, ::_FIT_EVERY][some], rcond=None
    )
    shading = turned @ fit
    shading = np.maximum(shading, _DIMMEST * max(float(shading[seen].mean()), 1e-6))
    return np.asarray(shading / shading[seen].mean())


def read_cover(
    path: Path, square: Square, character: str, altitudes: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], float]:
    """Returns land cover (n, n) by a raster of ESA WorldCover's classes, UNKNOWN where it tells none, and its share.

    Raises UsageError where the raster holds none of the classes here.
    """
    samples = altitudes.shape[0]
    bands, seen = _on_square(path, square, samples, 1, average=False)
    classes = np.where(seen, np.nan_to_num(bands[0]), 0.0)
    out = np.full((samples, samples), UNKNOWN, dtype=np.uint8)
    for number, kind in WORLD_COVER.items():
        out[classes == number] = kind
    north, east = np.gradient(altitudes, square.size / (samples - 1))
    slope = np.hypot(east, north)
    bare = classes == BARE
    out[bare] = _BARE_BY_CHARACTER.get(character, LandCover.BLOCKFIELD)
    out[bare & (slope > _CLIFF)] = LandCover.ROCK
    out[(out == LandCover.WATER) & (slope > _LEVEL)] = UNKNOWN
    known = float((out != UNKNOWN).mean())
    if not known:
        have = ", ".join(f"{value:g}" for value in np.unique(classes[seen])[:8]) or "nothing"
        raise UsageError(
            f"{path} holds none of ESA WorldCover's classes on the map; it has {have}",
            f"give a raster of {', '.join(map(str, sorted([*WORLD_COVER, BARE])))} (docs/reference/maps.md)",
        )
    return out, known


def read_tracks(path: Path, square: Square) -> dict[str, dict[str, Any]]:
    """Returns the lines of a vector file on the map as tracks of a map file, by names. Raises UsageError."""
    if not path.is_file():
        raise UsageError(f"{path} is not there", "give lines as GeoJSON, GeoPackage, Shapefile, KML or GPX")
    drawing = read_drawing(path)
    import shapely

    half = square.size / 2
    box = shapely.box(-half, -half, half, half)
    pieces: list[tuple[str, float, Any]] = []
    try:
        for layer in drawing.layers:
            if layer.system is None:
                raise UsageError(f"{path} does not say its coordinate system", "write it in WGS 84 (EPSG:4326)")
            project = projection(path, layer.system, square.projection)
            for row, geometry in enumerate(layer.shapes):
                moved = shapely.transform(geometry, lambda at, to=project: np.stack(to(at[:, 0], at[:, 1]), axis=1))
                for line in lines_of(shapely.intersection(moved, box)):
                    if line.length >= _KEPT:
                        pieces.append((*_told(layer.fields, row), line.simplify(_STEP)))
    except UsageError:
        raise
    except Exception as error:  # of GEOS and PROJ, which have no common name
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "export it again") from None
    if not pieces:
        raise UsageError(f"{path}: no line of it comes onto the map", "give tracks and roads of this place, as lines")
    pieces.sort(key=lambda piece: -piece[2].length)
    out: dict[str, dict[str, Any]] = {}
    for name, width, line in pieces[:_LONGEST]:
        free = next(each for each in _names(name) if each not in out)
        via = [[round(float(x), 2), round(float(y), 2)] for x, y in np.clip(np.array(line.coords)[:, :2], -half, half)]
        out[free] = {"via": via, "width": width, "straight": True}
    return out


def _told(fields: Mapping[str, Any], row: int) -> tuple[str, float]:
    """Returns a line's name and width (m)."""
    name = str(fields["name"][row]).strip() if "name" in fields and fields["name"][row] is not None else ""
    try:
        width = float(fields["width"][row])
    except (KeyError, TypeError, ValueError):
        width = TRACK_WIDTH
    return name if name and name != "nan" else "track", width if 0.3 <= width <= 12.0 else TRACK_WIDTH


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name} {number}"
        number += 1


def lines_of(geometry: Any) -> list[Any]:
    """Returns the lines of a geometry of shapely, those in collections too."""
    if geometry is None or geometry.is_empty:
        return []
    if geometry.geom_type == "LineString":
        return [geometry]
    return [line for part in getattr(geometry, "geoms", []) for line in lines_of(part)]


def open_raster(path: Path, drivers: Sequence[str]) -> Any:
    """Returns a raster of one of the formats, opened. Raises UsageError, or RasterioError where it is damaged."""
    import rasterio

    for driver in drivers:  # open() takes one at a time
        with suppress(rasterio.errors.RasterioIOError):
            return rasterio.open(path, driver=driver)
    raise UsageError(f"{path} is not a raster of {', '.join(drivers)}", "give a GeoTIFF")


def check_placed(dataset: Any, path: Path) -> None:
    """Raises UsageError where an opened raster does not say where on Earth it lies."""
    if dataset.crs is None:
        raise UsageError(f"{path} does not say its coordinate system", "give one with EPSG:4326 or a UTM zone")
    if dataset.transform.is_identity:
        raise UsageError(f"{path} has no georeference (its transform is the identity)", "georeference it first")


def window_about(dataset: Any, system: Any, bounds: tuple[float, float, float, float]) -> Any:
    """Returns the part (a window) of an opened raster about a rectangle (west, south, east, north) of another system.

    None where that is not to be told: of one that is turned, or does not come there by its own longitudes. Tiles of the
    Earth (Hansen's, ESA's) are a thousand million cells, of which a map needs a few thousand. As much again lies on
    each side, since what moves a rectangle and what moves a raster may take an old datum for a little different.
    """
    from rasterio.errors import WindowError
    from rasterio.warp import transform_bounds
    from rasterio.windows import Window, from_bounds

    if dataset.transform.b or dataset.transform.d:
        return None
    west, south, east, north = bounds
    wide, high = east - west, north - south
    around = (west - wide, south - high, east + wide, north + high)
    try:
        part = from_bounds(*transform_bounds(system, dataset.crs, *around), transform=dataset.transform)
        left, top = max(math.floor(part.col_off) - _PAD, 0), max(math.floor(part.row_off) - _PAD, 0)
        right = min(math.ceil(part.col_off + part.width) + _PAD, dataset.width)
        bottom = min(math.ceil(part.row_off + part.height) + _PAD, dataset.height)
    except (*raster_errors(), WindowError, ValueError, ArithmeticError):
        return None
    return Window(left, top, right - left, bottom - top) if left < right and top < bottom else None


def check_size(path: Path, width: int, height: int, what: str = "cells") -> None:
    """Raises UsageError for more of a raster than is unpacked at once."""
    if width * height > _MOST_CELLS:
        raise UsageError(
            f"{path}: {width} x {height} {what}, at most {_MOST_CELLS / 1e6:.0f} million are read",
            "cut out the part about the map: gdal_translate -projwin",
        )


def refused(path: Path, what: str, error: Exception, cure: str) -> UsageError:
    """Returns what to say of a raster that fails; what: that it is not. GDAL's own errors are of placing it."""
    from rasterio.errors import RasterioError

    if isinstance(error, RasterioError):
        return UsageError(f"{path} is no {what}: {first_line(error)}", cure)
    return UsageError(
        f"{path}: its coordinate system puts it nowhere on Earth", "give one with EPSG:4326 or a UTM zone"
    )


def raster_errors() -> tuple[type[Exception], ...]:
    """Returns what rasterio raises of a raster that is wrong: its own errors, and GDAL's that it passes on."""
    from rasterio._err import CPLE_BaseError
    from rasterio.errors import RasterioError

    return RasterioError, CPLE_BaseError


def read_heights(dataset: Any, path: Path, system: Any = None) -> NDArray[np.float64]:
    """Returns the heights (H, W; m above the sea) of an opened elevation model, nan where it has none.

    Its own scale and offset, and its unit, by the band or by a vertical coordinate system, count; metres where it names
    none. Raises UsageError where it is too large, or holds no heights above the sea.

    system: pyproj's, that a person says it is in, whose vertical part, where it has one, wins; None: its own.
    """
    check_size(path, dataset.width, dataset.height, "heights")
    is_coloured = dataset.colorinterp[0].name in ("red", "palette")  # of more bits, or a scanned map
    if is_coloured or (dataset.count > 2 and dataset.dtypes[0] == "uint8"):
        raise UsageError(f"{path} is a picture of {dataset.count} bands", "give an elevation model")
    unit, _, above = (dataset.units[0] or "").strip().lower().partition(" above ")  # e.g. m above mean sea level
    if "ellipsoid" in above:
        raise UsageError(f"{path}: its heights are above the ellipsoid", _NO_GEOID)
    if unit and unit not in _METRES:
        raise UsageError(f"{path}: its heights are in '{unit}'", "convert it to metres: gdal_calc, gdal_edit -units m")
    given = None if system is None else _vertical_unit(system, path)
    if given is None:
        own = _own_system(dataset)
        of_system = (None if own is None else _vertical_unit(own, path)) or 1.0
        given = _METRES[unit] if unit else of_system
    values = dataset.read(1, masked=True).astype(np.float64).filled(np.nan)
    values = (values * dataset.scales[0] + dataset.offsets[0]) * given
    values[(values < _PLAUSIBLE[0]) | (values > _PLAUSIBLE[1])] = np.nan
    if not np.isfinite(values).any():
        raise UsageError(f"{path} holds no heights: all of it is no-data", "look at the file's first band")
    return np.asarray(values)


def _own_system(dataset: Any) -> Any:
    """Returns the coordinate system that a raster names; None where it names none that is understood."""
    import pyproj

    if dataset.crs is None:
        return None
    try:
        return pyproj.CRS.from_wkt(dataset.crs.to_wkt(version="WKT2_2019"))
    except (pyproj.exceptions.ProjError, ValueError):  # whoever places the raster says so
        return None


def _vertical_unit(system: Any, path: Path) -> float | None:
    """Returns the metres of a height's unit by the coordinate system, None where it says nothing of heights.

    Raises UsageError where they are no heights above the sea.
    """
    vertical = next((part for part in system.sub_crs_list if part.is_vertical), None)
    if vertical is None and len(system.axis_info) < 3:
        return None
    axis = (system if vertical is None else vertical).axis_info[-1]
    if vertical is None or "ellipsoid" in axis.name.lower():
        raise UsageError(f"{path}: its heights are above the ellipsoid ({system.name})", _NO_GEOID)
    if axis.direction != "up":
        raise UsageError(f"{path}: its values are depths ({vertical.name})", "give heights above the sea")
    return float(axis.unit_conversion_factor)


def _on_square(
    path: Path, square: Square, side: int, bands: int, average: bool
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Returns bands (bands, side, side) of a raster on the square, rows south to north, and where it tells them.

    average: coarser texels are means, else the nearest is taken. Raises UsageError.
    """
    try:
        import rasterio
        from rasterio.warp import Resampling, reproject
    except ImportError as error:
        raise UsageError(f"{path} needs {error.name}", install("geo")) from None
    if not path.is_file():
        raise UsageError(f"{path} is not there", "give a GeoTIFF")
    step = square.size / side if average else square.size / (side - 1)
    first = square.size / 2 + (0.0 if average else step / 2)
    target = rasterio.Affine(step, 0.0, -first, 0.0, -step, first)
    out, seen = np.zeros((bands, side, side), np.float32), np.zeros((side, side), np.float32)
    try:
        with open_raster(path, DRIVERS if bands == 1 else PICTURES) as dataset:
            check_placed(dataset, path)
            if dataset.count < bands:
                raise UsageError(f"{path} has {dataset.count} bands", f"give one with {bands}: red, green, blue")
            where = {"dst_transform": target, "dst_crs": square.projection}
            for number in range(bands):
                kind = Resampling.average if average and abs(dataset.res[0]) < step else Resampling.bilinear
                reproject(
                    rasterio.band(dataset, number + 1), out[number], **where,
                    resampling=kind if average else Resampling.nearest,
                )  # fmt: skip
            half = square.size / 2 + step
            part = window_about(dataset, square.projection, (-half, -half, half, half))
            place = dataset.transform if part is None else dataset.window_transform(part)
            if part is None:
                check_size(path, dataset.width, dataset.height)
            mask = (dataset.dataset_mask(window=part) > 0).astype(np.float32)
            reproject(
                mask, seen, src_transform=place, src_crs=dataset.crs, **where, resampling=Resampling.nearest,
            )  # fmt: skip
    except raster_errors() as error:
        raise refused(path, "raster", error, "give a GeoTIFF") from None
    return out[:, ::-1].copy(), seen[::-1] > 0.5
