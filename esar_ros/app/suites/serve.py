"""`esar serve`: the server that a suite's own evaluation scripts expect, with the embedded simulator behind it."""

from __future__ import annotations

import asyncio

from esar_ros.app.arguments import Parser
from esar_ros.app.suites import rescue_server
from esar_ros.mission.errors import UsageError

SUITE = "uav-on"
RESCUEBENCH = "rescuebench"


def main(argv: list[str]) -> int:
    """Run the command: exit code 0 when ended by a signal. Raises UsageError."""
    which = Parser(prog="esar serve", add_help=False)
    which.add_argument("--suite")
    if which.parse_known_args(argv)[0].suite == RESCUEBENCH:
        return rescue_server.serve(argv)
    from esar_ros.app import prepare
    from esar_ros.sim.server import LOOPBACK, port_number
    from esar_ros.suites.uav_on.protocol_server.scene_server import PORT, scene_here, serve_scenes
    from esar_ros.suites.uav_on.scenes import find_scene
    from esar_ros.suites.uav_on.settings import load_suite_settings

    parser = Parser(prog="esar serve", description="UAV-ON's scene server: its authors' evaluation flies here.")
    parser.add_argument(
        "--suite", required=True, metavar="NAME", help=f"benchmark: {SUITE}; {RESCUEBENCH} (its --help)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=port_number, default=PORT, help="port of the server (default %(default)s)")
    arguments = parser.parse_args(argv)
    if arguments.suite != SUITE:
        raise UsageError(f"suite '{arguments.suite}' has no server", f"give --suite {SUITE} or {RESCUEBENCH}")
    settings = load_suite_settings()
    for map_id in sorted({find_scene(scene_here(name, settings)).map for name in settings.stand_ins}):
        prepare.ensure(map_id, _say)
    if arguments.host not in LOOPBACK:
        _say(f"warning: {arguments.host} is reachable from other machines, and this interface knows no passwords")
    asyncio.run(serve_scenes(arguments.host, arguments.port, _say))
    return 0


def _say(line: str) -> None:
    print(line, flush=True)
