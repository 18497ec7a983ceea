"""`esar compare A B --out FILE.png`: two flights side by side."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar compare",
        description="Two flights of one place as an image: tracks on the map, what each found and when, decisions, "
        "the governor, scores.",
    )
    parser.add_argument("a", metavar="A", help="folder of a mission, a bag, or a flight log (.ulg, .bin; with --truth)")
    parser.add_argument("b", metavar="B", help="another one")
    parser.add_argument("--out", default="comparison.png", metavar="FILE.png", help="the image (default: %(default)s)")
    parser.add_argument("--truth", metavar="FILE", help="ground truth that the bags do not hold (docs/how-to/bags.md)")
    arguments = parser.parse_args(argv)
    out = Path(arguments.out)
    if out.suffix.lower() != ".png":
        raise UsageError(f"--out {out} is no .png", "name a PNG file")
    from esar_ros.benchmark.report.flight_comparison import ComparedFlight, comparison_png
    from esar_ros.benchmark.report.mission_record import open_record
    from esar_ros.scoring.result import write_atomically

    truth = Path(arguments.truth) if arguments.truth else None
    names = _names(arguments.a, arguments.b)
    flights = [
        ComparedFlight(name, open_record(Path(path), truth))
        for name, path in zip(names, (arguments.a, arguments.b), strict=True)
    ]
    write_atomically(out, comparison_png(*flights))
    print(out)
    return 0


def _names(a: str, b: str) -> tuple[str, str]:
    """The shortest ends of two paths that differ; equal paths keep their last part."""
    parts = [[part for part in Path(path).resolve().parts if part != "bag"] for path in (a, b)]
    for count in range(1, min(len(parts[0]), len(parts[1])) + 1):
        one, two = ("/".join(path[-count:]) for path in parts)
        if one != two:
            return one, two
    return parts[0][-1], parts[1][-1]
