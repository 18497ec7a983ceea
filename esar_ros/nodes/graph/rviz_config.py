"""RViz configurations with a mission's own names in place of those in the files.

Standard library alone, as launch needs it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from esar_ros.mission.resources import resource

WRITTEN_FOR = ("uav1", "uav2")  # vehicles that the files name
_NAME = re.compile(rf"(?P<root>/?)\b(?P<name>{'|'.join(WRITTEN_FOR)})\b")


def rviz_config(vehicles: Sequence[str], root: str, folder: Path) -> Path:
    """Writes the configuration of one vehicle, or of the first two of several, into a folder.

    root: the mission's namespace, absolute, or empty. Topics get it, frames do not have it.
    """
    name = "mission.rviz" if len(vehicles) == 1 else "multi.rviz"
    own = dict(zip(WRITTEN_FOR, vehicles, strict=False))

    def replaced(match: re.Match[str]) -> str:
        return (f"{root}/" if match["root"] else "") + own.get(match["name"], match["name"])

    path = folder / name
    path.write_text(_NAME.sub(replaced, resource(f"rviz/{name}").read_text(encoding="utf-8")), encoding="utf-8")
    return path
