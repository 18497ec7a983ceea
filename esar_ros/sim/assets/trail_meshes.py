"""Meshes of what stands along trails: signs, cairns, flags, fences, markers. Fronts along +x, standing on z = 0."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, PLANK, SILVER, STONE, WOOD, shade
from esar_ros.sim.assets.variants import Variant, one


def _sign(board: Colour, post: Colour, arrow: bool) -> Model:
    """Trail sign: two posts and a board, or a post with arrows; 2 m high."""
    b = MeshBuilder()
    if arrow:
        b.limb((0.0, 0.0, -0.05), (0.0, 0.0, 2.1), 0.06, 0.055, post, 7)
        b.solid_rod((0.0, 0.0, 0.0), (0.0, 0.0, 2.1), 0.06)
        for z, s in ((1.85, 1.0), (1.5, -1.0)):
            outline = np.array([(-0.15, -0.13), (0.62, -0.13), (0.80, 0.0), (0.62, 0.13), (-0.15, 0.13)]) * [s, 1.0]
            for x, turn in ((0.09, 1), (0.06, -1)):
                p = np.column_stack([np.full(5, x), outline[:, 0], z + outline[:, 1]])
                fan = [[p[0], p[k], p[k + 1]] for k in range(1, 4)]
                b.flat([f[:: turn * int(s)] for f in fan], board)
            front, back = (np.column_stack([np.full(5, x), outline[:, 0], z + outline[:, 1]]) for x in (0.09, 0.06))
            for k in range(5):
                n = (k + 1) % 5
                b.quad(np.array([back[k], back[n], front[n], front[k]])[:: int(s)], shade(board, 0.8))
            b.box((0.075, 0.22 * s, z), (0.018, 0.26, 0.02), BLACK)
            b.solid((0.03, min(-0.15 * s, 0.8 * s), z - 0.13), (0.1, max(-0.15 * s, 0.8 * s), z + 0.13))
    else:
        for y in (-0.62, 0.62):
            b.limb((0.0, y, -0.05), (0.0, y, 1.9), 0.05, 0.05, post, 6)
            b.solid_rod((0.0, y, 0.0), (0.0, y, 1.9), 0.05)
        b.box((0.05, 0.0, 1.45), (0.025, 0.78, 0.42), board)
        for z in (1.62, 1.48, 1.34):
            b.box((0.078, 0.0, z), (0.006, 0.58, 0.03), BLACK)
        b.box((0.0, 0.0, 1.93), (0.10, 0.85, 0.03), shade(post, 0.7))
        b.solid((0.0, -0.78, 1.03), (0.08, 0.78, 1.9))
    return b.model()


def _cairn() -> Model:
    """Pile of flat stones, 1.5 m high."""
    b = MeshBuilder()
    rng = np.random.default_rng(5)
    z = 0.0
    for r, n in ((0.62, 6), (0.48, 5), (0.36, 4), (0.24, 3)):
        for k in range(n):
            a = k * 2.0 * np.pi / n + r
            spot = (0.62 * r * np.cos(a), 0.62 * r * np.sin(a), z + 0.15)
            b.lump(
                spot,
                (0.5 * r + 0.05, 0.46 * r + 0.05, 0.20),
                shade(STONE, float(rng.uniform(0.75, 1.25))),
                rng,
                0.14,
                7,
                4,
                faceted=True,
            )
        b.solid((-0.85 * r - 0.05, -0.85 * r - 0.05, z), (0.85 * r + 0.05, 0.85 * r + 0.05, z + 0.32))
        z += 0.31
    b.lump((0.0, 0.0, z + 0.1), (0.16, 0.14, 0.20), STONE, rng, 0.12, 6, 4, faceted=True)
    b.solid((-0.14, -0.14, z), (0.14, 0.14, z + 0.27))
    return b.model()


def _prayer_flags() -> Model:
    """Two leaning poles with a line of flags in five colours between them, 6 m long."""
    b = MeshBuilder()
    for s in (-1.0, 1.0):
        b.limb((0.0, 3.0 * s, -0.05), (0.0, 3.2 * s, 2.4), 0.045, 0.03, WOOD, 6)
        b.solid_rod((0.0, 3.0 * s, 0.0), (0.0, 3.2 * s, 2.4), 0.045)
        b.lump((0.0, 3.0 * s, 0.1), (0.4, 0.4, 0.22), STONE, np.random.default_rng(2), 0.2, 7, 4, faceted=True)
        b.solid((-0.35, 3.0 * s - 0.35, 0.0), (0.35, 3.0 * s + 0.35, 0.28))
    y = np.linspace(-3.2, 3.2, 17)
    z = 1.75 + 0.62 * (y / 3.2) ** 2
    b.tube(np.stack([np.zeros(17), y, z], axis=1), 0.012, (0.5, 0.5, 0.48), 3)
    tones = [COLOURS[word] for word in ("blue", "white", "red", "green", "yellow")]
    for k in range(16):
        a, c = y[k] + 0.04, y[k + 1] - 0.04
        drop = 0.33
        sway = 0.07 * np.sin(1.7 * k)
        grid = [[(0.0, a, z[k]), (sway, a, z[k] - drop)], [(0.0, c, z[k + 1]), (sway, c, z[k + 1] - drop)]]
        b.sheet(grid, tones[k % 5])
        b.solid((min(0.0, sway) - 0.01, a, min(z[k], z[k + 1]) - drop), (max(0.0, sway) + 0.01, c, max(z[k], z[k + 1])))
    return b.model()


def _fence() -> Model:
    """Pasture fence along y, 8 m: five posts, three wires."""
    b = MeshBuilder()
    for y in (-4.0, -2.0, 0.0, 2.0, 4.0):
        b.limb((0.0, y, -0.05), (0.0, y, 1.2), 0.06, 0.05, WOOD, 5)
        b.solid_rod((0.0, y, 0.0), (0.0, y, 1.2), 0.06)
    for z in (0.4, 0.75, 1.1):
        b.limb((0.0, -4.0, z), (0.0, 4.0, z), 0.01, 0.01, SILVER, 3)
        b.solid_rod((0.0, -4.0, z), (0.0, 4.0, z), 0.012)
    return b.model()


def _tent_platform() -> Model:
    """Levelled camp site, 2.6 x 2.2 m, ringed with stones."""
    b = MeshBuilder()
    rng = np.random.default_rng(8)
    b.box((0.0, 0.0, 0.0), (1.25, 1.05, 0.05), shade(STONE, 0.7))
    b.solid((-1.25, -1.05, -0.05), (1.25, 1.05, 0.05))
    for k in range(14):
        a = k * 2.0 * np.pi / 14
        x, y = 1.35 * np.cos(a), 1.15 * np.sin(a)
        b.lump((x, y, 0.08), (0.22, 0.20, 0.18), STONE, rng, 0.18, 6, 4, faceted=True)
        b.solid((x - 0.18, y - 0.18, 0.0), (x + 0.18, y + 0.18, 0.22))
    return b.model()


def _marker_post() -> Model:
    """Route marker, 1.8 m: a post in red and white bands with a pennant."""
    b = MeshBuilder()
    for k in range(6):
        b.limb(
            (0.0, 0.0, 0.3 * k - 0.05),
            (0.0, 0.0, 0.3 * (k + 1)),
            0.045,
            0.045,
            COLOURS["red"] if k % 2 else COLOURS["white"],
            6,
        )
    b.sheet([[(0.0, 0.04, 1.78), (0.0, 0.04, 1.48)], [(0.05, 0.42, 1.66), (0.05, 0.40, 1.60)]], COLOURS["red"])
    b.solid_rod((0.0, 0.0, 0.0), (0.0, 0.0, 1.8), 0.045)
    b.solid((0.0, 0.0, 1.5), (0.05, 0.4, 1.78))
    return b.model()


SIGNS: tuple[Variant, ...] = (
    one("wood", "brown", "wooden signpost", lambda: _sign(PLANK, WOOD, True)),
    one("yellow", "yellow", "yellow notice board", lambda: _sign(COLOURS["yellow"], SILVER, False)),
)
CAIRNS: tuple[Variant, ...] = (one("stones", "grey", "cairn", _cairn),)
FLAGS: tuple[Variant, ...] = (one("prayer", "many-coloured", "line of prayer flags", _prayer_flags),)
FENCES: tuple[Variant, ...] = (one("posts", "brown", "pasture fence", _fence),)
TENT_PLATFORMS: tuple[Variant, ...] = (one("stones", "grey", "old tent platform", _tent_platform),)
MARKERS: tuple[Variant, ...] = (one("post", "red and white", "route marker", _marker_post),)
