"""A simulator to measure, on a free port, in a process that ends with the measurement."""

from __future__ import annotations

import subprocess
import sys


def start_simulator(*arguments: str, image: str = "640x480") -> tuple[subprocess.Popen[str], int]:
    """Returns process and port of a simulator that answers; arguments as `python -m esar_ros.sim.server` takes them."""
    command = [sys.executable, "-m", "esar_ros.sim.server", "--port", "0", "--image", image, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ready on "):
            return process, int(line.rsplit(":", 1)[1])
    raise SystemExit("the simulator did not start")
