"""Records of ESARBench's episodes, read for tables (result schema esar-result/1)."""

from __future__ import annotations

from collections.abc import Sequence

from esar_ros.benchmark.report.bench_results import Episode, Reading, Thing, xy_tracks
from esar_ros.benchmark.runner.records import Record
from esar_ros.mission.errors import one_line
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.scoring.flight import FAILED
from esar_ros.scoring.judge import Judge
from esar_ros.scoring.judges import clue_score_under
from esar_ros.scoring.result import Result
from esar_ros.scoring.statistics import Unit

_SCORES = ("sr", "tsr", "cds", "rs")  # also at other error thresholds


def read_record(record: Record[Result], folder: str, where: str, judges: Sequence[Judge] = ()) -> Reading:
    """Reads a record; its reports are also put to the judges. Raises UsageError."""
    result = record.result
    figures, judge_names = _figures(result) | _costs(record), {}
    for judge in judges:
        column = f"cds_{judge.name.partition('/')[0]}"
        figures[column], judgement = clue_score_under(result, judge)
        judge_names[column] = judgement.judge
    task = result.task
    reasons = tuple(reason for reason in result.ineligible_reasons if reason != FAILED)
    failed_alone = result.error is not None and not reasons  # it competes: its score of 0 stays in the means
    episode = Episode(
        planner=result.planner,
        conditions=record.conditions_as(RunConditions, where),
        folder=folder,
        unit=Unit(task.event, task.snapshot, task.id),
        seed=result.seed,
        group=task.tier,
        map=task.map,
        split=task.split,
        eligible=result.eligible or failed_alone,
        reasons=reasons or (() if result.eligible or failed_alone else ("stated so",)),
        status=record.status,
        reason=record.reason,
        end=result.end.value,
        figures=figures,
        judges=judge_names,
        trouble=one_line(result.trouble),
        causes=tuple(victim.cause and victim.cause.value for victim in result.victims),
        tracks=xy_tracks(record.track),
        things=tuple(
            [Thing(victim.position, True, victim.found) for victim in result.victims]
            + [Thing(clue.position, False, clue.located) for clue in result.clues]
        ),
        false_reports=tuple(r.position for r in result.reports if r.verdict == "false" and r.position is not None),
    )
    return Reading(
        episode,
        result.metrics.model_dump_json(),
        {f"task {task.id}": record.task_digest} | ({f"map {task.map}": result.map_digest} if result.map_digest else {}),
        result.thresholds.model_dump(mode="json"),
        result.versions,
    )


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


def _costs(record: Record[Result]) -> dict[str, float]:
    """An episode's costs are CPU time (s), mission seconds a CPU second, thinking (ms), a model's decisions, tokens."""
    own, method = record.timing, record.result.timing
    costs: dict[str, float] = {}
    if method.decisions:
        costs |= {"thinking": 1000.0 * method.latency_mean}
        costs |= {} if method.asked is None else {"asked": float(method.asked)}
        costs |= {"tokens_in": float(method.tokens_in), "tokens_out": float(method.tokens_out)}
    if own.cpu > 0.0:
        costs |= {"cpu": own.cpu, "flown_per_cpu": own.simulated / own.cpu}
    return costs
