"""Shared-memory segments that killed DDS processes left behind."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/dev/shm")
PREFIXES = ("fastrtps_", "fastdds_", "sem.fastrtps_", "sem.fastdds_")


def stale_segments(folder: Path = FOLDER, proc: Path = Path("/proc")) -> list[Path]:
    """Segments of Fast DDS owned by this user that no living process has mapped or open."""
    if not folder.is_dir():
        return []
    mine = [p for p in folder.iterdir() if p.name.startswith(PREFIXES) and _is_mine(p)]
    if not mine:
        return []
    used = _names_in_use(proc, str(folder))
    return [p for p in mine if p.name not in used and p.name.removesuffix("_el") not in used]


def sweep(folder: Path = FOLDER) -> int:
    """Remove stale segments; returns how many."""
    removed = 0
    for path in stale_segments(folder):
        try:
            path.unlink()
            removed += 1
        except OSError:
            continue
    return removed


def _is_mine(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.getuid()
    except OSError:  # its owner has just removed it
        return False


def _names_in_use(proc: Path, folder: str) -> set[str]:
    used: set[str] = set()
    for process in proc.iterdir():
        if process.name.isdigit():
            # A segment is opened, mapped, closed: whoever looks in this order cannot miss it in between.
            for text in (*_opened(process), *_mapped(process)):
                at = text.find(folder + "/")
                if at >= 0:
                    used.add(text[at + len(folder) + 1 :].split(" ")[0])
    return used


def _opened(process: Path) -> list[str]:
    """Targets of a process's file descriptors; none of a process that has ended or is not ours."""
    targets = []
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(OSError):  # closed since it was listed
                targets.append(os.readlink(link))
    return targets


def _mapped(process: Path) -> list[str]:
    """Lines of a process's memory map; none of a process that has ended or is not ours."""
    try:
        return (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
