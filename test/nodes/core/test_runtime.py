"""Ctrl-C whenever it comes: during imports or in a callback that does not return, an end without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import time
print("importing", flush=True)
{before}
from rclpy.node import Node
from esar_ros.nodes.core import runtime

class Busy(Node):
    def __init__(self):
        super().__init__("busy")
        self.create_timer(0.01, self.work)

    def work(self):
        print("working", flush=True)
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            pass

def main():
    runtime.STUCK = 0.5
    return runtime.run(lambda: [Busy()])
"""


def interrupted(folder: Path, before: str, at: str) -> tuple[int, str]:
    """Exit code of the script that gets SIGINT once it has printed `at`, and its output after that."""
    (folder / "busy_script.py").write_text(SCRIPT.format(before=before), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "esar_ros.nodes.graph.start", "busy_script"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != at:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
    return process.returncode, said


def test_in_a_callback_that_does_not_return(tmp_path: Path) -> None:
    code, said = interrupted(tmp_path, "", "working")
    assert code == 0
    assert "Traceback" not in said and "Error" not in said and "Exception" not in said
    assert said.splitlines() == ["esar: a callback went on for 0.5 s after the signal to end, and was cut"]


def test_while_it_imports(tmp_path: Path) -> None:
    code, said = interrupted(tmp_path, "time.sleep(60.0)", "importing")
    assert (code, said) == (-signal.SIGINT, "")
