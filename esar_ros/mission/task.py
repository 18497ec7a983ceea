"""A search-and-rescue task (ESARBench section 3.3.1): schema esar-task/1, validated on load."""

from __future__ import annotations

import json
import math
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from esar_ros.mission.clues import PERSON, ClueKind, VictimPose
from esar_ros.mission.errors import UsageError, UsageErrors
from esar_ros.mission.settings_file import StrictModel, meant_key, meant_value
from esar_ros.mission.task_files import TASK_DIRECTORY, TASK_SCHEMA, find_task, is_path, parse_json
from esar_ros.mission.weather import Weather

__all__ = ["SCHEMA", "TASK_DIRECTORY", "Distractor", "PlacedClue", "Start", "Task", "Victim", "WeatherChange", "Wind"]
__all__ += ["load_task", "parse_task", "task_from"]

SCHEMA = TASK_SCHEMA

_Metres = Annotated[float, Field(ge=-50_000.0, le=50_000.0)]
Ground = tuple[_Metres, _Metres]  # m east, m north of the map's origin; the object stands on the ground there
_Name = Annotated[str, Field(min_length=1, max_length=80)]
_Variant = Annotated[str, Field(pattern=r"^[a-z0-9_]*$", max_length=40)]
_Angle = Annotated[float, Field(ge=-6.2832, le=6.2832)]

FIELD = "field"  # split of a search of one's own

Tier = Literal["simple", "medium", "hard", "extreme"]
TIERS: tuple[Tier, ...] = get_args(Tier)


class Start(StrictModel):
    """Position and heading of the vehicle before take-off."""

    position: Ground
    yaw: _Angle = Field(description="rad, 0 = east, counter-clockwise")


class Wind(StrictModel):
    """Mean wind."""

    speed: float = Field(default=0.0, ge=0.0, le=40.0, description="m/s")
    direction: _Angle = Field(default=0.0, description="rad, where it blows to, 0 = east")


class WeatherChange(StrictModel):
    """A change of weather or wind within the mission; what is not given stays."""

    at: float = Field(ge=0.0, le=7200.0, description="s into the mission at which it begins")
    over: float = Field(ge=10.0, le=7200.0, description="s that it takes")
    weather: Weather | None = None
    wind: Wind | None = None
    forecast: bool = Field(True, description="whether the brief foretells it; else it comes unannounced")

    @model_validator(mode="after")
    def _changes_something(self) -> WeatherChange:
        if self.weather is None and self.wind is None:
            raise ValueError("changes nothing: give weather or wind")
        return self

    @property
    def end(self) -> float:
        """s into the mission at which all has come about."""
        return self.at + self.over


class Victim(StrictModel):
    """A missing person."""

    id: _Name
    name: _Name
    position: Ground
    yaw: _Angle = 0.0
    pose: VictimPose
    variant: _Variant = Field("", description="clothing, one of the simulator's variants; empty: the first")


class PlacedClue(StrictModel):
    """A clue as it lies in the place."""

    id: _Name
    kind: ClueKind
    description: str = Field(
        min_length=1, max_length=200, description="what a person would call it; the judge compares reports with it"
    )
    position: Ground
    yaw: _Angle = 0.0
    variant: _Variant = Field("", description="colour or size, one of the simulator's variants; empty: the first")


class Distractor(StrictModel):
    """A thing that is neither victim nor clue and may be taken for one."""

    asset: str = Field(pattern=r"^distractor_[a-z0-9_]+(/[a-z0-9_]+)?$", max_length=80)
    position: Ground
    yaw: _Angle = 0.0


class Task(StrictModel):
    """One mission: place, people, clues, conditions and start. Ground truth: never shown to a planner."""

    schema_: Literal["esar-task/1"] = Field(alias="schema")
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80)
    map: _Name
    event: _Name
    snapshot: _Name
    split: Literal["dev", "test", "demo", "field"] = Field(
        description="field: a search of one's own, of which nobody knows who and what lies there"
    )
    seed: int = Field(ge=0, lt=2**31)
    prompt: str = Field(min_length=40, max_length=6000)
    local_time: datetime = Field(description="the place's own clock, without a zone")
    weather: Weather
    wind: Wind = Wind()
    start: Start
    t_max: float = Field(gt=0.0, le=7200.0, description="s")
    changes: tuple[WeatherChange, ...] = Field((), max_length=12)
    victims: tuple[Victim, ...] = Field(max_length=15)
    clues: tuple[PlacedClue, ...] = Field(max_length=60)
    distractors: tuple[Distractor, ...] = Field((), max_length=60)
    difficulty: int
    tier: Tier

    @property
    def is_scored(self) -> bool:
        """Returns whether it is known who and what lies there."""
        return self.split != FIELD

    @model_serializer(mode="wrap")
    def _without_no_changes(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its value; a task whose weather stays has the bytes that it had before there were changes."""
        value: dict[str, Any] = plain(self)
        if not self.changes:
            value.pop("changes", None)
        return value

    @field_validator("local_time")
    @classmethod
    def _clock_of_the_place(cls, time: datetime, info: ValidationInfo) -> datetime:
        if time.tzinfo is not None and info.data.get("split") != FIELD:  # one's own search is made with this machine's
            raise ValueError(f"has a zone, give the place's own clock without it: {time:%Y-%m-%dT%H:%M:%S}, say")
        return time

    @field_validator("changes")
    @classmethod
    def _changes_follow_one_another(
        cls, changes: tuple[WeatherChange, ...], info: ValidationInfo
    ) -> tuple[WeatherChange, ...]:
        for number, (one, other) in enumerate(pairwise(changes), 1):
            if other.at < one.end:
                raise ValueError(f"change {number} begins at {other.at:g} s, the one before it ends at {one.end:g} s")
        if changes and changes[-1].end > (t_max := info.data.get("t_max", math.inf)):
            raise ValueError(f"the last change ends at {changes[-1].end:g} s, the mission at {t_max:g} s")
        return changes

    @field_validator("victims", "clues")
    @classmethod
    def _something_is_to_be_found(cls, things: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        if bool(things) == (info.data.get("split") == FIELD):
            raise ValueError("a field task lists nothing" if things else "lists nothing to be found: at least 1")
        return things

    @field_validator("victims")
    @classmethod
    def _victims_have_their_own_ids(cls, victims: tuple[Victim, ...]) -> tuple[Victim, ...]:
        _refuse_twice([victim.id for victim in victims])
        return victims

    @field_validator("clues")
    @classmethod
    def _clues_have_their_own_ids(cls, clues: tuple[PlacedClue, ...], info: ValidationInfo) -> tuple[PlacedClue, ...]:
        _refuse_twice([victim.id for victim in info.data.get("victims", ())] + [clue.id for clue in clues])
        return clues

    @property
    def objects(self) -> tuple[tuple[str, tuple[float, float]], ...]:
        """Kind and place (m, map) of everybody and everything to be found: people, then clues."""
        people = tuple((PERSON, victim.position) for victim in self.victims)
        return people + tuple((clue.kind.value, clue.position) for clue in self.clues)


def _refuse_twice(ids: list[str]) -> None:
    for place, id in enumerate(ids):
        if id in ids[:place]:
            raise ValueError(f"the id '{id}' is used twice")


def parse_task(text: str, source: str) -> Task:
    """Task from JSON text; source names it in errors. Raises UsageError, UsageErrors as task_from."""
    return task_from(parse_json(text, source), source)


def task_from(data: Any, source: str) -> Task:
    """Task from a JSON value; source names it in errors. Raises UsageErrors: file, key and reason of each fault."""
    try:
        # Types are taken as written: "5" is no number, 1 no date.
        return Task.model_validate_json(json.dumps(data), strict=True)
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise UsageError(f"{source}: nested too deeply", "mend the file") from None
        raise UsageErrors(
            _fault(source, one["loc"], one["msg"], meant_key(Task, one) + meant_value(one))
            for one in error.errors(include_url=False)
        ) from None


def _fault(source: str, place: tuple[int | str, ...], message: str, meant: str) -> UsageError:
    key = ".".join(str(part)[:60] for part in place) or "the task"
    return UsageError(
        f"{source}, key {key}: {message.removeprefix('Value error, ')}", f"{meant}it must follow {SCHEMA}"
    )


def load_task(name: str) -> Task:
    """Task by id (esar tasks list), or by the path of a .json file. Raises UsageError."""
    data, source = find_task(name)
    task = task_from(data, source)
    if (fault := misnamed(task.id, name, source)) is not None:
        raise fault
    return task


def misnamed(id: Any, name: str, source: str) -> UsageError | None:
    """Returns the fault of a task whose id is not that by which it was found."""
    if is_path(name) or id == name:
        return None
    return UsageError(f"{source}, key id: '{id}'", f"the file's name says {name}")
