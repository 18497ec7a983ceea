"""Clothes that hikers lose or take off, in their real sizes."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, EARTH, SNOW, mix, shade
from esar_ros.sim.assets.variants import Variant, in_colours


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
