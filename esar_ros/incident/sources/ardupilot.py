"""ArduPilot's DataFlash logs (.bin, .log): where the drone was while it was armed. Times are UTC by GNSS."""

from __future__ import annotations

import contextlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.incident.features import Floats, Mover, Place, PlaceKind, Position, Search
from esar_ros.incident.sources.intake import Intake, content, is_placed
from esar_ros.mission.errors import UsageError, first_line, install

MAGIC, TEXT_MAGIC = b"\xa3\x95", b"FMT, "
_TOPICS = ["POS", "GPS", "MODE", "ARM", "EV", "ORGN"]
_EVENT_ARMED, _EVENT_DISARMED = 10, 11  # EV.Id
_FIX_3D = 3  # GPS.Status
_GPS_EPOCH = 315_964_800.0  # s since 1970 of 1980-01-06
_LEAP_SECONDS = 18.0  # GPS time is ahead of UTC by, since 2017
_WEEK = 604_800.0  # s


def read(path: Path, intake: Intake) -> Search:
    """Returns the track flown, by the estimator (POS), else by the first GNSS receiver (GPS), named with its modes.

    Raises UsageError where the file is no log or holds no position.
    """
    try:
        from pymavlink import DFReader
    except ImportError:
        raise UsageError(f"{path}: ArduPilot's logs need pymavlink", install("geo")) from None
    binary = _is_binary(path)
    words = io.StringIO()  # the parser prints of damage
    rows: dict[str, list[Any]] = {name: [] for name in _TOPICS}
    try:
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            kind = DFReader.DFReader_binary if binary else DFReader.DFReader_text
            with contextlib.closing(kind(str(path))) as log:
                while (message := log.recv_match(type=_TOPICS)) is not None:
                    rows[message.get_type()].append(message)
    except Exception as error:  # of the parser, which fails anywhere in a damaged file
        if not any(rows.values()):
            raise UsageError(f"{path} cannot be read: {first_line(error)}", "copy it again from the vehicle") from None
        words.write(first_line(error))
    if words.getvalue():
        intake.fault(path, "it is damaged or cut", "what can be read of it is taken")
    gnss = [each for each in rows["GPS"] if getattr(each, "I", 0) == 0 and getattr(each, "Status", 0) >= _FIX_3D]
    chosen = rows["POS"] or gnss
    if not chosen:
        raise UsageError(f"{path} holds no position: neither POS nor GPS with a fix", "log them: LOG_BITMASK")
    stamps = np.array([_stamp(each) for each in chosen])
    latitude, longitude, altitude = (_column(chosen, name) for name in ("Lat", "Lng", "Alt"))
    flown = _armed(rows, stamps)
    if not flown.any():
        intake.fault(path, "it was never armed", "the whole log is taken for its track")
        flown[:] = True
    elif flown[-1] and (rows["ARM"] or rows["EV"]):
        intake.fault(path, "it ends in flight", "the rest of the flight is not known")
    offset = _utc(gnss)
    if math.isnan(offset):
        intake.fault(path, "it knows no UTC: no GNSS time", "its track has no times")
    modes = dict.fromkeys(str(getattr(each, "Mode", "")) for each in rows["MODE"])
    name = path.stem + f" (modes {', '.join(modes)})" * bool(modes)
    search = Search(path.stem)
    search.tracks = intake.track(
        path, name, Mover.DRONE, latitude[flown], longitude[flown], altitude[flown], stamps[flown] + offset
    )
    origins = [each for each in rows["ORGN"] if is_placed(np.array([each.Lat]), np.array([each.Lng]))[0]]
    if search.tracks and origins:
        last = origins[-1]  # home is told after the estimator's origin, and again at arming
        if not intake.why_not(last.Lat, last.Lng):
            search.places.append(Place("home", PlaceKind.HOME, Position(last.Lat, last.Lng, last.Alt)))
    return search


def _is_binary(path: Path) -> bool:
    head = content(path, len(TEXT_MAGIC))
    if head.startswith(MAGIC):
        return True
    if head == TEXT_MAGIC:
        return False
    raise UsageError(f"{path} is no log of ArduPilot", "give the .bin as the vehicle wrote it")


def _column(messages: list[Any], *names: str) -> Floats:
    """Returns a field (N,), by the first of its names that a message has."""
    told = ([getattr(each, name) for name in names if hasattr(each, name)] for each in messages)
    return np.array([values[0] if values else math.nan for values in told], dtype=np.float64)


def _stamp(message: Any) -> float:
    """Returns s of the log's clock; logs before 2015 count in ms, and their GPS names it T beside that of the week."""
    if hasattr(message, "TimeUS"):
        return float(message.TimeUS) * 1e-6
    return float(getattr(message, "T", getattr(message, "TimeMS", math.nan))) * 1e-3


def _armed(rows: dict[str, list[Any]], stamps: Floats) -> Any:
    """Returns at which stamps (s) the vehicle was armed (N,); at all where the log does not say."""
    changes = [(_stamp(each), each.ArmState != 0) for each in rows["ARM"]]
    if not changes:
        events = ((_stamp(each), each.Id) for each in rows["EV"])
        changes = [(at, event == _EVENT_ARMED) for at, event in events if event in (_EVENT_ARMED, _EVENT_DISARMED)]
    if not changes:
        return np.ones(len(stamps), np.bool_)
    times, states = np.array(changes, dtype=np.float64).T
    last = np.searchsorted(times, stamps, side="right") - 1
    # A log that begins in the air is armed until it says otherwise.
    return np.where(last >= 0, states[np.maximum(last, 0)] > 0.0, states[0] == 0.0)


def _utc(gnss: list[Any]) -> float:
    """Returns s from the log's clock to UTC since 1970, nan where no receiver knew the time."""
    told = [each for each in gnss if getattr(each, "GWk", getattr(each, "Week", 0)) > 0]
    if not told:
        return math.nan
    weeks, milliseconds = _column(told, "GWk", "Week"), _column(told, "GMS", "TimeMS")
    gps = weeks * _WEEK + milliseconds * 1e-3 + _GPS_EPOCH - _LEAP_SECONDS
    return float(np.median(gps - np.array([_stamp(each) for each in told])))
