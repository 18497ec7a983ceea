"""Trails and roads: lines of a GIS or of a GPS (GeoJSON, KML, GeoPackage, Shapefile, GPX)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.unpacking import content
from esar_ros.sim.terrain.map_layers import lines_of, vector_layers

_WGS84 = "EPSG:4326"


def read_ways(path: Path, ground: Ground) -> tuple[Floats, ...]:
    """Returns the lines (N, 2), m east and north of the ground's grid, that come onto it.

    Raises UsageError where the file cannot be read, does not say its coordinate system or has no line there.
    """
    try:
        import pyogrio
        import pyproj
        import shapely
    except ImportError as error:
        raise UsageError(f"{path}: trails need {error.name}", install("geo")) from None
    content(path, 1)
    ways = list[Floats]()
    try:
        for source, layer in vector_layers(path):
            meta, _, shapes, _ = pyogrio.raw.read(source, layer=layer, columns=[])
            if meta["crs"] is None:
                raise UsageError(f"{path} does not say its coordinate system", "write it in WGS 84 (EPSG:4326)")
            project = pyproj.Transformer.from_crs(meta["crs"], _WGS84, always_xy=True, allow_ballpark=False)
            for geometry in shapely.from_wkb(shapes):
                for line in lines_of(geometry):
                    places = np.stack(project.transform(*np.array(line.coords)[:, :2].T), axis=1)
                    if np.isfinite(places).all():
                        ways.append(ground.on_grid(places))
    except UsageError:
        raise
    except Exception as error:  # of GDAL, GEOS and PROJ, which have no common name
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "export it again") from None
    rows, columns = ground.heights.shape
    box = shapely.box(ground.west, ground.north - rows * ground.cell, ground.west + columns * ground.cell, ground.north)
    near = tuple(way for way in ways if shapely.LineString(way).intersects(box))
    if not near:
        said = f"none of its {len(ways)} lines comes onto the map" if ways else "it holds no line"
        raise UsageError(f"{path}: {said}", "give trails and roads of this place, as lines")
    return near
