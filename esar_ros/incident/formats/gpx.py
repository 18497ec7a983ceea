"""GPX 1.1 for GPS receivers and phones: finds and places as waypoints, tracks, sorties as routes; by gpxpy.

Elevations are above mean sea level, as receivers show them.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.incident.features import Find, Place, Position, Search, Sortie, Track
from esar_ros.incident.formats import words
from esar_ros.mission.errors import UsageError, install
from esar_ros.scoring.result import write_atomically


def write(search: Search, path: Path) -> None:
    """Writes a search's points and lines. Raises UsageError, also without the extra geo."""
    try:
        from gpxpy import gpx
    except ImportError:
        raise UsageError("GPX is written by gpxpy, which is not installed", install("geo")) from None

    document = gpx.GPX()
    document.creator, document.name = "esar_ros", words.clean(search.name)
    document.waypoints = [_find(gpx, find) for find in search.finds if words.is_to_carry(find)]
    document.waypoints += [_place(gpx, place) for place in search.places]
    document.tracks = [_track(gpx, track) for track in search.tracks if len(track.latitude)]
    document.routes = [_sortie(gpx, sortie) for sortie in search.sorties]
    write_atomically(path, document.to_xml(version="1.1"))


def _when(time: float | None) -> datetime | None:
    return datetime.fromtimestamp(time, timezone.utc) if time is not None and np.isfinite(time) else None


def _waypoint(gpx: Any, position: Position, time: float | None, **texts: str) -> Any:
    return gpx.GPXWaypoint(
        position.latitude, position.longitude, words.known(position.altitude), time=_when(time), **texts
    )


def _find(gpx: Any, find: Find) -> Any:
    facts = words.in_a_line(words.find_facts(find))
    return _waypoint(gpx, find.position, find.time, name=words.find_title(find), description=facts, symbol="Flag, Red")


def _place(gpx: Any, place: Place) -> Any:
    name, facts = words.clean(place.name), words.in_a_line(words.place_facts(place))
    return _waypoint(gpx, place.position, place.time, name=name, description=facts, symbol="Flag, Blue")


def _track(gpx: Any, track: Track) -> Any:
    columns = (track.latitude, track.longitude, track.altitude, track.time)
    segment = gpx.GPXTrackSegment(
        [
            gpx.GPXTrackPoint(latitude, longitude, elevation if np.isfinite(elevation) else None, time=_when(time))
            for latitude, longitude, elevation, time in zip(*(column.tolist() for column in columns), strict=True)
        ]
    )
    line = gpx.GPXTrack(name=words.clean(track.name))
    line.type = track.mover.value
    line.segments.append(segment)
    return line


def _sortie(gpx: Any, sortie: Sortie) -> Any:
    facts = words.in_a_line(words.sortie_facts(sortie))
    route = gpx.GPXRoute(name=words.clean(sortie.name), description=facts)
    for position in (sortie.home, *(waypoint.position for waypoint in sortie.waypoints), sortie.home):
        route.points.append(gpx.GPXRoutePoint(position.latitude, position.longitude, words.known(position.altitude)))
    return route
