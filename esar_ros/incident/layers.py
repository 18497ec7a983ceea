"""The layers of an incident's GeoPackage: features to rows, and rows to features, also those that a person drew.

Layers of features are in WGS 84; tables beside them: about, sources, rasters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    FindState,
    Mover,
    Place,
    PlaceKind,
    Position,
    Search,
    Sortie,
    Track,
    Waypoint,
)
from esar_ros.incident.formats.geopackage import keep_layers, write_layer
from esar_ros.mission.errors import UsageError, first_line

_Chosen = TypeVar("_Chosen", bound=Enum)
_Made = TypeVar("_Made")
_WGS84 = "EPSG:4326"
_FORMAT = "1"
# layers that are there from the beginning, for a person to draw into them in a GIS, and their fields
_DRAWN = ("zones_no_fly", "zones_danger")
_DRAWN_FIELDS = {"name": "object", "poa": "float64", "pod": "float64", "hours": "float64", "note": "object"}
_NUMBERS = {
    "poa", "pod", "hours", "sigma_m", "probability", "var_east", "cov_east_north", "var_north", "altitude_sigma", "pos",
    "hectares", "home_altitude", "above_ground_m",
}  # fields that may all be empty  # fmt: skip
_CREATED = "2000-01-01T00:00:00Z"  # a GeoPackage's own stamp: the same content is the same bytes


def write_layers(
    path: Path,
    search: Search,
    about: Mapping[str, str],
    sources: Mapping[str, str],
    rasters: Sequence[Mapping[str, str]],
    before: Path,
) -> None:
    """Writes a search into a new GeoPackage, and what of another's layers lie in the one before.

    about: what is kept of the incident beside its features; sources: names by digest; rasters: name, unit and file of
    each. Raises UsageError where a layer of another's cannot be kept.
    """
    import geopandas
    import pandas

    about = {"format": _FORMAT, "name": search.name, **about}
    folder = before.parent
    tables: list[tuple[str, list[dict[str, Any]]]] = [
        ("about", [{"key": key, "value": value} for key, value in about.items()]),
        ("sources", [{"digest": digest, "name": name} for digest, name in sources.items()]),
        ("rasters", [dict(row) for row in rasters]),
        ("places", [_place_row(place) for place in search.places]),
        ("finds", [_find_row(find, folder) for find in search.finds]),
        ("tracks", [_track_row(number, track) for number, track in enumerate(search.tracks)]),
        ("track_points", [row for number, track in enumerate(search.tracks) for row in _points(number, track)]),
        ("sorties", [_sortie_row(number, sortie) for number, sortie in enumerate(search.sorties)]),
        ("sortie_points", [row for n, sortie in enumerate(search.sorties) for row in _waypoints(n, sortie)]),
        *((_layer(kind), [_area_row(a) for a in search.areas if a.kind is kind]) for kind in AreaKind),
    ]
    kept = os.environ.get("OGR_CURRENT_DATE")
    os.environ["OGR_CURRENT_DATE"] = _CREATED
    try:
        for layer, rows in tables:
            if rows:
                frame = geopandas.GeoDataFrame(rows, crs=_WGS84) if "geometry" in rows[0] else pandas.DataFrame(rows)
                for name in frame.columns[frame.isna().all()]:  # which would be fields of text in a GIS
                    if name in _NUMBERS:
                        frame[name] = frame[name].astype("float64")
                    elif name == "time":
                        frame[name] = pandas.to_datetime(frame[name], utc=True)
                write_layer(path, layer, frame)
            elif layer in _DRAWN:
                columns = {name: pandas.Series(dtype=kind) for name, kind in _DRAWN_FIELDS.items()}
                write_layer(path, layer, geopandas.GeoDataFrame(columns, geometry=[], crs=_WGS84), "Polygon")
        keep_layers(before, path, {layer for layer, _ in tables})
    finally:
        if kept is None:
            del os.environ["OGR_CURRENT_DATE"]
        else:
            os.environ["OGR_CURRENT_DATE"] = kept


def _layer(kind: AreaKind) -> str:
    return {AreaKind.NO_FLY: "zones_no_fly", AreaKind.DANGER: "zones_danger"}.get(kind, f"{kind.value}_areas")


def _point(position: Position) -> Any:
    from shapely import Point

    altitude = np.nan if position.altitude is None else position.altitude
    return Point(position.longitude, position.latitude, altitude)


def _position(point: Any) -> Position:
    altitude = float(point.z) if point.has_z else np.nan
    return Position(float(point.y), float(point.x), None if np.isnan(altitude) else altitude)


def _utc(time: float | None) -> datetime | None:
    try:
        return None if time is None or np.isnan(time) else datetime.fromtimestamp(time, timezone.utc)
    except (ValueError, OverflowError, OSError):  # beyond the calendar
        return None


def _seconds(value: Any) -> float | None:
    """Returns seconds since 1970 of a layer's time, UTC where it says no zone; None where it has none.

    Raises ValueError, as _number does: in a field of text a person may write anything.
    """
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        import pandas

        value = pandas.to_datetime(value, utc=True)
    return float(value.timestamp())


def _number(value: Any) -> float | None:
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return float(value.replace(",", ".") if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(f"'{value[:40]}' is no number") from None


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def _place_row(place: Place) -> dict[str, Any]:
    return {
        "name": place.name, "kind": place.kind.value, "sigma_m": place.sigma, "time": _utc(place.time),
        "note": place.note, "geometry": _point(place.position),
    }  # fmt: skip


def _find_row(find: Find, folder: Path) -> dict[str, Any]:
    """Returns a find's row; a picture in the incident's folder is named from there, so that the folder may move."""
    picture = find.picture
    if picture is not None and picture.absolute().is_relative_to(folder.absolute()):
        picture = picture.absolute().relative_to(folder.absolute())
    elif picture is not None:
        picture = picture.absolute()
    covariance = (
        [None] * 3 if find.covariance is None else [float(find.covariance[i]) for i in ((0, 0), (0, 1), (1, 1))]
    )
    return {
        "id": find.id, "kind": find.kind, "state": find.state.value, "probability": find.probability,
        "time": _utc(find.time), "var_east": covariance[0], "cov_east_north": covariance[1], "var_north": covariance[2],
        "altitude_sigma": find.altitude_sigma, "picture": "" if picture is None else str(picture),
        "source": find.source, "note": find.note, "geometry": _point(find.position),
    }  # fmt: skip


def _track_row(number: int, track: Track) -> dict[str, Any]:
    """number: by which its points know it."""
    from shapely import LineString

    line = LineString(np.stack([track.longitude, track.latitude], axis=1))
    return {
        "name": track.name, "mover": track.mover.value, "source": track.source, "number": number, "geometry": line,
    }  # fmt: skip


def _points(number: int, track: Track) -> Iterable[dict[str, Any]]:
    for lat, lon, alt, time in zip(track.latitude, track.longitude, track.altitude, track.time, strict=True):
        yield {"track": number, "time": _utc(float(time)), "geometry": _point(Position(lat, lon, alt))}


def _sortie_row(number: int, sortie: Sortie) -> dict[str, Any]:
    """number: by which its way-points know it."""
    from shapely import LineString

    way = [sortie.home, *(point.position for point in sortie.waypoints), sortie.home]
    line = LineString([(position.longitude, position.latitude) for position in way])
    return {
        "name": sortie.name, "speed_mps": sortie.speed, "minutes": sortie.minutes, "pos": sortie.pos,
        "hectares": sortie.hectares, "home_altitude": sortie.home.altitude, "number": number, "geometry": line,
    }  # fmt: skip


def _waypoints(number: int, sortie: Sortie) -> Iterable[dict[str, Any]]:
    for point in sortie.waypoints:
        yield {
            "sortie": number, "above_ground_m": point.above_ground, "hold_s": point.hold,
            "geometry": _point(point.position),
        }  # fmt: skip


def _area_row(area: Area) -> dict[str, Any]:
    from shapely import Polygon

    return {
        "name": area.name, "poa": area.poa, "pod": area.pod, "hours": area.hours, "note": area.note,
        "geometry": Polygon(area.outline, area.holes),
    }  # fmt: skip


# -- layers to features ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Layers:
    """All that a GeoPackage holds."""

    search: Search  # without its rasters
    about: dict[str, str]
    sources: dict[str, str]  # names by digest
    rasters: list[dict[str, str]]  # name, unit and file


def read_layers(path: Path) -> Layers:
    """Returns what a GeoPackage holds. Raises UsageError for what a person has put there and cannot be read, and all
    kinds of errors where it is damaged."""
    import pyogrio

    names = {str(name) for name, _ in pyogrio.list_layers(path)}

    def rows(layer: str) -> list[dict[str, Any]]:
        if layer not in names:
            return []
        frame = pyogrio.read_dataframe(path, layer=layer)
        if "geometry" in frame:  # in a system of a person's choice, where one has made the layer
            if frame.crs is None:
                said = f"{path}: layer {layer} does not say its coordinate system"
                raise UsageError(said, f"set it in the GIS: {_WGS84}")
            frame = frame.to_crs(_WGS84)
        return list(frame.to_dict("records"))

    about = {row["key"]: _text(row["value"]) for row in rows("about")}
    if about.pop("format") != _FORMAT:
        raise UsageError(f"{path} is of another release", "make it anew")
    search = Search(about.pop("name"))

    def each(layer: str, make: Callable[[dict[str, Any], str, int], _Made]) -> list[_Made]:
        """Makes features of rows in which a person may have written."""
        made = []
        for number, row in enumerate(rows(layer), 1):
            where = f"{path}: row {number} of layer {layer}"
            try:
                made.append(make(row, where, number))
            except ValueError as error:
                raise UsageError(f"{where}: {first_line(error)}", "mend it in the GIS, or leave it empty") from None
        return made

    search.places = each("places", lambda row, where, _: _place(row, where))
    search.finds = each("finds", lambda row, where, number: _find(row, path.parent, number, where))
    for layer, children, key, made in (
        ("tracks", "track_points", "track", _track), ("sorties", "sortie_points", "sortie", _sortie)
    ):  # fmt: skip
        points: dict[int, list[dict[str, Any]]] = {}
        for point in rows(children):
            points.setdefault(int(point[key]), []).append(point)
        for place, row in enumerate(rows(layer)):
            number = _number(row.get("number", place))
            if number is None:
                where = f"{path}: {_text(row.get('name')) or 'a row'} of layer {layer} was not made here"
                raise UsageError(where, "draw into the zones' layers, or add a GPX with ./esar incident add")
            getattr(search, layer).append(made(row, points.get(int(number), [])))
    search.areas = [
        area for kind in AreaKind for areas in each(_layer(kind), lambda row, *_: [*_areas(row, kind, path)])  # noqa: B023
        for area in areas
    ]  # fmt: skip
    sources = {row["digest"]: row["name"] for row in rows("sources")}
    return Layers(search, about, sources, rows("rasters"))


def _place(row: dict[str, Any], where: str) -> Place:
    """Returns a named point, which a person may have set in a GIS with nothing but a name. Raises UsageError."""
    kind = _chosen(PlaceKind, row.get("kind"), PlaceKind.LANDMARK, where)
    return Place(
        _text(row.get("name")) or kind.value, kind, _at(row, where), _number(row.get("sigma_m")),
        _seconds(row.get("time")), _text(row.get("note")),
    )  # fmt: skip


def _at(row: dict[str, Any], where: str) -> Position:
    """Returns the place of a row. Raises UsageError."""
    shape = row["geometry"]
    if shape is None or shape.is_empty or shape.geom_type != "Point":
        raise UsageError(f"{where} has no point", "set it in the GIS, or delete the row")
    return _position(shape)


def _chosen(kind: type[_Chosen], value: Any, default: _Chosen, where: str) -> _Chosen:
    """Returns the member of an enumeration that a cell names, whatever the case of its letters. Raises UsageError."""
    text = _text(value).strip().lower()
    if not text:
        return default
    try:
        return kind(text)
    except ValueError:
        raise UsageError(
            f"{where}: '{text[:40]}' is unknown", f"one of {', '.join(one.value for one in kind)}"
        ) from None


def _find(row: dict[str, Any], folder: Path, number: int, where: str) -> Find:
    """Returns a find, which a person may have set in a GIS. Raises UsageError."""
    position = _at(row, where)
    variances = [_number(row.get(key)) for key in ("var_east", "cov_east_north", "var_north")]
    covariance = None
    if all(value is not None for value in variances):
        east, both, north = variances
        covariance = np.array([[east, both], [both, north]], dtype=np.float64)
    picture = _text(row.get("picture"))
    return Find(
        _text(row.get("id")) or f"by-hand-{number}", _text(row.get("kind")) or "find", position, covariance,
        _number(row.get("altitude_sigma")), _number(row.get("probability")), _seconds(row.get("time")),
        _chosen(FindState, row.get("state"), FindState.NEW, where), folder / picture if picture else None,
        _text(row.get("source")), _text(row.get("note")),
    )  # fmt: skip


def _track(row: dict[str, Any], points: list[dict[str, Any]]) -> Track:
    places = [_position(point["geometry"]) for point in points]
    times = [_seconds(point["time"]) for point in points]
    return Track(
        row["name"],
        Mover(row["mover"]),
        np.array([place.latitude for place in places]),
        np.array([place.longitude for place in places]),
        np.array([np.nan if place.altitude is None else place.altitude for place in places]),
        np.array([np.nan if time is None else time for time in times]),
        _text(row["source"]),
    )


def _sortie(row: dict[str, Any], points: list[dict[str, Any]]) -> Sortie:
    longitude, latitude = row["geometry"].coords[0][:2]
    home = Position(latitude, longitude, _number(row["home_altitude"]))
    waypoints = tuple(
        Waypoint(_position(point["geometry"]), _number(point["above_ground_m"]), float(point["hold_s"]))
        for point in points
    )
    numbers = float(row["speed_mps"]), float(row["minutes"]), _number(row["pos"]), _number(row["hectares"])
    return Sortie(row["name"], home, waypoints, *numbers)


def _areas(row: dict[str, Any], kind: AreaKind, path: Path) -> Iterable[Area]:
    """Yields the polygons of a row, which a person may have drawn in a GIS: of several parts, with a name alone, or
    with nothing yet. Raises UsageError for what is no polygon."""
    shape = row["geometry"]
    for part in getattr(shape, "geoms", [shape]):
        if part is None or part.is_empty:
            continue
        if part.geom_type != "Polygon":
            said = f"{path}: {_text(row.get('name')) or 'a shape'} in layer {_layer(kind)} is a {part.geom_type}"
            raise UsageError(said, "draw it there as a polygon")
        outline, *holes = (np.array(ring.coords)[:-1, :2] for ring in (part.exterior, *part.interiors))
        yield Area(
            _text(row.get("name")) or kind.value, kind, outline, tuple(holes), _number(row.get("poa")),
            _number(row.get("pod")), _number(row.get("hours")), _text(row.get("note")),
        )  # fmt: skip
