"""The file beside RescueBench's binary through which the official client says port and size of pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from esar_ros.mission.errors import UsageError

INI = "unrealcv.ini"
SECTION = "[UnrealCV.Core]"
DEFAULT_PORT = 9000
LARGEST_SIDE = 2048  # px of a picture
_LINE = re.compile(r"(Port|Width|Height)=(\d{1,5})")


class IniFile(NamedTuple):
    """Content of the file beside the binary: port, and size of pictures in px."""

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
    if not (1 <= ini.port <= 65535 and 1 <= ini.width <= LARGEST_SIDE and 1 <= ini.height <= LARGEST_SIDE):
        raise UsageError(f"{path}: {ini}", f"a port in 1..65535, and sizes of 1 to {LARGEST_SIDE} px")
    return ini
