"""The result of one mission: schema esar-result/1, as canonical JSON (sorted keys, rounded numbers), and its file."""

from __future__ import annotations

import json
import math
import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from esar_ros.geometry.coordinates import joined
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel
from esar_ros.mission.system.system_errors import system_error
from esar_ros.mission.thresholds import Thresholds
from esar_ros.scoring.truth import End, Point

SCHEMA = "esar-result/1"
DECIMALS = 6


class TaskInfo(StrictModel):
    """Identity and conditions of the task."""

    id: str
    map: str
    event: str
    snapshot: str
    split: str
    tier: str
    difficulty: int
    weather: str
    local_time: str
    t_max: float


class Scores(StrictModel):
    """The four metrics of the paper at one error threshold."""

    sr: float
    sr_gated_first: float
    tsr: float
    cds: float
    rs: float
    victims_found: int
    clues_located: int
    clues_exact: int


class Metrics(Scores):
    """Everything that is compared between methods; m, s, shares. Depends on stamps alone, never on wall time."""

    rs_without_safety: float
    victims: int
    clues: int
    safe: bool
    crashed: bool
    elapsed: float
    efficiency: float
    path_length: float
    safe_flight_distance: float
    coverage: float
    min_clearance: float | None
    interventions: int
    reports: int
    reports_scored: int
    reports_over_cap: int
    false_reports: int
    duplicate_reports: int
    precision: float
    sensitivity: dict[str, Scores] = Field(description="the same at other error thresholds, keyed by metres")


class Where(StrictModel):
    """A place for other people's maps."""

    latitude: float = Field(description="degrees WGS 84")
    longitude: float
    altitude: float = Field(description="m above mean sea level, as the map's")
    utm: str = Field(description="zone and band, easting, northing (m); empty beyond 84 N and 80 S")
    mgrs: str = Field(description="to 1 m; empty likewise")
    error: float | None = Field(
        description="m, radius of a circle that holds 95 %, by the detector's covariance; null: not known"
    )

    @property
    def words(self) -> str:
        """All of it in a line, without the altitude."""
        return joined(self.latitude, self.longitude, self.error, self.utm, self.mgrs)


class ReportResult(StrictModel):
    """One report and what became of it. Distances in m, times in s since the mission's start."""

    vehicle: str
    seq: int
    time: float
    type: Literal["victim", "clue", "unknown"]
    kind: str
    text: str
    confidence: float
    position: Point | None = Field(description="m, map frame; null when it was no position")
    where: Where | None = Field(None, description="the same on Earth; null where nobody told where the map lies")
    verdict: Literal["found", "exact", "located", "lost", "duplicate", "false", "over_cap", "unknown"] = Field(
        description="unknown: nobody knows what lies there; lost: near a victim that nobody found, but "
        "assigned elsewhere (appendix B assigns before it gates)"
    )
    ok: bool
    matched: str | None = Field(description="id of the victim or clue it scored, else the nearest of its type")
    distance: float | None = Field(description="m to `matched`")


class Cause(str, Enum):
    """Outcome of the search for a victim or clue, in the order of the stages of a search (scoring/losses.py)."""

    NEVER_LOOKED = "never_looked"
    LOOKED_AND_MISSED = "looked_and_missed"
    SEEN_NOT_REPORTED = "seen_not_reported"
    REPORTED_OFF = "reported_off"
    FOUND = "found"
    TOO_LATE = "too_late"
    CRASHED = "crashed"
    FAILED = "failed"


class _Looked(StrictModel):
    """Progress of the search for a victim or clue; null where it was not recorded."""

    cause: Cause | None = Field(None, description="why it was not found")
    pictures: int | None = Field(None, description="that showed it within the look range, past the ground")
    nearest_picture: float | None = Field(None, description="m, least distance of those")
    nearest_picture_time: float | None = Field(None, description="s since the mission's start, when it was taken")
    nearest_picture_vehicle: str | None = Field(None, description="who took it")
    told_from: float | None = Field(None, description="m, how far off it was when the detector first told of it")
    track_score: float | None = Field(None, description="greatest score of a track near enough to report it")
    track_views: int | None = Field(None, description="most looks of such a track")


class VictimResult(_Looked):
    """One victim and whether it was found."""

    id: str
    name: str
    pose: str
    position: Point
    found: bool
    report: int | None = Field(description="index into reports of its match")
    time: float | None
    distance: float | None = Field(description="m from the matched report")
    nearest_report: float | None = Field(description="m, least distance of any scored report of a victim")
    closest_approach: float | None = Field(description="m, least distance of any vehicle")


class ClueResult(_Looked):
    """One clue and whether it was found."""

    id: str
    kind: str
    description: str
    position: Point
    located: bool
    exact: bool
    report: int | None
    time: float | None
    distance: float | None
    closest_approach: float | None


class Safety(StrictModel):
    """Safety of the flight: contacts, breaches, interventions, clearance."""

    safe: bool
    reasons: tuple[str, ...] = Field(description="why not, empty when safe")
    collisions: int
    first_collision: float | None
    breaches: int
    first_breach: float | None
    interventions: dict[str, int] = Field(description="changed steps per gravest reason")
    modes: dict[str, float] = Field(description="share of steps per mode of the governor")
    min_clearance: float | None
    min_height: float | None
    battery_at_end: float | None
    landed_at_end: bool


class Timing(StrictModel):
    """Timing and tokens, which depend on the machine; never compared byte for byte."""

    wall_time: float | None
    decisions: int
    latency_mean: float
    latency_p95: float
    latency_max: float
    tokens_in: int
    tokens_out: int
    map_integration_mean: float
    asked: int | None = Field(default=None, description="decisions that a model was asked for; None: not counted")


class Result(StrictModel):
    """Score of one mission."""

    schema_: Literal["esar-result/1"] = Field(alias="schema")
    mission_id: str
    task: TaskInfo
    planner: str
    planner_details: dict[str, str] = Field(
        description="of a method that uses a model: its name, hash of the prompts, date, scorer"
    )
    planner_troubles: dict[str, int] = Field(
        description="decisions without an answer of the model that the method asked for, by the reason; partly: "
        "another answer was used",
    )
    trouble: str = Field(description="what went wrong with the model's answers, in a line; empty: nothing")
    detector_details: dict[str, str] = Field(
        description="of the clue detector: backend, and of a network its file, SHA-256 and engine"
    )
    eligible: bool
    ineligible_reasons: tuple[str, ...]
    judge: str = Field(description="who decided in the end, with its version")
    judge_details: dict[str, str] = Field(
        description="of a model: name, hash of the prompt, date; why another judge spoke"
    )
    pace: str
    clock: str
    world: str
    seed: int
    preset: str
    quality: str = names.DEFAULT_QUALITY
    governor: bool
    odometry: str
    map_digest: str
    versions: dict[str, str]
    vehicles: tuple[str, ...]
    thresholds: Thresholds
    end: End
    end_text: str
    error: str | None
    truncated: float | None = Field(description="s since the start up to which a bag that was cut is scored")
    metrics: Metrics
    reports: tuple[ReportResult, ...]
    victims: tuple[VictimResult, ...]
    clues: tuple[ClueResult, ...]
    safety: Safety
    timing: Timing

    @property
    def things(self) -> tuple[VictimResult | ClueResult, ...]:
        """Everything that was to be found, victims first."""
        return (*self.victims, *self.clues)

    @model_serializer(mode="wrap", when_used="json")
    def _as_json(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its JSON value, with the numbers that every file of it holds."""
        rounded: dict[str, Any] = _rounded(plain(self))
        return rounded

    def dump(self) -> str:
        """Canonical JSON with a final newline: equal results are equal bytes."""
        return canonical_json(self.model_dump(mode="json", by_alias=True))


def canonical_json(document: Any) -> str:
    """Sorted keys, numbers rounded to a millionth, two spaces of indent, final newline.

    Raises ValueError on NaN or infinity: a result holds none.
    """
    return json.dumps(_rounded(document), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return round(value, DECIMALS) + 0.0  # -0.0 becomes 0.0
    return value


def parse_result(text: str, source: str) -> Result:
    """Result from JSON; source names it in errors. Raises UsageError."""
    try:
        return Result.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the document"
        raise UsageError(f"{source}, key {key}: {first['msg']}", f"it must follow {SCHEMA}") from None


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, even after a crash. Raises UsageError.

    Half surrogates in a text, which UTF-8 cannot hold, are escaped.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = ""
    except OSError as error:
        what = f"cannot write {path}"
        told = system_error(error, what)
        raise told or UsageError(f"{what}: {error.strerror}", "choose a folder you may write to") from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
