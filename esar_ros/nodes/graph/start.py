"""Starts a process of the graph: `python -m esar_ros.nodes.graph.start MODULE ARGUMENTS`.

Imports take seconds on a busy machine. Until the module handles signals itself, a signal to end ends the process
without a word instead of with a traceback of whatever was being imported. Once main() has returned, all is closed, and
the process ends without taking the interpreter down: with compiled kernels and networks that is most of an end's time,
seconds on a busy machine.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

from esar_ros.mission.system.processes import die_with_parent

LAUNCHED = "ESAR_LAUNCHED"  # variable of the environment: the process belongs to its parent and ends with it


def start(module: str) -> int:
    """Runs a module's main() and returns its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get(LAUNCHED):  # SIGTERM ends `ros2 launch` without a word to what it has started
        die_with_parent(signal.SIGTERM)
    return int(import_module(module).main() or 0)


def leave(code: int) -> NoReturn:
    """Ends the process with what it has printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    leave(start(sys.argv[0]))
