"""Names for carried objects, by kind and variant, and for what else lies about on each map."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.clues import ClueKind
from esar_ros.sim.assets.meshes import assets

COLOURS: tuple[str, ...] = (
    "red", "orange", "yellow", "green", "blue", "purple", "black", "white", "grey", "olive", "pink", "brown", "silver",
    "teal", "lime", "navy", "khaki", "maroon",
)  # fmt: skip
# Makes of a thing that a story's plain "backpack/red" may turn out to be.
_MAKES: dict[str, tuple[str, ...]] = {
    "tent": ("dome", "tunnel", "pyramid"),
    "backpack": ("fallen", "day", "roll"),
    "clothing": ("heap", "poncho", "trousers"),
    "campfire": ("pyre", "small", "long"),
    "light": ("torch", "headlamp"),
    "sleeping_bag": ("quilt", "rolled", "crumpled"),
    "trekking_pole": ("crossed", "lying", "planted", "broken"),
    "water_bottle": ("plastic", "flask", "canteen"),
    "food_wrapper": ("bag", "cup"),
    "rope": ("loose", "bundle"),
    "footprints": ("winding", "pair"),
    "person_standing": ("waving",),
    "person_sitting": ("slumped",),
    "person_lying": ("curled", "prone"),
}
_COVERED = {  # what half covers a person, by map
    "aotai": ("gold", "branches"), "lop_nur": ("gold",), "k2": ("gold", "snow"), "dapeng": ("gold", "branches"),
}  # fmt: skip
_MAKE_NOUNS: dict[tuple[ClueKind, str], str] = {
    (ClueKind.TENT, "dome"): "dome tent",
    (ClueKind.TENT, "collapsed"): "collapsed tent",
    (ClueKind.BACKPACK, "day"): "daypack",
    (ClueKind.CLOTHING, "poncho"): "poncho",
    (ClueKind.CLOTHING, "trousers"): "trousers",
    (ClueKind.CLOTHING, "heap"): "clothes",
    (ClueKind.LIGHT, "torch"): "torch",
    (ClueKind.LIGHT, "headlamp"): "headlamp",
    (ClueKind.SLEEPING_BAG, "quilt"): "quilt",
    (ClueKind.TREKKING_POLE, "crossed"): "trekking poles",
    (ClueKind.TREKKING_POLE, "lying"): "trekking poles",
    (ClueKind.TREKKING_POLE, "broken"): "broken trekking pole",
    (ClueKind.WATER_BOTTLE, "plastic"): "plastic bottle",
    (ClueKind.WATER_BOTTLE, "flask"): "flask",
    (ClueKind.WATER_BOTTLE, "canteen"): "canteen",
    (ClueKind.FOOD_WRAPPER, "cup"): "noodle cup",
}
_PLURAL = ("footprints", "boot prints", "trousers", "clothes", "trekking poles")
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
# Carried in the hand or on the back: what a brief lists as kit. The others come about on the way, or stay at a camp.
CARRIED = frozenset(ClueKind) - {ClueKind.TENT, ClueKind.CAMPFIRE, ClueKind.FOOTPRINTS, ClueKind.FOOD_WRAPPER}
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
    """Returns a person's words for a clue, e.g. "orange tent"; `choice` picks among nouns."""
    nouns = NOUNS[kind]
    make = variant.partition("_")[0]
    noun = _MAKE_NOUNS.get((kind, make), nouns[choice % len(nouns)])
    state = next((text for word, text in _STATES.items() if word in variant.split("_")), "")
    if state:
        return state.format(noun=noun)
    return f"{colour_of(variant)} {noun}".strip()


def with_article(words: str) -> str:
    """A noun phrase with its indefinite article; plurals have none."""
    if words.split(" in ")[0].endswith(_PLURAL):
        return words
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


def make_of(base: str, variant: str, place: str, rng: np.random.Generator, held_out: bool) -> str:
    """One of the simulator's variants that a story's word may mean: a make of the same colour.

    base: asset without its variant, e.g. "tent" or "person_lying". held_out: also those no detector was trained on.
    """
    makes = _COVERED.get(place, ()) if base == "person_covered" else _MAKES.get(base, ())
    names = [variant, *(f"{make}_{variant}" for make in makes)]
    known = assets()
    fitting = [
        name for name in names
        if f"{base}/{name}" in known and (held_out or not known[f"{base}/{name}"].held_out)
    ]  # fmt: skip
    return fitting[int(rng.integers(len(fitting)))] if fitting else variant
