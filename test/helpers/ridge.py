"""An incident on a shipped map, with a short sortie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from esar_ros.incident.features import Place, PlaceKind, Position, Raster, Search, Sortie, Waypoint
from esar_ros.incident.ground import Ground, utm_zone
from esar_ros.incident.rasters import ELEVATION, POA
from esar_ros.incident.store import Incident
from esar_ros.sim.terrain.maps import load_map

MAP = "aotai"


def ridge(folder: Path, sorties: bool = True) -> Path:
    """An incident on a shipped map: all POA within 20 m of a place 40 m off, and a way over it and back."""
    place = load_map(MAP)
    origin = place.origin
    crs = utm_zone(origin.latitude, origin.longitude)

    def above(x: float, y: float, height: float) -> Position:
        return Position(*origin.to_geodetic([x, y, float(place.ground_height((x, y))) + height]))

    middle, home = above(40.0, 0.0, 0.0), above(0.0, 0.0, 0.0)
    x, y = Ground(np.zeros((2, 2)), 0.0, 0.0, 1.0, crs).to_grid(middle.latitude, middle.longitude)
    poa = Raster("prior", np.full((2, 2), 0.2, np.float32), x - 20.0, y + 20.0, 20.0, crs, POA)
    heights = replace(poa, name="elevation", values=np.zeros((2, 2), np.float32), unit=ELEVATION)
    way = tuple(Waypoint(above(x, 0.0, 30.0), 30.0) for x in (20.0, 60.0, 20.0))
    planned = [Sortie("first", home, way, 4.0, 1.5, 0.4, 1.0)] if sorties else []
    search = Search("ridge", places=[Place("IPP", PlaceKind.IPP, home)], rasters=[heights, poa], sorties=planned)
    Incident.create(folder, search, {"map": MAP}, "He was last seen on the ridge, by the big cairn, at noon.")
    return folder
