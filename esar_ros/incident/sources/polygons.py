"""Ground that somebody says was searched: polygons of a GIS (GeoJSON, KML, GeoPackage, Shapefile, GPX) with a POD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.incident.features import Area, AreaKind, Floats, Search
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.unpacking import content

_OPEN = 0.1  # of a line's length: the gap up to which a walked line counts as closed
_NAMES = ("name", "title", "id")
_POD = ("pod", "probability_of_detection")
_WGS84 = "EPSG:4326"


def read(path: Path, intake: Intake, pod: float | None = None) -> Search:
    """Returns the polygons as searched ground.

    pod: of those that have no field of that name; those without either are left out. Raises UsageError where the file
    cannot be read, holds no polygon or does not say its coordinate system.
    """
    try:
        import pyogrio
        import pyproj
        import shapely
    except ImportError as error:
        raise UsageError(f"{path}: polygons need {error.name}", install("geo")) from None
    content(path, 1)
    search, found = Search(path.stem), 0
    try:
        layers = [str(name) for name, _ in pyogrio.list_layers(path)]
        for layer in layers:
            meta, _, shapes, columns = pyogrio.raw.read(path, layer=layer)
            geometries = shapely.from_wkb(shapes)
            fields = {str(name).lower(): column for name, column in zip(meta["fields"], columns, strict=True)}
            system = meta["crs"]
            for row, geometry in enumerate(geometries):
                values = {name: column[row] for name, column in fields.items()}
                name = next((str(values[key]) for key in _NAMES if values.get(key)), f"{path.stem} {row + 1}")
                for part in _polygons(shapely, geometry):
                    found += 1
                    if system is None:
                        raise UsageError(f"{path} does not say its coordinate system", "write it in WGS 84 (EPSG:4326)")
                    project = pyproj.Transformer.from_crs(system, _WGS84, always_xy=True, allow_ballpark=False)
                    search.areas += _area(path, intake, part, project, name, _stated(values, pod))
    except UsageError:
        raise
    except Exception as error:  # of GDAL, GEOS and PROJ, which have no common name
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "export it again") from None
    if not found:
        raise UsageError(f"{path} holds no polygon", "draw the ground that was searched as polygons")
    return search


def _polygons(shapely: Any, geometry: Any) -> list[Any]:
    """Returns the polygons of a geometry; a walked line that comes back to its beginning bounds one."""
    if geometry is None or geometry.is_empty:
        return []
    if geometry.geom_type == "Polygon":
        return [geometry]
    if hasattr(geometry, "geoms"):
        return [polygon for part in geometry.geoms for polygon in _polygons(shapely, part)]
    if geometry.geom_type == "LineString" and len(geometry.coords) > 3:
        ends = shapely.Point(geometry.coords[0]).distance(shapely.Point(geometry.coords[-1]))
        return [shapely.Polygon(geometry.coords)] if ends <= _OPEN * geometry.length else []
    return []


def _area(path: Path, intake: Intake, polygon: Any, project: Any, name: str, pod: float | None) -> list[Area]:
    """Returns one polygon as searched ground; none, and a line why, where it cannot be taken."""
    if not polygon.is_valid or polygon.area == 0.0:
        intake.fault(path, f"{name}: its outline crosses itself", "mend it in the GIS")
        return []
    outline, *holes = (_ring(ring, project) for ring in (polygon.exterior, *polygon.interiors))
    if not np.isfinite(outline).all():
        intake.fault(path, f"{name}: its datum is not WGS 84", "nothing here converts it: write it in EPSG:4326")
        return []
    if wrong := intake.why_not(outline[:, 1], outline[:, 0]):
        intake.fault(path, f"{name}: {wrong[0]}", wrong[1])
        return []
    if pod is None:
        intake.fault(path, f"{name} has no POD", "say it: --pod 0.7, or in a field named pod")
        return []
    if not 0.0 <= pod < 1.0:
        intake.fault(path, f"{name}: a POD of {pod:.0%}", "no search is sure: 0 to 0.99, or 0 to 99 %")
        return []
    return [Area(name, AreaKind.SEARCHED, outline, tuple(holes), pod=pod)]


def _ring(ring: Any, project: Any) -> Floats:
    """Returns longitudes and latitudes (N, 2), not closed."""
    x, y = np.array(ring.coords)[:-1, :2].T
    return np.stack(project.transform(x, y), axis=1)


def _stated(values: dict[str, Any], otherwise: float | None) -> float | None:
    """Returns the POD that a polygon's fields state, as a share or in percent."""
    for name in _POD:
        try:
            text = str(values[name]).strip()
            stated = float(text.rstrip("% "))
        except (KeyError, ValueError):
            continue
        if np.isfinite(stated):
            return stated / 100.0 if stated > 1.0 or text.endswith("%") else stated
    return otherwise
