"""GPX of people, dogs and drones: tracks and named points. Elevations are above the sea."""

from __future__ import annotations

import codecs
import math
import re
from datetime import datetime, timezone
from pathlib import Path

from esar_ros.incident.features import Mover, Place, PlaceKind, Position, Search
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.unpacking import content

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_TIME = re.compile(r"<(?:\w+:)?time>")
_ENCODING = re.compile(rb"""<\?xml[^>]*\sencoding=["']([A-Za-z][\w.-]*)["']""")


def read(path: Path, intake: Intake, mover: Mover = Mover.PERSON) -> Search:
    """Returns the tracks, one for each unbroken segment, and the waypoints as landmarks.

    Raises UsageError where the file cannot be read or holds neither.
    """
    try:
        import gpxpy
    except ImportError:
        raise UsageError(f"{path}: GPX needs gpxpy", install("geo")) from None
    try:
        text = _text(content(path))
        parsed = gpxpy.parse(text)
    except (gpxpy.gpx.GPXException, ValueError, LookupError) as error:
        raise UsageError(f"{path} is no whole GPX file: {first_line(error)}", "export it again") from None
    search = Search(path.stem)
    for number, track in enumerate(parsed.tracks, start=1):
        for part, segment in enumerate(track.segments, start=1):
            name = (track.name or f"{path.stem} {number}") + f" ({part})" * (len(track.segments) > 1)
            points = segment.points
            search.tracks += intake.track(
                path,
                name,
                mover,
                [point.latitude for point in points],
                [point.longitude for point in points],
                [math.nan if point.elevation is None else point.elevation for point in points],
                [math.nan if point.time is None else _seconds(point.time) for point in points],
            )
    for point in parsed.waypoints:
        if wrong := intake.why_not(point.latitude, point.longitude):
            intake.fault(path, f"waypoint {point.name}: {wrong[0]}", wrong[1])
            continue
        time = None if point.time is None else _seconds(point.time)
        at = Position(point.latitude, point.longitude, point.elevation)
        search.places.append(
            Place(point.name or "waypoint", PlaceKind.LANDMARK, at, None, time, _note(point.comment, point.description))
        )
    stated = len(_TIME.findall(text))
    times = [point.time for track in parsed.tracks for segment in track.segments for point in segment.points]
    times += [point.time for point in parsed.waypoints]
    times += [point.time for route in parsed.routes for point in route.points]
    if lost := stated - sum(time is not None for time in (parsed.time, *times)):
        told = f"{lost} of its {stated} times cannot be read"
        intake.fault(path, told, "they are left out: write them as 2026-11-30T09:00:00Z")
    if parsed.routes:
        intake.fault(path, "its routes are left out: they are plans", "export the track that was walked")
    if not parsed.tracks and not parsed.waypoints:
        raise UsageError(f"{path} holds no track", "export the track that was walked")
    return search


def _note(comment: str | None, description: str | None) -> str:
    """Returns what a point's two fields of free words say, once."""
    return "; ".join(dict.fromkeys(word.strip() for word in (description, comment) if word and word.strip()))


def _text(data: bytes) -> str:
    """Returns a file's text without its declaration, in whose encoding it is read. Raises ValueError, LookupError."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        text = data.decode("utf-16")
    else:
        stated = _ENCODING.match(data.removeprefix(codecs.BOM_UTF8))
        text = data.decode(stated[1].decode() if stated else "utf-8").removeprefix("\ufeff")
    return _DECLARATION.sub("", text)  # which gpxpy would believe of the text that it is given


def _seconds(time: datetime) -> float:
    """Returns s since 1970; GPX is in UTC where it does not say otherwise (GPX 1.1, wptType)."""
    return (time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)).timestamp()
