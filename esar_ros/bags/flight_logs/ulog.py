"""PX4's flight logs (.ulg)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bags.flight_logs.flight_log import YEAR_2000, FlightLog, Floats, column
from esar_ros.geometry.frames import attitude_ned_frd_to_enu_flu
from esar_ros.mission.errors import UsageError, first_line, install
from esar_ros.mission.unpacking import content

MAGIC = b"ULog\x01\x12\x35"
_ESTIMATE, _GNSS = "vehicle_global_position", ("vehicle_gps_position", "sensor_gps")
_STATUS, _HOME, _ATTITUDE, _BATTERY = "vehicle_status", "home_position", "vehicle_attitude", "battery_status"
_ARMED, _FIX_3D = 2, 3  # vehicle_status.arming_state, fix_type

Table = dict[str, Any]  # of a topic: field -> (N,)


def read_ulog(path: Path) -> FlightLog:
    """Returns a log, placed by the estimator, else by the GNSS receiver.

    Raises UsageError where the file is no log or holds no position.
    """
    try:
        from pyulog import ULog
    except ImportError:
        raise UsageError(f"{path}: PX4's logs need pyulog", install("geo")) from None
    if content(path, len(MAGIC)) != MAGIC:
        raise UsageError(f"{path} is no log of PX4", "give the .ulg as the vehicle wrote it")
    try:
        log = ULog(str(path), [_ESTIMATE, *_GNSS, _STATUS, _HOME, _ATTITUDE, _BATTERY])
    except Exception as error:  # of the parser, which fails anywhere in a damaged file
        raise UsageError(f"{path} cannot be read: {first_line(error)}", "copy it again from the vehicle") from None
    # Instance 0 last, so that it stays.
    tables = {each.name: each.data for each in reversed(log.data_list) if len(each.data.get("timestamp", ()))}
    gnss = next((tables[name] for name in _GNSS if name in tables), None)
    chosen = tables.get(_ESTIMATE, gnss)
    if chosen is None:
        raise UsageError(
            f"{path} holds no position: neither {_ESTIMATE} nor {_GNSS[0]}",
            f"log them; it holds {', '.join(sorted(tables)) or 'no message'}",
        )
    try:
        if gnss is not None and not np.isfinite(_positions(chosen)[0]).any():
            chosen = gnss  # the estimator never had a position
        stamps = _stamps(chosen)
        return FlightLog(
            stamps,
            *_positions(chosen),
            armed=_armed(tables.get(_STATUS), stamps),
            utc=_utc(gnss),
            home=_home(tables.get(_HOME)),
            attitude=_attitude(tables.get(_ATTITUDE)),
            charge=_charge(tables.get(_BATTERY)),
            cut=bool(log.file_corruption),
        )
    except KeyError as error:  # a damaged definition of a message
        raise UsageError(f"{path} is damaged: a message without {error}", "copy it again from the vehicle") from None


def _stamps(table: Table) -> Floats:
    return column(table["timestamp"]) * 1e-6


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
    latitude, longitude, altitude = (np.where(lost, np.nan, values).astype(np.float64) for values in columns)
    return latitude, longitude, altitude


def _home(table: Table | None) -> tuple[float, float, float] | None:
    """Returns the last home (degrees, degrees, m above the sea) that the vehicle held for valid."""
    if table is None:
        return None
    places = np.stack(_positions(table), axis=1)
    valid = np.isfinite(places).all(axis=1) & (column(table.get("valid_alt", np.ones(len(places)))) != 0.0)
    return tuple(places[valid][-1].tolist()) if valid.any() else None


def _armed(status: Table | None, stamps: Floats) -> NDArray[np.bool_] | None:
    """Returns at which stamps (s) the vehicle was armed (N,)."""
    if status is None:
        return None
    last = np.searchsorted(_stamps(status), stamps, side="right") - 1
    return np.asarray((last >= 0) & (status["arming_state"][np.maximum(last, 0)] == _ARMED))


def _attitude(table: Table | None) -> Floats:
    if table is None or "q[0]" not in table:
        return np.empty((0, 5))
    turns = np.stack([column(table[f"q[{axis}]"]) for axis in range(4)], axis=1)
    known = np.isfinite(turns).all(axis=1) & (np.linalg.norm(turns, axis=1) > 0.5)
    turned = np.array([attitude_ned_frd_to_enu_flu(turn) for turn in turns[known]]).reshape(-1, 4)
    return np.concatenate([_stamps(table)[known, None], turned], axis=1)


def _charge(table: Table | None) -> Floats:
    if table is None or "remaining" not in table:
        return np.empty((0, 2))
    rows = np.stack([_stamps(table), column(table["remaining"])], axis=1)
    return rows[(rows[:, 1] >= 0.0) & (rows[:, 1] <= 1.0)]  # -1 and nan: not known


def _utc(gnss: Table | None) -> float:
    if gnss is None or "time_utc_usec" not in gnss:
        return math.nan
    utc = gnss["time_utc_usec"] * 1e-6
    known = utc > YEAR_2000
    return float(np.median(utc[known] - gnss["timestamp"][known] * 1e-6)) if known.any() else math.nan
