"""Ground truth of a flight that no referee watched, from a file: schema esar-flight-truth/1 (docs/how-to/bags.md).

What the file leaves out is taken from the bag: the brief's words and time limit, the planner's name, where the
odometry's frame lies. The mission's end is found by the referee's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.clues import ClueKind, VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import MissionPhase
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated
from esar_ros.mission.stamps import NANO
from esar_ros.mission.task import Start, Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.weather import Weather
from esar_ros.scoring.difficulty import difficulty
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import TOPICS, BriefRow
from esar_ros.scoring.referee import Referee
from esar_ros.scoring.truth import SCHEMA as REFEREE_SCHEMA
from esar_ros.scoring.truth import Point, Run, TrueClue, TrueVictim, Truth, VehicleTruth, parse_truth

SCHEMA = "esar-flight-truth/1"
_TOLD = 12  # topics that are named of a bag without a flight
NO_BRIEF = "A flight that was scored afterwards; the bag holds no brief that was given to a planner."


class GeodeticOrigin(StrictModel):
    """Geodetic position of the map frame's (0, 0, 0): degrees WGS 84, m above mean sea level."""

    latitude: float = Field(ge=-90.0, le=90.0)
    longitude: float = Field(ge=-180.0, le=180.0)
    altitude: float = Field(ge=-500.0, le=9000.0)


class _Somewhere(StrictModel):
    """A place: in the map frame (m) or on Earth (degrees, degrees, m above mean sea level)."""

    position: Point | None = None
    geodetic: Point | None = None

    @model_validator(mode="after")
    def _one_place(self) -> _Somewhere:
        if (self.position is None) == (self.geodetic is None):
            raise ValueError("give either position or geodetic")
        return self


class KnownVictim(_Somewhere):
    """A victim who was present."""

    id: str = Field(min_length=1, max_length=80)
    name: str = Field("missing person", min_length=1, max_length=80)
    pose: VictimPose = VictimPose.LYING


class KnownClue(_Somewhere):
    """A clue that was present; the judge compares reports with its description."""

    id: str = Field(min_length=1, max_length=80)
    kind: ClueKind
    description: str = Field(min_length=1, max_length=200)


class FlightTruth(StrictModel):
    """The file."""

    schema_: Literal["esar-flight-truth/1"] = Field(alias="schema")
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)] = "flight"
    map: str | None = None
    prompt: str | None = Field(None, min_length=40, max_length=6000)
    local_time: datetime | None = None
    weather: Weather | None = None
    t_max: float | None = Field(None, gt=0.0, le=7200.0)
    start: float | None = Field(None, ge=0.0, description="s of the bag's clock; default: as mission/state says")
    end: float | None = Field(None, ge=0.0, description="s of the bag's clock; default: by the referee's rules")
    origin: GeodeticOrigin | None = None
    vehicles: dict[str, VehicleTruth] = Field(default_factory=dict)
    victims: tuple[KnownVictim, ...] = Field(min_length=1, max_length=15)
    clues: tuple[KnownClue, ...] = Field(min_length=1, max_length=60)


def load_truth(path: Path, record: EpisodeRecord, frames: Mapping[str, Point]) -> Truth:
    """Returns the truth of a recorded flight from a file of either schema. Raises UsageError.

    frames: origin (m, map frame) of each vehicle's odometry, as far as the bag contains it.
    """
    document = read_yaml(path, "truth")
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == REFEREE_SCHEMA:
        return parse_truth(path.read_text(encoding="utf-8"), str(path))
    if schema != SCHEMA:
        raise UsageError(f"{path}, key schema: '{schema}'", f"it must be {SCHEMA} or {REFEREE_SCHEMA}")
    return _truth(validated(FlightTruth, document, path), record, frames, path)


def _truth(file: FlightTruth, record: EpisodeRecord, frames: Mapping[str, Point], path: Path) -> Truth:
    vehicles = {name: _vehicle(name, file, frames, path) for name in record.vehicles}
    if not vehicles:
        wanted = f"/<vehicle>/{names.ODOMETRY} or /<vehicle>/{names.REPORTS}"
        more = len(record.topics) - _TOLD
        has = ", ".join(record.topics[:_TOLD]) + (f" and {more} more" if more > 0 else "")
        raise UsageError(
            f"the bag holds no flight: it lacks {wanted}; it has {has or 'no topic'}",
            "record those, or rename them (docs/reference/topics.md)",
        )
    origin = _origin(file, record)
    victims = tuple(
        TrueVictim(id=v.id, name=v.name, pose=v.pose.value, position=_place(v, origin, path)) for v in file.victims
    )
    clues = tuple(
        TrueClue(id=c.id, kind=c.kind.value, description=c.description, position=_place(c, origin, path))
        for c in file.clues
    )
    task = _task(file, record, victims, clues, vehicles, path)
    referee = Referee(task, victims, clues, load_thresholds(), _run(file, record), vehicles)
    for vehicle in vehicles:
        for topic in TOPICS:
            for row in record.rows(vehicle, topic):
                referee.take(vehicle, topic, row)
    start = _start(record) if file.start is None else round(file.start * NANO)
    last = max(start, record.last_stamp if file.end is None else round(file.end * NANO))
    referee.begin(start)
    if record.cut and file.end is None:
        last = start + round(task.t_max * NANO)  # what is missing is for the score to say, not for the referee
    if referee.advance(last) is None:
        referee.abort(last)
        referee.advance(last)
    return referee.truth()


def _vehicle(name: str, file: FlightTruth, frames: Mapping[str, Point], path: Path) -> Point:
    if name in file.vehicles:
        return file.vehicles[name].odom_in_map
    if name in frames:
        return frames[name]
    raise UsageError(
        f"{path}: the bag does not tell where {name}/odom lies in the map", f"state vehicles.{name}.odom_in_map"
    )


def _origin(file: FlightTruth, record: EpisodeRecord) -> Origin | None:
    """Returns where the map frame lies: as the file says, else the brief."""
    if file.origin is not None:
        return Origin(file.origin.latitude, file.origin.longitude, file.origin.altitude)
    brief = _brief(record)
    return Origin(*brief.origin) if brief and any(brief.origin[:2]) else None


def _place(thing: _Somewhere, origin: Origin | None, path: Path) -> Point:
    if thing.position is not None:
        return thing.position
    if origin is None or thing.geodetic is None:
        raise UsageError(f"{path}: geodetic places need the key origin", "state the map frame's origin")
    east, north, up = origin.to_enu(*thing.geodetic)
    return float(east), float(north), float(up)


def _start(record: EpisodeRecord) -> int:
    """The first stamp at which the mission ran; of a flight without a referee the first odometry."""
    running = [row.stamp for _, row in record.all_rows(names.MISSION_STATE) if row.phase == MissionPhase.RUNNING]
    return min(running or [row.stamp for _, row in record.all_rows(names.ODOMETRY)] or [0])


def _weather(brief: BriefRow | None) -> Weather:
    try:
        return Weather(brief.weather) if brief else Weather.CLEAR
    except ValueError:
        return Weather.CLEAR


def _local_time(brief: BriefRow | None, path: Path) -> datetime:
    """Returns the time that a brief tells; noon where it tells none. Raises UsageError."""
    told = brief.local_time if brief and brief.local_time else "2000-01-01T12:00:00"
    try:
        return datetime.fromisoformat(told)
    except ValueError:
        what = f"{path}: the brief in the bag says the local time '{told[:40]}', which is no date with a time"
        raise UsageError(what, "state local_time, e.g. 2026-01-31T14:20:00") from None


def _brief(record: EpisodeRecord) -> BriefRow | None:
    rows = record.all_rows(names.BRIEF)
    return rows[0][1] if rows else None


def _task(
    file: FlightTruth,
    record: EpisodeRecord,
    victims: tuple[TrueVictim, ...],
    clues: tuple[TrueClue, ...],
    vehicles: Mapping[str, Point],
    path: Path,
) -> Task:
    brief = _brief(record)
    first = next(iter(sorted(vehicles)))
    stamps, positions = record.track(first)
    home = (positions[0] if len(stamps) else np.zeros(3)) + np.array(vehicles[first])
    weather = file.weather or _weather(brief)
    local_time = file.local_time or _local_time(brief, path)
    away = [float(np.linalg.norm(np.array(victim.position) - home)) for victim in victims]
    score, tier = difficulty(away, weather, local_time, [clue.kind for clue in file.clues])
    victim_at = {victim.id: victim.position[:2] for victim in victims}
    clue_at = {clue.id: clue.position[:2] for clue in clues}
    values: dict[str, Any] = {
        "schema": "esar-task/1",
        "id": file.id,
        "map": file.map or (brief.map_id if brief else "unknown"),
        "event": "flight",
        "snapshot": "flight",
        "split": "demo",
        "seed": 0,
        "prompt": file.prompt or (brief.prompt if brief and len(brief.prompt) >= len(NO_BRIEF) // 2 else NO_BRIEF),
        "local_time": local_time,
        "weather": weather,
        "start": Start(position=(float(home[0]), float(home[1])), yaw=0.0),
        "t_max": file.t_max or (brief.t_max if brief and brief.t_max > 0.0 else 7200.0),
        "victims": tuple(
            {"id": v.id, "name": v.name, "position": victim_at[v.id], "pose": v.pose} for v in file.victims
        ),
        "clues": tuple(
            {"id": c.id, "kind": c.kind, "description": c.description, "position": clue_at[c.id]} for c in file.clues
        ),
        "difficulty": score,
        "tier": tier,
    }
    return validated(Task, values, path)


def _run(file: FlightTruth, record: EpisodeRecord) -> Run:
    methods = sorted({row.method for _, row in record.all_rows(names.DECISION) if row.method})
    brief = _brief(record)
    return Run(
        mission_id=brief.mission_id if brief and brief.mission_id else file.id,
        planner="+".join(methods) or "unknown",
        eligible=False,
        ineligible_reasons=("ground truth from a file",),
        judge="",
        pace="realtime",
        clock="running",
        world="flight",
        seed=0,
        odometry="noisy",
    )
