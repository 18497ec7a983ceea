"""Results of benchmark runs, read for tables: one slim row per episode (schema esar-episode/1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import NOT_RECORDED, RunConditions, conditions_from
from esar_ros.scoring.judge import Judge
from esar_ros.scoring.judges import clue_score_under
from esar_ros.scoring.result import Cause, Result, parse_result
from esar_ros.scoring.statistics import Unit
from esar_ros.scoring.truth import End, Point

EPISODES, MANIFEST = "episodes.jsonl", "bench.json"
_SCORES = ("sr", "tsr", "cds", "rs")  # also at other error thresholds


@dataclass(frozen=True)
class Thing:
    """A victim or clue of a task, for drawing; position in m, map frame."""

    position: Point
    victim: bool
    found: bool


@dataclass(frozen=True)
class Episode:
    """One flown task. figures: names to numbers, shares in 0..1, m, s; tracks: (N, 2) m per vehicle, map frame."""

    planner: str
    conditions: RunConditions
    folder: str  # of the run
    unit: Unit
    seed: int
    tier: str
    map: str
    split: str
    eligible: bool
    reasons: tuple[str, ...]
    status: str
    reason: str | None
    end: End
    figures: dict[str, float]
    judges: dict[str, str]  # figure of CDS -> who decided in the end
    causes: tuple[Cause | None, ...]  # of each victim; None where it was not recorded
    tracks: dict[str, NDArray[np.float32]] = field(repr=False)
    things: tuple[Thing, ...] = field(repr=False)
    false_reports: tuple[Point, ...] = field(repr=False)

    @property
    def is_recorded(self) -> bool:
        """True where all its conditions are recorded."""
        return NOT_RECORDED not in self.conditions.as_text.values()


@dataclass(frozen=True)
class Bench:
    """Everything that was read. thresholds and settings are for showing."""

    episodes: tuple[Episode, ...]
    thresholds: dict[str, Any]
    settings: dict[str, dict[str, Any]]  # folder name -> manifest's settings
    versions: dict[str, tuple[str, ...]]
    torn: int  # lines that a killed run left unfinished


def read_bench(folders: Sequence[Path], judges: Sequence[Judge] = ()) -> Bench:
    """Read benchmark runs; the reports of each episode are also put to these judges. Raises UsageError."""
    episodes: dict[tuple[str, RunConditions, str, int], tuple[Episode, Path, str]] = {}
    contents: dict[str, tuple[str, str]] = {}  # task or map -> its digest, and where
    thresholds: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {}
    versions: dict[str, set[str]] = {}
    torn = 0
    for folder in folders:
        settings[str(folder)] = _settings(folder)
        for number, line in _lines(folder):
            if line is None:
                torn += 1
                continue
            where = f"{folder / EPISODES}, line {number}"
            episode, result = _episode(line, folder, where, judges)
            for name, content in _contents(line, result):
                if contents.setdefault(name, (content, where))[0] != content:
                    raise UsageError(f"{where}: {name} is not the {name} of {contents[name][1]}", "report them apart")
            own = result.thresholds.model_dump(mode="json")
            if thresholds and own != thresholds:
                odd = next(name for name in own if own[name] != thresholds[name])
                raise UsageError(f"{where}: {odd} is {own[odd]}, elsewhere {thresholds[odd]}", "report them apart")
            thresholds = own
            for name, version in result.versions.items():
                versions.setdefault(name, set()).add(version)
            key = (episode.planner, episode.conditions, episode.unit.task, episode.seed)
            metrics = result.metrics.model_dump_json()
            if key in episodes and episodes[key][2] != metrics:
                other = episodes[key][1]
                raise UsageError(
                    f"{where}: {line['id']} stands in {other} with another score", "leave one of the folders out"
                )
            episodes[key] = (episode, folder, metrics)
    if not episodes:
        raise UsageError(f"no episode in {', '.join(map(str, folders))}", "run ./esar bench first")
    found = [episode for episode, _, _ in episodes.values()]
    turn = {conditions: number for number, conditions in enumerate(dict.fromkeys(one.conditions for one in found))}
    ordered = sorted(found, key=lambda one: (turn[one.conditions], one.planner, one.unit.task, one.seed))
    return Bench(
        tuple(ordered),
        thresholds,
        settings,
        {name: tuple(sorted(found)) for name, found in sorted(versions.items())},
        torn,
    )


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = document["settings"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no manifest of a benchmark", "give the --out folder of ./esar bench") from None
    return found if isinstance(found, dict) else {}


def _lines(folder: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(line number, document) of every line; None for the last one of a run that was cut off while writing it."""
    path = folder / EPISODES
    try:
        file = path.open(encoding="utf-8")
    except OSError:
        raise UsageError(f"{folder} holds no {EPISODES}", "give the --out folder of ./esar bench") from None
    with file:
        bad: int | None = None
        number = 0
        for number, text in enumerate(file, 1):
            if bad is not None:
                raise UsageError(f"{path}, line {bad} is no JSON", "the file was changed by hand; restore it")
            if not text.strip():
                continue
            try:
                document = json.loads(text)
            except ValueError:
                bad = number
                continue
            if not isinstance(document, dict) or document.get("schema") != "esar-episode/1":
                raise UsageError(f"{path}, line {number}: no episode", "each line follows esar-episode/1")
            yield number, document
        if bad is not None:
            yield number, None


def _episode(line: dict[str, Any], folder: Path, where: str, judges: Sequence[Judge]) -> tuple[Episode, Result]:
    if not isinstance(line.get("result"), dict):
        raise UsageError(f"{where}: key result is missing", "each line follows esar-episode/1")
    result = parse_result(json.dumps(line["result"]), where)
    figures, judge_names = _figures(result), {}
    for judge in judges:
        column = f"cds_{judge.name.partition('/')[0]}"
        figures[column], judgement = clue_score_under(result, judge)
        judge_names[column] = judgement.judge
    task = result.task
    episode = Episode(
        planner=result.planner,
        conditions=_conditions(line, result, where),
        folder=str(folder),
        unit=Unit(task.event, task.snapshot, task.id),
        seed=result.seed,
        tier=task.tier,
        map=task.map,
        split=task.split,
        eligible=result.eligible,
        reasons=result.ineligible_reasons or (() if result.eligible else ("stated so",)),
        status=str(line.get("status", "ok")),
        reason=line.get("reason"),
        end=result.end,
        figures=figures,
        judges=judge_names,
        causes=tuple(victim.cause for victim in result.victims),
        tracks=_tracks(line.get("track")),
        things=tuple(
            [Thing(victim.position, True, victim.found) for victim in result.victims]
            + [Thing(clue.position, False, clue.located) for clue in result.clues]
        ),
        false_reports=tuple(r.position for r in result.reports if r.verdict == "false" and r.position is not None),
    )
    return episode, result


def _conditions(line: dict[str, Any], result: Result, where: str) -> RunConditions:
    """Returns the conditions of an episode; those of runs that did not record them as far as the result states them."""
    try:
        if "conditions" in line:
            return conditions_from(line["conditions"])
        job = line["job"] if isinstance(line.get("job"), dict) else {}
        details, network = result.planner_details, result.detector_details
        return conditions_from(
            {
                **{
                    name: getattr(result, name) for name in ("preset", "governor", "odometry", "pace", "world", "judge")
                },
                "detector": str(job.get("detector", network.get("backend", NOT_RECORDED))),
                "detector_settings": network.get("digest", NOT_RECORDED),
                "model": ", ".join(f"{key} {details[key]}" for key in sorted(details) if key != "date") or NOT_RECORDED,
            }
        )
    except TypeError:
        raise UsageError(f"{where}: conditions that this version does not know", "report it with its own") from None


def _contents(line: dict[str, Any], result: Result) -> Iterator[tuple[str, str]]:
    """The task and the map that an episode was flown on, each with the digest of its content."""
    if "task_digest" in line:
        yield f"task {result.task.id}", str(line["task_digest"])
    if result.map_digest:
        yield f"map {result.task.map}", result.map_digest


def _figures(result: Result) -> dict[str, float]:
    """Every number of a result that is averaged; what a run did not measure is left out."""
    m = result.metrics
    flat = {
        name: float(value)
        for name, value in m.model_dump(exclude={"sensitivity"}).items()
        if isinstance(value, bool | int | float)
    }
    for gate, scores in m.sensitivity.items():
        flat.update({f"{name}@{gate}": float(getattr(scores, name)) for name in _SCORES})
    flat.update({f"{name}@{result.thresholds.error_threshold:g}": flat[name] for name in _SCORES})
    return flat


def _tracks(track: Any) -> dict[str, NDArray[np.float32]]:
    if not isinstance(track, dict):
        return {}
    found = {}
    for vehicle, columns in track.items():
        try:
            xy = np.array([columns["x"], columns["y"]], dtype=np.float32).T
        except (KeyError, TypeError, ValueError):
            continue  # a track is for looking at: without one the numbers still stand
        found[str(vehicle)] = xy[np.isfinite(xy).all(axis=1)]
    return found
