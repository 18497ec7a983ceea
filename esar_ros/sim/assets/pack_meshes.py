"""Rucksacks and sleeping bags that hikers carry and lose, in their real sizes."""

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


def _mummy(b: MeshBuilder, colour: Colour) -> None:
    """Mummy bag 2 m long on a mat, hood at -x, quilted in bands, its hood open."""
    b.box((0.0, 0.0, 0.012), (0.92, 0.28, 0.012), (0.42, 0.40, 0.16))
    x = np.array([-0.98, -0.90, -0.70, -0.62, -0.40, -0.32, -0.08, 0.0, 0.24, 0.32, 0.56, 0.64, 0.90, 0.99])
    wide = np.array([0.10, 0.24, 0.29, 0.36, 0.39, 0.36, 0.38, 0.34, 0.35, 0.31, 0.31, 0.27, 0.25, 0.08])
    high = np.array([0.05, 0.10, 0.11, 0.09, 0.14, 0.09, 0.14, 0.09, 0.13, 0.09, 0.13, 0.09, 0.13, 0.05])
    angles = np.arange(8) * (2.0 * np.pi / 8)
    rings = [
        np.stack([np.full(8, p), -w * np.cos(angles), 0.02 + h + h * np.sin(angles)], axis=1)[::-1]
        for p, w, h in zip(x, wide, high, strict=True)
    ]
    tones = [shade(colour, 0.45 if h < 0.095 else 1.0) for h in high]
    b.loft(rings, tones)
    b.ellipsoid((-0.83, 0.0, 0.17), (0.15, 0.15, 0.07), BLACK, 8, 5)
    b.tube([(-0.7, 0.16, 0.21), (-0.2, 0.21, 0.24), (0.3, 0.19, 0.23)], 0.012, SILVER, 4)
    b.solid((-0.98, -0.36, 0.0), (0.98, 0.36, 0.27))


def _mummy_bag(colour: Colour) -> Model:
    b = MeshBuilder()
    _mummy(b, colour)
    return b.model()


def _quilt_bag(colour: Colour) -> Model:
    """Rectangular bag, 1.9 x 0.85 m, quilted crosswise, one corner turned over to its pale lining."""
    b = MeshBuilder()
    x, y = np.linspace(-0.95, 0.95, 13), np.linspace(-0.42, 0.42, 5)
    grid = np.empty((13, 5, 3))
    grid[..., 0], grid[..., 1] = x[:, None], y[None, :]
    grid[..., 2] = 0.05 + np.where(np.arange(13) % 2 == 1, 0.09, 0.02)[:, None] * np.array([0.2, 1.0, 1.0, 1.0, 0.2])
    tones = np.empty((13, 5, 3))
    tones[:] = np.where((np.arange(13) % 2 == 1)[:, None, None], np.array(colour), np.array(shade(colour, 0.5)))
    b.sheet(grid, tones, under=shade(colour, 0.5), thick=0.05)
    lining: Colour = (0.55, 0.42, 0.25)
    b.quad([(-0.96, 0.44, 0.15), (-0.96, -0.35, 0.17), (-0.35, 0.44, 0.17), (-0.5, 0.44, 0.16)], lining, True)
    b.ellipsoid((-0.78, -0.2, 0.16), (0.16, 0.24, 0.07), (0.55, 0.55, 0.58), 8, 4)
    b.solid((-0.95, -0.43, 0.0), (0.95, 0.43, 0.16))
    return b.model()


def _rolled_bag(colour: Colour) -> Model:
    """Bag rolled up and strapped, 0.5 m long and 0.26 m thick."""
    b = MeshBuilder()
    b.body(
        [(0.0, -0.26, 0.13), (0.0, -0.25, 0.13), (0.0, 0.25, 0.13), (0.0, 0.26, 0.13)],
        [0.09, 0.13, 0.13, 0.09],
        [0.09, 0.13, 0.13, 0.09],
        colour,
        12,
    )
    for y in (-0.13, 0.13):
        b.limb((0.0, y - 0.022, 0.13), (0.0, y + 0.022, 0.13), 0.136, 0.136, BLACK, 12)
    for r in (0.10, 0.05):  # the spiral of its end
        b.limb(
            (0.0, 0.255, 0.13), (0.0, 0.262 + 0.1 * (0.1 - r), 0.13), r, r, shade(colour, 0.4 if r > 0.08 else 1.2), 10
        )
    b.tube([(0.0, -0.13, 0.265), (0.0, 0.0, 0.33), (0.0, 0.13, 0.265)], 0.012, BLACK, 4)
    b.solid((-0.13, -0.26, 0.0), (0.13, 0.26, 0.27))
    return b.model()


def _crumpled_bag(colour: Colour) -> Model:
    """Bag left in a heap, its foot still stretched out: 1.3 x 0.7 m."""
    b = MeshBuilder()
    rng = np.random.default_rng(5)
    b.body(
        [(0.1, 0.0, 0.12), (0.4, -0.12, 0.11), (0.7, -0.05, 0.10), (0.95, 0.14, 0.07)],
        [0.28, 0.28, 0.25, 0.14],
        [0.14, 0.12, 0.11, 0.07],
        colour,
    )
    for x, y, r in ((-0.15, 0.05, 0.30), (0.05, 0.2, 0.24), (-0.22, -0.18, 0.22)):
        b.lump((x, y, 0.10), (r, 0.85 * r, 0.17), colour, rng, 0.22, 8, 6)
    b.ellipsoid((-0.25, 0.02, 0.22), (0.13, 0.16, 0.06), (0.55, 0.42, 0.25), 8, 4)
    b.solid((-0.42, -0.38, 0.0), (0.9, 0.40, 0.25))
    return b.model()


def _covered_bag(colour: Colour) -> Model:
    """Mummy bag whose lower half lies under snow."""
    b = MeshBuilder()
    _mummy(b, colour)
    rng = np.random.default_rng(8)
    b.foreign = True
    b.lump((0.62, 0.1, 0.0), (0.75, 0.66, 0.31), SNOW, rng, 0.10, 10, 6)
    b.lump((0.05, -0.35, 0.0), (0.35, 0.3, 0.2), SNOW, rng, 0.12, 8, 5)
    return b.model()


SLEEPING_BAGS: tuple[Variant, ...] = (
    *in_colours(_mummy_bag, "", "{} sleeping bag", "blue red green purple orange black teal"),
    *in_colours(_quilt_bag, "quilt", "opened {} sleeping bag", "green navy red khaki maroon"),
    *in_colours(_rolled_bag, "rolled", "rolled-up {} sleeping bag", "blue orange olive"),
    *in_colours(_crumpled_bag, "crumpled", "crumpled {} sleeping bag", "red blue lime", held_out=True),
    *in_colours(_covered_bag, "covered", "{} sleeping bag half under snow", "blue orange"),
)
