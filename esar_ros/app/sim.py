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
from esar_ros.app.arguments import Parser
from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.bridges.airsim.connect import AS_LONG_AS_IT_TAKES, connect
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.sim import server
from esar_ros.sim.terrain.maps import load_map

VIEW_PORT = 8642


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar sim", description="Embedded simulator with AirSim's RPC interface.")
    server.add_arguments(parser)
    about = f"serve a page to watch it and to fly it by keys (default port: {VIEW_PORT}; 0: any free one)"
    parser.add_argument("--view", type=server.port_number, nargs="?", const=VIEW_PORT, metavar="PORT", help=about)
    asked = parser.parse_args(argv)
    prepare.ensure(asked.map, lambda text: print(f"{server.STAGE}{text}", flush=True), quality=asked.quality)
    if asked.view is None:
        return server.main(asked)
    port = 41451 if asked.port is None else asked.port
    if port == 0:
        raise UsageError("--view needs to know the simulator's port", "give --port a number")
    if asked.settings is not None:
        raise UsageError("--view shows the package's own cameras", "leave out --settings")
    # A process of its own: images and browsers cannot delay the simulator.
    viewer = multiprocessing.get_context("spawn").Process(
        target=show, args=(asked.host, port, asked.map, asked.view), daemon=True, name="view"
    )
    viewer.start()
    try:
        return server.main(asked)
    finally:
        _end(viewer)


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
