"""Processes that `ros2 launch` has started end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from esar_ros.nodes.graph.start import LAUNCHED

CHILD = """
import os, signal, sys, time
def main():
    def end(*_):
        open(sys.argv[1] + "/ended", "w").close()
        sys.exit(0)
    signal.signal(signal.SIGTERM, end)
    open(sys.argv[1] + "/began", "w").close()
    time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-m", "esar_ros.nodes.graph.start", "child_that_waits", sys.argv[1]])
time.sleep(60)
"""


def comes(path: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return path.exists()


@pytest.mark.parametrize("launched", [True, False])
def test_its_end_is_theirs_whatever_ended_it(tmp_path: Path, launched: bool) -> None:
    (tmp_path / "child_that_waits.py").write_text(CHILD)
    path = os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path} | ({LAUNCHED: "1"} if launched else {})
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], env=environment, start_new_session=True)
    try:
        assert comes(tmp_path / "began", 60.0)
        parent.kill()
        parent.wait()
        assert comes(tmp_path / "ended", 10.0 if launched else 1.0) == launched
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
