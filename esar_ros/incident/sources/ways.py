"""Trails and roads: lines of a GIS or of a GPS (GeoJSON, KML, GeoPackage, Shapefile, GPX)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.drawings import projection, read_drawing
from esar_ros.sim.terrain.map_layers import lines_of


def read_ways(path: Path, ground: Ground) -> tuple[Floats, ...]:
    """Returns the lines (N, 2), m east and north of the ground's grid, that come onto it.

    Raises UsageError where the file cannot be read, does not say its coordinate system or has no line there.
    """
    drawing = read_drawing(path)
    import shapely

    ways = list[Floats]()
    for layer in drawing.layers:
        if layer.system is None:
            raise UsageError(f"{path} does not say its coordinate system", "write it in WGS 84 (EPSG:4326)")
        project = projection(path, layer.system)
        for geometry in layer.shapes:
            for line in lines_of(geometry):
                places = np.stack(project(*np.array(line.coords)[:, :2].T), axis=1)
                if np.isfinite(places).all():
                    ways.append(ground.on_grid(places))
    rows, columns = ground.heights.shape
    box = shapely.box(ground.west, ground.north - rows * ground.cell, ground.west + columns * ground.cell, ground.north)
    near = tuple(way for way in ways if shapely.LineString(way).intersects(box))
    if not near:
        said = f"none of its {len(ways)} lines comes onto the map" if ways else "it holds no line"
        raise UsageError(f"{path}: {said}", "give trails and roads of this place, as lines")
    return near
