"""Variants of a kind of thing: a shape in a colour, with the words for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import COLOURS, HELD_OUT


@dataclass(frozen=True)
class Variant:
    """One of a kind."""

    name: str  # after the kind and a slash
    colour: str  # a word, the one that a witness would use
    description: str  # "orange dome tent"
    make: Callable[[], Model]
    held_out: bool = False  # kept from a detector's training set


def one(name: str, colour: str, description: str, make: Callable[[], Model], held_out: bool = False) -> Variant:
    """A variant by itself."""
    return Variant(name, colour, description, make, held_out)


def in_colours(
    make: Callable[[Colour], Model], shape: str, noun: str, colours: str, held_out: bool = False
) -> tuple[Variant, ...]:
    """A shape in several colours (words between spaces), named `<colour>` or `<shape>_<colour>`.

    Held out are whole shapes, and the colours that the training set never shows.
    """

    def bind(colour: Colour) -> Callable[[], Model]:
        return lambda: make(colour)

    return tuple(
        Variant(
            f"{shape}_{word}" if shape else word,
            word,
            noun.format(word),
            bind(COLOURS[word]),
            held_out or word in HELD_OUT,
        )
        for word in colours.split()
    )
