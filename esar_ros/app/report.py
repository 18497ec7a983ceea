"""`esar report DIR ...`: reports a flown mission, or compares benchmark runs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.run_conditions import Conditions


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar report",
        description="Compare the methods of benchmark runs: tables, figures and one page. Given a mission's folder, "
        "make its report.html and scorecard.png again.",
    )
    parser.add_argument("folders", nargs="+", metavar="DIR", help="--out folders of ./esar bench, or one of a mission")
    parser.add_argument("--out", metavar="DIR", help="where to write (default: report/ in the first folder)")
    parser.add_argument("--against", metavar="METHOD", help="compare every method with this one instead of all pairs")
    parser.add_argument(
        "--judge", choices=("llm",), help="also put every report to the model at ESAR_JUDGE_URL (CDS under it)"
    )
    parser.add_argument(
        "--by", default="", metavar="A,B", help="conditions that part a method's rows; all others must be equal"
    )
    arguments = parser.parse_args(argv)
    folders = [Path(name) for name in arguments.folders]
    if len(folders) == 1 and (folders[0] / "bag").is_dir():
        if arguments.out or arguments.against or arguments.judge or arguments.by:
            raise UsageError(f"{folders[0]} is one mission's folder", "leave out --out, --against, --judge and --by")
        from esar_ros.benchmark.report.mission_report import show_mission

        show_mission(folders[0])
        return 0
    for folder in folders:
        if not (folder / EPISODES).is_file():
            raise UsageError(f"{folder} holds neither bag/ nor {EPISODES}", "give the --out of a bench or mission")
    out = Path(arguments.out) if arguments.out else folders[0] / "report"
    return _compare(folders, out, arguments.against, arguments.judge, arguments.by)


def _fields(by: str, conditions: type[Conditions]) -> list[str]:
    """Names of conditions. Raises UsageError."""
    names = [name.strip() for name in by.split(",") if name.strip()]
    known = [field.name for field in fields(conditions) if field.name != "thresholds"]  # one table has one set of them
    for name in names:
        if name not in known:
            raise UsageError(f"--by {name} is no condition that parts rows", suggest(name, known))
    return names


def _compare(folders: list[Path], out: Path, against: str | None, judge: str | None, by: str) -> int:
    from rich.console import Console
    from rich.markup import escape

    from esar_ros.benchmark.report.bench_results import read_bench
    from esar_ros.benchmark.report.comparison import make_report
    from esar_ros.benchmark.report.comparison_page import write_report
    from esar_ros.benchmark.report.tables import print_report
    from esar_ros.benchmark.runner.records import suite_of
    from esar_ros.suites import find_suite

    suite = find_suite(suite_of(folders))
    named = _fields(by, suite.conditions)
    report = make_report(read_bench(folders, suite.reader(judge)), suite.layout(), against, by=named)
    page, *others = write_report(report, out)
    console = Console(highlight=False)
    print_report(report, console)
    console.print(f"{escape(str(page))}  ({len(others)} more files beside it)", soft_wrap=True)
    return 0
