"""A search-and-rescue task (ESARBench section 3.3.1): schema esar-task/1, validated on load."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from esar_ros.mission.clues import ClueKind, VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.mission.weather import Weather

SCHEMA = "esar-task/1"
TASK_DIRECTORY = "config/tasks"

Ground = tuple[float, float]  # m east, m north of the map's origin; the object stands on the ground there


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Start(_Strict):
    """Where the vehicle stands before take-off."""

    position: Ground
    yaw: float = Field(description="rad, 0 = east, counter-clockwise", ge=-6.2832, le=6.2832)


class Wind(_Strict):
    """Mean wind."""

    speed: float = Field(default=0.0, ge=0.0, le=40.0, description="m/s")
    direction: float = Field(default=0.0, ge=-6.2832, le=6.2832, description="rad, where it blows to, 0 = east")


class Victim(_Strict):
    """A missing person."""

    id: str
    name: str
    position: Ground
    yaw: float = 0.0
    pose: VictimPose
    variant: str = Field("", description="clothing, one of the simulator's variants; empty: the first")


class PlacedClue(_Strict):
    """A clue as it lies in the place."""

    id: str
    kind: ClueKind
    description: str = Field(description="what a person would call it; the judge compares reports with it")
    position: Ground
    yaw: float = 0.0
    variant: str = Field("", description="colour or size, one of the simulator's variants; empty: the first")


class Task(_Strict):
    """One mission: place, people, clues, conditions and start. Ground truth: never shown to a planner."""

    schema_: Literal["esar-task/1"] = Field(alias="schema")
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    map: str
    event: str
    snapshot: str
    split: Literal["dev", "test", "demo"]
    seed: int = Field(ge=0)
    prompt: str = Field(min_length=40)
    local_time: datetime
    weather: Weather
    wind: Wind = Wind()
    start: Start
    t_max: float = Field(gt=0.0, le=7200.0, description="s")
    victims: tuple[Victim, ...] = Field(min_length=1)
    clues: tuple[PlacedClue, ...] = Field(min_length=1)
    difficulty: int
    tier: Literal["simple", "medium", "hard", "extreme"]


def parse_task(text: str, source: str) -> Task:
    """Task from JSON text; source names it in errors. Raises UsageError naming file, key and reason."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{source}, line {error.lineno}: not JSON: {error.msg}", "mend the file") from None
    try:
        return Task.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the task"
        raise UsageError(f"{source}, key {key}: {first['msg']}", f"it must follow {SCHEMA}") from None


def load_task(name: str) -> Task:
    """Task by id from config/tasks/, or by the path of a JSON file. Raises UsageError."""
    path = Path(name)
    if path.suffix != ".json" and "/" not in name:
        known = {p.stem: p for p in sorted(resource(TASK_DIRECTORY).glob("*.json"))}
        if name not in known:
            raise UsageError(f"unknown task '{name}'", f"known: {', '.join(known)}; or give a .json file")
        path = known[name]
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read task {path}: {error}", "check the path") from None
    return parse_task(text, str(path))
