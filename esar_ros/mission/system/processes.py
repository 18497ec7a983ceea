"""Child processes: their end with the parent's, their CPU time and their exit status in words."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_TICK = os.sysconf("SC_CLK_TCK")


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """Makes the kernel end the calling process when its parent dies, so that no orphan remains; for preexec_fn."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, by)


def cpu_seconds(pid: int) -> float | None:
    """Returns the CPU time (s) that a process has used with its children; None where the system does not provide it.

    While it grows, the process makes progress, however busy the machine is.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return sum(int(ticks) for ticks in fields[11:15]) / _TICK
    except (OSError, ValueError):
        return None


def how_it_ended(code: int) -> str:
    """Returns an exit status in words: a code, or the name of the signal that ended the process."""
    if code >= 0:
        return f"ended with {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
