"""Colours of cloth, paint and nature by the words people use for them; linear albedo."""

from __future__ import annotations

from esar_ros.sim.assets.mesh_builder import Colour

COLOURS: dict[str, Colour] = {
    "orange": (0.85, 0.24, 0.02),
    "red": (0.60, 0.03, 0.025),
    "blue": (0.03, 0.14, 0.60),
    "yellow": (0.78, 0.58, 0.04),
    "green": (0.05, 0.26, 0.07),
    "olive": (0.12, 0.13, 0.05),
    "grey": (0.20, 0.21, 0.22),
    "black": (0.02, 0.02, 0.022),
    "white": (0.72, 0.72, 0.72),
    "purple": (0.22, 0.05, 0.35),
    "navy": (0.022, 0.035, 0.11),
    "brown": (0.15, 0.075, 0.035),
    "khaki": (0.36, 0.28, 0.15),
    "silver": (0.58, 0.59, 0.61),
    "teal": (0.02, 0.32, 0.34),
    "pink": (0.78, 0.16, 0.32),
    "lime": (0.42, 0.68, 0.05),
    "maroon": (0.20, 0.015, 0.04),
}
# Colours that no object of a detector's training set has.
HELD_OUT = frozenset({"teal", "pink", "lime", "maroon"})

SILVER = COLOURS["silver"]
BLACK = COLOURS["black"]
CHAR: Colour = (0.02, 0.018, 0.016)
ASH: Colour = (0.30, 0.29, 0.28)
WOOD: Colour = (0.10, 0.06, 0.035)
PLANK: Colour = (0.22, 0.15, 0.09)
STONE: Colour = (0.22, 0.21, 0.195)
SNOW: Colour = (0.54, 0.57, 0.62)
EARTH: Colour = (0.10, 0.075, 0.05)
FLAME: Colour = (2.6, 0.85, 0.10)
FLAME_CORE: Colour = (3.2, 1.9, 0.45)


def shade(colour: Colour, factor: float) -> Colour:
    """The colour, darker (below 1) or lighter, at most white."""
    r, g, b = (min(1.0, part * factor) for part in colour)
    return (r, g, b)


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """Between one (0) and other (1)."""
    r, g, b = (a + (c - a) * share for a, c in zip(one, other, strict=True))
    return (r, g, b)
