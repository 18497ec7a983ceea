"""`esar leaderboard [DIR]`: all submissions of a folder in one page a suite, with intervals and paired differences."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser

_FOLDER = Path("results")


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar leaderboard",
        description="Compare the submissions of a folder: a page for each suite, with intervals and paired "
        "differences. Refused are records that were changed, and what does not compare. docs/how-to/benchmark.md",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=_FOLDER, metavar="DIR", help="a folder a submission (default: results)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: leaderboard/ in DIR)")
    parser.add_argument("--against", metavar="METHOD", help="compare every method with this one instead of all pairs")
    arguments = parser.parse_args(argv)
    from rich.console import Console
    from rich.markup import escape

    from esar_ros.benchmark.report.bench_results import read_bench
    from esar_ros.benchmark.report.comparison import make_report
    from esar_ros.benchmark.report.comparison_page import write_report
    from esar_ros.benchmark.report.submissions import read_submissions, repeats_table, submissions_table
    from esar_ros.benchmark.report.tables import print_report
    from esar_ros.suites import find_suite

    console = Console(highlight=False)
    out = arguments.out or arguments.folder / "leaderboard"
    for name, submissions in read_submissions(arguments.folder).items():
        suite = find_suite(name)
        bench = read_bench([one.folder for one in submissions], suite.reader(None))
        report = make_report(bench, suite.layout(), arguments.against)
        tables = [submissions_table(bench, submissions)] + ([repeats_table(bench)] if bench.repeats else [])
        page, *_ = write_report(report, out / name, tables, f"Leaderboard of {name}")
        print_report(report, console)
        console.print(escape(str(page)), soft_wrap=True)
    return 0
