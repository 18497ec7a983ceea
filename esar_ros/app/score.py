"""`esar score`: scores a recorded flight again, the logs of UAV-ON runs, or results and tracks of RescueBench."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from esar_ros.app.arguments import Parser
from esar_ros.benchmark.report.junit import Case, exit_code, write_junit
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.judges import NAMES, make_judge
from esar_ros.scoring.object_goal import Rules
from esar_ros.scoring.rescue import Rules as RescueRules
from esar_ros.scoring.result import canonical_json, write_atomically
from esar_ros.scoring.score import DAMAGED

if TYPE_CHECKING:
    from rich.console import RenderableType

BENCH_SCHEMAS = {"uav-on": "uav-on-scores/1", "rescuebench": "rescuebench-scores/1"}  # a score of each method
# Suite: its own arguments by attribute, refused for a suite that does not list them.
SUITES = {
    "esarbench": {"judge": "--judge", "truth": "--truth", "error_m": "--error-m"},
    "uav-on": {"rules": "--rules"},
    "rescuebench": {"rules": "--rules", "rescuebench": "--rescuebench"},
}


def main(argv: list[str]) -> int:
    """Score a bag from its own content or against a given ground truth, the folder of a UAV-ON run or benchmark, or a
    file of RescueBench's results or tracks.
    """
    parser = Parser(
        prog="esar score",
        description="Score a mission again, from its bag; a UAV-ON run, from its logs; results of RescueBench.",
    )
    parser.add_argument(
        "bag",
        help="folder of a bag, its .mcap or .db3 file, or a flight log (.ulg, .bin); "
        "of uav-on: the folder of its logs, or the --out of a bench; "
        "of rescuebench: results, tracks, a checkout of RescueBench (people's tracks), or the --out of a bench",
    )
    parser.add_argument(
        "--suite", choices=tuple(SUITES), default="esarbench", help="whose rules (default: %(default)s)"
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write it there (schema esar-result/1; of uav-on: uav-on-score/1, or -scores/1; likewise rescuebench)",
    )
    parser.add_argument("--judge", choices=NAMES, help="who reads the wording of reports (default: offline)")
    parser.add_argument(
        "--truth",
        metavar="FILE",
        help="ground truth of a flight without referee, or of a cut bag (docs/how-to/bags.md)",
    )
    parser.add_argument("--error-m", type=float, metavar="E", help="error threshold in m instead of the recorded one")
    parser.add_argument(
        "--rules",
        choices=[rules.value for rules in Rules],
        help="of uav-on and rescuebench: public code, paper's equations, or (of uav-on) its words (default: code; "
        "docs/reference/uav-on.md, rescuebench.md)",
    )
    parser.add_argument(
        "--rescuebench",
        metavar="DIR",
        help="checkout of RescueBench, for its points and tracks (default: the one that holds the file)",
    )
    parser.add_argument(
        "--expect", metavar="FILE", help="an earlier --json or result.json: exit code 1 unless the score has its bytes"
    )
    parser.add_argument("--junit", metavar="FILE", help="of --expect: also as a JUnit report, for CI")
    arguments = parser.parse_args(argv)
    if arguments.junit and not arguments.expect:
        raise UsageError("--junit needs --expect", "name the result that the score must equal")
    expected = _expected(Path(arguments.expect)) if arguments.expect else None
    for suite, own in SUITES.items():
        for attribute, flag in own.items():
            if attribute not in SUITES[arguments.suite] and getattr(arguments, attribute) is not None:
                raise UsageError(f"{flag} is of suite {suite}, not of {arguments.suite}", "leave it out")
    score = {"esarbench": _score_bag, "uav-on": _score_logs, "rescuebench": _score_rescue}
    document = score[arguments.suite](arguments)
    if arguments.json:
        write_atomically(Path(arguments.json), document)
    return 0 if expected is None else _gate(arguments, document, expected)


def _expected(path: Path) -> str:
    """The result that a score must equal. Raises UsageError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}", "give a result.json") from None


def _gate(arguments: argparse.Namespace, document: str, expected: str) -> int:
    """Returns the exit code: whether the score is the expected one, byte for byte."""
    fault = f"{arguments.bag} differs from {arguments.expect} in {_difference(document, expected)}"
    case = Case(arguments.suite, str(arguments.bag), "" if document == expected else fault)
    if case.fault:
        print(f"esar: {case.fault}", file=sys.stderr)
    if arguments.junit:
        write_junit(Path(arguments.junit), "esar score", [case])
    return exit_code([case])


def _difference(document: str, expected: str) -> str:
    """Names of the parts in which two JSON documents differ."""
    ours = json.loads(document)
    try:
        theirs = json.loads(expected)
    except (ValueError, RecursionError):
        return "that it is no JSON"
    if not isinstance(theirs, dict):
        return "everything"
    return ", ".join(sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))) or "its bytes"


def _score_bag(arguments: argparse.Namespace) -> str:
    """Scores a bag and prints the card; returns the result as canonical JSON."""
    from rich.console import Console

    from esar_ros.benchmark.report.scorecard import terminal_table

    truth = Path(arguments.truth) if arguments.truth else None
    result = score_bag(Path(arguments.bag), make_judge(arguments.judge or "offline"), truth, arguments.error_m)
    for reason in result.ineligible_reasons:
        if reason.startswith(DAMAGED):
            print(f"esar: warning: {arguments.bag}: {reason}: copy it again", file=sys.stderr)
    Console(highlight=False).print(terminal_table(result))
    return result.dump()


def _score_logs(arguments: argparse.Namespace) -> str:
    """Scores a run's logs and prints the table; returns the score as canonical JSON."""
    from esar_ros.suites.uav_on.export import export_logs, is_bench
    from esar_ros.suites.uav_on.score import LogScore

    folder, rules = Path(arguments.bag), Rules(arguments.rules or Rules.CODE)
    runs = export_logs(folder) if is_bench(folder) else {"": folder}
    return _shown(arguments.suite, runs, {name: LogScore(run, rules) for name, run in runs.items()})


def _score_rescue(arguments: argparse.Namespace) -> str:
    """Scores RescueBench's results or tracks and prints the table; returns the score as canonical JSON."""
    from esar_ros.suites.rescuebench.export import export_results, is_bench
    from esar_ros.suites.rescuebench.score import RescueScore
    from esar_ros.suites.rescuebench.settings import load_suite_settings

    name = arguments.rules or RescueRules.CODE.value
    if name not in {rules.value for rules in RescueRules}:
        raise UsageError(f"--rules {name} is of suite uav-on, not of rescuebench", "give code or paper")
    path, rules, settings = Path(arguments.bag), RescueRules(name), load_suite_settings().similarity
    checkout = Path(arguments.rescuebench) if arguments.rescuebench else None
    runs = export_results(path) if is_bench(path) else {"": path}
    scores = {name: RescueScore(run, rules, settings, checkout) for name, run in runs.items()}
    return _shown(arguments.suite, runs, scores)


class _Score(Protocol):
    def table(self) -> RenderableType: ...

    def document(self) -> dict[str, Any]: ...


def _shown(suite: str, runs: Mapping[str, Path], scores: Mapping[str, _Score]) -> str:
    """Prints the table of each run; returns its score, or those of all methods by name, as canonical JSON."""
    from rich.console import Console

    console = Console(highlight=False)
    for name, score in scores.items():
        if name:
            console.print(f"\n[bold]{name}[/bold]  {runs[name]}", soft_wrap=True)
        console.print(score.table())
    documents = {name: score.document() for name, score in scores.items()}
    return canonical_json(documents.get("") or {"schema": BENCH_SCHEMAS[suite], "methods": documents})
