"""The processor that this runs on: its name, and the instructions by which it adds up.

Networks and compiled kernels add in another order where wider instructions are to be had, so that last bits differ
between processors, and flights with them in the end.
"""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path

INSTRUCTIONS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni")  # as in /proc/cpuinfo; the last two multiply bytes


def processor_name() -> str:
    """Returns its name; empty where the system does not provide it."""
    return _line("model name", _cpuinfo())


def instructions(cpuinfo: str | None = None) -> tuple[str, ...]:
    """Returns which of INSTRUCTIONS it has; cpuinfo: the text of /proc/cpuinfo."""
    flags = _line("flags", _cpuinfo() if cpuinfo is None else cpuinfo).split()
    return tuple(name for name in INSTRUCTIONS if name in flags)


def processor_kind() -> str:
    """Returns its architecture with its instructions; of two processors that differ in them, last bits do."""
    return " ".join((platform.machine(), *instructions()))


def _cpuinfo() -> str:
    with suppress(OSError):
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return ""


def _line(key: str, text: str) -> str:
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == key), "")
