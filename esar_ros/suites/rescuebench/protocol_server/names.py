"""Names of objects as UnrealCV's clients say them: of a kind, and a number that differs from map to map."""

from __future__ import annotations

import re
from enum import Enum

TOP_CAMERA, EYE_CAMERA = 0, 1
CAMERAS = ("TopView", "FirstPerson")
"""Names of the cameras by number."""
_DOOR = "BP_Door_main"


class Kind(Enum):
    """Kinds of objects, by the beginning of their names."""

    PLAYER = "BP_Character_C_"
    VICTIM = "BP_Enemy_Character_C_"
    STRETCHER = "StaticMeshActor_"
    AMBULANCE = "BP_Drivable_Ambulance01_C_"
    DRONE = "BP_Drone01_C_"  # there by name alone: the public code takes it away before it begins
    DOOR = _DOOR


_NAME = re.compile(f"({'|'.join(kind.value for kind in Kind)})([0-9]{{1,6}})")


def kind_of(name: str) -> tuple[Kind, int] | None:
    """Returns the kind and the number of a name, None for one of no kind."""
    match = _NAME.fullmatch(name)
    return None if match is None else (Kind(match[1]), int(match[2]))


def listed(doors: int) -> list[str]:
    """Returns a name of everything that is in a place with a number of doors."""
    return [f"{kind.value}1" for kind in Kind if kind is not Kind.DOOR] + [f"{_DOOR}{n}" for n in range(1, doors + 1)]
