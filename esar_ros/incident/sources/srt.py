"""Telemetry that DJI's drones write beside a video (.SRT): where the drone was, frame by frame.

Drones differ in what they write. All tell a position; only few where the gimbal points, so a video places nothing by
itself, and counts as a look where the gimbal's angles are told and somebody states the lens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.features import Floats, Mover, Place, PlaceKind, Position, Search
from esar_ros.incident.looks import EVERY, Look
from esar_ros.incident.sources.intake import FAR, Intake, distance, is_placed
from esar_ros.mission.errors import UsageError
from esar_ros.mission.unpacking import content

_N = r"\s*[:=]?\s*([-+]?\d+(?:\.\d+)?)"
CUE = re.compile(r"^\s*\d+\s*\r?\n\d\d:\d\d:\d\d[,.]\d+\s*-->", re.MULTILINE)
_NAMED = re.compile(rf"\[latitude{_N}\].*?\[long?t?itude{_N}\]", re.S)  # [longtitude: ...] is DJI's own spelling
_PAIR = re.compile(r"\bGPS\s*[:(]+\s*([-+]?\d+\.\d+)\s*,\s*([-+]?\d+\.\d+)")
_HOME = re.compile(r"\bHOME\s*\(\s*([-+]?\d+\.\d+)\s*,\s*([-+]?\d+\.\d+)")
_ABSOLUTE = re.compile(rf"abs_alt{_N}")
_RELATIVE = re.compile(rf"rel_alt{_N}")
_GIMBAL = re.compile(rf"gb_yaw{_N}\s+gb_pitch{_N}(?:\s+gb_roll{_N})?")
_CLOCK = re.compile(r"(\d{4})[-.](\d\d?)[-.](\d\d?) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,3}))?")
_ON_EARTH = (-450.0, 9000.0)  # m above the sea


def read(path: Path, intake: Intake) -> Search:
    """Returns the track along a video, of its different positions, and home where it is told.

    Raises UsageError where the file holds no telemetry of a position.
    """
    text = content(path).decode("utf-8", "replace")
    if CUE.search(text) is None:
        raise UsageError(f"{path} holds no subtitles", "give the .SRT that lies beside the video")
    starts = [match.start() for match in CUE.finditer(text)]
    cues = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    named = [_NAMED.search(cue) for cue in cues]
    # Not both in one file, whose pairs would be in another order.
    points = named if any(named) else [_PAIR.search(cue) for cue in cues]
    if not any(points):
        raise UsageError(f"{path} tells no position", "switch on video captions in the drone's app, before the flight")
    pairs = np.array([[float(m[1]), float(m[2])] if m else [math.nan, math.nan] for m in points])
    homes = [match for cue in cues if (match := _HOME.search(cue))]
    if not any(named) and _order(pairs, intake) is None:
        if wrong := intake.why_not(*pairs[np.isfinite(pairs).all(axis=1)].T):
            intake.fault(path, *wrong)
        else:
            intake.fault(path, "it does not tell which coordinate is the latitude", "give its track as a GPX")
        return Search(path.stem)
    swap = not any(named) and _order(pairs, intake) == (1, 0)
    latitude, longitude = pairs[:, ::-1].T if swap else pairs.T
    altitude = np.array([_height(cue) for cue in cues])
    time = np.array([_time(cue, intake.utc_offset) for cue in cues])
    if _CLOCK.search(text) is None:
        intake.fault(path, "it tells no time of day", "its track has no times")
    elif np.isnan(time).all():
        intake.fault(path, "its clock is in local time and does not say which", "say how far from UTC: --utc-offset H")
    told = np.nan_to_num(np.column_stack([pairs, altitude]))
    changed = np.ones(len(told), np.bool_)  # the first and the last stay: a drone that hovers was there all the time
    changed[1:-1] = (told[1:-1] != told[:-2]).any(axis=1)
    search = Search(path.stem)
    search.tracks = intake.track(
        path, path.stem, Mover.DRONE, latitude[changed], longitude[changed], altitude[changed], time[changed]
    )
    if search.tracks and homes:
        began = Position(float(latitude[0]), float(longitude[0]))
        told = [(float(home[1]), float(home[2])) for home in homes]
        told += [pair[::-1] for pair in told]  # some write the longitude first
        known = [pair for pair in told if distance(pair, began) <= FAR and is_placed(*np.array(pair)[:, None]).all()]
        if known:
            search.places.append(Place("home", PlaceKind.HOME, Position(*known[0])))
        else:
            intake.fault(path, "its home is no place of this flight", "it is left out")
    return search


def tells_gimbal(path: Path) -> bool:
    """Returns whether telemetry holds the gimbal's angles."""
    return _GIMBAL.search(content(path).decode("utf-8", "replace")) is not None


def looks(path: Path, intake: Intake, model: CameraModel) -> Iterator[Look]:
    """Yields the looks of a video whose telemetry holds the gimbal's angles, one every EVERY seconds of its clock, or
    from each new place where it has none.

    DJI counts the yaw clockwise from north, and the pitch from the horizon up.
    """
    text, last, before = content(path).decode("utf-8", "replace"), -math.inf, (math.nan, math.nan)
    starts = [match.start() for match in CUE.finditer(text)]
    for a, b in zip(starts, [*starts[1:], len(text)], strict=True):
        cue = text[a:b]
        place, gimbal, relative = _NAMED.search(cue), _GIMBAL.search(cue), _RELATIVE.search(cue)
        if place is None or gimbal is None:
            continue
        here, clock, altitude = (float(place[1]), float(place[2])), _time(cue, 0.0), _height(cue)
        if clock - last < EVERY or (math.isnan(clock) and here == before):
            continue
        before = here
        last = last if math.isnan(clock) else clock
        time = _time(cue, intake.utc_offset)
        yaw, pitch, roll = (float(part) if part else 0.0 for part in gimbal.groups())
        yield Look(
            path.name, *here, None if math.isnan(altitude) else altitude,
            None if relative is None else float(relative[1]), None if math.isnan(time) else time,
            yaw % 360.0, pitch, roll, "as stated", model,
        )  # fmt: skip


def _order(pairs: Floats, intake: Intake) -> tuple[int, int] | None:
    """Returns which of two numbers are latitude and longitude; None where nothing tells.

    Firmware writes GPS(longitude, latitude) on some drones and the reverse on others.
    """
    first, second = np.nanmedian(pairs, axis=0)
    if abs(first) > 90.0 >= abs(second):
        return 1, 0
    if abs(second) > 90.0 >= abs(first):
        return 0, 1
    if intake.near is None:
        return None
    as_told = distance((float(first), float(second)), intake.near) <= FAR
    reverse = distance((float(second), float(first)), intake.near) <= FAR
    return None if as_told == reverse else (0, 1) if as_told else (1, 0)


def _height(cue: str) -> float:
    match = _ABSOLUTE.search(cue)
    value = float(match[1]) if match else math.nan
    return value if _ON_EARTH[0] <= value <= _ON_EARTH[1] else math.nan


def _time(cue: str, utc_offset: float | None) -> float:
    """Returns s since 1970, UTC, of the local time in a cue; nan where it has none or the zone is not known."""
    match = _CLOCK.search(cue)
    if match is None or utc_offset is None:
        return math.nan
    try:
        clock = datetime(*(int(part) for part in match.groups()[:6]), tzinfo=timezone.utc)  # type: ignore[arg-type,misc]
    except ValueError:
        return math.nan
    return clock.timestamp() + float(f"0.{match[7] or 0}") - utc_offset * 3600.0
