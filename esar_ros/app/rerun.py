"""`esar mission --rerun ID --from DIR`: one episode of a benchmark again, with the whole graph."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError


def add_arguments(parser: argparse._ActionsContainer) -> None:
    """Flags of a rerun."""
    parser.add_argument(
        "--rerun", default="", metavar="ID", help="fly an episode of a benchmark again: task/planner/seed"
    )
    parser.add_argument("--from", dest="source", default="", metavar="DIR", help="folder of that benchmark")


def adopt(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Put an episode's choices into the arguments; its record, None when no rerun is asked for. Raises UsageError."""
    if not arguments.rerun:
        if arguments.source:
            raise UsageError("--from says where an episode is, but none is named", "give --rerun TASK/PLANNER/SEED")
        return None
    if not arguments.source:
        raise UsageError("--rerun needs the benchmark's folder", "give --from DIR")
    from esar_ros.benchmark.report.bench_results import suite_of
    from esar_ros.benchmark.runner.job import IMPLIED_SUITE
    from esar_ros.benchmark.runner.store import find_episode

    suite = suite_of([Path(arguments.source)])
    if suite != IMPLIED_SUITE:
        raise UsageError(
            f"{arguments.source} is of suite {suite}", f"the graph flies missions of {IMPLIED_SUITE} alone"
        )
    record = find_episode(Path(arguments.source), arguments.rerun)
    try:
        job = {**record["job"], **record.get("conditions", {})}
        arguments.task, arguments.planner, arguments.seed = job["task"], record["planner"], int(record["seed"])
        arguments.preset, arguments.detector = job["preset"], job["detector"]
        arguments.governor, arguments.odometry = "on" if job["governor"] else "off", job["odometry"]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"episode {arguments.rerun} in {arguments.source}: {error!r}", "restore the file") from None
    return record


def verdict(record: dict[str, Any], result_file: Path) -> str:
    """One line: whether the graph's result is the benchmark's, or the first thing that differs."""
    result = json.loads(result_file.read_text(encoding="utf-8"))
    if record["status"] != "ok":
        return f"In the benchmark this episode ended with {record['status']}: {record['reason']}"
    differing = sorted(key for key in result if key != "timing" and result[key] != record["result"].get(key))
    if not differing:
        return "The same result as in the benchmark"
    metrics, before = result["metrics"], record["result"].get("metrics", {})
    numbers = [
        f"{key} {metrics[key]} (benchmark: {before.get(key)})" for key in metrics if metrics[key] != before.get(key)
    ]
    return f"Not the benchmark's result: {', '.join(numbers[:4] or differing)}"
