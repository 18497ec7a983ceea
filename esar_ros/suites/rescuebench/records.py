"""Records of RescueBench's episodes, read for tables (result schema rescuebench-result/1)."""

from __future__ import annotations

from dataclasses import replace

from esar_ros.benchmark.report.bench_results import Reading, Thing, make_reading
from esar_ros.benchmark.runner.records import Record
from esar_ros.geometry.unreal import unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import level_name
from esar_ros.scoring.rescue import HAND_OVER, NEAR, RescueRecord, Rules, stage_scores
from esar_ros.scoring.statistics import Unit
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.result import RescueResult

_CURE = "the file was changed by hand; restore it"

REPLAYS = "replays"
"""Folder, in that of a benchmark, of the pages of episodes that were walked again."""


def record_of(result: RescueResult, where: str) -> RescueRecord:
    """Returns what is scored of a result; an agent that failed counts nothing. Raises UsageError."""
    return replace(result.line.record(where), failed=result.error is not None)


def read_record(record: Record[RescueResult], folder: str, where: str) -> Reading:
    """Reads a record. Raises UsageError."""
    result = record.result
    walk = record_of(result, where)
    conditions = record.conditions_as(RescueConditions, where)
    try:
        x, y, z = unreal_to_map(result.point["injured_player_loc"][:3]).tolist()
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{where}: a point that this version does not know", _CURE) from None
    told = conditions.truth != "none"
    reason = f"planner {record.planner} {'is told where its target is' if told else 'uses ground truth'}"
    return make_reading(
        record,
        folder,
        conditions,
        unit=Unit(result.place, level_name(walk.level), record.task),
        group=level_name(walk.level),
        ground=("place", result.place, result.place_digest),
        ineligible=reason,
        figures=_figures(walk) | _likeness(result),
        things=(Thing((x, y, z), True, walk.picked and not walk.failed),),
        thresholds={"near": NEAR, "hand_over": HAND_OVER},
    )


def _figures(record: RescueRecord) -> dict[str, float]:
    """Returns every number of a result that is averaged; TS is a share of 100 points."""
    figures = {"tcr": float(record.completed)}
    for rules in Rules:
        mark = "" if rules is Rules.CODE else f"@{rules.value}"
        scores = stage_scores(record, rules)
        stages = (scores.explore, scores.rescue, scores.carry_back, scores.hand_over)
        figures |= {f"ts{mark}": scores.total / 100.0}
        figures |= {f"s{number}{mark}": points for number, points in enumerate(stages, 1)}
    figures |= {"seconds": record.seconds, "steps": float(record.steps), "path": record.path}
    figures |= {"picked": float(record.picked and not record.failed), "nearer": record.effectiveness}
    return figures | {"collisions": float(record.collisions or 0)}


def _likeness(result: RescueResult) -> dict[str, float]:
    """Returns likeness to the shortest walk under both rules, nothing where there was none to compare with."""
    alike = result.similarity
    return {} if alike is None else {"hs": alike.code, "hs@paper": alike.paper}
