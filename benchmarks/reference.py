"""The time that a processor takes for a fixed piece of work, beside which figures of other machines can be read.

The work is numpy's on one core and calls no library of linear algebra, whose threads and kernels differ by build.
"""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np

from esar_ros.mission.system.processor import INSTRUCTIONS, instructions

NUMBERS = 1 << 18
WORDS = f"sort, exponential and sum of {NUMBERS} doubles, numpy, one core, median of 15"


@lru_cache(maxsize=1)
def kernel_ms() -> float:
    """Returns the processor time (ms) of the fixed work, measured once a run."""
    numbers = np.random.default_rng(0).random(NUMBERS)
    times = []
    for _ in range(15):
        before = time.thread_time()
        np.exp(np.sort(numbers)).sum()
        times.append(time.thread_time() - before)
    return 1e3 * float(np.median(times))


def features(cpuinfo: str | None = None) -> str:
    """Returns which of INSTRUCTIONS the processor has, and which it lacks; cpuinfo: the text of /proc/cpuinfo."""
    has = instructions(cpuinfo)
    return f"{', '.join(has) or 'none'}; not {', '.join(name for name in INSTRUCTIONS if name not in has) or 'any'}"
