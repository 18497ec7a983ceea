"""`esar mission --rerun ID --from DIR`: one episode of a benchmark again, with the whole graph."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from esar_ros.mission.errors import UsageError

if TYPE_CHECKING:
    from esar_ros.benchmark.runner.records import Record
    from esar_ros.scoring.result import Result


def add_arguments(parser: argparse._ActionsContainer) -> None:
    """Flags of a rerun."""
    parser.add_argument(
        "--rerun", default="", metavar="ID", help="fly an episode of a benchmark again: task/planner/seed"
    )
    parser.add_argument("--from", dest="source", default="", metavar="DIR", help="folder of that benchmark")


def adopt(arguments: argparse.Namespace, before: Mapping[str, object] = MappingProxyType({})) -> Record[Result] | None:
    """Put an episode's choices into the arguments; its record, None when no rerun is asked for. Raises UsageError.

    before: what the arguments that an episode decides are where nobody has given them.
    """
    if not arguments.rerun:
        if arguments.source:
            raise UsageError("--from says where an episode is, but none is named", "give --rerun TASK/PLANNER/SEED")
        return None
    if not arguments.source:
        raise UsageError("--rerun needs the benchmark's folder", "give --from DIR")
    given = next((name for name, default in before.items() if getattr(arguments, name) != default), None)
    if given is not None:
        raise UsageError(f"--{given} and --rerun", "an episode is flown again as it was: give one of them")
    from esar_ros.benchmark.runner.records import check_suite, find_episode, place_of
    from esar_ros.mission.run_conditions import RunConditions
    from esar_ros.scoring.result import Result
    from esar_ros.suites.esarbench.suite import EsarBench

    folder = Path(arguments.source)
    check_suite(folder, EsarBench.name, "the graph flies no other")
    record = find_episode(folder, arguments.rerun, Result)
    conditions = record.conditions_as(RunConditions, place_of(folder, record.id))
    arguments.task, arguments.planner, arguments.seed = record.job.task, record.planner, record.seed
    arguments.preset, arguments.detector = conditions.preset, conditions.detector
    arguments.quality = conditions.quality
    arguments.governor, arguments.odometry = "on" if conditions.governor else "off", conditions.odometry
    return record


DECIDED = ("task", "planner", "seed", "governor", "preset", "detector", "quality", "odometry", "vehicles")
"""Arguments that an episode decides."""


def verdict(record: Record[Result], result_file: Path) -> str:
    """One line: whether the graph's result is the benchmark's, or the first thing that differs."""
    from esar_ros.scoring.result import parse_result

    if record.status != "ok":
        return f"In the benchmark this episode ended with {record.status}: {record.reason}"
    result = parse_result(result_file.read_text(encoding="utf-8"), str(result_file)).model_dump(mode="json")
    there = record.result.model_dump(mode="json")
    differing = sorted(key for key in result if key != "timing" and result[key] != there[key])
    if not differing:
        return "The same result as in the benchmark"
    metrics, before = result["metrics"], there["metrics"]
    numbers = [f"{key} {metrics[key]} (benchmark: {before[key]})" for key in metrics if metrics[key] != before[key]]
    return f"Not the benchmark's result: {', '.join(numbers[:4] or differing)}"
