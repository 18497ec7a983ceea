"""A fixed piece of work for the processor, beside which the figures of other machines can be read.

The work is numpy's on one core and calls no library of linear algebra, whose threads and kernels differ by build.
"""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

import numpy as np

NUMBERS = 1 << 18
WORDS = f"sort, exponential and sum of {NUMBERS} doubles, numpy, one core, median of 15"
FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni")  # as in /proc/cpuinfo; the last two multiply 8-bit integers


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
    """Returns which of FEATURES the processor has, and which it lacks; cpuinfo: the text of /proc/cpuinfo."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace") if cpuinfo is None else cpuinfo
    flags = next((line.partition(":")[2].split() for line in text.splitlines() if line.startswith("flags")), [])
    has = [name for name in FEATURES if name in flags]
    return f"{', '.join(has) or 'none'}; not {', '.join(name for name in FEATURES if name not in has) or 'any'}"
