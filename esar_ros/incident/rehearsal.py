"""A rehearsal of a sortie on the incident's map: people laid by the POA, and what the flight made of them.

Who flies is told the way alone. The people are drawn from the POA by which the sortie was planned, each for himself, so
the share of them that is found should be the POS that the sortie promises of those on the map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import (
    Find,
    Floats,
    Mover,
    Place,
    PlaceKind,
    Position,
    Raster,
    Search,
    Sortie,
    Track,
)
from esar_ros.incident.formats.qgc_plan import plan_text
from esar_ros.incident.ground import Ground
from esar_ros.mission.briefing import AREA_MARGIN, Extent, field_task
from esar_ros.mission.clues import VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import file_stem
from esar_ros.mission.task import Task, Victim
from esar_ros.planning.methods.patterns.route import Route
from esar_ros.planning.parameters import configured
from esar_ros.scoring.result import Result, parse_result, write_atomically

POSES = (VictimPose.STANDING, VictimPose.SITTING, VictimPose.LYING)  # as likely each: nobody knows
SPLIT = "demo"  # scored, and of no benchmark
_PATIENCE = 3.0  # times the planned minutes after which a rehearsal ends
LONGEST = 7200.0  # s, of a task
_ALOFT = 0.9  # of the planned height
_DRAWS = 10_000  # after which nobody lies on the map
REHEARSAL = "rehearsal"  # folder within an incident's
FLOWN_PLAN, RESULT = "sortie.plan", "result.json"
_SAID = "A rehearsal of a planned sortie: fly its way, and report who is seen."


def lay_people(
    poa: Raster, extent: Extent, count: int, looks: Mapping[VictimPose, Sequence[str]], random: np.random.Generator
) -> tuple[Victim, ...]:
    """Returns people drawn from the POA, in any pose and clothing, within what of the map is searched.

    looks: the simulator's variants by pose. Raises UsageError where no POA lies on the map.
    """
    half = extent.size / 2.0 - AREA_MARGIN
    people: list[Victim] = []
    for x, y in _draw(poa, extent.origin, random):
        if max(abs(x), abs(y)) >= half:
            continue
        pose = POSES[int(random.integers(len(POSES)))]
        people.append(
            Victim(
                id=f"person-{len(people) + 1}", name=f"person {len(people) + 1}",
                position=(round(x, 2), round(y, 2)), yaw=round(float(random.uniform(-np.pi, np.pi)), 3), pose=pose,
                variant=looks[pose][int(random.integers(len(looks[pose])))],
            )
        )  # fmt: skip
        if len(people) == count:
            return tuple(people)
    raise UsageError(f"raster {poa.name} has no POA on the map", "make the incident anew")


def _draw(poa: Raster, origin: Origin, random: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Yields places, m of the map, by the POA; evenly within a cell."""
    weights = np.nan_to_num(np.maximum(poa.values.astype(np.float64), 0.0)).reshape(-1)
    if not weights.any():
        return
    rows, columns = np.unravel_index(random.choice(weights.size, _DRAWS, p=weights / weights.sum()), poa.values.shape)
    ground = Ground.of(poa)
    for row, column in zip(rows, columns, strict=True):
        right, down = random.uniform(0.0, 1.0, 2)
        x, y = ground.west + (column + right) * ground.cell, ground.north - (row + down) * ground.cell
        east, north, _ = origin.to_enu(*ground.to_geodetic(x, y), origin.altitude)
        yield float(east), float(north)


def rehearsal_task(
    name: str, map_id: str, sortie: Sortie, extent: Extent, people: tuple[Victim, ...], local_time: datetime, seed: int
) -> Task:
    """Returns the task in which people lie hidden about the map. Raises UsageErrors."""
    home = extent.origin.to_enu(sortie.home.latitude, sortie.home.longitude, extent.origin.altitude)
    start = (round(float(home[0]), 2), round(float(home[1]), 2))
    t_max = min(60.0 * sortie.minutes * _PATIENCE, LONGEST)
    task = field_task(f"{name} {sortie.name}", map_id, _SAID, start, t_max, local_time)
    return task.model_copy(update={"split": SPLIT, "victims": people, "seed": seed})


def route_of(sortie: Sortie, origin: Origin, fastest: float) -> Route:
    """Returns the method that flies a sortie. fastest: m/s that the pilot flies. Raises UsageError."""
    corners, height = [], None
    for point in sortie.waypoints:
        place = point.position
        if place.altitude is None or point.above_ground is None:
            raise UsageError(f"sortie {sortie.name} has a corner without a height", "plan it anew")
        corners.append(origin.to_enu(place.latitude, place.longitude, place.altitude))
        height = height or point.above_ground
    if height is None:
        raise UsageError(f"sortie {sortie.name} has no corner", "plan it anew")
    return Route(configured(Route.name, {"height": height, "speed": min(sortie.speed, fastest)}), np.array(corners))


def flown_search(
    name: str, sortie: Sortie, result: Result, track: Mapping[str, Sequence[float | None]], origin: Origin
) -> Search:
    """Returns what a GIS shows of a rehearsal: the sortie, the way flown, reports of people, and where people lay."""
    places = np.array([_degrees(origin, *xyz) for xyz in zip(track["x"], track["y"], track["z"], strict=True)])
    latitude, longitude, altitude = places.T
    way = Track(name, Mover.DRONE, latitude, longitude, altitude, np.full(len(places), np.nan))
    search = Search(name, sorties=[sortie], tracks=[way])
    search.finds = [
        Find(str(report.seq), report.kind, Position(*_degrees(origin, *report.position)),
             probability=report.confidence, note=report.verdict)
        for report in result.reports
        if report.position is not None
    ]  # fmt: skip
    search.places = [
        Place(victim.name, PlaceKind.LANDMARK, Position(*_degrees(origin, *victim.position)),
              note=f"{victim.pose}, {'found' if victim.found else 'not found'}")
        for victim in result.victims
    ]  # fmt: skip
    return search


def _degrees(origin: Origin, *enu: float | None) -> Floats:
    """Returns latitude, longitude, altitude (3,) of a place (m) of the map."""
    return np.array(origin.to_geodetic(np.array(enu, dtype=np.float64)))


def keep(folder: Path, sortie: Sortie, result: Result) -> None:
    """Writes a rehearsal's result, and the plan that was flown. Raises UsageError."""
    write_atomically(folder / FLOWN_PLAN, plan_text(sortie))
    write_atomically(folder / RESULT, result.dump())


def rehearsed(folder: Path, sortie: Sortie) -> str:
    """Returns what became of people in a sortie's rehearsal; empty where the sortie, as it is planned now, has none."""
    kept = folder / file_stem(sortie.name)
    try:
        if (kept / FLOWN_PLAN).read_text(encoding="utf-8") != plan_text(sortie):
            return ""
        result = parse_result((kept / RESULT).read_text(encoding="utf-8"), str(kept / RESULT))
    except (OSError, UsageError):
        return ""
    changed = sum(result.safety.interventions.values())
    return (
        f"found {result.metrics.victims_found} of {result.metrics.victims} simulated; contacts "
        f"{result.safety.collisions}, steps that the governor changed {changed}"
    )


def promised(sorties: Sequence[Sortie], poa: Raster) -> float:
    """Returns the share of the people on the map that sorties should find, by their POS."""
    return sum(sortie.pos or 0.0 for sortie in sorties) / float(np.nansum(poa.values))


def least_height(heights: Sequence[float | None], sortie: Sortie) -> float | None:
    """Returns the least height (m above ground) of a flight from where it first came near its height; None where it
    never did."""
    wanted = min(point.above_ground or 0.0 for point in sortie.waypoints)
    known = [height for height in heights if height is not None]
    aloft = next((n for n, height in enumerate(known) if height >= _ALOFT * wanted), None)
    return None if aloft is None else min(known[aloft:])
