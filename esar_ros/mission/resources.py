"""Locations of the package's data files (config/, rviz/, tasks): checkout first, then the installed share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PACKAGE = "esar_ros"


def resource(name: str) -> Path:
    """Path of a data file or folder given relative to the share directory, e.g. 'config/vehicle.yaml'."""
    for root in _roots():
        path = root / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, _roots()))}: reinstall {PACKAGE}")


def cache_directory() -> Path:
    """Folder for things that can be made again (maps, compiled kernels); created if absent."""
    base = os.environ.get("ESAR_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), PACKAGE
    )
    path = Path(base)
    path.mkdir(parents=True, exist_ok=True)
    return path


def _roots() -> list[Path]:
    checkout = Path(__file__).resolve().parents[2]
    roots = [checkout] if (checkout / "package.xml").is_file() else []
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return roots + [Path(p) / "share" / PACKAGE for p in (*prefixes, sys.prefix)]
