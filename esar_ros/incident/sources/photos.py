"""Photographs of drones (JPEG): from where and how each was taken, by its EXIF and DJI's XMP.

Read one after another and kept nowhere, so that a card of 100,000 takes no more memory than one. Only a file's head is
read, and of what lies behind it the size: what is told of a picture lies before its pixels.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.looks import Look, LookErrors
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError, install

MAGIC = b"\xff\xd8\xff"
ENDINGS = (".jpg", ".jpeg")
_HEAD = 256 << 10  # bytes that hold what is told of a picture
_MOST_SEGMENTS = 10_000  # before the picture
_SEGMENT_XMP = b"http://ns.adobe.com/xap/1.0/\x00"
_XMP_FIELD = re.compile(r'(?:drone-dji|DJI|xmp):(\w+)\s*(?:=\s*"([^"]*)"|>([^<]*)<)')
_SIZES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))  # JPEG: SOFn
_FILM = 43.267  # mm, diagonal of 35 mm film, to which equal focal lengths refer (CIPA DCG-001)
_DATUMS = ("", "WGS84", "WGS1984")  # as cameras write them, without blanks and dashes
_BELOW = ("1", "3", "Below Sea Level")  # GPSAltitudeRef of a height below the sea; 3 since EXIF 3.0
_RTK_FIX = 50.0  # drone-dji:RtkFlag of a fixed solution
_LOOSE = "set the camera's clock, or say how far it is from UTC: --utc-offset H"


@dataclass(frozen=True)
class Photo:
    """A look with the digest of its file's head, by which it is known when it comes again."""

    look: Look
    digest: str


def files(path: Path) -> list[Path]:
    """Returns the photographs in a folder and below, by name; of a file itself."""
    return sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS) if path.is_dir() else [path]


def read(
    paths: Iterable[Path],
    intake: Intake,
    taken: Collection[str] = (),
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Photo]:
    """Yields the photographs that have a position; of each other one, and of each doubt, the intake is told.

    taken: digests of those that are passed over. progress: is called before each. Raises UsageError where
    exifread is not installed.
    """
    try:
        import exifread
    except ImportError:
        raise UsageError("photographs need exifread", install("geo")) from None
    cameras: dict[str, None] = {}
    for path in paths:
        progress()
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                head = file.read(_HEAD)
                segments = _segments(file)
        except OSError as error:
            intake.fault(path, f"cannot be read ({error.strerror})", "check the path")
            continue
        digest = hashlib.sha256(head + size.to_bytes(8, "little")).hexdigest()
        if digest in taken:
            continue
        if not head.startswith(MAGIC):
            intake.fault(path, "it is empty" if not head else "it is no JPEG", "copy it again from the card")
            continue
        try:
            tags = exifread.process_file(io.BytesIO(head), details=False)
        except Exception:  # of the parser, which fails anywhere in a damaged file
            tags = {}
        look = _Told(path, segments, tags, intake).look()
        if look is not None:
            cameras.setdefault(look.camera)
            if len(cameras) == 2:
                intake.fault(path.parent, f"photographs of two cameras: {', '.join(cameras)}", "each counts as its own")
            yield Photo(look, digest)


class _Told:
    """All that one file tells of itself."""

    def __init__(
        self, path: Path, segments: tuple[dict[str, str], tuple[int, int]], tags: dict[str, Any], intake: Intake
    ) -> None:
        self._path, self._tags, self._intake = path, tags, intake
        self._xmp, self._size = segments
        self._doubts: list[str] = []

    def look(self) -> Look | None:
        where = self._position()
        if where is None:
            return None
        yaw, pitch, roll = self._attitude()
        altitude, errors = self._altitude()
        return Look(
            source=self._path.name,
            latitude=where[0],
            longitude=where[1],
            altitude=altitude,
            above_home=self._number("RelativeAltitude"),
            time=self._time(),
            yaw=yaw,
            pitch=pitch,
            roll=roll,
            camera=self._camera(),
            model=self._model(),
            laser=self._number("LRFTargetDistance") if self._xmp.get("LRFStatus", "Normal") == "Normal" else None,
            errors=errors,
            doubts=tuple(self._doubts),
            picture=self._path,
        )

    def _position(self) -> tuple[float, float] | None:
        """Returns latitude and longitude in degrees; None, and a line why, where they are not to be had."""
        datum = self._text("GPS GPSMapDatum").upper()
        if re.sub(r"[\W_]", "", datum) not in _DATUMS:
            self._intake.fault(self._path, f"its datum is {datum}, not WGS 84", "its place is withheld: convert it")
            return None
        latitude, longitude = self._degrees("Latitude", "S"), self._degrees("Longitude", "W")
        if latitude is None or longitude is None or (abs(latitude) < 1e-3 and abs(longitude) < 1e-3):
            self._intake.fault(self._path, "it has no position", "it is left out: the drone had no fix")
            return None
        if wrong := self._intake.why_not(latitude, longitude):
            self._intake.fault(self._path, *wrong)
            return None
        return latitude, longitude

    def _degrees(self, axis: str, negative: str) -> float | None:
        parts = self._values(f"GPS GPS{axis}")
        if len(parts) == 3:
            value = parts[0] + parts[1] / 60.0 + parts[2] / 3600.0
            value = -value if self._text(f"GPS GPS{axis}Ref").upper().startswith(negative) else value
        else:
            told = self._number(f"Gps{axis}")
            if told is None:
                return None
            value = told
        return value if math.isfinite(value) and abs(value) <= 180.0 else None

    def _attitude(self) -> tuple[float | None, float | None, float | None]:
        """Returns yaw, pitch and roll of the gimbal in degrees; None, and a line why, where they are not told."""
        yaw, pitch, roll = (self._number(f"Gimbal{axis}Degree") for axis in ("Yaw", "Pitch", "Roll"))
        if pitch is None or yaw is None:
            self._doubt("the camera's attitude is not told", "nothing in it can be placed: use photographs with XMP")
        elif yaw == 0.0 and (self._number("FlightYawDegree") or 0.0) == 0.0:
            # Both to a hundredth of a degree: a compass that says nothing, not one that points north.
            self._doubt("its yaw is 0 throughout", "nothing in it can be placed: calibrate the compass")
            yaw = None
        return yaw, pitch, roll

    def _altitude(self) -> tuple[float | None, LookErrors]:
        """Returns the altitude above the sea (m), and the errors of the drone's receiver.

        DJI tells heights of its GNSS receiver above the sea (AltitudeType GpsFusionAlt), those of RTK above the
        ellipsoid (RtkAlt).
        """
        told = self._number("AbsoluteAltitude")
        if told is None and (values := self._values("GPS GPSAltitude")):
            told = -values[0] if self._text("GPS GPSAltitudeRef").strip() in _BELOW else values[0]
        fixed = self._number("RtkFlag") == _RTK_FIX
        errors = LookErrors(horizontal=0.1, vertical=0.2) if fixed else LookErrors()
        if told is not None and (fixed or self._xmp.get("AltitudeType") == "RtkAlt"):
            if self._intake.undulation is None:
                self._doubt("its height is above the ellipsoid", "it is left out: say how high the geoid is: --geoid M")
                return None, errors
            told -= self._intake.undulation
        return told, errors

    def _time(self) -> float | None:
        """Returns s since 1970, UTC: by GNSS, else by a clock that states its zone, else by the zone that is given."""
        date, clock = self._text("GPS GPSDate"), self._values("GPS GPSTimeStamp")
        local = _parsed(self._text("EXIF DateTimeOriginal"))
        if date and len(clock) == 3:
            utc = _parsed(f"{date} 00:00:00")
            if utc is not None and 0.0 <= clock[0] < 24.0 and 0.0 <= clock[1] < 60.0 and 0.0 <= clock[2] < 61.0:
                return (utc + timedelta(hours=clock[0], minutes=clock[1], seconds=clock[2])).timestamp()
        if local is None:
            self._doubt("it has no time", "it is taken without one")
            return None
        zone = _zone(self._text("EXIF OffsetTimeOriginal"))
        if zone is None:
            zone = _zone(self._xmp.get("CreateDate", ""))
        if zone is None and self._intake.utc_offset is not None:
            zone = timedelta(hours=self._intake.utc_offset)
        if zone is None:
            self._doubt("its clock is in local time and does not say which", f"it is taken without a time: {_LOOSE}")
            return None
        return (local - zone).timestamp()

    def _camera(self) -> str:
        words = (self._text("Image Make"), self._text("Image Model"), self._xmp.get("ImageSource", ""))
        focal = self._values("EXIF FocalLength")
        return " ".join([word for word in words if word] + [f"{focal[0]:g} mm" for _ in focal[:1]])

    def _model(self) -> CameraModel | None:
        """Returns the pinhole camera; None, and a line why, where its focal length is not known."""
        width, height = self._size
        told = self._values("EXIF ExifImageWidth")
        if not width or not height:
            self._doubt("it is cut before its size is told", "nothing in it can be placed: copy it again from the card")
            return None
        if told and round(told[0]) not in (0, width, height):
            self._doubt(f"it was resized from {told[0]:.0f} px", "nothing in it can be placed: give the original")
            return None
        if (zoom := self._values("EXIF DigitalZoomRatio")) and zoom[0] > 1.0:
            self._doubt(f"digital zoom of {zoom[0]:g}", "nothing in it can be placed: its focal length is not sure")
            return None
        focal = self._number("CalibratedFocalLength")
        if focal:
            x, y = self._number("CalibratedOpticalCenterX"), self._number("CalibratedOpticalCenterY")
            return CameraModel(width, height, focal, focal, x or width / 2.0, y or height / 2.0)
        film = self._values("EXIF FocalLengthIn35mmFilm")
        if not film or film[0] <= 0.0:
            self._doubt("its focal length is not told", "nothing in it can be placed: name the camera")
            return None
        focal = film[0] / _FILM * math.hypot(width, height)
        return CameraModel(width, height, focal, focal, width / 2.0, height / 2.0)

    def _doubt(self, what: str, cure: str) -> None:
        self._doubts.append(what)
        self._intake.fault(self._path, what, cure)

    def _text(self, name: str) -> str:
        tag = self._tags.get(name)
        return "" if tag is None else str(tag).strip().strip("\x00")

    def _values(self, name: str) -> list[float]:
        """Returns a tag's numbers; none where a fraction has no denominator."""
        tag = self._tags.get(name)
        values = getattr(tag, "values", [])
        try:
            return [
                float(Fraction(value.num, value.den)) if hasattr(value, "num") else float(value) for value in values
            ]
        except (ValueError, TypeError, ZeroDivisionError):
            return []

    def _number(self, name: str) -> float | None:
        """Returns a number of DJI's XMP."""
        try:
            value = float(self._xmp[name])
        except (KeyError, ValueError):
            return None
        return value if math.isfinite(value) else None


def _segments(file: BinaryIO) -> tuple[dict[str, str], tuple[int, int]]:
    """Returns the fields of a JPEG's XMP, and its width and height (px, 0 where it is cut before).

    Thermal cameras put their readings before the size, in megabytes that are passed over.
    """
    fields: dict[str, str] = {}
    file.seek(2)
    for _ in range(_MOST_SEGMENTS):
        head = file.read(4)
        if len(head) < 4 or head[0] != 0xFF:
            break
        marker, length = head[1], max(int.from_bytes(head[2:], "big") - 2, 0)
        if marker in _SIZES and len(body := file.read(length)) >= 5:
            return fields, (int.from_bytes(body[3:5], "big"), int.from_bytes(body[1:3], "big"))
        if marker == 0xE1 and (body := file.read(length)).startswith(_SEGMENT_XMP):
            text = body[len(_SEGMENT_XMP) :].decode("utf-8", "replace")
            fields |= {name: value or text_of for name, value, text_of in _XMP_FIELD.findall(text)}
        elif marker != 0xE1:
            file.seek(length, io.SEEK_CUR)
    return fields, (0, 0)


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y:%m:%d %H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def _zone(text: str) -> timedelta | None:
    """Returns how far a clock is ahead of UTC, from a time that ends with it: +02:00 or Z."""
    found = re.search(r"([+-])(\d\d):(\d\d)$|Z$", text.strip())
    if found is None:
        return None
    if found[1] is None:
        return timedelta(0)
    away = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return -away if found[1] == "-" else away
