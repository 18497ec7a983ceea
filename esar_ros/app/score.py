"""`esar score BAG`: scores a recorded flight again."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.scoring.bag import score_bag
from esar_ros.scoring.judges import NAMES, make_judge
from esar_ros.scoring.result import write_atomically


def main(argv: list[str]) -> int:
    """Score a bag from its own content, or against a ground truth that is given."""
    parser = Parser(prog="esar score", description="Score a mission again, from its bag.")
    parser.add_argument("bag", help="folder of a bag, or its .mcap or .db3 file")
    parser.add_argument("--json", metavar="FILE", help="write the result there (schema esar-result/1)")
    parser.add_argument("--judge", choices=NAMES, default="offline", help="who reads the wording of reports")
    parser.add_argument(
        "--truth",
        metavar="FILE",
        help="ground truth of a flight without referee, or of a cut bag (docs/how-to/bags.md)",
    )
    parser.add_argument("--error-m", type=float, metavar="E", help="error threshold in m instead of the recorded one")
    arguments = parser.parse_args(argv)
    from rich.console import Console

    from esar_ros.benchmark.report.scorecard import terminal_table

    truth = Path(arguments.truth) if arguments.truth else None
    result = score_bag(Path(arguments.bag), make_judge(arguments.judge), truth, arguments.error_m)
    if arguments.json:
        write_atomically(Path(arguments.json), result.dump())
    Console(highlight=False).print(terminal_table(result))
    return 0
