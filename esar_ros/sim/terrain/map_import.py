"""Maps from elevation models: any georeferenced raster, resampled to a local east-north-up square.

Needs rasterio and pyproj (the extra `geo`). Heights become metres above mean sea level.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, map_coordinates

from esar_ros.geometry.geodesy import SEMI_MAJOR
from esar_ros.mission.errors import UsageError, install, suggest
from esar_ros.mission.map_files import settlement_maps, shipped_maps, user_map_directory
from esar_ros.sim.terrain.finer_relief import measure
from esar_ros.sim.terrain.land_cover import UNKNOWN, classify
from esar_ros.sim.terrain.map_layers import (
    DRIVERS,
    Square,
    open_raster,
    read_cover,
    read_heights,
    read_photo,
    read_tracks,
)
from esar_ros.sim.terrain.map_spec import SAMPLES, SIZES, MapSpec, parse_spec
from esar_ros.sim.terrain.maps import load_spec
from esar_ros.sim.terrain.surroundings import REACH, Surroundings, pack, ring_points, sample_rings

CHARACTERS = {"alpine": "aotai", "desert": "lop_nur", "glacial": "k2", "coastal": "dapeng"}  # whose plants they bear
MAX_HOLE = 100.0  # m, distance to the nearest height up to which a gap is filled
_GAPS = (0.0, SIZES[1])  # m, least and most that a person may set it to
MAX_HOLES = 0.10  # greatest share of the map that may be filled
_FINER = 300  # from the map's seed to that of relief finer than the model
_AROUND = 513  # places a side at which land cover around the map is told
_COARSEST = 20  # least number of the model's cells along the map's side


@dataclass(frozen=True)
class ImportOptions:
    """Options of an import, chosen by the user."""

    id: str
    character: str
    size: float = 2000.0  # m
    samples: int = 1025
    centre: tuple[float, float] | None = None  # latitude, longitude in degrees; None: the middle of the model
    name: str | None = None
    crs: str | None = None  # for a raster that does not say its own
    max_hole: float = MAX_HOLE  # m
    photo: Path | None = None  # orthophoto: the ground's colour
    cover: Path | None = None  # raster of ESA WorldCover's classes
    tracks: Path | None = None  # lines of a GIS


@dataclass(frozen=True)
class Imported:
    """Result of an import, with the figures a user should know."""

    path: Path  # the map file
    spec: MapSpec
    cell: float  # m, of the model
    filled: float  # share of the map's ground that had no data
    covered: float = 0.0  # share of the ground whose land cover a raster told
    around: float = 0.0  # share of the ground to the horizon that the model tells


@dataclass(frozen=True)
class _Raster:
    values: NDArray[np.float64]  # (rows, columns) m, NaN where there is no data
    to_pixel: Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
    to_geodetic: Callable[[float, float], tuple[float, float]]  # raster x, y to longitude, latitude
    crs: Any
    middle: tuple[float, float]  # raster x, y


def import_map(source: Path, options: ImportOptions, folder: Path | None = None) -> Imported:
    """Write <id>.yaml and <id>.npz into a folder (the user's own without one). Raises UsageError.

    Refused: rasterio absent, no raster, no or unusable CRS, no data at all, the square reaches beyond the data, gaps
    too wide to fill, cells too coarse, an id that is taken by a shipped map.
    """
    if options.character not in CHARACTERS:
        raise UsageError(f"unknown character '{options.character}'", suggest(options.character, CHARACTERS))
    if options.id in (*shipped_maps(), *settlement_maps()):
        raise UsageError(f"'{options.id}' is a shipped map", "choose another --id")
    for flag, value, (least, most) in (
        ("--size", options.size, SIZES),
        ("--samples", options.samples, SAMPLES),
        ("--max-hole", options.max_hole, _GAPS),
    ):
        if not least <= value <= most:  # not a number is neither
            raise UsageError(f"{flag} {value:g}", f"between {least:g} and {most:g}")
    raster = _open(source, options.crs)
    latitude, longitude = options.centre or _middle(raster, source)
    altitudes, cell, filled = _resample(raster, source, latitude, longitude, options)
    square = Square(latitude, longitude, options.size)
    cover, known = None, 0.0
    if options.cover is not None:
        cover, known = read_cover(options.cover, square, options.character, altitudes)
    photo = None if options.photo is None else read_photo(options.photo, square, altitudes)
    content, heights = _describe(altitudes, cover, cell, latitude, longitude, options)
    finer = measure(
        altitudes, options.size / (options.samples - 1), cell, _quantum(raster.values), content["seed"] + _FINER
    )
    if finer is not None:
        content["relief"]["finer"] = finer.model_dump()
    if photo is not None:
        file = f"{options.id}.png"
        content["imagery"] = {"file": file, "sha256": hashlib.sha256(photo).hexdigest()}
    if options.tracks is not None:
        content["tracks"] = read_tracks(options.tracks, square)
    header = f"# Imported from {source.name}, {cell:.1f} m cells, {100 * filled:.1f} % of the ground filled in.\n"
    target = folder or user_map_directory()
    path = target / f"{options.id}.yaml"
    around = _look_around(raster, square, parse_spec(yaml.safe_dump(content).encode(), str(path)), options)
    if around is not None:
        ring = pack(around)
        content["surroundings"] = {"file": f"{options.id}.ring.npz", "sha256": hashlib.sha256(ring).hexdigest()}
    text = (header + yaml.safe_dump(content, sort_keys=False)).encode()
    spec = parse_spec(text, str(path))
    try:
        target.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".npz").write_bytes(heights)
        if photo is not None:
            path.with_suffix(".png").write_bytes(photo)
        if around is not None:
            path.with_suffix(".ring.npz").write_bytes(ring)
        path.write_bytes(text)
    except OSError as error:
        raise UsageError(f"cannot write the map to {target}: {error.strerror}", "choose another --out") from None
    return Imported(path, spec, cell, filled, known, 0.0 if around is None else around.known)


def _open(source: Path, crs: str | None) -> _Raster:
    try:
        import pyproj
        import rasterio
    except ImportError as error:
        raise UsageError(f"maps import needs {error.name}", install("geo")) from None
    if not source.is_file():
        raise UsageError(f"{source} is not there", "give a GeoTIFF or another raster with heights")
    try:
        given = None if crs is None else pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.ProjError as error:
        raise UsageError(f"{source}: unusable coordinate system: {error}", "give the right --crs") from None
    try:
        with open_raster(source, DRIVERS) as dataset:
            transform, own = dataset.transform, dataset.crs
            values = read_heights(dataset, source, given)
    except rasterio.errors.RasterioError as error:
        raise UsageError(f"{source} is not a raster: {error}", "give a GeoTIFF with heights") from None
    if own is None and given is None:
        raise UsageError(f"{source} does not say its coordinate system", "give it: --crs EPSG:32648, say")
    if transform.is_identity:
        raise UsageError(f"{source} has no georeference (its transform is the identity)", "georeference it first")
    try:
        system = given or pyproj.CRS.from_user_input(own.to_wkt())
        if not (system.is_geographic or system.is_projected):
            raise UsageError(f"{source}: '{system.name}' does not place anything on Earth", "give the right --crs")
        lonlat = pyproj.Transformer.from_crs(system, "EPSG:4326", always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise UsageError(f"{source}: unusable coordinate system: {error}", "give the right --crs") from None
    inverse = ~transform

    def to_pixel(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Samples lie in the middle of pixels.
        column = inverse.a * x + inverse.b * y + inverse.c
        row = inverse.d * x + inverse.e * y + inverse.f
        return row - 0.5, column - 0.5

    rows, columns = np.nonzero(np.isfinite(values))
    u, v = (columns.min() + columns.max() + 1) / 2.0, (rows.min() + rows.max() + 1) / 2.0
    middle = (
        transform.a * u + transform.b * v + transform.c,
        transform.d * u + transform.e * v + transform.f,
    )
    return _Raster(values, to_pixel, lonlat.transform, system, middle)


def _middle(raster: _Raster, source: Path) -> tuple[float, float]:
    longitude, latitude = raster.to_geodetic(*raster.middle)
    if not (math.isfinite(latitude) and math.isfinite(longitude) and abs(latitude) <= 89.0):
        raise UsageError(f"{source}: its coordinate system puts it nowhere on Earth", "give the right --crs")
    return float(latitude), float(longitude)


def _resample(
    raster: _Raster, source: Path, latitude: float, longitude: float, options: ImportOptions
) -> tuple[NDArray[np.float64], float, float]:
    """Altitudes (n, n) on the map's square, the model's cell (m) and the share that was filled."""
    import pyproj

    local = Square(latitude, longitude, options.size)
    to_raster = pyproj.Transformer.from_crs(local.projection, raster.crs, always_xy=True)
    axis = np.linspace(-options.size / 2, options.size / 2, options.samples)
    east, north = np.meshgrid(axis, axis)
    x, y = to_raster.transform(east, north)
    rows, columns = raster.to_pixel(np.asarray(x), np.asarray(y))
    if not (np.isfinite(rows).all() and np.isfinite(columns).all()):
        raise UsageError(f"{source}: its coordinate system does not reach the map", "give the right --crs or --centre")
    step = axis[1] - axis[0]
    middle = options.samples // 2
    per_metre = np.hypot(*(np.gradient(grid)[1][middle, middle] for grid in (rows, columns))) / step
    cell = 1.0 / float(per_metre)
    height, width = raster.values.shape
    if rows.min() < -0.5 or columns.min() < -0.5 or rows.max() > height - 0.5 or columns.max() > width - 0.5:
        raise UsageError(
            f"{source} is too small: a square of {options.size:.0f} m about {latitude:.5f}, {longitude:.5f} reaches "
            f"beyond its {width * cell:.0f} x {height * cell:.0f} m",
            "choose a smaller --size or another --centre",
        )
    if options.size / cell < _COARSEST:
        raise UsageError(
            f"{source} is too coarse: {cell:.0f} m cells for a map of {options.size:.0f} m",
            f"choose a --size of at least {_COARSEST * cell:.0f} m or a finer model",
        )
    # Only the part about the map, with a margin for filling and for the spline.
    margin = math.ceil(options.max_hole / cell) + 4
    low = np.maximum(np.floor([rows.min(), columns.min()]).astype(int) - margin, 0)
    high = np.minimum(np.ceil([rows.max(), columns.max()]).astype(int) + margin + 1, [height, width])
    part = raster.values[low[0] : high[0], low[1] : high[1]]
    missing = ~np.isfinite(part)
    at = np.stack([rows - low[0], columns - low[1]])
    holes = map_coordinates(missing.astype(np.float64), at, order=0, mode="nearest") > 0.5
    filled = float(holes.mean())
    if filled >= 1.0:
        raise UsageError(f"{source} holds no heights in the chosen square", "choose another --centre")
    if filled > MAX_HOLES:
        raise UsageError(
            f"{source}: {100 * filled:.0f} % of the square is no-data (at most {100 * MAX_HOLES:.0f} % is filled)",
            "choose another --centre or a smaller --size",
        )
    if missing.any():
        reach = distance_transform_edt(missing) * cell
        wide = float(map_coordinates(reach, at, order=0, mode="nearest").max())
        if wide > options.max_hole:
            raise UsageError(
                f"{source}: a gap reaches {wide:.0f} m from the nearest height, beyond {options.max_hole:.0f} m",
                "choose another --centre, or raise --max-hole",
            )
        part = _fill(part, missing)
    if step > 1.5 * cell:
        part = gaussian_filter(part, 0.5 * step / cell, mode="nearest")
    altitudes = map_coordinates(part, at, order=3, mode="nearest")
    # The map frame is a plane; the Earth falls away from it.
    altitudes -= (east * east + north * north) / (2.0 * SEMI_MAJOR)
    return np.asarray(altitudes, dtype=np.float64), cell, filled


def _look_around(raster: _Raster, square: Square, spec: MapSpec, options: ImportOptions) -> Surroundings | None:
    """The model's ground around the map, land cover by the map's own rules; None where that is next to nothing."""
    import pyproj

    to_raster = pyproj.Transformer.from_crs(square.projection, raster.crs, always_xy=True)

    def height(east: NDArray[np.float64], north: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y = to_raster.transform(east, north)
        at = np.nan_to_num(np.stack(raster.to_pixel(np.asarray(x), np.asarray(y))), nan=-1.0, posinf=-1.0, neginf=-1.0)
        found = map_coordinates(raster.values, at, order=1, mode="constant", cval=np.nan)
        found -= spec.origin.altitude + (east * east + north * north) / (2.0 * SEMI_MAJOR)
        return np.asarray(found if spec.water_level is None else np.maximum(found, spec.water_level))

    half = options.size / 2
    heights = sample_rings(height, half)
    if heights is None:
        return None
    wide = Square(square.latitude, square.longitude, options.size + 2.0 * REACH)
    axis = np.linspace(-wide.size / 2, wide.size / 2, _AROUND)
    grid = height(*np.meshgrid(axis, axis))
    grid = np.where(np.isfinite(grid), grid, np.nanmin(heights))
    surface = np.full(grid.shape, UNKNOWN, dtype=np.uint8)
    if options.cover is not None:
        surface, _ = read_cover(options.cover, wide, options.character, grid)
    cover = classify(spec.cover, grid.astype(np.float32), surface, wide.size, spec.seed, spec.water_level, None)
    east, north = np.moveaxis(ring_points(half), -1, 0)
    column, row = (np.rint((at + wide.size / 2) / wide.size * (_AROUND - 1)).astype(int) for at in (east, north))
    return Surroundings(heights, cover[row, column])


def _quantum(values: NDArray[np.float64]) -> float:
    """Metres that heights are rounded to: 1 where all are whole, else 0."""
    known = values[np.isfinite(values)]
    return float((known == np.round(known)).all())


def _fill(values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Gaps filled with a smooth surface that meets their rims (relaxed from the nearest heights)."""
    nearest = distance_transform_edt(missing, return_distances=False, return_indices=True)
    out = values[tuple(nearest)]
    for sigma in (8.0, 4.0, 2.0, 1.0, 1.0, 1.0):
        for _ in range(6):
            out[missing] = gaussian_filter(out, sigma, mode="nearest")[missing]
    return np.asarray(out)


def _describe(
    altitudes: NDArray[np.float64],
    cover: NDArray[np.uint8] | None,
    cell: float,
    latitude: float,
    longitude: float,
    options: ImportOptions,
) -> tuple[dict[str, Any], bytes]:
    """The map file's content and the file of heights, and of land cover where that is known."""
    centre = options.samples // 2
    origin = round(float(altitudes[centre, centre]), 2)
    heights = (altitudes - origin).astype(np.float32)
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"heights": heights} if cover is None else {"heights": heights, "cover": cover}
    np.savez_compressed(buffer, **arrays)
    content = buffer.getvalue()
    template, _ = load_spec(CHARACTERS[options.character])
    sea = options.character == "coastal" and float(altitudes.min()) <= 0.5
    spec: dict[str, Any] = {
        "id": options.id,
        "name": options.name or options.id.replace("_", " "),
        "character": options.character,
        "origin": {"latitude": round(latitude, 7), "longitude": round(longitude, 7), "altitude": origin},
        "utc_offset": float(round(longitude / 15.0)),
        "size": options.size,
        "samples": options.samples,
        "seed": int(hashlib.sha256(options.id.encode()).hexdigest()[:6], 16),
        "water_level": -origin if sea else None,
        "horizon": "sea" if sea else {"desert": "flat", "glacial": "peaks"}.get(options.character, "ranges"),
        "relief": {
            "kind": "dem", "file": f"{options.id}.npz", "sha256": hashlib.sha256(content).hexdigest(),
            "cell": round(cell, 3),
        },
        "erosion": {"droplets": 0},
        "cover": template.cover.model_dump() | _adapt(options.character, latitude, origin),
        "flora": {name: plant.model_dump() for name, plant in template.flora.items()},
    }  # fmt: skip
    spec["flora"] = {
        name: plant | {"height": [float(value) for value in plant["height"]]} for name, plant in spec["flora"].items()
    }
    return spec, content


def _adapt(character: str, latitude: float, origin: float) -> dict[str, float]:
    """Cover parameters that follow from where the map lies.

    Tree and snow lines by latitude are rules of thumb: trees to 4000 m at 30 degrees and 100 m lower a degree (Koerner,
    "Alpine treelines", 2012, figure 2), permanent snow 900 m above them. A map file can be edited.
    """
    trees = 4000.0 - 100.0 * max(0.0, abs(latitude) - 30.0)
    if character == "alpine":
        return {"tree_line": trees - origin, "blockfield_line": trees + 150.0 - origin, "clearing_radius": 0.0}
    if character == "glacial":
        return {"snow_line": trees + 900.0 - origin}
    if character == "desert":
        return {"salt_level": -1e4, "sand_share": 0.2}
    return {}
