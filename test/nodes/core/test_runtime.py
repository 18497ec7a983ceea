"""Ctrl-C whenever it comes: during imports or in a callback that does not return, an end without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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
    cut, leaves = said.splitlines()
    assert cut == "esar: a callback went on for 0.5 s after the signal to end, and was cut"
    assert leaves.endswith("[busy]: leaves: SIGINT")


NODE = """
from esar_ros.mission.errors import UsageError
from rclpy.node import Node
from esar_ros.nodes.core import runtime

class Leaving(Node):
    exit_code = None

    def __init__(self):
        super().__init__("leaving")
        self.create_timer(0.01, self.leave)

    def leave(self):
        {ends}

raise SystemExit(runtime.run(lambda: [Leaving()]))
"""


@pytest.mark.parametrize(
    ("ends", "why", "code"),
    [
        ("self.exit_code = 3", "it is done, with exit code 3", 3),
        ("raise UsageError('no such map', 'name another')", "no such map: name another", 2),
        ("raise ValueError('seven')", "ValueError('seven')", 1),
        ("runtime.rclpy.shutdown()", "the context was shut down", 0),
    ],
)
def test_a_node_that_leaves_says_why(ends: str, why: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", NODE.format(ends=ends)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code
    assert any(line.endswith(f"[leaving]: leaves: {why}") for line in done.stderr.splitlines()), done.stderr
    # Of an error that nobody foresaw the place is told, of bad input one line.
    assert any(words in done.stderr for words in ("Traceback", "FATAL", "Error occurred at")) == (code == 1)
    if code == 2:
        line, leaves = done.stderr.splitlines()
        assert line == f"esar: {why}" and leaves.endswith(f"leaves: {why}")


def test_while_it_imports(tmp_path: Path) -> None:
    code, said = interrupted(tmp_path, "time.sleep(60.0)", "importing")
    assert (code, said) == (-signal.SIGINT, "")


def test_it_ends_with_its_main_and_does_not_wait_for_the_interpreter(tmp_path: Path) -> None:
    script = "import atexit, sys\natexit.register(print, 'taken down')\ndef main():\n    print('done')\n    return 3\n"
    (tmp_path / "ending_script.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "esar_ros.nodes.graph.start", "ending_script"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "done\n")
