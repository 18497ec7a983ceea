"""Small gear that hikers carry and lose: poles, bottles and ropes, in their real sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, SILVER, shade
from esar_ros.sim.assets.variants import Variant, in_colours


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
