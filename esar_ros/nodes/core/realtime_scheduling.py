"""Real-time scheduling of a process, so that it answers in time on a busy computer."""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from pathlib import Path

PRIORITY = 10  # of 1..99: above all ordinary threads, below drivers that need more


def use_realtime_scheduling() -> str:
    """Gives the process a real-time priority; returns how it is scheduled from now on, in words.

    Called once all is loaded. Its threads, and those that they start, go before all ordinary ones (SCHED_FIFO,
    sched(7)) where the system permits it: for root, or within an `rtprio` limit (limits.conf(5)). What is loaded is
    not looked through again by the garbage collector, which takes several periods of a quick loop each time.
    """
    gc.collect()
    gc.freeze()
    try:
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(int(thread.name), os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        return "ordinary, no right to a real-time priority"
    return f"real-time priority {PRIORITY}"
