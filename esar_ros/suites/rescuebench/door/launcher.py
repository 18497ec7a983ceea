"""A launcher in the place of the authors' binary, and the file beside it through which they say port and size.

The official client starts `$UnrealEnv/<BINARY> MAP [-options]`, having read the port from `unrealcv.ini` beside it and
written the size of pictures into it; it ends the process when it is done.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.door.pictures import LARGEST

BINARY = Path("Rescue_Linux/Linux/Rescue/Binaries/Linux/Rescue")
"""The binary's place below the folder that the environment variable UnrealEnv names."""
INI = "unrealcv.ini"
SECTION = "[UnrealCV.Core]"
DEFAULT_PORT = 9000
_KEPT = ("PYTHONPATH", "NUMBA_CACHE_DIR", "ESAR_CACHE")  # of the environment, which the other program's may lack
_SERVE = "-m esar_ros.app.cli serve --suite rescuebench"
_LINE = re.compile(r"(Port|Width|Height)=(\d{1,5})")


class IniFile(NamedTuple):
    """What the file beside the binary says: port, and size of pictures in px."""

    port: int = DEFAULT_PORT
    width: int = 640
    height: int = 640

    @property
    def text(self) -> str:
        """Returns its content: the client looks for the port in the second word, for sizes in lines 3 and 4."""
        return f"{SECTION}\nPort={self.port}\nWidth={self.width}\nHeight={self.height}\n"


def read_ini(path: Path) -> IniFile:
    """Returns what a file says. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:10_000]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "write it with ./esar suite rescuebench env") from None
    said = {match[1].lower(): int(match[2]) for line in text.splitlines() if (match := _LINE.fullmatch(line.strip()))}
    ini = IniFile()._replace(**said)
    if not (1 <= ini.port <= 65535 and 1 <= ini.width <= LARGEST and 1 <= ini.height <= LARGEST):
        raise UsageError(f"{path}: {ini}", f"a port in 1..65535, and sizes of 1 to {LARGEST} px")
    return ini


def write_environment(folder: Path, clock: str) -> Path:
    """Writes launcher and file; returns the launcher's path. clock: how time passes.

    Raises UsageError, also before it would overwrite a file that is no launcher.
    """
    path = (folder / BINARY).absolute()
    ini = path.with_name(INI)
    if path.exists() and _SERVE.encode() not in path.read_bytes()[:4096]:
        raise UsageError(f"{path} is another program's", "give a folder without the authors' binary")
    kept = [
        f"export {name}={shlex.quote(os.environ[name])}" if name in os.environ else f"unset {name}" for name in _KEPT
    ]
    serve = f"{shlex.quote(sys.executable)} {_SERVE} --clock {clock} --ini {shlex.quote(str(ini))}"
    lines = [
        "#!/usr/bin/env bash",
        "# RescueBench's server on the embedded simulator, started as its authors' binary is: MAP [-options].",
        *kept,
        "unset PYTHONHOME",
        "map=()",
        'for word; do [[ $word == -* ]] || map=(--map "$word"); done',
        f'exec {serve} "${{map[@]}}" >>{shlex.quote(str(path.with_name("server.log")))} 2>&1',
        "",
    ]
    write_atomically(path, "\n".join(lines))
    path.chmod(0o755)
    if not ini.exists():
        write_atomically(ini, IniFile().text)
    return path
