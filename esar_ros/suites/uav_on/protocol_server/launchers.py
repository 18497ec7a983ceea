"""Launchers of simulators in the place of the authors' binaries, where their own scene server looks for them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.uav_on.settings import load_suite_settings

_KEPT = ("PYTHONPATH", "NUMBA_CACHE_DIR", "ESAR_CACHE")  # of the environment, which the other server's may lack


def write_launchers(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Writes a launcher for each of the authors' scenes; yields its path, that scene and the one here.

    Raises UsageError, also before it would overwrite a file that is no launcher.
    """
    kept = [f"export {name}={shlex.quote(os.environ[name])}" for name in _KEPT if name in os.environ]
    for name, stand_in in load_suite_settings().stand_ins.items():
        path = folder / f"{stand_in.launcher}.sh"
        command = (
            f"{shlex.quote(sys.executable)} -m esar_ros.suites.uav_on.protocol_server.scene_simulator {stand_in.here}"
        )
        text = "\n".join(
            ["#!/usr/bin/env bash", f"# {stand_in.here} stands in for {name}.", *kept, f'exec {command} "$@"', ""]
        )
        if path.exists() and "scene_simulator" not in path.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(f"{path} is another program's", "give a folder without the authors' scenes")
        write_atomically(path, text)
        path.chmod(0o755)
        yield path, name, stand_in.here
