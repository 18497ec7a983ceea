"""Ground that a flight has seen, from grids of the map frame: as polygons, and as rasters in the zone of UTM.

A map's axes are east and north at its origin; UTM's are turned from them by the convergence, so a raster takes for each
of its cells the grid's cell in which its centre lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from esar_ros.geometry.coordinates import grid_position
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Area, AreaKind, Floats, Raster
from esar_ros.mission.errors import UsageError, install

LEAST = 4  # cells of a patch that is drawn


def _united(grids: Mapping[str, Any]) -> tuple[Floats, float, tuple[float, float]] | None:
    """Returns the greatest value of each cell (rows = y), NaN where no vehicle has one, the cells' side (m) and their
    lower left corner; of grids that differ in shape the first."""
    messages = list(grids.values())
    if not messages:
        return None
    info = messages[0].info
    shape = (int(info.height), int(info.width))
    same = [one for one in messages if (int(one.info.height), int(one.info.width)) == shape]
    cells = np.max([np.asarray(one.data, dtype=np.int8).reshape(shape) for one in same], axis=0).astype(np.float64)
    values = np.where(cells < 0.0, np.nan, cells / 100.0)
    return values, float(info.resolution), (float(info.origin.position.x), float(info.origin.position.y))


def footprint_of(grids: Mapping[str, Any], origin: Origin) -> list[Area]:
    """Returns the outlines of what the vehicles' grids hold values of, largest first. Raises UsageError without the
    extra geo.

    grids: messages nav_msgs/OccupancyGrid, map frame, by vehicle; -1: nothing there.
    """
    united = _united(grids)
    if united is None:
        return []
    try:
        import shapely
        from rasterio import Affine
        from rasterio.features import shapes
    except ImportError:
        raise UsageError(
            "outlines are drawn by rasterio and shapely, which are not installed", install("geo")
        ) from None

    values, cell, (left, bottom) = united
    mask = np.isfinite(values)
    place = Affine(cell, 0.0, left, 0.0, cell, bottom)
    found = [shapely.geometry.shape(one) for one, _ in shapes(mask.astype(np.uint8), mask=mask, transform=place)]
    kept = sorted((one for one in found if one.area >= LEAST * cell**2), key=lambda one: -one.area)
    smooth = [one.simplify(cell) for one in kept]  # steps of a cell become slopes

    def degrees(ring: Any) -> Floats:
        corners = (origin.to_geodetic((x, y, 0.0)) for x, y in ring.coords[:-1])
        return np.array([(longitude, latitude) for latitude, longitude, _ in corners])

    return [
        Area(
            "seen" if len(smooth) == 1 else f"seen {number}",
            AreaKind.FOOTPRINT,
            degrees(one.exterior),
            tuple(degrees(ring) for ring in one.interiors if shapely.Polygon(ring).area >= LEAST * cell**2),
        )
        for number, one in enumerate(smooth, 1)
    ]


def raster_of(grids: Mapping[str, Any], origin: Origin, name: str, unit: str) -> list[Raster]:
    """Returns a raster of what the vehicles' grids hold, values 0 to 1, cut to where they hold any; none without
    grids. Raises UsageError without the extra geo."""
    united = _united(grids)
    if united is None or not np.isfinite(united[0]).any():
        return []
    try:
        from pyproj import Transformer
    except ImportError:
        raise UsageError("rasters are placed by pyproj, which is not installed", install("geo")) from None

    grid = grid_position(origin.latitude, origin.longitude)
    if grid is None:
        return []
    values, cell, (left, bottom) = united
    rows, columns = np.nonzero(np.isfinite(values))
    x = left + np.array([columns.min(), columns.max() + 1]) * cell
    y = bottom + np.array([rows.min(), rows.max() + 1]) * cell
    to_utm = Transformer.from_crs("EPSG:4326", grid.crs, always_xy=True)
    corners = [origin.to_geodetic((a, b, 0.0)) for a in x for b in y]
    east, north = to_utm.transform([c[1] for c in corners], [c[0] for c in corners])
    west, top = np.floor(min(east) / cell) * cell, np.ceil(max(north) / cell) * cell
    width, height = (int(np.ceil(span / cell)) for span in (max(east) - west, top - min(north)))
    centre_east = west + (np.arange(width) + 0.5) * cell
    centre_north = top - (np.arange(height) + 0.5) * cell
    easting, northing = np.meshgrid(centre_east, centre_north)
    longitude, latitude = to_utm.transform(easting, northing, direction="INVERSE")
    local = origin.to_level(latitude, longitude)
    column = np.floor((local[..., 0] - left) / cell).astype(np.int64)
    row = np.floor((local[..., 1] - bottom) / cell).astype(np.int64)
    inside = (row >= 0) & (row < values.shape[0]) & (column >= 0) & (column < values.shape[1])
    out = np.full((height, width), np.nan, dtype=np.float32)
    out[inside] = values[row[inside], column[inside]]
    return [Raster(name, out, float(west), float(top), cell, grid.crs, unit)]
