"""`esar score BAG`: what was flown, scored again."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.judges import NAMES, make_judge
from esar_ros.scoring.result import write_atomically


def main(argv: list[str]) -> int:
    """Score a bag from nothing but its own content."""
    parser = Parser(prog="esar score", description="Score a mission again, from its bag alone.")
    parser.add_argument("bag", help="folder of a bag, or its .mcap or .db3 file")
    parser.add_argument("--json", metavar="FILE", help="write the result there (schema esar-result/1)")
    parser.add_argument("--judge", choices=NAMES, default="offline", help="who reads the wording of reports")
    arguments = parser.parse_args(argv)
    from rich.console import Console

    from esar_ros.benchmark.scorecard import terminal_table

    result = score_bag(Path(arguments.bag), make_judge(arguments.judge))
    if arguments.json:
        write_atomically(Path(arguments.json), result.dump())
    Console(highlight=False).print(terminal_table(result))
    return 0
