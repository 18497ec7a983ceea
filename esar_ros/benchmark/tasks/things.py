"""What people call the things they carried, by kind and variant, and what else lies about on each map."""

from __future__ import annotations

from esar_ros.mission.clues import ClueKind

COLOURS: tuple[str, ...] = (
    "red", "orange", "yellow", "green", "blue", "purple", "black", "white", "grey", "olive", "pink", "brown", "silver",
)  # fmt: skip
NOUNS: dict[ClueKind, tuple[str, ...]] = {
    ClueKind.TENT: ("tent",),
    ClueKind.BACKPACK: ("backpack", "rucksack"),
    ClueKind.CLOTHING: ("jacket", "spare jacket"),
    ClueKind.CAMPFIRE: ("campfire",),
    ClueKind.SIGNAL_FLARE: ("signal flare", "flare"),
    ClueKind.LIGHT: ("lantern", "lamp"),
    ClueKind.SLEEPING_BAG: ("sleeping bag",),
    ClueKind.TREKKING_POLE: ("trekking pole", "walking stick"),
    ClueKind.WATER_BOTTLE: ("water bottle", "bottle"),
    ClueKind.FOOD_WRAPPER: ("food wrapper", "snack wrapper"),
    ClueKind.ROPE: ("rope", "climbing rope"),
    ClueKind.FOOTPRINTS: ("footprints", "boot prints"),
}
# Carried in the hand or on the back: what a brief can name. The others come about on the way.
CARRIED = frozenset(ClueKind) - {ClueKind.CAMPFIRE, ClueKind.FOOTPRINTS, ClueKind.FOOD_WRAPPER}
_STATES = {
    "burning": "burning {noun}",
    "embers": "smouldering {noun}",
    "ashes": "cold {noun} with ashes",
    "mud": "{noun} in the mud",
    "dust": "{noun} in the dust",
    "snow": "{noun} in the snow",
    "sand": "{noun} in the sand",
    "salt": "{noun} in the salt crust",
}


def colour_of(variant: str) -> str:
    """The colour word in a variant's name, or nothing."""
    return next((word for word in variant.split("_") if word in COLOURS), "")


def describe(kind: ClueKind, variant: str, choice: int = 0) -> str:
    """What a person would call a clue, e.g. "orange tent"; `choice` picks among nouns."""
    nouns = NOUNS[kind]
    noun = nouns[choice % len(nouns)]
    state = next((text for word, text in _STATES.items() if word in variant.split("_")), "")
    if state:
        return state.format(noun=noun)
    return f"{colour_of(variant)} {noun}".strip()


def with_article(words: str) -> str:
    """A noun phrase with its indefinite article; plurals have none."""
    if words.split(" in ")[0].endswith("prints"):
        return words
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"
