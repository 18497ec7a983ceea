"""Shared-memory segments that killed DDS processes left behind."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path("/dev/shm")
PREFIXES = ("fastrtps_", "fastdds_", "sem.fastrtps_", "sem.fastdds_")


def stale_segments(folder: Path = FOLDER, proc: Path = Path("/proc")) -> list[Path]:
    """Segments of Fast DDS owned by this user that no living process has mapped or open."""
    if not folder.is_dir():
        return []
    mine = [p for p in folder.iterdir() if p.name.startswith(PREFIXES) and p.stat().st_uid == os.getuid()]
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


def _names_in_use(proc: Path, folder: str) -> set[str]:
    used: set[str] = set()
    for process in proc.iterdir():
        if not process.name.isdigit():
            continue
        try:
            lines = (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines()
            opened = [os.readlink(link) for link in (process / "fd").iterdir()]
        except OSError:
            continue
        for text in (*lines, *opened):
            at = text.find(folder + "/")
            if at >= 0:
                used.add(text[at + len(folder) + 1 :].split(" ")[0])
    return used
