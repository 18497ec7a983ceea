"""A search with every kind of feature, and names that files must survive."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    FindState,
    Mover,
    Place,
    PlaceKind,
    Position,
    Raster,
    Search,
    Sortie,
    Track,
    Waypoint,
)

NASTY = 'Müller & <b>"Söhne"</b>\n搜救 ]]> \x07=1+1'
FOLDER = "/home/somebody/secret"
NOON = 1_780_000_000.0  # s since 1970: 2026-05-28T20:26:40Z
UNKNOWN = np.full(2, np.nan)
FINDS = ((34.001234567, 107.310123456, 2710.5), (-33.912345678, -70.487654321, None))


def full_search() -> Search:
    """Returns two finds, a place, a track, two areas, a sortie and a raster."""
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    here = Position(34.0, 107.3, 2600.0)
    square = np.array([[107.29, 33.99], [107.32, 33.99], [107.32, 34.01], [107.29, 34.01]])
    hole = np.array([[107.30, 34.0], [107.305, 34.0], [107.305, 34.005], [107.30, 34.005]])
    return Search(
        NASTY,
        tracks=[
            Track(
                "uav1",
                Mover.DRONE,
                34.0 + np.arange(5, dtype=np.float64) * 1e-4,
                107.3 + np.arange(5, dtype=np.float64) * 2e-4,
                2600.0 + np.arange(5.0),
                NOON + np.arange(5.0),
                f"{FOLDER}/bag",
            ),
            Track("on foot", Mover.PERSON, np.array([34.0, 34.001]), np.array([107.3, 107.301]), UNKNOWN, UNKNOWN),
        ],
        finds=[
            Find(
                "uav1/1", "person", Position(*FINDS[0]), covariance, 1.5, 0.87, NOON, FindState.CONFIRMED,
                Path(FOLDER, "1.jpg"), f"{FOLDER}/bag", NASTY,
            ),
            Find("2", NASTY, Position(*FINDS[1]), source="C:\\Users\\somebody\\photo.jpg"),
        ],
        places=[Place(NASTY, PlaceKind.IPP, here, 100.0, NOON, "last seen"), Place("home", PlaceKind.HOME, here)],
        areas=[
            Area("search area", AreaKind.SEARCH, square[::-1], (hole,), poa=0.8, pod=0.25),
            Area("range", AreaKind.NO_FLY, hole),
        ],
        sorties=[sortie()],
        rasters=[Raster(NASTY, (np.arange(12).reshape(3, 4) / 12).astype(np.float32), 713000.0, 3765000.0, 10.0,
                        "EPSG:32648", "probability of detection")],
    )  # fmt: skip


def sortie() -> Sortie:
    """Returns a sortie of three waypoints, the second of which is held for 5 s."""
    places = ((34.001, 107.301, 2660.0, 0.0), (34.002, 107.302, 2670.25, 5.0), (34.003, 107.301, 2655.0, 0.0))
    waypoints = tuple(Waypoint(Position(a, b, c), 60.0, hold) for a, b, c, hold in places)
    return Sortie("sortie 1/α", Position(34.0, 107.3, 2600.0), waypoints, 8.0, 12.5, 0.12, 30.0)
