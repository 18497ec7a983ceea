"""`esar suite NAME WHAT`: what people need who fly a suite with its authors' own code."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.app.suites import rescue_server


def main(argv: list[str]) -> int:
    """Run the command. Raises UsageError."""
    if argv[:2] == ["rescuebench", "env"]:
        return rescue_server.environment(argv[2:])
    from esar_ros.suites.uav_on.protocol_server.launchers import write_launchers

    parser = Parser(
        prog="esar suite", description="Launchers for UAV-ON's own scene server; rescuebench env (its --help)."
    )
    parser.add_argument("suite", choices=("uav-on",), metavar="NAME", help="benchmark: uav-on")
    parser.add_argument("what", choices=("scenes",), metavar="scenes", help="launchers in the place of its binaries")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="what its --root_path will be")
    arguments = parser.parse_args(argv)
    for path, theirs, here in write_launchers(arguments.out):
        print(f"{path}: {here} stands in for {theirs}")
    return 0
