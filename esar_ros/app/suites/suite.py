"""`esar suite NAME WHAT`: what people need who fly a suite with its authors' own code."""

from __future__ import annotations

from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.app.suites import rescue_server
from esar_ros.app.suites.serve import RESCUEBENCH, SUITE


def main(argv: list[str]) -> int:
    """Run the command. Raises UsageError."""
    parser = Parser(prog="esar suite", description="Launchers in the place of UAV-ON's and RescueBench's binaries.")
    suites = parser.add_subparsers(dest="suite", required=True, metavar="NAME")
    command = suites.add_parser(SUITE, help="for UAV-ON's own scene server")
    command.add_argument("what", choices=("scenes",), metavar="scenes", help="launchers in the place of its binaries")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="what its --root_path will be")
    command = suites.add_parser(RESCUEBENCH, help="for RescueBench's own code")
    command.add_argument("what", choices=("env",), metavar="env", help="launchers in the place of its binaries")
    rescue_server.add_environment_arguments(command)
    arguments = parser.parse_args(argv)
    if arguments.suite == RESCUEBENCH:
        return rescue_server.environment(arguments)
    from esar_ros.suites.uav_on.protocol_server.launchers import write_launchers

    for path, theirs, here in write_launchers(arguments.out):
        print(f"{path}: {here} stands in for {theirs}")
    return 0
