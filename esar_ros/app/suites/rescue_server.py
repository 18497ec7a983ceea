"""`esar serve --suite rescuebench` and `esar suite rescuebench env`: RescueBench's own code runs on our simulator.

The authors' client gives a binary 10 s from its start to the first connection, so what takes long is imported when the
port is open: a client that has connected waits.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
from contextlib import suppress
from pathlib import Path

from esar_ros.app.arguments import Parser

LOOPBACK = "127.0.0.1"
DESERTED = 300.0  # s that a server started in the binary's place waits for somebody to come back
_MAP = re.compile(r"\w{1,80}")
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")


def serve(argv: list[str]) -> int:
    """Serve one map after another until ended by a signal, or, with --ini, deserted. Raises UsageError."""
    from esar_ros.suites.rescuebench.protocol_server.ini import DEFAULT_PORT, IniFile, read_ini

    default = IniFile()
    parser = Parser(prog="esar serve --suite rescuebench", description="UnrealCV: RescueBench's own code walks here.")
    parser.add_argument("--suite", required=True, metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument(
        "--map",
        type=_map_name,
        default="Own_room_0",
        metavar="NAME",
        help="place to begin with, open ground where there is none of that name (default %(default)s)",
    )
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=_port, help=f"0 for any free one (default {DEFAULT_PORT})")
    parser.add_argument(
        "--size", type=_size, metavar="WxH", help=f"px of pictures (default {default.width}x{default.height})"
    )
    parser.add_argument(
        "--clock",
        choices=("paused", "running"),
        default="paused",
        help="the world waits for commands, a step a movement, or goes on with the wall's clock (default paused)",
    )
    parser.add_argument(
        "--ini", type=Path, metavar="FILE", help="take port and size from an unrealcv.ini; end when deserted"
    )
    _add_checkout(parser)
    arguments = parser.parse_args(argv)
    said = default if arguments.ini is None else read_ini(arguments.ini)
    port = said.port if arguments.port is None else arguments.port
    width, height = arguments.size or (said.width, said.height)
    if arguments.host != LOOPBACK:
        _say(f"warning: {arguments.host} is reachable from other machines, and this interface knows no passwords")
    deserted = None if arguments.ini is None else DESERTED
    with suppress(KeyboardInterrupt):
        asyncio.run(
            _serve(arguments.map, arguments.rescuebench, arguments.host, port, width, height, arguments.clock, deserted)
        )
    return 0


async def _serve(
    map_name: str,
    checkout: Path | None,
    host: str,
    port: int,
    width: int,
    height: int,
    clock: str,
    deserted: float | None,
) -> None:
    """Serves; the port is open, so that clients wait for it, before the place is made."""
    from esar_ros.suites.rescuebench.protocol_server.server import UnrealCvServer

    server = UnrealCvServer()
    bound = server.bind(host, port)
    from esar_ros.suites.rescuebench.protocol_server.clocks import PausedClock, RunningClock
    from esar_ros.suites.rescuebench.protocol_server.commands import Commands
    from esar_ros.suites.rescuebench.settings import load_suite_settings

    waits = PausedClock(load_suite_settings().step) if clock == "paused" else RunningClock()
    commands = Commands(map_name, width, height, waits, checkout)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await server.start(commands.answer)
    _say(f"ready on {host}:{bound}, {commands.scene.title}, pictures of {width}x{height} px, clock {clock}")
    ends: list[asyncio.Future[object]] = [asyncio.ensure_future(stop.wait())]
    if deserted is not None:
        ends.append(asyncio.ensure_future(server.deserted(deserted)))
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    await server.close()
    commands.close()


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `environment`."""
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="what UnrealEnv will be")
    parser.add_argument("--clock", choices=("paused", "running"), default="paused", help="how time passes there")
    _add_checkout(parser)


def environment(arguments: argparse.Namespace) -> int:
    """Write launchers in the place of the authors' binaries. Raises UsageError."""
    from esar_ros.suites.rescuebench.protocol_server.launcher import write_environment

    for path in write_environment(arguments.out, arguments.clock, arguments.rescuebench):
        _say(str(path))
    _say(f"export UnrealEnv={arguments.out.absolute()}")
    return 0


def _add_checkout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rescuebench",
        type=_checkout,
        metavar="DIR",
        help="checkout of RescueBench: its maps are stand-ins, made from the tracks of people in it",
    )


def _checkout(words: str) -> Path:
    from esar_ros.suites.rescuebench.files.tracks import FOLDER

    if not (Path(words) / FOLDER).is_dir():
        raise argparse.ArgumentTypeError(f"'{words[:200]}' is no checkout of RescueBench: it has no {FOLDER}")
    return Path(words)


def _port(words: str) -> int:
    from esar_ros.sim.server import port_number

    return port_number(words)


def _map_name(words: str) -> str:
    if not _MAP.fullmatch(words):
        raise argparse.ArgumentTypeError(f"'{words[:40]}' is no name of a map")
    return words


def _size(words: str) -> tuple[int, int]:
    from esar_ros.suites.rescuebench.protocol_server.ini import LARGEST_SIDE

    match = _SIZE.fullmatch(words)
    if match is None or not (1 <= int(match[1]) <= LARGEST_SIDE and 1 <= int(match[2]) <= LARGEST_SIDE):
        raise argparse.ArgumentTypeError(f"'{words[:40]}' is no size: WxH, 1 to {LARGEST_SIDE} px each")
    return int(match[1]), int(match[2])


def _say(line: str) -> None:
    print(line, flush=True)
