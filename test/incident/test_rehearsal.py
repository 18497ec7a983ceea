"""A rehearsal: people lie where the POA says, whoever flies knows the way alone, and a GIS shows what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Position, Raster, Sortie, Waypoint
from esar_ros.incident.ground import Ground
from esar_ros.incident.rasters import POA
from esar_ros.incident.rehearsal import POSES, lay_people, least_height, promised, rehearsal_task, route_of
from esar_ros.mission.errors import UsageError
from helpers.hills import CRS, LATITUDE, LONGITUDE, NORTH, WEST

pytest.importorskip("pyproj")
LOOKS = {pose: ("red", "olive") for pose in POSES}
CELL, SIDE = 20.0, 60


@dataclass(frozen=True)
class Square:
    """A map as a rehearsal knows it."""

    size: float
    origin: Origin


EXTENT = Square(1000.0, Origin(LATITUDE, LONGITUDE, 1500.0))


def poa(row: slice, column: slice, rest: float = 0.2) -> Raster:
    values = np.zeros((SIDE, SIDE), np.float32)
    values[row, column] = 1.0
    values *= (1.0 - rest) / values.sum()
    values[0, 0] = np.nan
    return Raster("prior", values, WEST, NORTH, CELL, CRS, POA)


def sortie() -> Sortie:
    corner = Waypoint(Position(LATITUDE + 0.001, LONGITUDE, 1560.0), 40.0)
    return Sortie("1", Position(LATITUDE, LONGITUDE, 1500.0), (corner, corner), 8.0, 6.0, 0.24, 5.0)


def test_people_lie_by_the_poa_within_what_of_the_map_is_searched() -> None:
    raster = poa(np.s_[5:55], np.s_[28:36])
    people = lay_people(raster, EXTENT, 15, LOOKS, np.random.default_rng(1))
    assert len({victim.id for victim in people}) == 15 and {victim.pose for victim in people} <= set(POSES)
    ground = Ground.of(raster)
    for victim in people:
        assert max(map(abs, victim.position)) < 450.0
        latitude, longitude, _ = EXTENT.origin.to_geodetic([*victim.position, 0.0])
        x, y = ground.to_grid(latitude, longitude)
        assert raster.values[int((NORTH - y) // CELL), int((x - WEST) // CELL)] > 0.0
    assert people == lay_people(raster, EXTENT, 15, LOOKS, np.random.default_rng(1))
    assert people != lay_people(raster, EXTENT, 15, LOOKS, np.random.default_rng(2))


@pytest.mark.parametrize("raster", [poa(np.s_[:1], np.s_[:1]), poa(np.s_[:1], np.s_[:3])])
def test_without_poa_on_the_map_nobody_is_laid(raster: Raster) -> None:
    with pytest.raises(UsageError, match="no POA on the map"):
        lay_people(raster, EXTENT, 1, LOOKS, np.random.default_rng(0))


def test_the_task_tells_whoever_flies_nothing_of_the_people() -> None:
    people = lay_people(poa(np.s_[20:40], np.s_[20:40]), EXTENT, 2, LOOKS, np.random.default_rng(0))
    task = rehearsal_task("High Valley", "valley", sortie(), EXTENT, people, datetime(2026, 6, 1, 12), 3)
    assert task.is_scored and task.victims == people and task.start.position == (0.0, 0.0)
    assert task.t_max > 60.0 * 6.0
    assert not any(str(round(v)) in task.prompt for victim in people for v in victim.position)


def test_the_way_is_flown_in_the_frame_of_the_map_no_faster_than_the_pilot_flies() -> None:
    route = route_of(sortie(), EXTENT.origin, 5.0)
    assert route._corners[0] == pytest.approx([0.0, 110.9, 60.0], abs=0.5)
    assert route._settings.speed == 5.0 and route._settings.height == 40.0


@pytest.mark.parametrize("corner", [Waypoint(Position(34.0, 107.0), 40.0), Waypoint(Position(34.0, 107.0, 1540.0))])
def test_a_sortie_without_heights_is_refused(corner: Waypoint) -> None:
    planned = Sortie("1", Position(34.0, 107.0, 1500.0), (corner,), 5.0, 6.0)
    with pytest.raises(UsageError, match="without a height: plan it anew"):
        route_of(planned, EXTENT.origin, 5.0)


def test_what_the_plan_promises_is_of_those_on_the_map() -> None:
    assert promised([sortie(), sortie()], poa(np.s_[5:55], np.s_[28:36], rest=0.2)) == pytest.approx(0.6, abs=1e-6)


def test_the_least_height_is_of_the_flight_not_of_the_climb() -> None:
    assert least_height([None, 0.0, 20.0, 38.0, 44.0, 31.0, 40.0], sortie()) == 31.0
    assert least_height([0.0, 20.0, None], sortie()) is None
