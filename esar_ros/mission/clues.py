"""Kinds of objects a search can find: twelve clue kinds and the person (ESARBench, section 3.2.2)."""

from __future__ import annotations

import re
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

KINDS_BLOCK = 16  # ids in segmentation images per kind


def segmentation_id(kind: str, number: int) -> int:
    """Returns the id of a kind's n-th object in segmentation images; 0 is everything else."""
    return 1 + KINDS.index(kind) * KINDS_BLOCK + number


def segmentation_kinds() -> dict[int, tuple[str, str]]:
    """Returns (kind, its words) of every such id."""
    return {segmentation_id(kind, n): (kind, kind.replace("_", " ")) for kind in KINDS for n in range(KINDS_BLOCK)}


# "light wind", "a light jacket": a word that says how, not what.
_NO_LIGHT = r"(?! (?:winds?|breezes?|rain|snow|mist|fog|haze|clouds?|drizzle|showers?|air|jackets?|clothes|clothing)\b)"
_NAMES = {
    kind: re.compile(rf"\b{kind.replace('_', ' ')}s?\b{_NO_LIGHT if kind == ClueKind.LIGHT.value else ''}")
    for kind in KINDS
}


def kinds_named(text: str) -> list[str]:
    """Kinds that a text names by their own names, in its order."""
    words = text.casefold()
    found = ((name.search(words), kind) for kind, name in _NAMES.items())
    return [kind for _, kind in sorted((match.start(), kind) for match, kind in found if match)]
