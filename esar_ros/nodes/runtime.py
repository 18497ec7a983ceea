"""Start, spin and end nodes: one way for every executable."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from esar_ros.mission.errors import UsageError

WIND_DOWN = 5.0  # s


class Finished(Exception):
    """Raised by a node to end its process in good order."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


def run(make: Callable[[], Sequence[Node]], argv: Sequence[str] | None = None) -> int:
    """Make nodes, spin them in one thread until told to stop, destroy them. Returns the exit code.

    Ends on SIGINT, SIGTERM, `Finished` or a shut-down context; bad input prints one line and gives 2.
    Nodes are destroyed and the context shut down in every case: a process that skips that leaves its
    shared memory behind.
    """
    rclpy.init(args=list(argv) if argv is not None else sys.argv, signal_handler_options=SignalHandlerOptions.NO)

    stopping = False

    def stop(signum: int, frame: object) -> None:
        # Only a flag: an exception could tear a callback that is writing a bag.
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    nodes: list[Node] = []
    code = 0
    try:
        nodes = list(make())
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
        while rclpy.ok() and not stopping:
            executor.spin_once(timeout_sec=0.2)
        # Nodes with something to finish (a score, a bag) get a little longer.
        busy = [node for node in nodes if getattr(node, "wind_down", bool)()]
        limit = time.monotonic() + WIND_DOWN
        while busy and rclpy.ok() and time.monotonic() < limit:
            executor.spin_once(timeout_sec=0.2)
    except UsageError as error:
        print(f"esar: {error}", file=sys.stderr, flush=True)
        code = 2
    except Finished as finished:
        code = finished.code
    except ExternalShutdownException:
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for node in reversed(nodes):
            close = getattr(node, "close", None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
    return code
