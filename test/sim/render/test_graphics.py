"""Contexts without a screen, and the processes that may have one."""

from __future__ import annotations

import subprocess
import sys

FORKED = """
import os
from esar_ros.mission.errors import UsageError
from esar_ros.sim.render.graphics import headless_context
headless_context().release()
headless_context().release()
if os.fork() == 0:
    try:
        headless_context()
    except UsageError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""


def test_a_process_forked_from_one_that_draws_is_refused_and_waits_for_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    (said,) = done.stdout.splitlines()
    assert "forked" in said and '"spawn"' in said
