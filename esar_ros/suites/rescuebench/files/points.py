"""Points of RescueBench: files of a JSON line a task, read tolerantly and written back as they were."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from esar_ros.geometry.unreal import map_heading_to_unreal, map_to_unreal, unreal_heading_to_map, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint, StandingPose
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.files.lines import Level, PoseNumbers, TolerantModel, dumped, lines_of, parse_line

FOLDER = "gym_rescue/envs/setting/test_jsonl"
"""Folder of the points in a checkout of the public code."""
ENVIRONMENTS = ("UnrealRescue-", "UnrealRescueMultiAgent-")
LEVELS = range(5)
LARGEST = 16 << 20  # bytes of a file of points
_APPEARANCES = 20

Environment = Annotated[str, Field(pattern=rf"^(?:{'|'.join(ENVIRONMENTS)})\w{{1,80}}$")]
_Texts = str | Annotated[tuple[str, ...], Field(min_length=1)]
_Appearance = Annotated[int, Field(ge=0, lt=_APPEARANCES)]


class _Line(TolerantModel):
    """A point as the authors' code writes it."""

    env_id: Environment
    level: Level
    agent_loc: PoseNumbers
    injured_player_loc: PoseNumbers
    stretcher_loc: PoseNumbers
    ambulance_loc: PoseNumbers
    injured_agent_id: _Appearance | tuple[_Appearance] | None = None
    reference_text: _Texts = ""
    timeout: float = Field(gt=0.0, le=86_400.0)


@dataclass(frozen=True, eq=False)
class PointEntry:
    """One point of a file: as it was written, and as the house reads it."""

    document: Mapping[str, Any]  # every key of the line
    point: RescuePoint


def read_points(path: Path) -> tuple[PointEntry, ...]:
    """Returns the points of a file; a point's number is that of its line, from 0. Raises UsageError."""
    entries: list[PointEntry] = []
    for where, text in lines_of(path, LARGEST, "points"):
        line = parse_line(_Line, text, where)
        description = line.reference_text if isinstance(line.reference_text, str) else line.reference_text[0]
        appearance = line.injured_agent_id[0] if isinstance(line.injured_agent_id, tuple) else line.injured_agent_id
        point = RescuePoint(
            place=place_of(line.env_id),
            level=line.level,
            number=len(entries),
            start=standing(line.agent_loc),
            victim=standing(line.injured_player_loc),
            stretcher=standing(line.stretcher_loc),
            ambulance=standing(line.ambulance_loc),
            description=description,
            time_limit=line.timeout,
            appearance=appearance,
        )
        entries.append(PointEntry(json.loads(text), point))
    if not entries:
        raise UsageError(f"{path}: no point", f"give a file such as {FOLDER}/level_0.jsonl of RescueBench")
    return tuple(entries)


def checkout_around(path: Path) -> Path | None:
    """Returns the checkout of the public code that holds a path, or is it."""
    whole = path.resolve()
    return next((place for place in (path, whole, *whole.parents) if (place / FOLDER).is_dir()), None)


def checkout_points(checkout: Path) -> dict[tuple[int, int], RescuePoint]:
    """Returns the published points of a checkout by level and number. Raises UsageError."""
    found: dict[tuple[int, int], RescuePoint] = {}
    for level in LEVELS:
        path = checkout / FOLDER / f"level_{level}.jsonl"
        for entry in read_points(path):
            if entry.point.level != level:
                raise UsageError(f"{path}: a point of level {entry.point.level}", "move it to its level's file")
            found[level, entry.point.number] = entry.point
    return found


def write_points(path: Path, documents: Sequence[Mapping[str, Any]]) -> None:
    """Write a file of points. Raises UsageError."""
    write_atomically(path, "".join(dumped(dict(document)) for document in documents))


def point_document(point: RescuePoint, image: str = "") -> dict[str, Any]:
    """Returns a point as a line has it; image: name of the file of its reference image."""
    return {
        "env_id": ENVIRONMENTS[0] + point.place,
        "level": point.level,
        "agent_loc": pose_numbers(point.start),
        "injured_player_loc": pose_numbers(point.victim),
        "injured_agent_id": point.appearance,
        "stretcher_loc": pose_numbers(point.stretcher),
        "ambulance_loc": pose_numbers(point.ambulance),
        "reference_text": [point.description],
        "reference_image_path": [image] if image else [],
        "timeout": point.time_limit,
    }


def place_of(environment: str) -> str:
    """Returns the name of the place of an environment's id."""
    return environment.partition("-")[2]


def standing(numbers: PoseNumbers) -> StandingPose:
    """Returns a pose of a file in the map frame; what stands has no use for roll and pitch."""
    return StandingPose(unreal_to_map(numbers[:3]), unreal_heading_to_map(numbers[4]))


def pose_numbers(pose: StandingPose) -> list[float]:
    """Returns a pose as files have it: x, y, z (cm), roll, yaw, pitch (degrees)."""
    x, y, z = map_to_unreal(pose.position).tolist()
    return [x, y, z, 0.0, map_heading_to_unreal(pose.yaw), 0.0]
