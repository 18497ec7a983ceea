"""Words of commands: what they mean, or a UsageError that says what is wrong with them; and answers as words."""

from __future__ import annotations

import math
from collections.abc import Iterable

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.protocol_server.names import CAMERAS, Kind, kind_of
from esar_ros.suites.rescuebench.protocol_server.scene import FARTHEST


def camera_of(word: str) -> int:
    """Returns the number of a camera. Raises UsageError where there is none."""
    if word not in map(str, range(len(CAMERAS))):
        raise UsageError(f"no camera '{word[:20]}'", f"there are 0 to {len(CAMERAS) - 1}")
    return int(word)


def thing_of(name: str) -> tuple[Kind, int]:
    """Returns the kind and number of what a name means. Raises UsageError where it means nothing."""
    found = kind_of(name)
    if found is None:
        raise UsageError(f"no object '{name[:60]}'", "ask vget /objects")
    return found


def placed_thing_of(name: str) -> tuple[Kind, int]:
    """Returns the same of a thing that is somewhere. Raises UsageError for a drone too, which none is."""
    kind, number = thing_of(name)
    if kind is Kind.DRONE:
        raise UsageError(f"{name} is nowhere", "no drone flies here")
    return kind, number


def check_player(name: str) -> None:
    """Raises UsageError for what does nothing by itself."""
    if thing_of(name)[0] is not Kind.PLAYER:
        raise UsageError(f"{name} does nothing by itself", "give the player's name")


def number_of(word: str) -> float:
    """Returns a number within FARTHEST. Raises ValueError for what is no number, UsageError for what is too great."""
    value = float(word)
    if not (math.isfinite(value) and abs(value) <= FARTHEST):
        raise UsageError(f"'{word[:40]}' is out of range", f"give -{FARTHEST:g} to {FARTHEST:g}")
    return value


def channel_of(word: str) -> int:
    """Returns a part of a colour, 0 to 255. Raises as number_of does."""
    value = round(number_of(word))
    if not 0 <= value <= 255:
        raise UsageError(f"'{word[:40]}' is no part of a colour", "give 0 to 255")
    return value


def words_of(values: Iterable[float]) -> str:
    """Returns numbers as an answer has them."""
    return " ".join(f"{value:.3f}" for value in values)


def digit_of(value: bool) -> str:
    """Returns yes or no as an answer has it: 1 or 0."""
    return "1" if value else "0"
