"""PX4 flight logs (.ulg): where the drone was while it was armed, and its home. Times are UTC by GNSS."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.incident.features import Floats, Mover, Place, PlaceKind, Position, Search
from esar_ros.incident.sources.intake import Intake, content, is_placed
from esar_ros.mission.errors import UsageError, first_line, install

MAGIC = b"ULog\x01\x12\x35"
_ESTIMATE, _GNSS = "vehicle_global_position", ("vehicle_gps_position", "sensor_gps")
_STATUS, _HOME = "vehicle_status", "home_position"
_ARMED, _FIX_3D = 2, 3  # vehicle_status.arming_state, fix_type
_PLAUSIBLE = 946_684_800.0  # s, the year 2000: a receiver without time gives 0 or its own epoch

Table = dict[str, Any]  # of a topic: field -> (N,)


def read(path: Path, intake: Intake) -> Search:
    """Returns the track flown, by the estimator, else by the GNSS receiver, and where home was.

    Raises UsageError where the file is no log or holds no position.
    """
    try:
        from pyulog import ULog
    except ImportError:
        raise UsageError(f"{path}: PX4's logs need pyulog", install("geo")) from None
    if content(path, len(MAGIC)) != MAGIC:
        raise UsageError(f"{path} is no log of PX4", "give the .ulg as the vehicle wrote it")
    try:
        log = ULog(str(path), [_ESTIMATE, *_GNSS, _STATUS, _HOME])
    except Exception as error:  # of the parser, which fails anywhere in a damaged file
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "copy it again from the vehicle") from None
    if log.file_corruption:
        intake.fault(path, "it is damaged or cut", "what can be read of it is taken")
    tables = {
        each.name: each.data for each in reversed(log.data_list) if len(each.data["timestamp"])
    }  # instance 0 last
    gnss = next((tables[name] for name in _GNSS if name in tables), None)
    estimate = tables.get(_ESTIMATE)
    chosen = estimate if estimate is not None else gnss
    if chosen is None:
        raise UsageError(
            f"{path} holds no position: neither {_ESTIMATE} nor {_GNSS[0]}",
            f"log them; it holds {', '.join(sorted(tables)) or 'no message'}",
        )
    stamps = chosen["timestamp"] * 1e-6
    latitude, longitude, altitude = _positions(chosen)
    flown = _armed(tables.get(_STATUS), stamps)
    if not flown.any():
        intake.fault(path, "it was never armed", "the whole log is taken for its track")
        flown[:] = True
    elif flown[-1] and _STATUS in tables:
        intake.fault(path, "it ends in flight", "the rest of the flight is not known")
    offset = _utc(gnss)
    if math.isnan(offset):
        intake.fault(path, "it knows no UTC: no GNSS time", "its track has no times")
    search = Search(path.stem)
    search.tracks = intake.track(
        path, path.stem, Mover.DRONE, latitude[flown], longitude[flown], altitude[flown], stamps[flown] + offset
    )
    if search.tracks and _HOME in tables:
        home = [float(axis[-1]) for axis in _positions(tables[_HOME])]
        if is_placed(np.array(home[:1]), np.array(home[1:2]))[0] and not intake.why_not(home[0], home[1]):
            search.places.append(Place("home", PlaceKind.HOME, Position(*home)))
    return search


def _positions(table: Table) -> tuple[Floats, Floats, Floats]:
    """Returns degrees, degrees and m above the sea of a topic in any of PX4's units; nan where there is no fix."""
    if "latitude_deg" in table:
        columns = [table["latitude_deg"], table["longitude_deg"], table["altitude_msl_m"]]
    elif np.issubdtype(table["lat"].dtype, np.integer):
        columns = [table["lat"] * 1e-7, table["lon"] * 1e-7, table["alt"] * 1e-3]
    else:
        columns = [table["lat"], table["lon"], table["alt"]]
    lost = np.zeros(len(columns[0]), np.bool_)
    if "fix_type" in table:
        lost |= table["fix_type"] < _FIX_3D
    for flag in ("lat_lon_valid", "valid_hpos"):
        if flag in table:
            lost |= table[flag] == 0
    latitude, longitude, altitude = (np.where(lost, np.nan, column).astype(np.float64) for column in columns)
    return latitude, longitude, altitude


def _armed(status: Table | None, stamps: Floats) -> NDArray[np.bool_]:
    """Returns at which stamps (s) the vehicle was armed; at all where the log does not say."""
    if status is None:
        return np.ones(len(stamps), np.bool_)
    last = np.searchsorted(status["timestamp"] * 1e-6, stamps, side="right") - 1
    return np.asarray((last >= 0) & (status["arming_state"][np.maximum(last, 0)] == _ARMED))


def _utc(gnss: Table | None) -> float:
    """Returns s from the log's clock to UTC since 1970, nan where no receiver knew the time."""
    if gnss is None or "time_utc_usec" not in gnss:
        return math.nan
    utc = gnss["time_utc_usec"] * 1e-6
    known = utc > _PLAUSIBLE
    return float(np.median(utc[known] - gnss["timestamp"][known] * 1e-6)) if known.any() else math.nan
