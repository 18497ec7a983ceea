"""Meshes of unintended traces of people: wrappers and footprints, in their real sizes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model, smooth_normals
from esar_ros.sim.assets.palette import SILVER, shade
from esar_ros.sim.assets.variants import Variant, in_colours, one


def _wrapper(
    b: MeshBuilder,
    rng: np.random.Generator,
    at: tuple[float, float],
    size: tuple[float, float],
    yaw: float,
    colour: Colour,
    inside: Colour = SILVER,
) -> None:
    """Crumpled foil of a size, printed outside."""
    x, y = np.linspace(-0.5, 0.5, 4) * size[0], np.linspace(-0.5, 0.5, 4) * size[1]
    grid = np.empty((4, 4, 3))
    gx, gy = np.meshgrid(x, y, indexing="ij")
    gx, gy = gx + rng.uniform(-0.1, 0.1, (4, 4)) * size[0], gy + rng.uniform(-0.1, 0.1, (4, 4)) * size[1]
    grid[..., 0] = at[0] + np.cos(yaw) * gx - np.sin(yaw) * gy
    grid[..., 1] = at[1] + np.sin(yaw) * gx + np.cos(yaw) * gy
    grid[..., 2] = rng.uniform(0.012, 0.07, (4, 4))
    tones = np.broadcast_to(np.array(colour), (4, 4, 3)).copy()
    tones[:, 0] = tones[:, 3] = inside  # the welded ends
    b.sheet(grid, tones, under=inside)


def _tin(b: MeshBuilder, x: float, y: float, colour: Colour) -> None:
    """Opened food tin, 0.11 m high, its lid bent up."""
    b.limb((x, y, 0.0), (x, y, 0.11), 0.042, 0.042, SILVER, 9)
    b.limb((x, y, 0.02), (x, y, 0.09), 0.044, 0.044, colour, 9)
    b.limb((x, y, 0.105), (x, y, 0.112), 0.036, 0.036, (0.05, 0.04, 0.035), 9)
    b.quad(
        [
            (x + 0.04, y - 0.035, 0.11),
            (x + 0.04, y + 0.035, 0.11),
            (x + 0.07, y + 0.03, 0.175),
            (x + 0.07, y - 0.03, 0.175),
        ],
        SILVER,
        True,
    )


def _meal(colour: Colour) -> Model:
    """Snack wrappers and an opened tin within half a metre."""
    b = MeshBuilder()
    b.limp = True
    rng = np.random.default_rng(5)
    for at, size, yaw, tone in (
        ((0.0, 0.05), (0.24, 0.18), 0.4, colour),
        ((0.22, -0.18), (0.20, 0.13), 2.1, colour),
        ((-0.22, -0.10), (0.18, 0.14), 1.2, shade(colour, 0.6)),
        ((-0.10, 0.26), (0.16, 0.09), 2.8, SILVER),
    ):
        _wrapper(b, rng, at, size, yaw, tone)
    _tin(b, 0.13, 0.22, colour)
    b.solid((0.08, 0.17, 0.0), (0.18, 0.27, 0.12))
    return b.model()


def _bag(colour: Colour) -> Model:
    """One large crisp bag, 0.32 x 0.24 m, puffed up."""
    b = MeshBuilder()
    x = np.array([-0.165, -0.145, -0.14, -0.08, 0.0, 0.08, 0.14, 0.145, 0.165])
    wide = np.array([0.115, 0.11, 0.11, 0.105, 0.10, 0.105, 0.11, 0.11, 0.115])
    high = np.array([0.004, 0.006, 0.012, 0.042, 0.052, 0.044, 0.012, 0.006, 0.004])
    angles = np.arange(10) * (2.0 * np.pi / 10)
    rings = [
        np.stack([np.full(10, p), -w * np.cos(angles), 0.055 + h * np.sin(angles)], axis=1)[::-1]
        for p, w, h in zip(x, wide, high, strict=True)
    ]
    b.loft(rings, [SILVER if abs(p) > 0.142 else colour for p in x])
    b.ellipsoid((0.0, 0.0, 0.095), (0.05, 0.05, 0.016), (0.75, 0.72, 0.6), 7, 4)
    b.solid((-0.16, -0.1, 0.0), (0.16, 0.1, 0.1))
    return b.model()


def _cup(colour: Colour) -> Model:
    """Noodle cup on its side with its lid torn open, a fork and a sachet."""
    b = MeshBuilder()
    b.limb((-0.06, 0.0, 0.05), (0.06, 0.0, 0.06), 0.04, 0.058, (0.72, 0.71, 0.68), 10)
    b.limb((-0.035, 0.0, 0.052), (0.035, 0.0, 0.058), 0.047, 0.055, colour, 10)
    b.limb((0.058, 0.0, 0.06), (0.064, 0.0, 0.06), 0.05, 0.05, (0.16, 0.11, 0.06), 10)
    rng = np.random.default_rng(3)
    _wrapper(b, rng, (0.16, 0.10), (0.13, 0.12), 0.7, colour)
    _wrapper(b, rng, (-0.12, 0.16), (0.12, 0.09), 2.0, shade(colour, 0.7))
    b.limb((0.02, -0.14, 0.01), (0.18, -0.11, 0.012), 0.007, 0.009, (0.7, 0.7, 0.68), 4)
    b.solid((-0.06, -0.055, 0.0), (0.065, 0.055, 0.115))
    return b.model()


def _litter(colour: Colour) -> Model:
    """Torn ration pack: eight pieces blown over a square metre."""
    b = MeshBuilder()
    b.limp = True
    rng = np.random.default_rng(21)
    for k in range(8):
        at = (float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.4, 0.4)))
        size = (float(rng.uniform(0.12, 0.24)), float(rng.uniform(0.10, 0.16)))
        _wrapper(b, rng, at, size, float(rng.uniform(0.0, 6.28)), shade(colour, 1.0 if k % 2 else 0.7))
    b.solid((-0.4, -0.3, 0.0), (0.4, 0.3, 0.06))
    return b.model()


FOOD_WRAPPERS: tuple[Variant, ...] = (
    *in_colours(_meal, "", "{} food wrappers and a tin", "red yellow white blue pink"),
    *in_colours(_bag, "bag", "{} crisp bag", "red yellow green purple teal"),
    *in_colours(_cup, "cup", "{} noodle cup", "red green orange"),
    *in_colours(_litter, "litter", "torn {} ration packs", "silver orange lime", held_out=True),
)

_MUD: Colour = (0.035, 0.026, 0.018)
_DUST: Colour = (0.16, 0.125, 0.08)
_SNOW_PRINT: Colour = (0.15, 0.19, 0.28)
_SAND: Colour = (0.20, 0.15, 0.09)
_RIM = 0.055  # m, half width of the cast-up rim about a print


def _print(b: MeshBuilder, x: float, y: float, yaw: float, side: float, colour: Colour, rim: Colour) -> None:
    """One boot print 0.31 m long: dark sole and heel in a low rim of cast-up ground."""
    c, s = np.cos(yaw), np.sin(yaw)
    outline = np.array(
        [
            (0.155, 0.005),
            (0.12, 0.05),
            (0.04, 0.052),
            (-0.05, 0.032),
            (-0.13, 0.036),
            (-0.155, 0.0),
            (-0.13, -0.036),
            (-0.05, -0.030),
            (0.04, -0.046),
            (0.12, -0.042),
        ]
    )
    outline[:, 1] *= side
    outline = outline[:: int(side)]
    outer = outline * (1.0 + _RIM / np.linalg.norm(outline, axis=1, keepdims=True))
    mid = 0.5 * (outline + outer)
    turn = np.array([[c, -s], [s, c]])
    n = len(outline)
    rings = [(outer, 0.0), (mid, 0.035), (outline, 0.012)]
    points = np.concatenate([np.column_stack([o @ turn.T + (x, y), np.full(n, z)]) for o, z in rings])
    i = np.arange(n)
    k = (i + 1) % n
    faces = [
        f for a in (0, n) for f in (np.stack([a + i, a + k, a + n + k], 1), np.stack([a + i, a + n + k, a + n + i], 1))
    ]
    faces_rim = np.concatenate(faces)
    b.add(points, smooth_normals(points, faces_rim), faces_rim, rim)
    sole = np.column_stack([outline @ turn.T + (x, y), np.full(n, 0.012)])
    middle = sole.mean(axis=0)
    b.flat([[middle, sole[p], sole[q]] for p, q in zip(i, k, strict=True)], colour)


def _trail(spots: Iterable[tuple[float, float, float, float]], colour: Colour, rim: Colour) -> Model:
    b = MeshBuilder()
    b.limp = True
    for x, y, yaw, side in spots:
        _print(b, x, y, yaw, side, colour, rim)
    mesh = b.mesh()
    low, high = mesh.bounds
    b.solid((low[0], low[1], -0.03), (high[0], high[1], 0.0))
    return b.model()


def _straight(colour: Colour, rim: Colour) -> Model:
    """Eight prints over five metres along +x."""
    return _trail(
        ((0.68 * k - 2.4, 0.13 * (1 - 2 * (k % 2)), 0.08 * (1 - 2 * (k % 2)), 1.0 - 2.0 * (k % 2)) for k in range(8)),
        colour,
        rim,
    )


def _winding(colour: Colour, rim: Colour) -> Model:
    """Nine short uneven steps in a bend, as of somebody hurt or lost."""
    spots = []
    yaw, x, y = -0.7, -2.0, 0.6
    for k in range(9):
        side = 1.0 - 2.0 * (k % 2)
        spots.append((x - 0.14 * side * np.sin(yaw), y + 0.14 * side * np.cos(yaw), yaw + 0.12 * side, side))
        step = 0.52 if k % 2 else 0.38
        x, y, yaw = x + step * np.cos(yaw), y + step * np.sin(yaw), yaw + 0.19
    return _trail(spots, colour, rim)


def _pair(colour: Colour, rim: Colour) -> Model:
    """Two people side by side, five steps each."""
    spots = []
    for k in range(5):
        side = 1.0 - 2.0 * (k % 2)
        spots += [
            (0.7 * k - 1.5, 0.45 + 0.13 * side, 0.1 * side, side),
            (0.64 * k - 1.2, -0.45 - 0.13 * side, -0.1 * side, -side),
        ]
    return _trail(spots, colour, rim)


def _milling(colour: Colour, rim: Colour) -> Model:
    """Ten prints every way within two metres: somebody waited here."""
    rng = np.random.default_rng(17)
    spots = []
    for k in range(10):
        a = k * 2.4
        r = 0.25 + 0.085 * k
        spots.append((r * np.cos(a), r * np.sin(a), float(rng.uniform(0.0, 6.28)), 1.0 - 2.0 * (k % 2)))
    return _trail(spots, colour, rim)


FOOTPRINTS: tuple[Variant, ...] = (
    one("mud", "dark brown", "boot prints in mud", lambda: _straight(_MUD, (0.10, 0.075, 0.05))),
    one("dust", "brown", "boot prints in dust", lambda: _straight(_DUST, (0.34, 0.27, 0.18))),
    one("snow", "blue-grey", "boot prints in snow", lambda: _straight(_SNOW_PRINT, (0.58, 0.61, 0.66))),
    one("sand", "brown", "boot prints in sand", lambda: _straight(_SAND, (0.42, 0.33, 0.21))),
    one("winding_mud", "dark brown", "winding boot prints in mud", lambda: _winding(_MUD, (0.10, 0.075, 0.05))),
    one("winding_snow", "blue-grey", "winding boot prints in snow", lambda: _winding(_SNOW_PRINT, (0.58, 0.61, 0.66))),
    one("winding_sand", "brown", "winding boot prints in sand", lambda: _winding(_SAND, (0.42, 0.33, 0.21))),
    one("pair_dust", "brown", "boot prints of two people in dust", lambda: _pair(_DUST, (0.34, 0.27, 0.18))),
    one("pair_snow", "blue-grey", "boot prints of two people in snow", lambda: _pair(_SNOW_PRINT, (0.58, 0.61, 0.66))),
    one("milling_mud", "dark brown", "many boot prints in mud", lambda: _milling(_MUD, (0.10, 0.075, 0.05)), True),
    one(
        "milling_snow", "blue-grey", "many boot prints in snow", lambda: _milling(_SNOW_PRINT, (0.58, 0.61, 0.66)), True
    ),
)
