"""Start, spin and end nodes: one way for every executable."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from esar_ros.mission.errors import UsageError

WIND_DOWN = 45.0  # s on a busy machine; a second is usual
STUCK = 10.0  # s a callback may go on after the signal to end, e.g. waiting for a server that does not answer
INTERRUPTED = 130


def make_executor() -> Executor:
    """The cheapest executor there is: events where rclpy has them (a third of the CPU), else wait sets."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def run(make: Callable[[], Sequence[Node]], argv: Sequence[str] | None = None) -> int:
    """Makes nodes, spins them in one thread until stopped, destroys them. Returns the exit code.

    Ends on SIGINT, SIGTERM, a shut-down context, or when a node has an `exit_code` that is not None; bad
    input prints one line and gives 2. On a signal, nodes whose `wind_down()` returns True get a little longer.
    Each node logs why it leaves. Nodes are destroyed and the context shut down in every case: a process that skips
    that leaves its shared memory behind.
    """
    stopping, spinning = False, False
    why = "the context was shut down"
    muted: list[int] = []  # what the error stream was before it was muted

    def stop(signum: int, frame: object) -> None:
        nonlocal stopping, why
        stopping, why = True, signal.Signals(signum).name
        if not spinning:
            raise KeyboardInterrupt
        # Only a flag: an exception could tear a callback that is writing a bag. One that hangs is torn later.
        signal.setitimer(signal.ITIMER_REAL, STUCK)

    def tear(signum: int, frame: object) -> None:
        # rclpy prints a traceback of whatever ends a callback; that a person ended it is no error.
        muted.append(os.dup(2))
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGALRM, tear)
    nodes: list[Node] = []
    held: list[Callable[[], object]] = []  # of what rclpy says of the error that ended a callback
    code = 0
    try:
        try:
            rclpy.init(
                args=list(argv) if argv is not None else sys.argv, signal_handler_options=SignalHandlerOptions.NO
            )
        except Exception as error:  # rclpy has no public name for what it raises here
            raise UsageError(f"ROS cannot start: {error}", "mend the arguments or the parameter file") from None
        nodes = list(make())
        for node in nodes:
            _hold_back(node, held)
        executor = make_executor()
        never: Future[None] = Future()  # untimed spin() of the events executor dispatches nothing
        for node in nodes:
            executor.add_node(node)
        spinning = True
        with suppress(KeyboardInterrupt):
            while rclpy.ok() and not stopping and _exit_code(nodes) is None:
                executor.spin_until_future_complete(never, timeout_sec=0.2)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if muted:
            os.dup2(muted[0], 2)
            os.close(muted[0])
            print(f"esar: a callback went on for {STUCK:g} s after the signal to end, and was cut", file=sys.stderr)
        # Nodes with something to finish (a score, a bag) get a little longer.
        busy = stopping and [node for node in nodes if getattr(node, "wind_down", bool)()]
        limit = time.monotonic() + WIND_DOWN
        while busy and rclpy.ok() and time.monotonic() < limit and _exit_code(nodes) is None:
            executor.spin_until_future_complete(never, timeout_sec=0.2)
    except UsageError as error:
        why = str(error)
        print(f"esar: {error}", file=sys.stderr, flush=True)
        code = 2
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ExternalShutdownException:
        pass
    except Exception as error:
        why = repr(error)
        for say in held:
            say()
        raise
    else:
        ended = _exit_code(nodes)
        why = why if ended is None else f"it is done, with exit code {ended}"
        code = ended or 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for node in reversed(nodes):
            node.get_logger().info(f"leaves: {why}")
            close = getattr(node, "close", None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
    return code


def _hold_back(node: Node, held: list[Callable[[], object]]) -> None:
    """Holds back what rclpy logs of an error that ends a node's callback: of a UsageError one line is to be told."""
    logger = node.get_logger()
    fatal, warn = logger.fatal, logger.warn

    def hold_fatal(message: str, **filters: Any) -> Any:
        if message.startswith("Exception in '"):
            return held.append(lambda: fatal(message, **filters))
        return fatal(message, **filters)

    def hold_warn(message: str, **filters: Any) -> Any:
        if message.startswith("Error occurred at:"):
            return held.append(lambda: warn(message, **filters))
        return warn(message, **filters)

    logger.fatal, logger.warn = hold_fatal, hold_warn  # type: ignore[method-assign]


def _exit_code(nodes: Sequence[Node]) -> int | None:
    """Returns the exit code of a node that wants to end the process in good order; None without one."""
    codes = [code for node in nodes if (code := getattr(node, "exit_code", None)) is not None]
    return max(codes, default=None)
