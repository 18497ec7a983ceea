"""Rucksacks that hikers carry and lose, in their real sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, SILVER, SNOW, shade
from esar_ros.sim.assets.variants import Variant, in_colours

_MAT: Colour = (0.50, 0.48, 0.12)
_WEB: Colour = (0.03, 0.03, 0.035)


def _oval(centre: ArrayLike, half: tuple[float, float], sides: int = 10, corner: float = 0.6) -> np.ndarray:
    """Rounded rectangle (S, 3) of half extents in x and y, counter-clockwise from above."""
    a = np.arange(sides) * (2.0 * np.pi / sides) + np.pi / sides
    c, s = np.cos(a), np.sin(a)
    flat = np.stack([half[0] * np.sign(c) * np.abs(c) ** corner, half[1] * np.sign(s) * np.abs(s) ** corner], axis=1)
    return np.column_stack([flat, np.zeros(sides)]) + np.asarray(centre)


def _trek_pack(b: MeshBuilder, colour: Colour) -> None:
    """65 l rucksack standing, 0.75 m high: tapering bag, darker lid, pockets, mat under the lid, harness at -x."""
    b.loft(
        [
            _oval((0.0, 0.0, 0.0), (0.13, 0.17)),
            _oval((0.01, 0.0, 0.06), (0.16, 0.20)),
            _oval((0.0, 0.0, 0.40), (0.15, 0.20)),
            _oval((0.0, 0.0, 0.58), (0.13, 0.18)),
        ],
        colour,
    )
    b.loft(
        [
            _oval((0.0, 0.0, 0.57), (0.16, 0.20)),
            _oval((0.0, 0.0, 0.66), (0.16, 0.20)),
            _oval((0.0, 0.0, 0.74), (0.10, 0.14)),
        ],
        shade(colour, 0.55),
    )
    b.loft(
        [
            _oval((0.17, 0.0, 0.07), (0.04, 0.12), 8),
            _oval((0.18, 0.0, 0.20), (0.055, 0.13), 8),
            _oval((0.16, 0.0, 0.38), (0.03, 0.11), 8),
        ],
        shade(colour, 0.75),
    )
    for y in (-0.22, 0.22):
        b.ellipsoid((0.0, y, 0.18), (0.09, 0.05, 0.15), shade(colour, 0.7), 6, 4)
        b.tube(
            [(-0.14, 0.4 * y, 0.60), (-0.22, 0.45 * y, 0.42), (-0.19, 0.5 * y, 0.2), (-0.14, 0.6 * y, 0.1)],
            0.028,
            _WEB,
            4,
        )
        b.limb((0.165, 0.55 * y, 0.40), (0.155, 0.55 * y, 0.64), 0.013, 0.013, _WEB, 3)
    b.limb((0.05, -0.31, 0.80), (0.05, 0.31, 0.80), 0.08, 0.08, _MAT, 8)


def _backpack(colour: Colour) -> Model:
    b = MeshBuilder()
    _trek_pack(b, colour)
    b.solid((-0.2, -0.25, 0.0), (0.2, 0.25, 0.7))
    b.solid((-0.04, -0.31, 0.7), (0.14, 0.31, 0.88))
    return b.model()


def _fallen_pack(colour: Colour) -> Model:
    """The same rucksack lying on its back, harness down, lid at +x."""
    b = MeshBuilder()
    _trek_pack(b, colour)
    b.turn(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))
    b.turn(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)))
    b.shift((-0.4, 0.0, 0.20))
    b.solid((-0.4, -0.25, 0.0), (0.48, 0.3, 0.4))
    return b.model()


def _daypack(colour: Colour) -> Model:
    """25 l day pack, 0.48 m high, leaning back, with a haul loop and an arched zip."""
    b = MeshBuilder()
    rings = []
    for z, hx, hy in (
        (0.0, 0.09, 0.13),
        (0.05, 0.12, 0.155),
        (0.25, 0.12, 0.155),
        (0.40, 0.09, 0.13),
        (0.48, 0.03, 0.06),
    ):
        rings.append(_oval((-0.25 * z, 0.0, z), (hx, hy)))
    b.loft(rings, [shade(colour, 0.5), shade(colour, 0.5), colour, colour, colour])
    b.loft(
        [
            _oval((0.09, 0.0, 0.04), (0.03, 0.09), 8),
            _oval((0.07, 0.0, 0.16), (0.045, 0.10), 8),
            _oval((0.04, 0.0, 0.26), (0.02, 0.08), 8),
        ],
        shade(colour, 0.7),
    )
    b.tube(
        [
            (0.05 - 0.03 * k % 2, 0.15 * np.cos(u), 0.26 + 0.19 * np.sin(u))
            for k, u in enumerate(np.linspace(0.0, np.pi, 7))
        ],
        0.009,
        BLACK,
        3,
    )
    for y in (-0.07, 0.07):
        b.tube([(-0.19, y, 0.42), (-0.26, y, 0.28), (-0.17, 1.3 * y, 0.06)], 0.022, _WEB, 4)
    b.tube([(-0.14, -0.03, 0.46), (-0.15, 0.0, 0.53), (-0.14, 0.03, 0.46)], 0.012, _WEB, 4)
    b.solid((-0.24, -0.16, 0.0), (0.14, 0.16, 0.5))
    return b.model()


def _roll_pack(colour: Colour) -> Model:
    """Slim roll-top sack, 0.8 m high, pale bands and a coiled rope under its top."""
    b = MeshBuilder()
    rings, tones = [], []
    for z, r, tone in (
        (0.0, 0.14, 0.4),
        (0.12, 0.165, 0.4),
        (0.13, 0.166, 1.0),
        (0.55, 0.16, 1.0),
        (0.72, 0.12, 1.0),
        (0.80, 0.05, 0.6),
    ):
        rings.append(_oval((0.0, 0.0, z), (r, 1.1 * r), 10, 0.9))
        tones.append(shade(colour, tone))
    b.loft(rings, tones)
    for z in (0.25, 0.45):
        b.loft(
            [
                _oval((0.0, 0.0, z - 0.012), (0.168, 0.185), 10, 0.9),
                _oval((0.0, 0.0, z + 0.012), (0.168, 0.185), 10, 0.9),
            ],
            SILVER,
        )
    b.box((0.0, 0.0, 0.82), (0.03, 0.15, 0.02), _WEB)
    for y in (-0.08, 0.08):
        b.tube([(-0.15, y, 0.62), (-0.23, y, 0.42), (-0.16, y, 0.12)], 0.026, _WEB, 4)
    b.solid((-0.2, -0.18, 0.0), (0.17, 0.18, 0.82))
    return b.model()


def _covered_pack(colour: Colour) -> Model:
    """Rucksack lying half under snow."""
    b = MeshBuilder()
    _trek_pack(b, colour)
    b.turn(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))
    b.turn(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)))
    b.shift((-0.4, 0.0, 0.16))
    b.foreign = True
    b.lump((-0.25, -0.16, 0.0), (0.48, 0.46, 0.30), SNOW, np.random.default_rng(4), 0.1, 9, 6)
    b.solid((-0.5, -0.4, 0.0), (0.48, 0.3, 0.36))
    return b.model()


BACKPACKS: tuple[Variant, ...] = (
    *in_colours(_backpack, "", "{} rucksack", "blue red green black orange purple"),
    *in_colours(_fallen_pack, "fallen", "{} rucksack lying on the ground", "blue red olive yellow teal"),
    *in_colours(_daypack, "day", "small {} day pack", "orange navy red grey pink"),
    *in_colours(_roll_pack, "roll", "slim {} roll-top sack", "yellow blue lime", held_out=True),
    *in_colours(_covered_pack, "covered", "{} rucksack half under snow", "red blue"),
)
