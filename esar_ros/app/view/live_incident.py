"""An incident on the live page: its segments with their POA, zones, earlier finds and the planned ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import AreaKind, Floats
from esar_ros.incident.formats.words import find_title
from esar_ros.incident.probability import by_segment, stand
from esar_ros.incident.store import Incident

SHOWN = (AreaKind.NO_FLY, AreaKind.DANGER, AreaKind.SEARCH)  # beside segments
_DECIMALS = 1  # of m


def incident_section(folder: Path, origin: Origin) -> dict[str, Any]:
    """Returns segments, zones, finds and sorties as they stand, in m of the map. Raises UsageError.

    origin: of the map frame.
    """
    incident = Incident.open(folder)
    search = incident.search
    segments = [
        {"name": area.name, "poa": None if area.poa is None else round(area.poa, 4),
         "outline": _on_map(origin, area.outline)}
        for area in by_segment(incident, *stand(incident))
    ]  # fmt: skip
    zones = [
        {"name": area.name, "kind": area.kind.value, "outline": _on_map(origin, area.outline)}
        for area in search.areas
        if area.kind in SHOWN
    ]
    finds = [
        {"label": find_title(find), "state": find.state.value,
         "position": _on_map(origin, np.array([[find.position.longitude, find.position.latitude]]))[0]}
        for find in search.finds
    ]  # fmt: skip
    sorties = [
        _on_map(origin, np.array([(point.position.longitude, point.position.latitude) for point in sortie.waypoints]))
        for sortie in search.sorties
    ]
    return {"segments": segments, "zones": zones, "finds": finds, "sorties": sorties}


def _on_map(origin: Origin, places: Floats) -> list[list[float]]:
    """Returns east and north (m) of longitudes and latitudes (N, 2; degrees)."""
    level = origin.to_level(places[:, 1], places[:, 0])
    return [[round(float(x), _DECIMALS), round(float(y), _DECIMALS)] for x, y in level]
