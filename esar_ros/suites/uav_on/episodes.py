"""Episode files of UAV-ON: a JSON list of episodes, read tolerantly and written back as it was.

Unknown keys are kept. Coordinates are AirSim's, NED metres; quaternions (x, y, z, w) rotate FRD into NED.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from esar_ros.geometry.frames import FARTHEST, Pose, attitude_ned_frd_to_enu_flu, is_rotation, ned_to_enu
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import ObjectGoal, ObjectGoalEpisode
from esar_ros.mission.task_files import parse_json, read_text
from esar_ros.scoring.result import write_atomically

LARGEST = 64 << 20  # bytes of a file of episodes; the thousand of the test split take about one
_CURE = "mend the file; docs/reference/uav-on.md shows an episode"

Coordinate = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
Length = Annotated[float, Field(ge=0.0, le=FARTHEST)]
Point = tuple[Coordinate, Coordinate, Coordinate]
_FolderName = Annotated[str, Field(pattern=r"^\w[\w .-]*$", max_length=80)]


class TolerantModel(BaseModel):
    """Base of what other people's programs write: unknown keys are passed over, known ones are checked."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)


class _Start(TolerantModel):
    start_position: Point
    start_quaternionr: tuple[float, float, float, float]

    @field_validator("start_quaternionr")
    @classmethod
    def _rotates(cls, quaternion: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        if not is_rotation(quaternion):
            raise ValueError("not a rotation: (x, y, z, w) of norm 1 is")
        return quaternion


class _Info(TolerantModel):
    geodesic_distance: Length
    euclidean_distance: Length


class _Document(TolerantModel):
    """An episode as the authors' code writes it."""

    episode_id: _FolderName
    start_pose: _Start
    info: _Info
    map_name: _FolderName
    true_name: str
    size: str
    description: str
    pose: tuple[Point, ...] = Field(min_length=1, max_length=1000)

    @field_validator("episode_id", mode="before")
    @classmethod
    def _number_or_name(cls, id: Any) -> Any:
        return str(id) if type(id) is int else id


@dataclass(frozen=True)
class EpisodeEntry:
    """One episode of a file: as it was written, and as the house reads it."""

    document: Mapping[str, Any]  # every key of the file
    episode: ObjectGoalEpisode


def read_episodes(path: Path) -> tuple[EpisodeEntry, ...]:
    """Episodes of a file. Raises UsageError naming file, index (from 0) and key."""
    items = parse_json(read_text(path, LARGEST, "episodes"), str(path))
    if not isinstance(items, list):
        raise UsageError(f"{path}: not a list of episodes", _CURE)
    return tuple(entry_from(item, f"{path}, index {index}") for index, item in enumerate(items))


def entry_from(item: Any, source: str) -> EpisodeEntry:
    """An episode from its JSON value; source names it in errors. Raises UsageError."""
    try:
        # As JSON: types are taken as written, "5" is no number.
        read = _Document.model_validate_json(json.dumps(item))
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply", _CURE) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part)[:60] for part in first["loc"]) or "the episode"
        reason = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{source}, key {key}: {reason}", _CURE) from None
    x, y, z, w = read.start_pose.start_quaternionr
    start = Pose(ned_to_enu(read.start_pose.start_position), attitude_ned_frd_to_enu_flu((w, x, y, z)))
    episode = ObjectGoalEpisode(
        id=str(read.episode_id),
        scene=read.map_name,
        start=start,
        goal=ObjectGoal(read.true_name, read.size, read.description),
        targets=ned_to_enu(np.array(read.pose)),
        shortest=read.info.geodesic_distance,
        straight=read.info.euclidean_distance,
    )
    return EpisodeEntry(item, episode)


def write_episodes(path: Path, entries: Sequence[EpisodeEntry]) -> None:
    """Write a file of episodes, every key as it was read. Raises UsageError."""
    documents = [dict(entry.document) for entry in entries]
    write_atomically(path, json.dumps(documents, ensure_ascii=False, indent=2) + "\n")
