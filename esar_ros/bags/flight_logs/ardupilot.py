"""ArduPilot's DataFlash logs (.bin, .log)."""

from __future__ import annotations

import contextlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bags.flight_logs.flight_log import FlightLog, Floats, column
from esar_ros.geometry.frames import attitude_ned_frd_to_enu_flu, quaternion_from_rpy
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.unpacking import content

MAGIC, TEXT_MAGIC = b"\xa3\x95", b"FMT, "
_TOPICS = ["POS", "GPS", "MODE", "ARM", "EV", "ORGN", "ATT", "BAT"]
_EVENT_ARMED, _EVENT_DISARMED = 10, 11  # EV.Id
_FIX_3D = 3  # GPS.Status
_GPS_EPOCH = 315_964_800.0  # s since 1970 of 1980-01-06
_LEAP_SECONDS = 18.0  # GPS time is ahead of UTC by, since 2017
_WEEK = 604_800.0  # s

Rows = dict[str, list[Any]]


def read_dataflash(path: Path) -> FlightLog:
    """Returns a log, placed by the estimator (POS), else by the first GNSS receiver (GPS).

    Raises UsageError where the file is no log or holds no position.
    """
    try:
        from pymavlink import DFReader
    except ImportError:
        raise UsageError(f"{path}: ArduPilot's logs need pymavlink", install("geo")) from None
    binary = _is_binary(path)
    words = io.StringIO()  # the parser prints of damage
    rows: Rows = {name: [] for name in _TOPICS}
    try:
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            kind = _plain(DFReader.DFReader_binary) if binary else DFReader.DFReader_text
            with contextlib.closing(kind(str(path))) as log:
                while (message := log.recv_match(type=_TOPICS)) is not None:
                    rows[message.get_type()].append(message)
    except Exception as error:  # of the parser, which fails anywhere in a damaged file
        if not any(rows.values()):
            raise UsageError(f"{path} cannot be read: {first_line(error)}", "copy it again from the vehicle") from None
        words.write(first_line(error))
    gnss = [each for each in rows["GPS"] if getattr(each, "I", 0) == 0 and getattr(each, "Status", 0) >= _FIX_3D]
    chosen = rows["POS"] or gnss
    if not chosen:
        raise UsageError(f"{path} holds no position: neither POS nor GPS with a fix", "log them: LOG_BITMASK")
    try:
        stamps = column([_stamp(each) for each in chosen])
        latitude, longitude, altitude = (_fields(chosen, name) for name in ("Lat", "Lng", "Alt"))
        # Home is told after the estimator's origin, and again at arming.
        homes = np.stack([_fields(rows["ORGN"], name) for name in ("Lat", "Lng", "Alt")], axis=1)
        homes = homes[np.isfinite(homes).all(axis=1) & homes[:, :2].any(axis=1)]
        return FlightLog(
            stamps, latitude, longitude, altitude,
            armed=_armed(rows, stamps),
            utc=_utc(gnss),
            home=tuple(homes[-1].tolist()) if len(homes) else None,
            attitude=_attitude(rows["ATT"]),
            charge=_charge(rows["BAT"]),
            modes=tuple(dict.fromkeys(str(getattr(each, "Mode", "")) for each in rows["MODE"])),
            cut=bool(words.getvalue()),
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError) as error:  # its numbers are read where they are asked for
        raise UsageError(f"{path} is damaged: {first_line(error)}", "copy it again from the vehicle") from None


def _plain(reader: Any) -> Any:
    """Returns a reader without pymavlink's compiled index, whose words about damage go past Python's streams."""
    return type("PlainReader", (reader,), {"init_arrays_fast": reader.init_arrays})


def _is_binary(path: Path) -> bool:
    head = content(path, len(TEXT_MAGIC))
    if head.startswith(MAGIC):
        return True
    if head == TEXT_MAGIC:
        return False
    raise UsageError(f"{path} is no log of ArduPilot", "give the .bin as the vehicle wrote it")


def _fields(messages: list[Any], *names: str) -> Floats:
    """Returns a field (N,), by the first of its names that a message has."""
    told = ([getattr(each, name) for name in names if hasattr(each, name)] for each in messages)
    return column([values[0] if values else math.nan for values in told])


def _stamp(message: Any) -> float:
    """Returns s of the log's clock; logs before 2015 count in ms, and their GPS names it T beside that of the week."""
    if hasattr(message, "TimeUS"):
        return float(message.TimeUS) * 1e-6
    return float(getattr(message, "T", getattr(message, "TimeMS", math.nan))) * 1e-3


def _armed(rows: Rows, stamps: Floats) -> NDArray[np.bool_] | None:
    """Returns at which stamps (s) the vehicle was armed (N,)."""
    changes = [(_stamp(each), each.ArmState != 0) for each in rows["ARM"] if hasattr(each, "ArmState")]
    if not changes:
        events = ((_stamp(each), getattr(each, "Id", 0)) for each in rows["EV"])
        changes = [(at, event == _EVENT_ARMED) for at, event in events if event in (_EVENT_ARMED, _EVENT_DISARMED)]
    if not changes:
        return None
    times, states = np.array(changes, dtype=np.float64).T
    last = np.searchsorted(times, stamps, side="right") - 1
    # A log that begins in the air is armed until it says otherwise.
    return np.where(last >= 0, states[np.maximum(last, 0)] > 0.0, states[0] == 0.0)


def _attitude(rows: list[Any]) -> Floats:
    angles = np.radians(np.stack([_fields(rows, name) for name in ("Roll", "Pitch", "Yaw")], axis=1))
    known = np.isfinite(angles).all(axis=1)
    turns = [attitude_ned_frd_to_enu_flu(quaternion_from_rpy(*row)) for row in angles[known]]
    stamps = column([_stamp(each) for each in rows])[known, None]
    return np.concatenate([stamps, np.array(turns).reshape(-1, 4)], axis=1)


def _charge(rows: list[Any]) -> Floats:
    """Returns the first battery's rows; logs before 2022 (RemPct) do not tell a share."""
    first = [each for each in rows if getattr(each, "Inst", getattr(each, "Instance", 0)) == 0]
    told = np.stack([column([_stamp(each) for each in first]), _fields(first, "RemPct") / 100.0], axis=1)
    return told[(told[:, 1] >= 0.0) & (told[:, 1] <= 1.0)]


def _utc(gnss: list[Any]) -> float:
    told = [each for each in gnss if getattr(each, "GWk", getattr(each, "Week", 0)) > 0]
    if not told:
        return math.nan
    weeks, milliseconds = _fields(told, "GWk", "Week"), _fields(told, "GMS", "TimeMS")
    gps = weeks * _WEEK + milliseconds * 1e-3 + _GPS_EPOCH - _LEAP_SECONDS
    return float(np.median(gps - column([_stamp(each) for each in told])))
