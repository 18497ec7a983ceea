"""Drawings of others: the layers of a GIS's file (GeoJSON, KML, KMZ, GeoPackage, Shapefile, GPX), as shapely's shapes.

A KML is handed to GDAL without what GDAL makes wrong of it: a picture laid on the ground would be a polygon of whatever
was drawn, a 3D model within a geometry ends the process, and a ring that bounds no polygon is no geometry.
"""

from __future__ import annotations

import codecs
import re
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from xml import sax
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from esar_ros.mission.errors import UsageError, install
from esar_ros.mission.unpacking import TooLarge, bound, content

WGS84 = "EPSG:4326"
_HEAD = 4096  # bytes, within which a KML says that it is one
_ZIP = b"PK\x03\x04"
_KML = re.compile(rb"<(?:\w+:)?kml\b")
_IS_DOCUMENT = re.compile(r"(?:^|[/\\])(?!\._)[^/\\]*\.kml$", re.IGNORECASE)  # macOS puts ._doc.kml beside doc.kml
_LEFT_OUT = ("GroundOverlay", "Model")
_BOUNDARIES = ("outerBoundaryIs", "innerBoundaryIs")
_NO_FEATURES = "does not fit the OGR model"  # of GDAL: a KML that links to others and draws nothing itself
_UNKNOWN = "not recognized as being in a supported file format"
_SCRATCH = re.compile(r"(?:kml )?\S*esar-drawing-\S+ ?:?")


@dataclass(frozen=True)
class Layer:
    """A layer of a drawing, row by row."""

    system: str | None  # coordinate system; None: the file does not say it
    shapes: Sequence[Any]  # None where a row has no shape, or one that GEOS cannot hold
    fields: Mapping[str, Any]  # small name -> column


@dataclass(frozen=True)
class Drawing:
    """All that a file draws, and how much of it is left out."""

    layers: tuple[Layer, ...]
    broken: int  # shapes that make no geometry: a line of one point, a ring that does not close
    overlays: int  # pictures laid on the ground, which bound nothing


def read_drawing(path: Path, but: Collection[str] = ()) -> Drawing:
    """Returns what a file draws, without layers of the names in `but`.

    Raises UsageError where it cannot be read, or the extra `geo` is not installed.
    """
    try:
        import pyogrio
        import pyproj  # noqa: F401  (of projection)
        import shapely
    except ImportError as error:
        raise UsageError(f"{path}: drawings need {error.name}", install("geo")) from None
    layers, broken, overlays = list[Layer](), 0, 0
    content(path, 1)
    try:
        with TemporaryDirectory(prefix="esar-drawing-") as scratch, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # GDAL's words on a file, in Python's form; what is lost is counted here
            for source, pictures in _sources(path, Path(scratch)):
                overlays += pictures
                for number, name in _layers(source):
                    if name in but:
                        continue
                    meta, _, raw, columns = pyogrio.raw.read(source, layer=number, datetime_as_string=True)
                    shapes = shapely.from_wkb(raw, on_invalid="ignore")
                    broken += sum(had is not None and made is None for had, made in zip(raw, shapes, strict=True))
                    fields = {str(key).lower(): column for key, column in zip(meta["fields"], columns, strict=True)}
                    layers.append(Layer(meta["crs"], shapes, fields))
    except UsageError:
        raise
    except Exception as error:  # of GDAL, GEOS and zipfile, which have no common name
        if _UNKNOWN in str(error):
            kinds = "give GeoJSON, KML, GeoPackage, Shapefile or GPX"
            raise UsageError(f"{path} cannot be read: it is no drawing of a GIS", kinds) from None
        why = " ".join(_SCRATCH.sub(" ", str(error)).replace(str(path), " ").split())
        raise UsageError(f"{path} cannot be read: {why[:160]}", "export it again") from None
    return Drawing(tuple(layers), broken, overlays)


def projection(path: Path, system: str, target: str = WGS84) -> Callable[..., Any]:
    """Returns what turns x and y of a coordinate system into those of another, longitude first.

    Raises UsageError where nothing here converts the one's datum to the other's.
    """
    import pyproj

    try:
        return pyproj.Transformer.from_crs(system, target, always_xy=True, allow_ballpark=False).transform
    except pyproj.exceptions.ProjError:
        named = re.match(r'\w+\["([^"]*)"', system)
        raise UsageError(
            f"{path}: nothing here converts its coordinate system '{named[1] if named else system[:40]}'",
            "write it in WGS 84 (EPSG:4326)",
        ) from None


def _layers(source: Path) -> list[tuple[int, str]]:
    """Returns number and name of the layers of a source that have shapes; others are tables."""
    import pyogrio

    try:
        told = pyogrio.list_layers(source)
    except pyogrio.errors.DataSourceError as error:
        if _NO_FEATURES in str(error):
            return []
        raise
    return [(number, str(name)) for number, (name, kind) in enumerate(told) if kind is not None]


def _sources(path: Path, scratch: Path) -> Iterator[tuple[Path, int]]:
    """Yields the files that GDAL is to read for one, and how many pictures on the ground were taken out of it."""
    head = content(path, _HEAD)
    if head.startswith(_ZIP):
        with zipfile.ZipFile(path) as archive:
            inside = [each for each in archive.infolist() if _IS_DOCUMENT.search(each.filename)]
            if sum(each.file_size for each in inside) > (most := bound(path.stat().st_size)):
                raise TooLarge(most)
            for number, each in enumerate(inside):
                yield _drawn(archive.read(each), scratch / f"{number}.kml")
        if inside:
            return
    elif path.suffix.lower() == ".kml" or _is_kml(head):
        yield _drawn(content(path), scratch / "0.kml")
        return
    yield path, 0


def _is_kml(head: bytes) -> bool:
    """Returns whether a file that begins so is a KML, in one or two bytes a letter."""
    text = head.replace(b"\0", b"").lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16_LE).lstrip()
    return text.startswith(b"<") and _KML.search(text) is not None


def _drawn(kml: bytes, target: Path) -> tuple[Path, int]:
    """Writes what of a KML makes geometries; returns where, and how many pictures on the ground there were."""
    with target.open("wb") as file:
        drawn = _Drawn(file)
        try:
            sax.parseString(kml.removeprefix(codecs.BOM_UTF8).lstrip(), drawn)
        except sax.SAXParseException as error:
            raise ValueError(f"ERROR parsing {error.getMessage()} on line {error.getLineNumber()}") from None
    return target, drawn.overlays


class _Drawn(XMLGenerator):
    """Writes a KML anew, in UTF-8: without pictures on the ground and models, its lone rings as lines."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, "utf-8")
        self.overlays = 0
        self._depth = 0  # of the present element
        self._left_out = 0  # of these, within one that is left out
        self._boundaries = 0  # of a polygon, of these
        self._is_bare = False  # without its outermost element, as some within a KMZ are

    def startElement(self, name: str, attrs: Any) -> None:
        kind = name.rpartition(":")[2]
        if not self._depth and kind != "kml":
            self._is_bare = True
            super().startElement("kml", AttributesImpl({}))
        self._depth += 1
        if self._left_out or kind in _LEFT_OUT:
            self._left_out += 1
            self.overlays += kind == "GroundOverlay" and self._left_out == 1
            return
        self._boundaries += kind in _BOUNDARIES
        super().startElement(self._written(name), attrs)

    def endElement(self, name: str) -> None:
        self._depth -= 1
        if self._left_out:
            self._left_out -= 1
            return
        super().endElement(self._written(name))
        self._boundaries -= name.rpartition(":")[2] in _BOUNDARIES
        if not self._depth and self._is_bare:
            super().endElement("kml")

    def characters(self, content: str) -> None:
        if not self._left_out:
            super().characters(content)

    def _written(self, name: str) -> str:
        """Returns a ring's name as a line's where it bounds no polygon."""
        return name if self._boundaries else name.replace("LinearRing", "LineString")
