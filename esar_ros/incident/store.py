"""An incident's folder: a GeoPackage that any GIS opens, rasters beside it, and the brief.

    incident.gpkg         layers of features (WGS 84), and tables: about, sources, rasters
    poa/ pod/ map/        rasters as Cloud Optimized GeoTIFF, named by their digest, and the flown map
    brief.txt             the words

The GeoPackage is written whole beside the old one and put in its place at once; a raster is written before the
GeoPackage names it. So whenever a process is killed, the folder holds the state before or after, never one between.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

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
    Raster,
    Search,
    Sortie,
    Track,
    Waypoint,
)
from esar_ros.incident.formats.geotiff import geotiff_bytes
from esar_ros.incident.rasters import FOLDERS, POA, POD, read_raster
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.system.incident_files import BRIEF, PACKAGE
from esar_ros.scoring.result import write_atomically

_WGS84 = "EPSG:4326"
_FORMAT = "1"
_CREATED = "2000-01-01T00:00:00Z"  # a GeoPackage's own stamp: the same content is the same bytes


@dataclass
class Incident:
    """An incident that is open."""

    folder: Path
    search: Search
    about: dict[str, str]  # category, map, time of the incident, rest: mass of the prior outside the map
    sources: dict[str, str] = field(default_factory=dict)  # digest of each file taken in, and its name

    @staticmethod
    def create(folder: Path, search: Search, about: dict[str, str], brief: str) -> Incident:
        """Makes a folder. Raises UsageError where it holds an incident already."""
        if (folder / PACKAGE).exists():
            raise UsageError(f"{folder} holds an incident already", "name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / BRIEF, brief.encode())
        incident = Incident(folder, search, about)
        incident.save()
        return incident

    @staticmethod
    def open(folder: Path, lost: list[tuple[str, str]] | None = None) -> Incident:
        """Reads a folder. Raises UsageError where it holds no incident, or a damaged one.

        lost: is told the name and unit of each raster whose file is gone; None: those are damage, too.
        """
        path = folder / PACKAGE
        if not path.is_file():
            raise UsageError(f"{folder} holds no {PACKAGE}", "make one: esar incident new")
        _geopandas()
        try:
            return _read(folder, path, lost)
        except (KeyError, ValueError, OSError, RuntimeError, sqlite3.Error) as error:
            raise UsageError(f"{path} is damaged: {first_line(error)}", "take a copy of it, or make it anew") from error

    @property
    def brief(self) -> str:
        """The words of the incident."""
        return (self.folder / BRIEF).read_text(encoding="utf-8")

    def add(self, search: Search, digest: str, name: str) -> bool:
        """Takes in what a file told, once; returns whether it is new. digest: of the file's content."""
        if digest in self.sources:
            return False
        self.search.add(search)
        self.sources[digest] = name
        self.save()
        return True

    def rasters(self, unit: str) -> list[Raster]:
        """Returns the rasters of a unit, in the order in which they came."""
        return [raster for raster in self.search.rasters if raster.unit == unit]

    def save(self) -> None:
        """Writes all of it; a kill leaves what was there before, or this."""
        geopandas = _geopandas()
        named = []
        for raster in self.search.rasters:
            data = geotiff_bytes(raster)
            file = f"{FOLDERS[raster.unit]}/{hashlib.sha256(data).hexdigest()[:16]}.tif"
            if not (self.folder / file).is_file():
                write_atomically(self.folder / file, data)
            named.append({"name": raster.name, "unit": raster.unit, "file": file})
        descriptor, name = tempfile.mkstemp(".gpkg", ".writing-", self.folder)
        os.close(descriptor)
        path = Path(name)
        path.unlink()
        try:
            _write(path, self, named, geopandas)
            with path.open("rb") as file_:
                os.fsync(file_.fileno())
            os.replace(path, self.folder / PACKAGE)
        finally:
            path.unlink(missing_ok=True)
        kept = {self.folder / row["file"] for row in named}
        for unit in (POA, POD):
            for old in (self.folder / FOLDERS[unit]).glob("*.tif"):
                if old not in kept:
                    old.unlink(missing_ok=True)
        for left in self.folder.glob(".writing-*"):  # of a process that was killed
            with suppress(OSError):
                left.unlink()


def digest_of(path: Path) -> str:
    """Returns the digest of a file's content, or of all files of a folder with their names below it."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    for file in files:
        if path.is_dir():
            digest.update(str(file.relative_to(path)).encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


# -- features to layers ---------------------------------------------------------------------------


def _write(path: Path, incident: Incident, rasters: list[dict[str, str]], geopandas: Any) -> None:
    import pandas

    search = incident.search
    about = {"format": _FORMAT, "name": search.name, **incident.about}
    tables: list[tuple[str, list[dict[str, Any]]]] = [
        ("about", [{"key": key, "value": value} for key, value in about.items()]),
        ("sources", [{"digest": digest, "name": name} for digest, name in incident.sources.items()]),
        ("rasters", [dict(row) for row in rasters]),
        ("places", [_place_row(place) for place in search.places]),
        ("finds", [_find_row(find, incident.folder) for find in search.finds]),
        ("tracks", [_track_row(track) for track in search.tracks]),
        ("track_points", [row for number, track in enumerate(search.tracks) for row in _points(number, track)]),
        ("sorties", [_sortie_row(sortie) for sortie in search.sorties]),
        ("sortie_points", [row for n, sortie in enumerate(search.sorties) for row in _waypoints(n, sortie)]),
        *((_layer(kind), [_area_row(a) for a in search.areas if a.kind is kind]) for kind in AreaKind),
    ]
    kept = os.environ.get("OGR_CURRENT_DATE")
    os.environ["OGR_CURRENT_DATE"] = _CREATED
    try:
        for layer, rows in tables:
            if not rows:
                continue
            if "geometry" in rows[0]:
                frame = geopandas.GeoDataFrame(rows, crs=_WGS84)
                frame.to_file(path, layer=layer, driver="GPKG", engine="pyogrio", mode="a" if path.exists() else "w")
            else:
                import pyogrio

                pyogrio.write_dataframe(
                    pandas.DataFrame(rows), path, layer=layer, driver="GPKG", append=False, promote_to_multi=False
                )
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
    return None if time is None or np.isnan(time) else datetime.fromtimestamp(time, timezone.utc)


def _seconds(value: Any) -> float | None:
    """Returns seconds since 1970 of a layer's time, None where it has none."""
    return None if value is None or value != value else value.timestamp()


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


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
    covariance = (
        [None] * 3 if find.covariance is None else [float(find.covariance[i]) for i in ((0, 0), (0, 1), (1, 1))]
    )
    return {
        "id": find.id, "kind": find.kind, "state": find.state.value, "probability": find.probability,
        "time": _utc(find.time), "var_east": covariance[0], "cov_east_north": covariance[1], "var_north": covariance[2],
        "altitude_sigma": find.altitude_sigma, "picture": "" if picture is None else str(picture),
        "source": find.source, "note": find.note, "geometry": _point(find.position),
    }  # fmt: skip


def _track_row(track: Track) -> dict[str, Any]:
    from shapely import LineString

    line = LineString(np.stack([track.longitude, track.latitude], axis=1))
    return {"name": track.name, "mover": track.mover.value, "source": track.source, "geometry": line}


def _points(number: int, track: Track) -> Iterable[dict[str, Any]]:
    for lat, lon, alt, time in zip(track.latitude, track.longitude, track.altitude, track.time, strict=True):
        yield {"track": number, "time": _utc(float(time)), "geometry": _point(Position(lat, lon, alt))}


def _sortie_row(sortie: Sortie) -> dict[str, Any]:
    from shapely import LineString

    way = [sortie.home, *(point.position for point in sortie.waypoints), sortie.home]
    line = LineString([(position.longitude, position.latitude) for position in way])
    return {
        "name": sortie.name, "speed_mps": sortie.speed, "minutes": sortie.minutes, "pos": sortie.pos,
        "hectares": sortie.hectares, "home_altitude": sortie.home.altitude, "geometry": line,
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


def _read(folder: Path, path: Path, lost: list[tuple[str, str]] | None) -> Incident:
    import pyogrio

    names = {str(name) for name, _ in pyogrio.list_layers(path)}

    def rows(layer: str) -> list[dict[str, Any]]:
        if layer not in names:
            return []
        return list(pyogrio.read_dataframe(path, layer=layer).to_dict("records"))

    about = {row["key"]: _text(row["value"]) for row in rows("about")}
    if about.pop("format") != _FORMAT:
        raise UsageError(f"{path} is of another release", "make it anew")
    search = Search(about.pop("name"))
    search.places = [
        Place(
            row["name"], PlaceKind(row["kind"]), _position(row["geometry"]), _number(row["sigma_m"]),
            _seconds(row["time"]), _text(row["note"]),
        )
        for row in rows("places")
    ]  # fmt: skip
    search.finds = [_find(row, folder) for row in rows("finds")]
    points = rows("track_points")
    search.tracks = [
        _track(row, [point for point in points if point["track"] == n]) for n, row in enumerate(rows("tracks"))
    ]
    ways = rows("sortie_points")
    search.sorties = [
        _sortie(row, [point for point in ways if point["sortie"] == n]) for n, row in enumerate(rows("sorties"))
    ]
    search.areas = [area for kind in AreaKind for row in rows(_layer(kind)) for area in _areas(row, kind)]
    for row in rows("rasters"):
        if (folder / row["file"]).is_file():
            search.rasters.append(read_raster(folder / row["file"], row["name"], row["unit"]))
        elif lost is None:
            raise UsageError(f"{folder / row['file']} ({row['unit']}) is lost", f"esar incident rebuild {folder}")
        else:
            lost.append((row["name"], row["unit"]))
    return Incident(folder, search, about, {row["digest"]: row["name"] for row in rows("sources")})


def _find(row: dict[str, Any], folder: Path) -> Find:
    variances = [_number(row[key]) for key in ("var_east", "cov_east_north", "var_north")]
    covariance = None
    if all(value is not None for value in variances):
        east, both, north = variances
        covariance = np.array([[east, both], [both, north]], dtype=np.float64)
    return Find(
        row["id"], row["kind"], _position(row["geometry"]), covariance, _number(row["altitude_sigma"]),
        _number(row["probability"]), _seconds(row["time"]), FindState(row["state"]),
        folder / row["picture"] if _text(row["picture"]) else None, _text(row["source"]), _text(row["note"]),
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
    return Sortie(
        row["name"],
        Position(latitude, longitude, _number(row["home_altitude"])),
        tuple(
            Waypoint(_position(point["geometry"]), _number(point["above_ground_m"]), float(point["hold_s"]))
            for point in points
        ),
        float(row["speed_mps"]),
        float(row["minutes"]),
        _number(row["pos"]),
        _number(row["hectares"]),
    )


def _areas(row: dict[str, Any], kind: AreaKind) -> Iterable[Area]:
    """Yields the polygons of a row, which a person may have drawn in a GIS: of several parts, with a name alone."""
    shape = row["geometry"]
    for part in getattr(shape, "geoms", [shape]):
        outline, *holes = (np.array(ring.coords)[:-1, :2] for ring in (part.exterior, *part.interiors))
        yield Area(
            _text(row.get("name")) or kind.value, kind, outline, tuple(holes), _number(row.get("poa")),
            _number(row.get("pod")), _number(row.get("hours")), _text(row.get("note")),
        )  # fmt: skip


def _geopandas() -> Any:
    try:
        import geopandas
    except ImportError:
        raise UsageError("an incident needs geopandas", install("geo")) from None
    return geopandas
