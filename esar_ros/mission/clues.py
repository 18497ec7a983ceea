"""Kinds of objects a search can find: twelve clue kinds and the person (ESARBench, section 3.2.2)."""

from __future__ import annotations

from enum import Enum


class ClueKind(str, Enum):
    """Kinds a detector names and a task places; values are used in messages, tasks and assets."""

    TENT = "tent"
    BACKPACK = "backpack"
    CLOTHING = "clothing"
    CAMPFIRE = "campfire"
    SIGNAL_FLARE = "signal_flare"
    LIGHT = "light"
    SLEEPING_BAG = "sleeping_bag"
    TREKKING_POLE = "trekking_pole"
    WATER_BOTTLE = "water_bottle"
    FOOD_WRAPPER = "food_wrapper"
    ROPE = "rope"
    FOOTPRINTS = "footprints"


class VictimPose(str, Enum):
    """Posture in which a victim is found."""

    STANDING = "standing"
    SITTING = "sitting"
    LYING = "lying"
    COVERED = "covered"


PERSON = "person"
KINDS: tuple[str, ...] = (*(kind.value for kind in ClueKind), PERSON)


def kinds_named(text: str) -> list[str]:
    """Kinds that a text names by their own names, in its order."""
    words = text.casefold()
    named = sorted((words.find(kind.replace("_", " ")), kind) for kind in KINDS)
    return [kind for at, kind in named if at >= 0]
