"""A benchmark's finished episodes: what a line of episodes.jsonl holds (schema esar-episode/1), and its one reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from esar_ros.benchmark.runner.job import Job
from esar_ros.benchmark.runner.store import BENCH, EPISODE_SCHEMA, EPISODES, MANIFEST, read_contents, read_manifest
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import Conditions
from esar_ros.mission.settings_file import StrictModel

R = TypeVar("R")
C = TypeVar("C", bound=Conditions)
Status = Literal["ok", "agent_error", "infrastructure_error"]
Tracks = dict[str, dict[str, list[float | None]]]  # per vehicle columns of equal length: x, y (m, map) and others


class EpisodeTiming(StrictModel):
    """The part of a record that depends on the machine: times in s, memory in bytes."""

    wall: float
    cpu: float
    simulated: float
    peak_memory: int
    host: str
    pid: int
    finished: str = Field(description="ISO 8601, UTC")
    processor: str = Field("", description="architecture and instructions, on which last bits depend; empty: unknown")


@dataclass(frozen=True)
class Flown:
    """The part of a record that the flight decides. result: the suite's, a pydantic model; trace: of a method's error.

    conditions and task_digest: as they were when it had been flown; None where it was not flown to its end.
    """

    status: Status
    reason: str | None
    result: Any
    track: Tracks
    timing: EpisodeTiming
    conditions: Conditions | None = None
    trace: str = ""
    task_digest: str | None = None


class RecordedJob(StrictModel):
    """The task as the benchmark was given it: an id, or the absolute path of a file."""

    task: str


class Record(StrictModel, Generic[R]):
    """One finished episode, with the result of its suite."""

    schema_: Literal["esar-episode/1"] = Field(alias="schema")
    index: int = Field(description="place in the plan")
    id: str
    task: str
    planner: str
    seed: int
    job: RecordedJob
    task_digest: str
    conditions: dict[str, Any]
    attempts: int
    settings_hash: str
    status: Status
    reason: str | None
    result: R
    track: Tracks
    timing: EpisodeTiming

    def conditions_as(self, kind: type[C], where: str) -> C:
        """Returns the conditions that it was flown under, of a suite's type; where: for errors. Raises UsageError."""
        try:
            return kind.parse(self.conditions)
        except (TypeError, ValueError):
            raise UsageError(f"{where}: conditions that this version does not know", "use its own version") from None


def make_record(job: Job, flown: Flown, attempts: int, settings_hash: str) -> Record[Any]:
    """Returns the record of an episode that has ended; attempts: how often it was flown."""
    return Record(
        schema=EPISODE_SCHEMA,
        index=job.index,
        id=job.id,
        task=job.task_id,
        planner=job.planner,
        seed=job.seed,
        job=RecordedJob(task=job.task),
        task_digest=job.task_digest,
        conditions=asdict(job.conditions),
        attempts=attempts,
        settings_hash=settings_hash,
        status=flown.status,
        reason=flown.reason,
        result=flown.result,
        track=flown.track,
        timing=flown.timing,
    )


def place_of(folder: Path, episode: str) -> str:
    """Returns where an episode stands, in words for errors."""
    return f"{folder / EPISODES}, episode {episode}"


def read_episodes(folder: Path, result: type[R]) -> list[Record[R]]:
    """Returns a benchmark's finished episodes in the plan's order.

    result: the suite's type of results; dict where the result does not matter. Raises UsageError.
    """
    return parse_episodes(folder, read_contents(folder, BENCH).records, result)


def parse_episodes(folder: Path, lines: Sequence[dict[str, Any]], result: type[R]) -> list[Record[R]]:
    """Returns the records that lines hold. Raises UsageError."""
    adapter: TypeAdapter[Record[R]] = TypeAdapter(Record[result])  # type: ignore[valid-type]
    records = []
    for line in lines:
        try:
            records.append(adapter.validate_python(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            where = place_of(folder, line["id"])
            raise UsageError(f"{where}: key {key}: {first['msg']}", f"each line follows {EPISODE_SCHEMA}") from None
    return records


def find_episode(folder: Path, episode: str, result: type[R]) -> Record[R]:
    """Returns one finished episode by its id; result: the suite's type of results. Raises UsageError."""
    lines = read_contents(folder, BENCH).records
    found = [line for line in lines if line["id"] == episode]
    if not found:
        raise UsageError(f"{folder} holds no episode '{episode}'", f"e.g. {lines[0]['id']}" if lines else "run one")
    return parse_episodes(folder, found, result)[0]


def read_settings(folder: Path) -> dict[str, Any]:
    """Returns the settings of a benchmark's manifest. Raises UsageError."""
    settings: dict[str, Any] = read_manifest(folder / MANIFEST)["settings"]
    if not isinstance(settings.get("suite"), str):
        raise UsageError(f"{folder / MANIFEST} names no suite", "restore the file, or name another folder")
    return settings


def planned_episodes(settings: Mapping[str, Any]) -> int:
    """Returns how many episodes a run is planned to have; 0 where its settings do not tell."""
    tasks, planners, seeds = (settings.get(key) for key in ("tasks", "planners", "seeds"))
    told = isinstance(tasks, list) and isinstance(planners, list) and isinstance(seeds, int)
    return len(tasks) * len(planners) * seeds if told else 0  # type: ignore[arg-type, operator]


def suite_of(folders: Sequence[Path]) -> str:
    """Returns the name of the suite that benchmark runs are of. Raises UsageError where they are of several."""
    found = {read_settings(folder)["suite"]: folder for folder in reversed(folders)}
    if len(found) > 1:
        (one, here), (other, there) = sorted(found.items())[:2]
        raise UsageError(f"{here} is of suite {one}, {there} of {other}", "report them apart")
    return str(next(iter(found)))


def check_suite(folder: Path, suite: str, mend: str) -> None:
    """Raises UsageError, with how to mend it, unless a benchmark's folder is of this suite."""
    found = suite_of([folder])
    if found != suite:
        raise UsageError(f"{folder} is a benchmark of suite {found}, not of {suite}", mend)
