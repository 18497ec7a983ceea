"""The kind of a file, by its content: endings lie, and cards of cameras have none of their own."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from enum import Enum
from pathlib import Path

from esar_ros.bags.flight_logs import ardupilot, ulog
from esar_ros.incident.sources import photos, srt
from esar_ros.mission.errors import UsageError
from esar_ros.mission.unpacking import content

_HEAD = 4096  # bytes
_MCAP, _SQLITE, _ZSTD, _ZIP = b"\x89MCAP0", b"SQLite format 3\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_SHAPEFILE = b"\x00\x00\x27\x0a"
_GEOJSON = ("type", "features", "geometry", "coordinates")  # keys, the first of which comes early
_MP4 = b"ftyp"  # at byte 4


class Kind(str, Enum):
    """A kind of record, each with a reader of its own."""

    GPX = "gpx"
    ULOG = "ulog"
    ARDUPILOT = "ardupilot"
    PHOTOS = "photos"
    SRT = "srt"
    POLYGONS = "polygons"
    BAG = "bag"


def recognise(path: Path) -> Kind:
    """Returns what a file or folder is. Raises UsageError where it is nothing that is read."""
    if path.is_dir():
        names = {each.name for each in path.iterdir()}
        if "metadata.yaml" in names or any(name.endswith((".mcap", ".db3")) for name in names):
            return Kind.BAG
        if photos.files(path):
            return Kind.PHOTOS
        raise UsageError(f"{path} holds neither a bag nor photographs", "give its files")
    head = content(path, _HEAD)
    kind = _by_magic(path, head) or _by_text(head)
    if kind is None:
        raise UsageError(f"{path} is of no kind that is read", f"known: {', '.join(each.value for each in Kind)}")
    return kind


def _by_magic(path: Path, head: bytes) -> Kind | None:
    """Raises UsageError for a video."""
    if head.startswith(_SQLITE):
        return _of_database(path)
    if head.startswith(_ZIP):
        return _of_archive(path)
    if head[4:8] == _MP4:
        raise UsageError(f"{path} is a video", "give the .SRT that lies beside it")
    for magic, kind in (
        (ulog.MAGIC, Kind.ULOG),
        (ardupilot.MAGIC, Kind.ARDUPILOT),
        (ardupilot.TEXT_MAGIC, Kind.ARDUPILOT),
        (photos.MAGIC, Kind.PHOTOS),
        (_MCAP, Kind.BAG),
        (_ZSTD, Kind.BAG),
        (_SHAPEFILE, Kind.POLYGONS),
    ):
        if head.startswith(magic):
            return kind
    return None


def _of_database(path: Path) -> Kind | None:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error:
        return Kind.BAG  # a damaged one is salvaged by the bags' reader
    return Kind.POLYGONS if "gpkg_contents" in tables else Kind.BAG if "topics" in tables else None


def _of_archive(path: Path) -> Kind | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return Kind.POLYGONS if any(name.lower().endswith(".kml") for name in archive.namelist()) else None
    except (zipfile.BadZipFile, OSError):
        return None


def _by_text(head: bytes) -> Kind | None:
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace").lstrip()
    if text.startswith("<"):
        return Kind.GPX if "<gpx" in text else Kind.POLYGONS if "<kml" in text else None
    if text.startswith("{"):
        return Kind.POLYGONS if any(f'"{key}"' in text for key in _GEOJSON) else None
    return Kind.SRT if srt.CUE.search(text) else None
