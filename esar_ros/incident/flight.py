"""A flown mission as a search: what its bag says of tracks, finds, and the ground that was seen.

Nothing of a mission's ground truth is taken, not even where a vehicle truly flew: tracks are as the vehicle estimated
them. A time is the brief's local time by the map's offset from UTC, or the bag's own where its clock is that of the
world; in another case it is not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import odometry_frames, read_last
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    Floats,
    Mover,
    Place,
    PlaceKind,
    Position,
    Search,
    Track,
    mark_of,
)
from esar_ros.incident.looks import Look
from esar_ros.incident.pictures import save_pictures
from esar_ros.incident.seen_ground import footprint_of, raster_of
from esar_ros.incident.sources import ros_bag
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.modes import MissionPhase
from esar_ros.mission.same_object import nearest_of_kind
from esar_ros.mission.stamps import NANO
from esar_ros.scoring.bag import read_bag
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import ReportRow
from esar_ros.scoring.truth import parse_truth
from esar_ros.scoring.whereabouts import covariance_of, stated

STEP = NANO  # ns between two points of a track
_CALENDAR = 1_000_000_000 * NANO  # ns; a clock beyond it counts from 1970, a simulation's from its start


def search_of(bag: Path, pictures: Path | None = None) -> Search:
    """Returns what a bag of a mission tells of its search.

    pictures: folder for an image of each find, where the bag has images; None: none is written. Raises UsageError.
    """
    record, brief, origin = _opened(bag)
    shift = _utc_shift(record, brief)
    frames = _frames(bag, record)
    search = Search(brief.mission_id)
    search.tracks = [
        track for vehicle in record.vehicles if (track := _track(record, vehicle, frames, origin, shift)) is not None
    ]
    search.finds = list(_finds(record, origin, shift, brief.mission_id))
    if pictures is not None:
        search.finds = save_pictures(bag, search.finds, _moments(record), pictures)
    for vehicle, message in sorted(read_last(bag, names.BRIEF).items()):
        home = _position(origin, (message.home.x, message.home.y, message.home.z))
        search.places.append(Place(f"home of {vehicle}", PlaceKind.HOME, home))
    if len(brief.area) > 2:
        corners = [_position(origin, (point.x, point.y, 0.0)) for point in brief.area]
        outline = np.array([(corner.longitude, corner.latitude) for corner in corners])
        search.areas.append(Area("search area", AreaKind.SEARCH, outline))
    search.areas += footprint_of(read_last(bag, names.MAP_COVERAGE), origin)
    for topic, name, unit in (
        (names.MAP_COVERAGE, "seen", "quality of the best look, 0 to 1"),
        (names.BELIEF, "belief", "share of the most probable cell"),
    ):
        search.rasters += raster_of(read_last(bag, topic), origin, name, unit)
    return search


def is_of_a_mission(path: Path) -> bool:
    """Returns whether a bag is one of this package's missions. Raises UsageError."""
    with open_bag(path) as bag:
        return any(c.topic.endswith(f"/{names.BRIEF}") and c.msgcount for c in bag.connections)


def looks_of(bag: Path, intake: Intake) -> Iterator[Look]:
    """Yields what the cameras of all vehicles of a mission looked at, a look a second. Raises UsageError."""
    record, brief, origin = _opened(bag)
    shift, frames = _utc_shift(record, brief), _frames(bag, record)
    with open_bag(bag) as opened:
        topics = {c.topic: c.msgtype for c in opened.connections}
    for vehicle in record.vehicles:
        moved = [topic for topic in topics if topic.endswith(f"{vehicle}/{names.ODOMETRY}")]
        if vehicle not in frames or not moved:
            continue
        start = _position(origin, frames[vehicle])
        for topic, kind in topics.items():
            if kind == ros_bag.INFO and f"/{vehicle}/" in topic:
                yield from ros_bag.looks_by_odometry(bag, intake, moved[0], topic, start, shift)


def _opened(bag: Path) -> tuple[EpisodeRecord, Any, Origin]:
    """Returns the record, a brief message and the map's origin. Raises UsageError."""
    brief = next(iter(read_last(bag, names.BRIEF).values()), None)
    if brief is None or not (brief.origin_latitude or brief.origin_longitude):
        raise UsageError(f"{bag}: no brief says where on Earth its map lies", "give a bag of a mission")
    return read_bag(bag), brief, Origin(brief.origin_latitude, brief.origin_longitude, brief.origin_altitude)


def _utc_shift(record: EpisodeRecord, brief: Any) -> float:
    """Returns what is to be added to a stamp (s) to give seconds since 1970, UTC; NaN where nobody knows."""
    running = [row.stamp for _, row in record.all_rows(names.MISSION_STATE) if row.phase == MissionPhase.RUNNING]
    start = min(running or [row.stamp for _, row in record.all_rows(names.ODOMETRY)] or [0])
    if start > _CALENDAR:
        return 0.0
    try:
        local = datetime.fromisoformat(brief.local_time)
        if local.tzinfo is None:
            local = local.replace(tzinfo=timezone(timedelta(hours=map_extent(brief.map_id).utc_offset)))
    except (ValueError, UsageError):
        return math.nan
    return local.timestamp() - start / NANO


def _frames(bag: Path, record: EpisodeRecord) -> dict[str, Vector]:
    """Returns the origin of each vehicle's odom frame in the map (m). Where the bag has no static transforms, its
    truth tells the frames, and nothing else of it is read."""
    found = odometry_frames(bag)
    if record.truth_text is not None and not set(record.vehicles) <= set(found):
        truth = parse_truth(record.truth_text, f"bag {bag}")
        found = {vehicle: one.odom_in_map for vehicle, one in truth.vehicles.items()} | found
    return {vehicle: np.array(place) for vehicle, place in found.items()}


def _track(
    record: EpisodeRecord, vehicle: str, frames: dict[str, Vector], origin: Origin, shift: float
) -> Track | None:
    stamps, positions = record.track(vehicle)
    if vehicle not in frames or len(stamps) < 2:
        return None  # a point is no way
    _, kept = np.unique(stamps // STEP, return_index=True)
    kept = np.unique([*kept, len(stamps) - 1])
    places = np.array([origin.to_geodetic(place) for place in positions[kept] + frames[vehicle]])
    latitude, longitude, altitude = places.T
    return Track(vehicle, Mover.DRONE, latitude, longitude, altitude, stamps[kept] / NANO + shift)


def _finds(record: EpisodeRecord, origin: Origin, shift: float, source: str) -> Iterator[Find]:
    """Yields reports, then what detectors saw at the end that was not reported."""
    reported: list[ReportRow] = []
    mark = _mark(record)
    for vehicle, row in record.all_rows(names.REPORTS):
        position = row.x, row.y, row.z
        if row.frame == names.MAP and np.isfinite(position).all():
            reported.append(row)
            known = covariance_of(record, vehicle, row)
            words = "" if row.text in ("", row.kind.replace("_", " ")) else row.text
            name, time = f"{vehicle}/{row.seq}-{mark}", row.stamp / NANO + shift
            yield _find(name, row.kind, origin, position, known, row.confidence, time, words, source)
    for vehicle in record.vehicles:
        for last in record.rows(vehicle, names.CLUES)[-1:]:
            for number, clue in enumerate(last.clues):
                identity, kind, score, *position, _ = clue
                if nearest_of_kind(kind, position, reported, lambda row: (row.kind, (row.x, row.y, row.z))) is None:
                    known = stated(last.covariances[number]) if len(last.covariances) > number else None
                    name = f"{vehicle}/candidate {identity}-{mark}"
                    yield _find(name, kind, origin, position, known, score, None, "seen, not reported", source)


def _find(
    identity: str,
    kind: str,
    origin: Origin,
    position: Any,
    known: Floats | None,
    probability: float,
    time: float | None,
    note: str,
    source: str,
) -> Find:
    """known: covariance (3, 3) m², map; None: not known."""
    return Find(
        identity,
        kind or PERSON,
        _position(origin, position),
        None if known is None else known[:2, :2],
        None if known is None else math.sqrt(known[2, 2]),
        probability,
        time,
        source=source,
        note=note,
    )


def _position(origin: Origin, place: Any) -> Position:
    return Position(*origin.to_geodetic(place))


def _moments(record: EpisodeRecord) -> dict[str, tuple[str, ReportRow]]:
    """Returns the vehicle and report by the id of the find made of it."""
    mark = _mark(record)
    return {f"{vehicle}/{row.seq}-{mark}": (vehicle, row) for vehicle, row in record.all_rows(names.REPORTS)}


def _mark(record: EpisodeRecord) -> str:
    """Returns what tells this flight's finds from those of another of the same vehicle."""
    return mark_of(*(part.tobytes() for vehicle in record.vehicles for part in record.track(vehicle)))
