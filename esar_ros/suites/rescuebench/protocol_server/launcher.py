"""Launchers in the place of the authors' binaries, with the file beside each.

The official client starts `$UnrealEnv/<BINARY> MAP [-options]`, having read the port from `unrealcv.ini` beside it and
written the size of pictures into it; it ends the process when it is done.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.protocol_server.ini import INI, IniFile

BINARIES = tuple(
    Path(release) / "Linux/Rescue/Binaries/Linux/Rescue" for release in ("Rescue_Linux", "Rescue_Linux_1.0.9")
)
"""Places of the binaries below the folder that the environment variable UnrealEnv names: some maps ask for each."""
_KEPT = ("PYTHONPATH", "NUMBA_CACHE_DIR", "ESAR_CACHE")  # of the environment, which the other program's may lack
_SERVE = "-m esar_ros.app.cli serve --suite rescuebench"


def write_environment(folder: Path, clock: str, checkout: Path | None = None) -> Iterator[Path]:
    """Writes launchers, each with its file; yields their paths.

    clock: how time passes; checkout: of the public code, whose tracks maps are made from. Raises UsageError, also
    before it would overwrite a file that is no launcher.
    """
    kept = [
        f"export {name}={shlex.quote(os.environ[name])}" if name in os.environ else f"unset {name}" for name in _KEPT
    ]
    for binary in BINARIES:
        path = (folder / binary).absolute()
        if path.exists() and _SERVE.encode() not in path.read_bytes()[:4096]:
            raise UsageError(f"{path} is another program's", "give a folder without the authors' binary")
        ini, log = path.with_name(INI), path.with_name("server.log")
        serve = f"{shlex.quote(sys.executable)} {_SERVE} --clock {clock} --ini {shlex.quote(str(ini))}"
        if checkout is not None:
            serve += f" --rescuebench {shlex.quote(str(checkout.absolute()))}"
        lines = [
            "#!/usr/bin/env bash",
            "# RescueBench's server on the embedded simulator, started as its authors' binary is: MAP [-options].",
            *kept,
            "unset PYTHONHOME",
            "map=()",
            'for word; do [[ $word == -* ]] || map=(--map "$word"); done',
            f'exec {serve} "${{map[@]}}" >>{shlex.quote(str(log))} 2>&1',
            "",
        ]
        write_atomically(path, "\n".join(lines))
        path.chmod(0o755)
        if not ini.exists():
            write_atomically(ini, IniFile().text)
        yield path
