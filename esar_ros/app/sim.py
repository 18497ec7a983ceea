"""`esar sim`: the simulator alone, and with --view a page to watch it and fly by hand."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from functools import partial
from multiprocessing.context import SpawnProcess
from types import FrameType

from esar_ros.app import prepare
from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.bridges.airsim.connect import AS_LONG_AS_IT_TAKES, connect
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.sim import server
from esar_ros.sim.terrain.maps import load_map

VIEW_PORT = 8642
_FLAG = "--view"


def main(argv: list[str]) -> int:
    """Run the command: the simulator's own flags, and --view [PORT] for the page."""
    arguments, page_port = _take_view(argv)
    asked = server.parse_arguments(arguments)
    prepare.ensure(asked.map, lambda text: print(f"{server.STAGE}{text}", flush=True))
    if page_port is None:
        return server.main(arguments)
    port = 41451 if asked.port is None else asked.port
    if port == 0:
        raise UsageError("--view needs to know the simulator's port", "give --port a number")
    if asked.settings is not None:
        raise UsageError("--view shows the package's own cameras", "leave out --settings")
    # A process of its own: images and browsers cannot delay the simulator.
    viewer = multiprocessing.get_context("spawn").Process(
        target=show, args=(asked.host, port, asked.map, page_port), daemon=True, name="view"
    )
    viewer.start()
    try:
        return server.main(arguments)
    finally:
        _end(viewer)


def _take_view(argv: list[str]) -> tuple[list[str], int | None]:
    """The other arguments, and the page's port when a page is asked for. Raises UsageError."""
    if _FLAG not in argv:
        return argv, None
    at = argv.index(_FLAG)
    rest = argv[at + 1 : at + 2]
    if rest and not rest[0].startswith("-"):
        if not rest[0].isdecimal() or int(rest[0]) > 65535:
            raise UsageError(f"{_FLAG} {rest[0]} is no TCP port", "give 0..65535, or nothing")
        return argv[:at] + argv[at + 2 :], int(rest[0])
    return argv[:at] + argv[at + 1 :], VIEW_PORT


def show(host: str, port: int, map_id: str, page_port: int) -> None:
    """Serves the page until stopped."""
    from esar_ros.app.view.pages import PageServer, read_assets
    from esar_ros.app.view.simulator import PAGE, SimulatorView

    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the simulator ends this one
    signal.signal(signal.SIGTERM, end)
    try:
        connect(host, port, AS_LONG_AS_IT_TAKES).close()  # its starter ends this process when it dies
        source = SimulatorView(partial(AirSimClient, host, port), load_map(map_id), tuple(CAMERAS))
        page = PageServer((PAGE / "index.html").read_text(encoding="utf-8"), source, page_port, read_assets(PAGE))
    except (UsageError, AirSimError) as error:
        print(f"sim: no page: {error}", file=sys.stderr, flush=True)
        return
    print(f"watch and fly it at {page.address}", flush=True)
    stop.wait()
    page.close()
    source.close()


def _end(process: SpawnProcess) -> None:
    process.terminate()
    process.join(timeout=5.0)
    if process.is_alive():
        process.kill()
