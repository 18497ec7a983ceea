"""An incident's folder: a GeoPackage that any GIS opens, rasters beside it, and the brief.

    incident.gpkg         layers of features (WGS 84), and tables: about, sources, rasters
    poa/ pod/ map/        rasters as Cloud Optimized GeoTIFF, named by their digest, and the flown map
    brief.txt             the words

The GeoPackage is written whole beside the old one and put in its place at once; a raster is written before the
GeoPackage names it. So whenever a process is killed, the folder holds the state before or after, never one between.
What another program has changed meanwhile, or holds open, is not written over; its own layers stay.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from esar_ros.incident.features import Raster, Search
from esar_ros.incident.formats.geotiff import geotiff_bytes
from esar_ros.incident.layers import read_layers, write_layers
from esar_ros.incident.rasters import FOLDERS, POA, POD, read_raster
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.system.incident_files import BRIEF, PACKAGE
from esar_ros.mission.task_files import read_text
from esar_ros.scoring.result import write_atomically


@dataclass
class Incident:
    """An incident that is open."""

    folder: Path
    search: Search
    about: dict[str, str]  # category, map, time of the incident, rest: mass of the prior outside the map
    sources: dict[str, str] = field(default_factory=dict)  # digest of each file taken in, and its name
    _state: tuple[int, ...] | None = None  # of the GeoPackage, when it was read or written last

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
        _check_geopandas()
        state = _state_of(path)
        try:
            incident = _opened(folder, path, lost)
        except (LookupError, ValueError, TypeError, AttributeError, OSError, RuntimeError, sqlite3.Error) as error:
            raise UsageError(f"{path} is damaged: {first_line(error)}", "take a copy of it, or make it anew") from error
        incident._state = state
        return incident

    @property
    def brief(self) -> str:
        """The words of the incident."""
        return read_text(self.folder / BRIEF, what="brief")

    def add(self, search: Search, digest: str, name: str) -> bool:
        """Takes in what a file told, once; returns whether it is new. digest: of the file's content."""
        if digest in self.sources:
            return False
        self.search.add(search)
        self.sources[digest] = name
        self.save()
        return True

    def let_again(self, name: str) -> None:
        """Lets the files of a name (without its ending) be taken in again, for the rasters that they gave are lost.

        What else they gave stays: of a file that is known only what is not there is taken.
        """
        for digest, source in list(self.sources.items()):
            if Path(source).stem == name:
                file, colon, _ = digest.partition(":")
                if colon:
                    del self.sources[digest]
                self.sources[f"{file}:lost"] = source

    def rasters(self, unit: str) -> list[Raster]:
        """Returns the rasters of a unit, in the order in which they came."""
        return [raster for raster in self.search.rasters if raster.unit == unit]

    def save(self) -> None:
        """Writes all of it; a kill leaves what was there before, or this.

        Raises UsageError where another program has changed it since it was read, or holds it open.
        """
        with self._alone():
            self._save()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        package = self.folder / PACKAGE
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # of a file system without locks
                fcntl.flock(folder, fcntl.LOCK_EX)
            if _state_of(package) != self._state:
                raise UsageError(f"{package} was changed by another program meanwhile", "give the command again")
            _check_closed(package)
            yield
            self._state = _state_of(package)
        finally:
            os.close(folder)

    def _save(self) -> None:
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
            write_layers(path, self.search, self.about, self.sources, named, self.folder / PACKAGE)
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


def _state_of(path: Path) -> tuple[int, ...] | None:
    """Returns what changes whenever a file is written; None where there is none."""
    if not path.is_file():
        return None
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _check_closed(path: Path) -> None:
    """Raises UsageError where another program has a GeoPackage open to write into it, as QGIS has while it edits.

    SQLite would play that program's journal upon the file that takes the place of this one.
    """
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=1.0)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            (mode,) = connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.Error as error:
        mode = first_line(error)
    if mode != "delete":
        raise UsageError(f"{path} is open in another program", "save and close it there, then give the command again")


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


def _opened(folder: Path, path: Path, lost: list[tuple[str, str]] | None) -> Incident:
    found = read_layers(path)
    for row in found.rasters:
        if (folder / row["file"]).is_file():
            found.search.rasters.append(read_raster(folder / row["file"], row["name"], row["unit"]))
        elif lost is None:
            raise UsageError(f"{folder / row['file']} ({row['unit']}) is lost", f"esar incident rebuild {folder}")
        else:
            lost.append((row["name"], row["unit"]))
    return Incident(folder, found.search, found.about, found.sources)


def _check_geopandas() -> None:
    try:
        import geopandas  # noqa: F401
    except ImportError:
        raise UsageError("an incident needs geopandas", install("geo")) from None
