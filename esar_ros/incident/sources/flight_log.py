"""Logs of PX4 and ArduPilot: where the drone was while it was armed, and its home. Times are UTC by GNSS."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from esar_ros.bags.flight_logs.flight_log import FlightLog
from esar_ros.incident.features import Mover, Place, PlaceKind, Position, Search
from esar_ros.incident.sources.intake import Intake, is_placed


def search_of(log: FlightLog, path: Path, intake: Intake) -> Search:
    """Returns the track flown, named with its modes, and where home was; what is in doubt of them is told."""
    if log.cut:
        intake.fault(path, "it is damaged or cut", "what can be read of it is taken")
    flown = np.ones(len(log.stamps), np.bool_) if log.armed is None else log.armed.copy()
    if not flown.any():
        intake.fault(path, "it was never armed", "the whole log is taken for its track")
        flown[:] = True
    elif flown[-1] and log.armed is not None:
        intake.fault(path, "it ends in flight", "the rest of the flight is not known")
    if math.isnan(log.utc):
        intake.fault(path, "it knows no UTC: no GNSS time", "its track has no times")
    name = path.stem + f" (modes {', '.join(log.modes)})" * bool(log.modes)
    columns = (log.latitude, log.longitude, log.altitude, log.stamps + log.utc)
    search = Search(path.stem)
    search.tracks = intake.track(path, name, Mover.DRONE, *(values[flown] for values in columns))
    if search.tracks and log.home is not None:
        placed = is_placed(np.array(log.home[:1]), np.array(log.home[1:2]))[0]
        if placed and not intake.why_not(*log.home[:2]):
            search.places.append(Place("home", PlaceKind.HOME, Position(*log.home)))
    return search
