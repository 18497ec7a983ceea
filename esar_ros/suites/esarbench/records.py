"""Records of ESARBench's episodes, read for tables (result schema esar-result/1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from esar_ros.benchmark.report.bench_results import Episode, Reading, Thing, read_tracks
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import NOT_RECORDED, RunConditions
from esar_ros.scoring.flight import FAILED
from esar_ros.scoring.judge import Judge
from esar_ros.scoring.judges import clue_score_under
from esar_ros.scoring.result import Result, parse_result
from esar_ros.scoring.statistics import Unit

_SCORES = ("sr", "tsr", "cds", "rs")  # also at other error thresholds


def read_record(line: dict[str, Any], folder: str, where: str, judges: Sequence[Judge] = ()) -> Reading:
    """Reads a record; its reports are also put to the judges. Raises UsageError."""
    result = parse_result(json.dumps(line["result"]), where)
    figures, judge_names = _figures(result), {}
    for judge in judges:
        column = f"cds_{judge.name.partition('/')[0]}"
        figures[column], judgement = clue_score_under(result, judge)
        judge_names[column] = judgement.judge
    task = result.task
    reasons = tuple(reason for reason in result.ineligible_reasons if reason != FAILED)
    failed_alone = result.error is not None and not reasons  # it competes: its score of 0 stays in the means
    episode = Episode(
        planner=result.planner,
        conditions=_conditions(line, result, where),
        folder=folder,
        unit=Unit(task.event, task.snapshot, task.id),
        seed=result.seed,
        group=task.tier,
        map=task.map,
        split=task.split,
        eligible=result.eligible or failed_alone,
        reasons=reasons or (() if result.eligible or failed_alone else ("stated so",)),
        status=str(line.get("status", "ok")),
        reason=line.get("reason"),
        end=result.end.value,
        figures=figures,
        judges=judge_names,
        trouble=result.trouble,
        causes=tuple(victim.cause and victim.cause.value for victim in result.victims),
        tracks=read_tracks(line.get("track")),
        things=tuple(
            [Thing(victim.position, True, victim.found) for victim in result.victims]
            + [Thing(clue.position, False, clue.located) for clue in result.clues]
        ),
        false_reports=tuple(r.position for r in result.reports if r.verdict == "false" and r.position is not None),
    )
    return Reading(
        episode,
        result.metrics.model_dump_json(),
        dict(_contents(line, result)),
        result.thresholds.model_dump(mode="json"),
        result.versions,
    )


def _conditions(line: dict[str, Any], result: Result, where: str) -> RunConditions:
    """Returns the conditions of an episode; those of runs that did not record them as far as the result states them."""
    try:
        if "conditions" in line:
            return RunConditions.parse(line["conditions"])
        job = line["job"] if isinstance(line.get("job"), dict) else {}
        details, network = result.planner_details, result.detector_details
        return RunConditions.parse(
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
