"""GeoJSON (RFC 7946) with the properties by which CalTopo and SARTopo draw: class, title, marker-symbol, stroke, fill.

Coordinates are longitude and latitude alone, since a third would be a height above the ellipsoid: altitudes above mean
sea level stand in `altitude_msl`. Other readers (QGIS, geojson.io, GDAL) take the same file; folders have no geometry.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.coordinates import grid_position
from esar_ros.incident.features import Area, Find, Floats, Place, Position, Search, Sortie, Track
from esar_ros.incident.formats import words
from esar_ros.scoring.result import write_atomically

DIGITS = 8  # decimals of a degree: a millimetre


def write(search: Search, path: Path) -> None:
    """Writes a search's features. Raises UsageError."""
    folders = {
        "Finds": [feature for find in search.finds if not words.is_faint(find) for feature in _find(find, path)],
        "Dismissed or improbable": [
            feature for find in search.finds if words.is_faint(find) for feature in _find(find, path)
        ],
        "Places": [_place(place) for place in search.places],
        "Tracks": [_track(track) for track in search.tracks if len(track.latitude) > 1],
        "Areas": [_area(area) for area in search.areas],
        "Sorties": [_sortie(sortie) for sortie in search.sorties],
    }
    features: list[dict[str, Any]] = []
    for title, inside in folders.items():
        if not inside:
            continue
        folder = str(uuid5(NAMESPACE_URL, f"{search.name}/{title}"))
        features.append(
            {"type": "Feature", "id": folder, "geometry": None, "properties": {"class": "Folder", "title": title}}
        )
        for number, feature in enumerate(inside):
            feature["id"] = str(uuid5(NAMESPACE_URL, f"{folder}/{number}"))
            feature["properties"]["folderId"] = folder
        features += inside
    collection = {"type": "FeatureCollection", "name": words.clean(search.name), "features": features}
    write_atomically(path, json.dumps(collection, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def _feature(
    geometry: str, coordinates: Sequence[Any], title: str, facts: dict[str, str], **properties: Any
) -> dict[str, Any]:
    told = {key: value for key, value in properties.items() if value not in (None, "")}
    texts = {"title": words.clean(title), "description": "\n".join(f"{name}: {text}" for name, text in facts.items())}
    return {"type": "Feature", "geometry": {"type": geometry, "coordinates": coordinates}, "properties": texts | told}


def _point(position: Position, title: str, facts: dict[str, str], colour: str, **properties: Any) -> dict[str, Any]:
    grid = grid_position(position.latitude, position.longitude)
    marker = {"class": "Marker", "marker-symbol": "point", "marker-color": colour, "marker-size": "1"}
    where = {
        "altitude_msl": words.known(position.altitude),
        "utm": None if grid is None else grid.utm,
        "mgrs": None if grid is None else grid.mgrs,
    }
    at = _pairs([(position.longitude, position.latitude)])[0]
    return _feature("Point", at, title, facts, **marker, **where, **properties)


def _shape(kind: str, coordinates: Sequence[Any], title: str, facts: dict[str, str], colour: str) -> dict[str, Any]:
    style: dict[str, Any] = {"class": "Shape", "stroke": colour, "stroke-width": 2, "stroke-opacity": 1}
    if kind.endswith("Polygon"):
        style |= {"fill": colour, "fill-opacity": 0.1}
    return _feature(kind, coordinates, title, facts, **style)


def _find(find: Find, path: Path) -> list[dict[str, Any]]:
    title, colour, ellipse = words.find_title(find), words.find_colour(find), find.ellipse()
    properties = {
        "find": words.clean(find.id),
        "kind": words.clean(find.kind),
        "state": find.state.value,
        "probability": find.probability,
        "time": words.utc(find.time),
        "picture": words.picture_link(find, path),
    }
    if ellipse is not None:
        properties |= {"error_major_95": round(ellipse.major, 2), "error_minor_95": round(ellipse.minor, 2)}
        properties |= {"error_bearing": round(ellipse.bearing, 1)}
    point = _point(find.position, title, words.find_facts(find), colour, **properties)
    if ellipse is None or words.is_faint(find):
        return [point]
    return [point, _polygon(words.ellipse_outline(find.position, ellipse), (), f"{title}: error, 95 %", {}, colour)]


def _place(place: Place) -> dict[str, Any]:
    properties = {"kind": place.kind.value, "time": words.utc(place.time)}
    return _point(place.position, place.name, words.place_facts(place), words.PLACE_COLOUR, **properties)


def _track(track: Track) -> dict[str, Any]:
    line = np.column_stack([track.longitude, track.latitude, track.time, track.altitude])
    feature = _line(line, track.name, {"mover": track.mover.value}, words.TRACK_COLOUR)
    parts = words.lines_within(line)
    times = [[words.utc(time) or None for time in part[:, 2].tolist()] for part in parts]
    altitudes = [
        [None if not np.isfinite(altitude) else round(altitude, 2) for altitude in part[:, 3].tolist()]
        for part in parts
    ]
    feature["properties"]["coordTimes"] = times if len(parts) > 1 else times[0]
    feature["properties"]["altitudes_msl"] = altitudes if len(parts) > 1 else altitudes[0]
    return feature


def _area(area: Area) -> dict[str, Any]:
    colour = words.AREA_COLOURS[area.kind]
    feature = _polygon(area.outline, area.holes, area.name, words.area_facts(area), colour)
    feature["properties"] |= {"kind": area.kind.value, "poa": area.poa, "pod": area.pod}
    return feature


def _sortie(sortie: Sortie) -> dict[str, Any]:
    places = [sortie.home, *(waypoint.position for waypoint in sortie.waypoints), sortie.home]
    line = np.array([(place.longitude, place.latitude) for place in places])
    return _line(line, sortie.name, words.sortie_facts(sortie), words.SORTIE_COLOUR)


def _line(places: Floats, title: str, facts: dict[str, str], colour: str) -> dict[str, Any]:
    """Returns a line; in parts where it crosses the antimeridian (RFC 7946, section 3.1.9)."""
    parts = [_pairs(part[:, :2]) for part in words.lines_within(places)]
    if len(parts) == 1:
        return _shape("LineString", parts[0], title, facts, colour)
    return _shape("MultiLineString", parts, title, facts, colour)


def _polygon(
    outline: Floats, holes: Sequence[Floats], title: str, facts: dict[str, str], colour: str
) -> dict[str, Any]:
    """As _line, a polygon."""
    parts = [
        [_ring(outer, is_outer=True), *(_ring(hole, is_outer=False) for hole in inner)]
        for outer, inner in words.polygons_within(outline, holes)
    ]
    if len(parts) == 1:
        return _shape("Polygon", parts[0], title, facts, colour)
    return _shape("MultiPolygon", parts, title, facts, colour)


def _ring(outline: Floats, is_outer: bool) -> list[list[float]]:
    """Returns a closed ring in the direction that RFC 7946 asks for: an outer one counter-clockwise."""
    x, y = outline.T
    turns_left = float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) > 0.0
    ring = outline if turns_left is is_outer else outline[::-1]
    return _pairs(np.vstack([ring, ring[:1]]))


def _pairs(places: ArrayLike) -> list[list[float]]:
    rounded: list[list[float]] = np.round(np.asarray(places, dtype=np.float64), DIGITS).tolist()
    return rounded
