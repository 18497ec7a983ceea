"""Polygons of a GIS (GeoJSON, KML, GeoPackage, Shapefile, GPX): searched ground with a POD, or no-fly zones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.incident.features import Area, AreaKind, Floats, Search
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError, first_line
from esar_ros.sim.terrain.drawings import WGS84, projection, read_drawing

_OPEN = 0.1  # of a line's length: the gap up to which a walked line counts as closed
_PIECE = 50  # legs of a line
_NAMES = ("name", "title", "id")
_POD = ("pod", "probability_of_detection")
_NOWHERE = ("its coordinates are nowhere on Earth", "mend the file")
_VERTICES = ("track_points", "route_points")  # layers that GDAL makes of a GPX beside its lines

Outline = tuple[str, Floats, tuple[Floats, ...], dict[str, Any]]  # name, outline, holes, fields


def read(path: Path, intake: Intake, pod: float | None = None) -> Search:
    """Returns the polygons as searched ground.

    pod: of those that have no field of that name; those without either are left out. Raises UsageError where the file
    cannot be read, holds no polygon or does not say its coordinate system.
    """
    search = Search(path.stem)
    for name, outline, holes, values in _outlines(path, intake, 0.0, "draw the ground as polygons"):
        stated = _stated(values, pod)
        if isinstance(stated, str):
            intake.fault(path, f"{name}: its POD '{stated}' is no number", "mend the field: 0 to 0.99, or 0 to 99 %")
        elif stated is None:
            intake.fault(path, f"{name} has no POD", "say it: --pod 0.7, or in a field named pod")
        elif not 0.0 <= stated < 1.0:
            intake.fault(path, f"{name}: a POD of {stated:.0%}", "no search is sure: 0 to 0.99, or 0 to 99 %")
        else:
            search.areas.append(Area(name, AreaKind.SEARCHED, outline, holes, pod=stated))
    return search


def read_zones(path: Path, intake: Intake, around: float) -> Search:
    """Returns the polygons as zones where nobody may fly, and so many m around points and lines. Raises UsageError."""
    search = Search(path.stem)
    cure = "" if around else "say how many metres around them are closed: --no-fly M"
    for name, outline, holes, _ in _outlines(path, intake, around, cure):
        search.areas.append(Area(name, AreaKind.NO_FLY, outline, holes))
    return search


def read_ground(path: Path, intake: Intake) -> Search:
    """Returns the polygons as the ground that is to be searched; nothing else matters. Raises UsageError."""
    search = Search(path.stem)
    for name, outline, holes, _ in _outlines(path, intake, 0.0, ""):
        search.areas.append(Area(name, AreaKind.SEARCH, outline, holes))
    return search


def _outlines(path: Path, intake: Intake, around: float, cure: str) -> list[Outline]:
    """Returns name, outline, holes and fields of each polygon of a file. Raises UsageError.

    around: m, about points and lines that makes polygons of them; cure: of points and lines that bound nothing, empty
    where they do not matter.
    """
    drawing = read_drawing(path, _VERTICES)
    import shapely

    out, found, bare = list[Outline](), 0, 0
    try:
        for layer in drawing.layers:
            project = None if layer.system is None else projection(path, layer.system)
            for row, geometry in enumerate(layer.shapes):
                values = {name: column[row] for name, column in layer.fields.items()}
                name = next((str(values[key]) for key in _NAMES if values.get(key)), f"{path.stem} {row + 1}")
                own = project
                if around and project is not None and not _is_area(geometry):
                    geometry, own = _moved(shapely, geometry, project), _as_it_is
                    places = shapely.get_coordinates(geometry)
                    if not (np.isfinite(places).all() and np.abs(places[:, 1]).max(initial=0.0) <= 90.0):
                        wrong = intake.why_not(places[:, 1], places[:, 0]) or _NOWHERE
                        intake.fault(path, f"{name}: {wrong[0]}", wrong[1])
                        found += 1
                        continue
                    geometry = _widened(shapely, geometry, around)
                parts = _polygons(shapely, geometry)
                bare += not parts and geometry is not None and not geometry.is_empty
                for part in parts:
                    found += 1
                    if own is None:
                        raise UsageError(f"{path} does not say its coordinate system", "write it in WGS 84 (EPSG:4326)")
                    out += [(name, *rings, values) for rings in _rings(path, intake, part, own, name)]
    except UsageError:
        raise
    except Exception as error:  # of GEOS and PROJ, which have no common name
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "export it again") from None
    if drawing.broken:
        words = f"{drawing.broken} of its shapes make no geometry: they are left out"
        intake.fault(path, words, "mend them in the GIS: two points make a line, three a ring")
    if drawing.overlays and cure:
        words = f"{drawing.overlays} pictures laid on the ground bound none: they are left out"
        intake.fault(path, words, "draw the ground as polygons")
    if not found:
        raise UsageError(f"{path} holds no polygon", cure or "draw the ground as polygons")
    if bare and cure:
        intake.fault(path, f"{bare} points and lines bound no ground: they are left out", cure)
    return out


def _is_area(geometry: Any) -> bool:
    return geometry is None or geometry.geom_type in ("Polygon", "MultiPolygon") or geometry.is_empty


def _moved(shapely: Any, geometry: Any, project: Any) -> Any:
    """Returns a geometry in another system, in two dimensions."""
    flat = shapely.force_2d(geometry)
    return shapely.transform(flat, lambda at: np.stack(project(at[:, 0], at[:, 1]), axis=1))


def _as_it_is(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return x, y


def _widened(shapely: Any, geometry: Any, around: float) -> Any:
    """Returns what lies within so many m around the points and lines of a geometry in degrees, in degrees."""
    import pyproj

    middle = geometry.centroid
    plane = f"+proj=aeqd +lon_0={middle.x} +lat_0={middle.y} +datum=WGS84 +units=m"
    to = pyproj.Transformer.from_crs(WGS84, plane, always_xy=True)
    flat = _moved(shapely, geometry, to.transform)
    # Piece by piece: a receiver's track of 10,000 points that crosses itself takes GEOS half a minute as one.
    zones = [shapely.buffer(piece, around) for part in shapely.get_parts(flat) for piece in _pieces(shapely, part)]
    back = pyproj.Transformer.from_crs(plane, WGS84, always_xy=True)
    return _moved(shapely, shapely.union_all(zones), back.transform)


def _pieces(shapely: Any, geometry: Any) -> list[Any]:
    """Returns a line in pieces of at most so many legs that follow one another; anything else as it is."""
    if geometry.geom_type != "LineString":
        return [geometry]
    places = geometry.coords
    return [shapely.LineString(places[at : at + _PIECE + 1]) for at in range(0, len(places) - 1, _PIECE)]


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


def _rings(
    path: Path, intake: Intake, polygon: Any, project: Any, name: str
) -> list[tuple[Floats, tuple[Floats, ...]]]:
    """Returns one polygon's outline and holes; none, and a line why, where it cannot be taken."""
    if not polygon.is_valid or polygon.area == 0.0:
        intake.fault(path, f"{name}: its outline crosses itself", "mend it in the GIS")
        return []
    outline, *holes = (_ring(ring, project) for ring in (polygon.exterior, *polygon.interiors))
    turns = np.round(np.median(outline[:, 0]) / 360.0)  # some count longitudes from 0 to 360
    for ring in (outline, *holes):
        ring[:, 0] -= 360.0 * turns
    if not np.isfinite(outline).all():
        intake.fault(path, f"{name}: its datum is not WGS 84", "nothing here converts it: write it in EPSG:4326")
        return []
    if wrong := intake.why_not_area(outline):
        intake.fault(path, f"{name}: {wrong[0]}", wrong[1])
        return []
    return [(outline, tuple(holes))]


def _ring(ring: Any, project: Any) -> Floats:
    """Returns longitudes and latitudes (N, 2), not closed."""
    x, y = np.array(ring.coords)[:-1, :2].T
    return np.stack(project(x, y), axis=1)


def _stated(values: dict[str, Any], otherwise: float | None) -> float | str | None:
    """Returns the POD that a polygon's fields state, as a share or in percent; the words that state none."""
    for name in _POD:
        value = values.get(name)
        text = "" if value is None or value != value else str(value).strip()
        if not text:
            continue
        try:
            stated = float(text.rstrip("% ").replace(",", "."))
        except ValueError:
            return text
        if not np.isfinite(stated):
            return text
        return stated / 100.0 if stated > 1.0 or text.endswith("%") else stated
    return otherwise
