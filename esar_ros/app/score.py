"""`esar score BAG` and `esar report DIR`: what was flown, scored again and shown again."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.result import write_atomically


def main(argv: list[str]) -> int:
    """Score a bag from nothing but its own content."""
    parser = Parser(prog="esar score", description="Score a mission again, from its bag alone.")
    parser.add_argument("bag", help="folder of a bag, or its .mcap or .db3 file")
    parser.add_argument("--json", metavar="FILE", help="write the result there (schema esar-result/1)")
    arguments = parser.parse_args(argv)
    from rich.console import Console

    from esar_ros.benchmark.scorecard import terminal_table

    result = score_bag(Path(arguments.bag))
    if arguments.json:
        write_atomically(Path(arguments.json), result.dump())
    Console(highlight=False).print(terminal_table(result))
    return 0


def report(argv: list[str]) -> int:
    """Draw a mission's report and scorecard again."""
    parser = Parser(
        prog="esar report", description="Make report.html and scorecard.png from a mission's bag and result."
    )
    parser.add_argument("folder", help="the mission's --out folder")
    arguments = parser.parse_args(argv)
    folder = Path(arguments.folder)
    if not (folder / "bag").is_dir():
        raise UsageError(f"{folder} holds no bag/", "give the --out folder of a mission")
    from esar_ros.benchmark.showing import show_mission

    show_mission(folder)
    return 0
