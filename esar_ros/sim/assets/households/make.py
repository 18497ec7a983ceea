"""Makes: a shape of a thing in a colour and a material, with the words for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import COLOURS, STONE
from esar_ros.sim.assets.variants import Variant


class Stand(Enum):
    """Ground on which a family is found."""

    PAVED = "paved"
    GREEN = "green"
    ANY = "any"


class Finish(NamedTuple):
    """Colour and material in words, and the linear albedo that they have together."""

    colour: str
    material: str  # a noun; "" where it goes without saying, as of animals
    tone: Colour


# Linear albedo where a material makes a colour another than paint would.
_TONES: dict[tuple[str, str], Colour] = {
    ("light brown", "wood"): (0.46, 0.33, 0.19),
    ("brown", "wood"): (0.21, 0.115, 0.052),
    ("dark brown", "wood"): (0.070, 0.038, 0.020),
    ("grey", "wood"): (0.26, 0.25, 0.23),
    ("light brown", "wicker"): (0.44, 0.30, 0.15),
    ("dark brown", "wicker"): (0.10, 0.055, 0.028),
    ("light brown", "burlap"): (0.36, 0.27, 0.16),
    ("light brown", "leather"): (0.36, 0.20, 0.09),
    ("brown", "leather"): (0.13, 0.060, 0.025),
    ("grey", "stone"): STONE,
    ("grey", "concrete"): (0.30, 0.30, 0.29),
    ("white", "stone"): (0.64, 0.63, 0.60),
    ("sand-coloured", "stone"): (0.45, 0.35, 0.22),
    ("grey", "metal"): (0.34, 0.35, 0.37),
    ("silver", "metal"): (0.42, 0.43, 0.45),
    ("silver", "plastic"): (0.42, 0.43, 0.45),
    ("silver", ""): (0.42, 0.43, 0.45),
    ("rusty", "metal"): (0.24, 0.095, 0.040),
    ("golden", "metal"): (0.60, 0.40, 0.09),
    ("green", "metal"): (0.035, 0.20, 0.075),
    ("green", "bronze"): (0.13, 0.28, 0.22),
    ("brown", "bronze"): (0.15, 0.085, 0.035),
    ("red", "clay"): (0.42, 0.15, 0.075),
    ("white", "china"): (0.74, 0.74, 0.72),
    ("blue", "china"): (0.06, 0.16, 0.52),
    ("yellow", "straw"): (0.52, 0.40, 0.15),
    ("brown", "straw"): (0.25, 0.18, 0.09),
    ("green", "glass"): (0.030, 0.20, 0.085),
    ("brown", "glass"): (0.15, 0.055, 0.015),
    ("clear", "glass"): (0.52, 0.60, 0.62),
    ("light brown", ""): (0.40, 0.25, 0.12),
    ("cream", ""): (0.62, 0.53, 0.38),
}
_ADJECTIVES = {"wood": "wooden"}


def finish(words: str, material: str) -> Finish:
    """The finish of a colour in words, such as "light brown", and a material."""
    return Finish(words, material, _TONES.get((words, material)) or COLOURS[words])


@dataclass(frozen=True)
class Make(Variant):
    """One make of a family; its description is the least that tells it from the others."""

    shape: str = ""  # a word, the one that its name begins with
    material: str = ""


class Shape(NamedTuple):
    """A shape and the finishes that it is made in."""

    name: str
    words: str  # "round {} table": the braces take colour and material
    build: Callable[[Finish], Model]
    finishes: str  # "red/blue metal, light brown wood": colours, then their material, "-" for none
    plain: bool = False  # the material goes without saying and is left out of the words


@dataclass(frozen=True)
class Family:
    """Things of one name."""

    noun: str  # "picnic table"
    stand: Stand
    makes: tuple[Make, ...]

    @property
    def name(self) -> str:
        """As in asset names: "picnic_table"."""
        return self.noun.replace(" ", "_")


def family(noun: str, stand: Stand, *shapes: Shape) -> Family:
    """A family of shapes."""
    return Family(noun, stand, tuple(make for shape in shapes for make in _makes(shape)))


def _makes(shape: Shape) -> list[Make]:
    made = []
    for group in shape.finishes.split(","):
        colours, _, material = group.strip().rpartition(" ")
        material = material.strip("-")
        for colour in colours.split("/"):
            chosen = finish(colour, material)
            told = colour if shape.plain else f"{colour} {_ADJECTIVES.get(material, material)}".strip()
            name = "_".join(part for part in (shape.name, colour, material) if part)
            made.append(
                Make(
                    name.replace(" ", "_").replace("-", "_"),
                    colour,
                    re.sub(r"\ba (?=[aeiou])", "an ", shape.words.format(told)),
                    _bound(shape.build, chosen),
                    shape=shape.name,
                    material=material,
                )
            )
    return made


def _bound(build: Callable[[Finish], Model], chosen: Finish) -> Callable[[], Model]:
    return lambda: build(chosen)
