"""Records of UAV-ON's episodes, read for tables (result schema uav-on-result/1)."""

from __future__ import annotations

import numpy as np

from esar_ros.benchmark.report.bench_results import Reading, Thing, make_reading
from esar_ros.benchmark.runner.records import Record
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.object_goal import (
    Ending,
    NavigationRecord,
    Rules,
    final_distance,
    oracle_succeeded,
    path_efficiency,
    path_flown,
    path_lengths,
    succeeded,
)
from esar_ros.scoring.statistics import Unit
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.result import GoalResult

SCORES = ("sr", "osr", "spl", "dts")  # under the public code's rules; name@rules is the same under others


def read_record(record: Record[GoalResult], folder: str, where: str) -> Reading:
    """Reads a record. Raises UsageError."""
    result = record.result
    entry = result.entry(where)
    try:
        flight = result.record(entry)
    except ValueError as error:
        raise UsageError(f"{where}: {error}", "the file was changed by hand; restore it") from None
    x, y, z = (float(value) for value in entry.episode.targets[-1])
    return make_reading(
        record,
        folder,
        record.conditions_as(UavOnConditions, where),
        unit=Unit(result.scene, str(entry.document.get("object_name", entry.episode.goal.name)), record.task),
        group=flight.size.value if flight.size is not None else "",
        ground=("map", result.map, result.map_digest),
        ineligible=f"planner {record.planner} uses ground truth",
        figures=_figures(result, flight),
        things=(Thing((x, y, z), True, succeeded(flight, Rules.CODE)),),
        thresholds={"success_distance": flight.terms.near, "max_actions": float(flight.terms.actions)},
    )


def _figures(result: GoalResult, record: NavigationRecord) -> dict[str, float]:
    """Every number of a result that is averaged."""
    figures: dict[str, float] = {}
    for rules in Rules:
        mark = "" if rules is Rules.CODE else f"@{rules.value}"
        figures[f"sr{mark}"] = float(succeeded(record, rules))
        figures[f"osr{mark}"] = float(oracle_succeeded(record, rules))
        figures[f"spl{mark}"] = path_efficiency(record, rules)
        figures[f"dts{mark}"] = final_distance(record, rules)
    figures |= {ending.value: float(record.ending is ending) for ending in Ending}
    figures |= {"steps": float(record.steps), "path": path_flown(record, Rules.CODE)}
    figures["touched"] = float(record.touched)
    measured = np.array([frame.pose("measured").position for frame in result.frames])
    commanded = np.array([frame.pose("commanded").position for frame in result.frames])
    figures["end_gap"] = float(np.linalg.norm(measured[-1] - commanded[-1]))
    figures["measured_path"] = float(path_lengths(measured)[-1])
    return figures
