"""Results of benchmark runs, read for tables: one slim row per episode."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.runner.job import INFRASTRUCTURE_ERROR
from esar_ros.benchmark.runner.records import Record, Tracks, parse_episodes, place_of, planned_episodes, read_settings
from esar_ros.benchmark.runner.store import BENCH, read_contents
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import Conditions
from esar_ros.scoring.result import canonical_json
from esar_ros.scoring.statistics import Unit
from esar_ros.scoring.truth import Point

R = TypeVar("R")
_LARGEST = 1e15  # of a figure: sums of such still have a double's digits for a unit
_BEYOND = "no flight measures that: leave the record out"


@dataclass(frozen=True)
class Thing:
    """An object of a task, for drawing; position in m, map frame. sought: it is what the task is about."""

    position: Point
    sought: bool
    found: bool


@dataclass(frozen=True)
class Episode:
    """One flown task. figures: names to numbers, shares in 0..1, m, s; tracks: (N, 2) m per vehicle, map frame.

    group: the column of its suite's tables that it counts in, a tier or a size.
    """

    planner: str
    conditions: Conditions
    folder: str  # of the run
    unit: Unit
    seed: int
    group: str
    map: str
    split: str
    eligible: bool
    reasons: tuple[str, ...]
    status: str
    reason: str | None
    end: str
    figures: dict[str, float]
    judges: Mapping[str, str] = field(default_factory=dict)  # figure -> the judge who decided in the end
    trouble: str = ""  # with the model's answers, in a line
    causes: tuple[str | None, ...] = ()  # of each victim, why it was found or lost; None where it was not recorded
    tracks: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    things: tuple[Thing, ...] = field(default=(), repr=False)
    false_reports: tuple[Point, ...] = field(default=(), repr=False)

    @property
    def is_lost(self) -> bool:
        """Not flown to its end through no fault of the method."""
        return self.status == INFRASTRUCTURE_ERROR


@dataclass(frozen=True)
class Reading:
    """One record as its suite reads it."""

    episode: Episode
    scores: str  # all that was scored, as text: equal for two records of the same flight
    contents: Mapping[str, str]  # task or map -> digest of its content
    thresholds: Mapping[str, Any]  # of the scoring; equal for all episodes of a report
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Reader(Generic[R]):
    """Reads the records of a suite. result: its type of results."""

    result: type[R]
    read: Callable[[Record[R], str, str], Reading]  # of a record, its folder, and where it stands (for errors)


class RecordedResult(Protocol):
    """Common part of the results of suites; a pydantic model."""

    @property
    def split(self) -> str:
        """Returns the split of its task."""

    @property
    def end(self) -> str:
        """Returns how it ended."""

    @property
    def eligible(self) -> bool:
        """Returns whether it competes."""

    @property
    def versions(self) -> dict[str, str]:
        """Returns what made it."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]:
        """Returns its JSON value."""


def make_reading(
    record: Record[Any],
    folder: str,
    conditions: Conditions,
    *,
    unit: Unit,
    group: str,
    ground: tuple[str, str, str],
    ineligible: str,
    figures: dict[str, float],
    things: tuple[Thing, ...],
    thresholds: Mapping[str, Any],
) -> Reading:
    """Returns the reading of a record: what all suites record alike, and what one of them has made of its result.

    ground: what it was flown over: "map" or "place", its name, and the digest of its content; ineligible: why it is,
    if the result says that it is.
    """
    kind, name, content = ground
    result: RecordedResult = record.result
    episode = Episode(
        planner=record.planner,
        conditions=conditions,
        folder=folder,
        unit=unit,
        seed=record.seed,
        group=group,
        map=name,
        split=result.split,
        eligible=result.eligible,
        reasons=() if result.eligible else (ineligible,),
        status=record.status,
        reason=record.reason,
        end=result.end,
        figures=figures,
        tracks=xy_tracks(record.track),
        things=things,
    )
    contents = {f"task {record.task}": record.task_digest, f"{kind} {name}": content}
    return Reading(
        episode,
        canonical_json(result.model_dump(mode="json", by_alias=True)),
        {what: digest for what, digest in contents.items() if digest},
        thresholds,
        result.versions,
    )


@dataclass(frozen=True)
class Repeats:
    """Episodes of a method that stand in two folders, by whether both scored them alike to the last digit."""

    alike: int = 0
    otherwise: int = 0  # on a processor of another kind, or an unknown one


@dataclass(frozen=True)
class Bench:
    """Everything that was read. thresholds and settings are for showing."""

    episodes: tuple[Episode, ...]
    thresholds: dict[str, Any]
    settings: dict[str, dict[str, Any]]  # folder name -> manifest's settings
    versions: dict[str, tuple[str, ...]]
    torn: int  # runs whose last line a kill left unfinished
    unflown: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Unfinished folder -> episodes flown, planned; not one that only repeats episodes of folders before it."""
    digests: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (folder, method) -> of all that was scored
    repeats: Mapping[tuple[str, str, str], Repeats] = field(default_factory=dict)
    """By method, folder, and the other folder, whose scores count."""

    def condition(self, name: str) -> str:
        """Returns a condition that all episodes were flown under in words; empty where they differ in it."""
        found = {episode.conditions.as_text[name] for episode in self.episodes}
        return found.pop() if len(found) == 1 else ""


def read_bench(folders: Sequence[Path], reader: Reader[Any]) -> Bench:
    """Reads benchmark runs of one suite. Raises UsageError."""
    episodes: dict[tuple[str, tuple[str, ...], str, int], tuple[Episode, Path, str, str]] = {}
    contents: dict[str, tuple[str, str]] = {}  # task or map -> its digest, and where
    thresholds: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {}
    versions: dict[str, set[str]] = {}
    unflown: dict[str, tuple[int, int]] = {}
    scores: dict[tuple[str, str], list[str]] = {}
    repeats: dict[tuple[str, str, str], Repeats] = {}
    torn = 0
    for folder in folders:
        ids: set[str] = set()
        found = read_contents(folder, BENCH)
        settings[str(folder)] = read_settings(folder)
        torn += found.torn
        for record in parse_episodes(folder, found.records, reader.result):
            ids.add(record.id)
            where = place_of(folder, record.id)
            reading = _read(reader, record, str(folder), where)
            episode = reading.episode
            for name, content in reading.contents.items():
                if contents.setdefault(name, (content, where))[0] != content:
                    raise UsageError(f"{where}: {name} is not the {name} of {contents[name][1]}", "report them apart")
            own = dict(reading.thresholds)
            if thresholds and own != thresholds:
                odd = next(name for name in own if own[name] != thresholds[name])
                raise UsageError(f"{where}: {odd} is {own[odd]}, elsewhere {thresholds[odd]}", "report them apart")
            thresholds = own
            for name, version in reading.versions.items():
                versions.setdefault(name, set()).add(version)
            scores.setdefault((str(folder), episode.planner), []).append(f"{record.id} {reading.scores}")
            words = tuple(episode.conditions.as_text.values())  # the same where a server or a file has another address
            key = (episode.planner, words, episode.unit.task, episode.seed)
            processor = record.timing.processor
            entry = episode, folder, reading.scores, processor
            held, other, scored, elsewhere = episodes.setdefault(key, entry)
            if folder != other and (held.is_lost or episode.is_lost):
                if held.is_lost and not episode.is_lost:
                    episodes[key] = entry
                continue  # an episode that was not flown through no fault of the method scores nothing beside another
            alike = scored == reading.scores
            if not alike and (folder == other or (processor == elsewhere and processor)):
                raise UsageError(f"{where}: it stands in {other} with another score", "leave one of the folders out")
            if folder != other:
                pair = episode.planner, str(folder), str(other)
                before = repeats.get(pair, Repeats())
                repeats[pair] = Repeats(before.alike + alike, before.otherwise + (not alike))
        planned = planned_episodes(settings[str(folder)])
        if len(ids) < planned:
            unflown[str(folder)] = (len(ids), planned)
    if not episodes:
        raise UsageError(f"no episode in {', '.join(map(str, folders))}", "run ./esar bench first")
    counted = {str(folder) for _, folder, *_ in episodes.values()}
    rows = [episode for episode, *_ in episodes.values()]
    turn = {conditions: number for number, conditions in enumerate(dict.fromkeys(one.conditions for one in rows))}
    ordered = sorted(rows, key=lambda one: (turn[one.conditions], one.planner, one.unit.task, one.seed))
    return Bench(
        tuple(ordered),
        thresholds,
        settings,
        {name: tuple(sorted(told)) for name, told in sorted(versions.items())},
        torn,
        {folder: counts for folder, counts in unflown.items() if folder in counted or not counts[0]},
        {key: hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest() for key, lines in scores.items()},
        repeats,
    )


def _read(reader: Reader[R], record: Record[R], folder: str, where: str) -> Reading:
    """Reads a record. Raises UsageError, also for a number that could not be averaged."""
    try:
        reading = reader.read(record, folder, where)
    except OverflowError:
        raise UsageError(f"{where}: a whole number in it is too large", _BEYOND) from None
    odd = next((name for name, value in reading.episode.figures.items() if not abs(value) < _LARGEST), None)
    if odd is not None:
        raise UsageError(f"{where}: {odd} is {reading.episode.figures[odd]:g}", _BEYOND)
    return reading


def xy_tracks(track: Tracks) -> dict[str, NDArray[np.float32]]:
    """Returns the tracks of a record for drawing: (N, 2) m per vehicle, map frame."""
    found = {}
    for vehicle, columns in track.items():
        xy = np.array([columns["x"], columns["y"]], dtype=np.float32).T
        found[vehicle] = xy[np.isfinite(xy).all(axis=1)]
    return found
