"""Ground truth of one flown mission: schema esar-truth/1, published as mission/truth when the mission has ended."""

from __future__ import annotations

import json
from enum import Enum
from typing import Literal

from pydantic import Field, ValidationError

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import Thresholds
from esar_ros.scoring.horizon_profile import HorizonProfile

SCHEMA = "esar-truth/1"

Point = tuple[float, float, float]


class End(str, Enum):
    """Reason for which a mission ended; order and meaning as END_* of msg/MissionState.msg."""

    STOP = "stop"
    TIMEOUT = "timeout"
    COLLISION = "collision"
    BREACH = "breach"
    ERROR = "error"
    ABORTED = "aborted"
    LANDED = "landed"

    @property
    def code(self) -> int:
        """Value of MissionState.end."""
        return list(End).index(self) + 1


class TrueVictim(StrictModel):
    """A victim where the deployer put it; m, map frame."""

    id: str
    name: str
    pose: str
    position: Point
    skyline: HorizonProfile = Field(
        default=(), description="what the ground around hides (scoring/horizon_profile.py); empty: nothing"
    )


class TrueClue(StrictModel):
    """A clue where the deployer put it; m, map frame."""

    id: str
    kind: str
    description: str
    position: Point
    skyline: HorizonProfile = Field(default=(), description="as a victim's")


class VehicleTruth(StrictModel):
    """Ground truth of one vehicle."""

    odom_in_map: Point = Field(description="m, origin of <vehicle>/odom in map; the frames are parallel")


class Run(StrictModel):
    """Conditions of the run: everything a reader of the score must know, nothing measured."""

    mission_id: str
    planner: str
    planner_details: dict[str, str] = Field(default_factory=dict, description="of a method that uses a model: which")
    detector_details: dict[str, str] = Field(
        default_factory=dict, description="of the clue detector: backend, and of a network its file, SHA-256 and engine"
    )
    eligible: bool = True
    ineligible_reasons: tuple[str, ...] = ()
    judge: str
    pace: Literal["lockstep", "realtime"]
    clock: Literal["paused", "running"] = "paused"
    world: str = "embedded"
    seed: int
    preset: str = "default"
    quality: str = names.DEFAULT_QUALITY
    governor: bool = True
    odometry: Literal["true", "noisy", "autopilot"]
    map_digest: str = ""
    keep_out: tuple[tuple[tuple[float, float], ...], ...] = Field(
        default=(), description="corners (m, map frame) of the zones that the vehicles were kept out of"
    )
    versions: dict[str, str] = Field(default_factory=dict)


class Truth(StrictModel):
    """Everything that scoring needs beside the record of the mission."""

    schema_: Literal["esar-truth/1"] = Field(alias="schema")
    run: Run
    task: Task
    thresholds: Thresholds
    victims: tuple[TrueVictim, ...]  # none of a search of one's own
    clues: tuple[TrueClue, ...]
    vehicles: dict[str, VehicleTruth] = Field(min_length=1)
    start: int = Field(description="ns, stamp at which the mission clock starts", ge=0)
    end: int = Field(description="ns, stamp at which the mission ended", ge=0)
    end_reason: End
    end_text: str = ""
    wall_time: float | None = Field(None, ge=0, description="s the mission took by a wall clock; never scored")

    def dump(self) -> str:
        """JSON text for mission/truth."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), sort_keys=True, separators=(",", ":"))


def parse_truth(text: str, source: str) -> Truth:
    """Truth from JSON; source names it in errors. Raises UsageError."""
    try:
        return Truth.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the document"
        raise UsageError(f"{source}, ground truth, key {key}: {first['msg']}", f"it must follow {SCHEMA}") from None
