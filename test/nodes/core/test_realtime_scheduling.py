"""Scheduling of a process that must answer in time, tried in a process of its own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, os, threading
from esar_ros.nodes.core.realtime_scheduling import PRIORITY, use_realtime_scheduling
{before}
ended = threading.Event()
threading.Thread(target=ended.wait, daemon=True).start()
words = use_realtime_scheduling()
later = threading.Thread(target=ended.wait, daemon=True)
later.start()
policies = {{os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")}}
print(gc.get_freeze_count() > 1000, policies == {{os.SCHED_FIFO}}, words)
"""
ASK = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))"
ORDINARY = "True False ordinary, no right to a real-time priority"
FORBIDDEN = "def refuse(*_): raise PermissionError\nos.sched_setscheduler = refuse"


def tried(before: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before)], capture_output=True, text=True, check=True, timeout=60.0
    )
    return done.stdout.strip()


def test_all_threads_go_first_where_that_is_allowed() -> None:
    allowed = subprocess.run([sys.executable, "-c", ASK], capture_output=True, check=False).returncode == 0
    told = tried()
    assert told == ("True True real-time priority 10" if allowed else ORDINARY)


def test_without_the_right_it_goes_on_and_says_so() -> None:
    assert tried(FORBIDDEN) == ORDINARY
