"""What hikers carry and lose: rucksacks, clothes, poles, bottles and ropes, in their real sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.sim.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.palette import BLACK, EARTH, SILVER, SNOW, mix, shade
from esar_ros.sim.variants import Variant, in_colours

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


def _crumple(b: MeshBuilder, seed: int, rise: float) -> None:
    """Wrinkle what was added: cloth does not lie flat."""
    rng = np.random.default_rng(seed)
    kx, ky, phase = rng.uniform(6.0, 11.0, 3), rng.uniform(6.0, 11.0, 3), rng.uniform(0.0, 6.28, 3)

    def move(p: np.ndarray) -> np.ndarray:
        wave = sum(np.sin(kx[i] * p[:, 0] + phase[i]) * np.cos(ky[i] * p[:, 1] - phase[i]) for i in range(3))
        q = p.copy()
        q[:, 2] = np.maximum(p[:, 2] * (1.0 + rise * wave), 0.0)
        return q

    b.map(move)


def _jacket(colour: Colour) -> Model:
    """Jacket thrown down, front open on its pale lining, sleeves spread: 0.9 x 1.35 m, hood at +x."""
    b = MeshBuilder()
    lining: Colour = mix(colour, (0.35, 0.35, 0.36), 0.7)
    x = np.array([-0.40, -0.38, -0.10, 0.18, 0.30])
    b.body(
        np.stack([x, 0.0 * x, np.full(5, 0.04)], axis=1),
        [0.33, 0.36, 0.33, 0.29, 0.17],
        [0.02, 0.04, 0.05, 0.05, 0.03],
        colour,
        10,
    )
    b.sheet(
        [
            [(-0.40, 0.09, 0.085), (-0.40, -0.10, 0.08)],
            [(-0.05, 0.07, 0.105), (-0.05, -0.08, 0.10)],
            [(0.28, 0.03, 0.09), (0.28, -0.04, 0.09)],
        ],
        lining,
    )
    for s in (-1.0, 1.0):  # the two front edges with their zip
        b.tube(
            [(-0.40, 0.10 * s, 0.085), (-0.05, 0.085 * s, 0.11), (0.28, 0.04 * s, 0.10)], 0.013, shade(colour, 0.3), 4
        )
    b.body(
        [(0.20, 0.20, 0.045), (0.10, 0.38, 0.05), (-0.14, 0.56, 0.045), (-0.22, 0.60, 0.035)],
        [0.13, 0.12, 0.095, 0.085],
        [0.045, 0.045, 0.04, 0.03],
        shade(colour, 0.85),
        6,
    )
    b.body(
        [(0.20, -0.20, 0.045), (0.27, -0.42, 0.05), (0.10, -0.64, 0.045), (0.02, -0.68, 0.035)],
        [0.13, 0.12, 0.095, 0.085],
        [0.045, 0.045, 0.04, 0.03],
        shade(colour, 0.85),
        6,
    )
    b.ellipsoid((0.36, 0.0, 0.045), (0.15, 0.20, 0.045), shade(colour, 0.75), 9, 4)
    b.ellipsoid((0.34, 0.0, 0.07), (0.09, 0.13, 0.03), lining, 8, 4)
    _crumple(b, 1, 0.20)
    b.solid((-0.38, -0.33, 0.0), (0.48, 0.33, 0.11))
    return b.model()


def _trousers(colour: Colour) -> Model:
    """Trousers thrown down, 1.05 m long, legs apart, belt at +x."""
    b = MeshBuilder()
    b.body([(0.50, 0.0, 0.05), (0.40, 0.0, 0.06), (0.18, 0.0, 0.06)], [0.20, 0.22, 0.23], [0.04, 0.055, 0.05], colour)
    b.body(
        [(0.24, 0.11, 0.05), (-0.10, 0.20, 0.05), (-0.40, 0.16, 0.05), (-0.52, 0.20, 0.04)],
        [0.13, 0.11, 0.10, 0.09],
        [0.05, 0.045, 0.04, 0.03],
        shade(colour, 0.9),
        7,
    )
    b.body(
        [(0.24, -0.11, 0.05), (-0.05, -0.22, 0.05), (-0.30, -0.38, 0.05), (-0.46, -0.40, 0.04)],
        [0.13, 0.11, 0.10, 0.09],
        [0.05, 0.045, 0.04, 0.03],
        colour,
        7,
    )
    b.tube([(0.50, -0.19, 0.06), (0.505, 0.0, 0.10), (0.50, 0.19, 0.06)], 0.02, BLACK, 5)
    _crumple(b, 2, 0.15)
    b.solid((-0.5, -0.4, 0.0), (0.5, 0.25, 0.11))
    return b.model()


def _heap(colour: Colour) -> Model:
    """Heap of clothes 0.8 m across: the named colour, with something pale and something dark in it."""
    b = MeshBuilder()
    rng = np.random.default_rng(9)
    parts = (
        (0.0, 0.0, 0.36, 0.30, 0.17, colour),
        (0.22, 0.16, 0.24, 0.18, 0.12, (0.45, 0.43, 0.40)),
        (-0.20, -0.16, 0.26, 0.20, 0.13, shade(colour, 0.65)),
        (0.05, -0.25, 0.22, 0.15, 0.09, (0.04, 0.045, 0.06)),
    )
    for x, y, rx, ry, rz, tone in parts:
        b.lump((x, y, 0.35 * rz), (rx, ry, rz), tone, rng, 0.24, 9, 6)
    b.body(
        [(0.15, -0.1, 0.16), (0.38, -0.12, 0.07), (0.52, -0.02, 0.04)],
        [0.09, 0.09, 0.06],
        [0.06, 0.05, 0.03],
        colour,
        6,
    )
    b.solid((-0.4, -0.35, 0.0), (0.4, 0.35, 0.18))
    return b.model()


def _poncho(colour: Colour) -> Model:
    """Rain cape spread out by the wind, 1.5 x 1.3 m, its hood in the middle."""
    b = MeshBuilder()
    b.limp = True
    rng = np.random.default_rng(12)
    x, y = np.linspace(-0.75, 0.75, 9), np.linspace(-0.65, 0.65, 8)
    grid = np.empty((9, 8, 3))
    grid[..., 0], grid[..., 1] = x[:, None], y[None, :]
    grid[..., :2] += rng.uniform(-0.07, 0.07, (9, 8, 2))
    grid[..., 2] = (
        0.05 + 0.045 * np.sin(5.0 * x)[:, None] * np.sin(4.0 * y + 0.5)[None, :] + rng.uniform(-0.02, 0.03, (9, 8))
    )
    tones = np.clip(np.array(colour) * rng.uniform(0.8, 1.1, (9, 8, 1)), 0.0, 1.0)
    b.sheet(grid, tones, under=shade(colour, 0.6))
    b.ellipsoid((0.0, 0.0, 0.10), (0.15, 0.13, 0.10), shade(colour, 0.8), 8, 5)
    b.ellipsoid((0.07, 0.0, 0.12), (0.10, 0.09, 0.085), BLACK, 7, 4)
    b.solid((-0.7, -0.6, 0.0), (0.7, 0.6, 0.12))
    return b.model()


def _covered_jacket(colour: Colour) -> Model:
    """Jacket half under blown earth and snow."""
    b = MeshBuilder()
    b.body(
        [(-0.36, 0.0, 0.03), (0.0, 0.02, 0.07), (0.26, 0.0, 0.06), (0.36, 0.0, 0.03)],
        [0.28, 0.29, 0.25, 0.11],
        [0.03, 0.06, 0.05, 0.03],
        colour,
    )
    b.body(
        [(0.25, 0.18, 0.06), (0.12, 0.40, 0.06), (-0.10, 0.56, 0.06)],
        [0.10, 0.10, 0.08],
        [0.05, 0.05, 0.04],
        shade(colour, 0.85),
        6,
    )
    b.ellipsoid((0.36, 0.0, 0.045), (0.15, 0.20, 0.05), shade(colour, 0.75), 9, 4)
    _crumple(b, 1, 0.16)
    b.foreign = True
    b.lump((-0.22, -0.25, 0.0), (0.42, 0.38, 0.14), SNOW, np.random.default_rng(5), 0.12, 9, 5)
    b.lump((0.2, -0.42, 0.0), (0.25, 0.22, 0.10), EARTH, np.random.default_rng(6), 0.12, 8, 5)
    b.solid((-0.5, -0.5, 0.0), (0.5, 0.5, 0.12))
    return b.model()


CLOTHES: tuple[Variant, ...] = (
    *in_colours(_jacket, "", "{} jacket", "yellow red blue black white orange green purple pink"),
    *in_colours(_trousers, "trousers", "pair of {} trousers", "blue black red khaki teal"),
    *in_colours(_heap, "heap", "heap of {} clothes", "blue red yellow olive maroon"),
    *in_colours(_poncho, "poncho", "{} rain cape", "orange blue lime white", held_out=True),
    *in_colours(_covered_jacket, "covered", "{} jacket half under snow", "red yellow blue"),
)


def _pole(b: MeshBuilder, tip: ArrayLike, grip: ArrayLike, colour: Colour) -> None:
    """One trekking pole: silver tip, basket, coloured shaft of 20 mm, black grip with its strap."""
    a, c = np.asarray(tip, dtype=float), np.asarray(grip, dtype=float)

    def at(share: float) -> np.ndarray:
        return a + share * (c - a)

    b.limb(at(0.0), at(0.06), 0.006, 0.009, SILVER, 4)
    b.limb(at(0.06), at(0.072), 0.045, 0.045, BLACK, 7)
    b.limb(at(0.07), at(0.48), 0.010, 0.010, colour, 5)
    b.limb(at(0.48), at(0.52), 0.014, 0.014, SILVER, 5)
    b.limb(at(0.50), at(0.86), 0.011, 0.011, colour, 5)
    b.limb(at(0.86), at(1.0), 0.017, 0.019, BLACK, 6)
    b.solid_rod(a, c, 0.02)


def _stuck_pole(colour: Colour) -> Model:
    """Pair of poles, one stuck upright in the ground, one lying."""
    b = MeshBuilder()
    _pole(b, (0.0, 0.0, -0.02), (0.10, 0.04, 1.24), colour)
    _pole(b, (0.18, -0.42, 0.025), (0.86, 0.62, 0.03), colour)
    return b.model()


def _crossed_poles(colour: Colour) -> Model:
    """Two poles thrown down across each other."""
    b = MeshBuilder()
    _pole(b, (-0.6, -0.15, 0.03), (0.6, 0.15, 0.03), colour)
    _pole(b, (-0.25, 0.55, 0.03), (0.30, -0.52, 0.06), colour)
    return b.model()


def _lying_pole(colour: Colour) -> Model:
    """One pole on the ground."""
    b = MeshBuilder()
    _pole(b, (-0.6, 0.0, 0.03), (0.6, 0.08, 0.03), colour)
    return b.model()


def _planted_poles(colour: Colour) -> Model:
    """Two poles planted side by side, a rag tied to one: somebody wanted to be seen."""
    b = MeshBuilder()
    _pole(b, (0.0, -0.2, -0.02), (0.06, -0.24, 1.25), colour)
    _pole(b, (0.0, 0.2, -0.02), (-0.05, 0.24, 1.25), colour)
    grid = [
        [(0.06, -0.24, 1.2), (0.06, -0.24, 1.0)],
        [(0.2, -0.35, 1.17), (0.22, -0.33, 0.98)],
        [(0.34, -0.42, 1.2), (0.37, -0.45, 1.05)],
    ]
    b.sheet(grid, shade(colour, 0.9))
    return b.model()


def _broken_pole(colour: Colour) -> Model:
    """Pole snapped in two, one half beside the other."""
    b = MeshBuilder()
    b.limb((-0.55, 0.0, 0.03), (0.0, 0.1, 0.03), 0.010, 0.010, colour, 5)
    b.limb((-0.52, 0.005, 0.03), (-0.50, 0.01, 0.03), 0.045, 0.045, BLACK, 7)
    b.limb((0.05, -0.12, 0.03), (0.45, 0.12, 0.03), 0.011, 0.011, colour, 5)
    b.limb((0.45, 0.12, 0.03), (0.60, 0.21, 0.03), 0.017, 0.019, BLACK, 6)
    b.tube([(0.57, 0.19, 0.04), (0.66, 0.17, 0.02), (0.68, 0.28, 0.02), (0.59, 0.22, 0.04)], 0.01, BLACK, 3)
    b.solid_rod((-0.55, 0.0, 0.03), (0.0, 0.1, 0.03), 0.02)
    b.solid_rod((0.05, -0.12, 0.03), (0.60, 0.21, 0.03), 0.02)
    return b.model()


TREKKING_POLES: tuple[Variant, ...] = (
    *in_colours(_stuck_pole, "", "pair of {} trekking poles, one upright", "red blue black yellow teal"),
    *in_colours(_crossed_poles, "crossed", "two crossed {} trekking poles", "orange blue silver"),
    *in_colours(_lying_pole, "lying", "{} trekking pole", "red yellow silver green pink"),
    *in_colours(_broken_pole, "broken", "broken {} trekking pole", "red orange"),
    *in_colours(_planted_poles, "planted", "two upright {} trekking poles with a rag", "red lime blue", held_out=True),
)


def _bottle(b: MeshBuilder, length: float, radius: float, neck: float, colour: Colour, cap: Colour) -> None:
    """Lying along x on its side, its foot at -x."""
    z, back = radius, -length / 2
    angles = np.arange(10) * (2.0 * np.pi / 10)
    rings, tones = [], []
    for x, r, tone in (
        (0.0, 0.8, 0.8),
        (0.04, 1.0, 1.0),
        (0.35, 1.0, 1.0),
        (0.40, 0.94, 0.6),
        (0.66, 1.0, 1.0),
        (0.80, 0.9, 1.0),
        (0.86, neck, 1.0),
    ):
        q = np.stack(
            [np.full(10, back + x * length), -r * radius * np.cos(angles), z + r * radius * np.sin(angles)], axis=1
        )
        rings.append(q[::-1])
        tones.append(shade(colour, tone))
    b.loft(rings, tones)
    b.limb((back + 0.86 * length, 0.0, z), (back + length, 0.0, z), 1.15 * neck * radius, 1.1 * neck * radius, cap, 9)
    b.solid((back, -radius, 0.0), (-back, radius, 2.0 * radius))


def _wide_bottle(colour: Colour) -> Model:
    """One-litre wide-mouth bottle, 0.22 m, with a cap on a strap."""
    b = MeshBuilder()
    _bottle(b, 0.22, 0.047, 0.72, colour, BLACK)
    b.tube([(0.07, 0.0, 0.09), (0.10, 0.0, 0.115), (0.115, 0.0, 0.07)], 0.007, BLACK, 4)
    return b.model()


def _plastic_bottle(colour: Colour) -> Model:
    """Clear 1.5 l bottle, 0.31 m, with a coloured label and cap."""
    b = MeshBuilder()
    clear: Colour = (0.42, 0.50, 0.55)
    _bottle(b, 0.31, 0.045, 0.35, clear, colour)
    b.limb((-0.06, 0.0, 0.045), (0.05, 0.0, 0.045), 0.0465, 0.0465, colour, 10)
    return b.model()


def _flask(colour: Colour) -> Model:
    """Steel flask standing, 0.28 m high, its cup the cap."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.19), 0.042, 0.042, colour, 10)
    b.limb((0.0, 0.0, 0.19), (0.0, 0.0, 0.215), 0.042, 0.034, SILVER, 10)
    b.limb((0.0, 0.0, 0.21), (0.0, 0.0, 0.28), 0.036, 0.034, shade(SILVER, 0.7), 10)
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.02), 0.044, 0.044, SILVER, 10)
    b.solid((-0.042, -0.042, 0.0), (0.042, 0.042, 0.28))
    return b.model()


def _canteen(colour: Colour) -> Model:
    """Flat round canteen, 0.24 m across, with a carrying strap in a loop."""
    b = MeshBuilder()
    b.ellipsoid((0.0, 0.0, 0.055), (0.12, 0.12, 0.055), colour, 12, 6)
    b.limb((0.11, 0.0, 0.055), (0.17, 0.0, 0.055), 0.024, 0.022, BLACK, 7)
    b.tube(
        [(-0.05, 0.11, 0.05), (-0.02, 0.24, 0.02), (0.16, 0.27, 0.015), (0.24, 0.12, 0.015), (0.14, 0.03, 0.06)],
        0.013,
        (0.16, 0.12, 0.07),
        4,
    )
    b.solid((-0.12, -0.12, 0.0), (0.17, 0.12, 0.11))
    return b.model()


WATER_BOTTLES: tuple[Variant, ...] = (
    *in_colours(_wide_bottle, "", "{} water bottle", "blue red white green orange pink"),
    *in_colours(_plastic_bottle, "plastic", "clear plastic bottle with a {} label", "blue green red"),
    *in_colours(_flask, "flask", "{} steel flask", "silver red green black teal"),
    *in_colours(_canteen, "canteen", "{} canteen", "olive blue lime", held_out=True),
)


def _coil(colour: Colour) -> Model:
    """Coil of climbing rope, 0.75 x 0.6 m, whipped in the middle, with a loose end."""
    b = MeshBuilder()
    b.limp = True
    for turn, (dx, dy, r) in enumerate(
        ((0.0, 0.0, 0.32), (0.03, 0.02, 0.29), (-0.02, 0.01, 0.33), (0.02, -0.02, 0.27))
    ):
        u = np.linspace(0.0, 2.0 * np.pi, 15)
        loop = np.stack([dx + r * np.cos(u), dy + 0.8 * r * np.sin(u), np.full(15, 0.02 + 0.024 * turn)], axis=1)
        b.tube(loop, 0.016, colour if turn % 2 == 0 else shade(colour, 0.7), 4)
    b.limb((0.0, 0.19, 0.055), (0.0, 0.31, 0.055), 0.06, 0.06, shade(colour, 0.8), 7)
    b.tube([(0.3, 0.0, 0.05), (0.5, 0.12, 0.02), (0.72, -0.03, 0.02), (0.95, 0.08, 0.02)], 0.013, colour, 4)
    b.solid((-0.34, -0.3, 0.0), (0.35, 0.31, 0.1))
    return b.model()


def _loose_rope(colour: Colour) -> Model:
    """Six metres of rope left in bends over 2.6 x 1.2 m."""
    b = MeshBuilder()
    b.limp = True
    t = np.linspace(0.0, 1.0, 34)
    x = -1.3 + 2.6 * t + 0.35 * np.sin(11.0 * t)
    y = 0.55 * np.sin(17.0 * t) * (0.5 + 0.5 * t)
    b.tube(np.stack([x, y, np.full(34, 0.018)], axis=1), 0.016, colour, 5)
    for k in (0, 33):
        b.ellipsoid((x[k], y[k], 0.03), (0.035, 0.035, 0.03), colour, 6, 4)
    b.solid((-1.2, -0.5, 0.0), (1.0, 0.5, 0.035))
    return b.model()


def _bundle(colour: Colour) -> Model:
    """Rope gathered for carrying: a bundle of strands 0.8 m long, wrapped in its middle."""
    b = MeshBuilder()
    rng = np.random.default_rng(3)
    for k in range(7):
        y = -0.075 + 0.025 * k
        swell = rng.uniform(0.06, 0.10)
        path = [
            (-0.4, 1.7 * y, 0.04),
            (-0.2, 1.2 * y + 0.02, swell),
            (0.0, 0.45 * y, 0.06),
            (0.2, 1.2 * y, swell),
            (0.4, 1.8 * y, 0.04),
        ]
        b.tube(path, 0.016, colour if k % 2 == 0 else shade(colour, 0.75), 4)
    for end in (-0.4, 0.4):
        b.tube([(end, 0.13 * np.sin(u), 0.05 + 0.015 * np.cos(u)) for u in np.linspace(-1.5, 1.5, 6)], 0.02, colour, 4)
    b.limb((-0.09, 0.0, 0.06), (0.09, 0.0, 0.06), 0.065, 0.065, shade(colour, 0.9), 8)
    b.solid((-0.42, -0.14, 0.0), (0.42, 0.14, 0.12))
    return b.model()


def _anchor_rope(colour: Colour) -> Model:
    """Rope about a boulder, its two strands running away downhill."""
    b = MeshBuilder()
    b.foreign = True
    b.lump((0.0, 0.0, 0.10), (0.32, 0.28, 0.26), (0.21, 0.20, 0.19), np.random.default_rng(8), 0.14, 8, 6, faceted=True)
    b.foreign = False
    u = np.linspace(-2.3, 2.3, 12)
    loop = np.stack([-0.36 * np.cos(u), 0.33 * np.sin(u), np.full(12, 0.16)], axis=1)
    b.tube(loop, 0.018, colour, 5)
    for s in (-1.0, 1.0):
        b.tube(
            [(0.24, -0.25 * s, 0.16), (0.5, -0.14 * s, 0.03), (1.0, 0.06 * s, 0.02), (1.7, 0.14 * s, 0.02)],
            0.016,
            colour,
            5,
        )
    b.solid((-0.3, -0.26, 0.0), (0.3, 0.26, 0.32))
    return b.model()


ROPES: tuple[Variant, ...] = (
    *in_colours(_coil, "", "coil of {} rope", "orange blue purple red yellow teal"),
    *in_colours(_loose_rope, "loose", "loose {} rope", "red blue yellow white"),
    *in_colours(_bundle, "bundle", "bundled {} rope", "orange green purple pink"),
    *in_colours(_anchor_rope, "anchor", "{} rope around a boulder", "red blue lime", held_out=True),
)
