"""Partial covers of a lying person: rescue sheets, snow, branches, an overhang, scree. Bodies lie about the origin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder
from esar_ros.sim.assets.palette import SNOW, STONE, shade


def _sheet(b: MeshBuilder, colour: Colour, low: tuple[float, float], high: tuple[float, float], rise: float) -> None:
    """Crinkled foil over the trunk, facet by facet dark or glinting: head, an arm and the shins stay in sight."""
    rng = np.random.default_rng(7)
    x, y = np.linspace(low[0], high[0], 8), np.linspace(low[1], high[1], 7)
    across = (y - 0.5 * (low[1] + high[1])) / (0.62 * 0.5 * (high[1] - low[1]))
    height = 0.04 + rise * np.exp(-(across**4))[None, :] * (0.9 + 0.1 * np.cos(x * 7.0))[:, None]
    height = height + rng.uniform(-0.005, 0.05, height.shape)
    height[:, [0, -1]] = 0.01
    edge = rng.uniform(-0.04, 0.04, (8, 7, 2))
    g = np.stack([x[:, None] + edge[..., 0], y[None, :] + edge[..., 1], height], axis=-1)
    inside = g.copy()
    inside[1:-1, 1:-1, 2] -= 0.012  # the two sides meet at the hem

    def facets(grid: NDArray[np.float64]) -> NDArray[np.float64]:
        corners = (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:])
        p, q, r, s = (corner.reshape(-1, 3) for corner in corners)
        return np.concatenate([np.stack([p, q, r], axis=1), np.stack([p, r, s], axis=1)])

    glint = rng.uniform(0.45, 1.25, (2 * 7 * 6, 1))
    b.flat(facets(g), np.clip(np.array(colour) * glint, 0.0, 1.0))
    b.flat(facets(inside)[:, ::-1], shade(colour, 0.5))


def _snow(b: MeshBuilder) -> None:
    """Drift over the legs and one side: the head and an arm stay in sight."""
    rng = np.random.default_rng(3)
    b.lump((0.40, -0.05, 0.0), (0.62, 0.52, 0.30), SNOW, rng, 0.09, 11, 6)
    b.lump((-0.25, -0.34, 0.0), (0.55, 0.34, 0.24), SNOW, rng, 0.10, 10, 6)


def _branches(b: MeshBuilder) -> None:
    """Cut boughs laid over the body from the chest down, as one does against the cold."""
    rng = np.random.default_rng(19)
    for k in range(6):
        x = -0.38 + 0.17 * k
        swing = float(rng.uniform(-0.25, 0.25))
        tips = np.array([[x - swing, -0.55, 0.04], [x, 0.0, 0.30], [x + swing, 0.52, 0.05]])
        b.tube(tips, 0.014, (0.09, 0.06, 0.035), 3)
        for share in (0.3, 0.68):
            spot = tips[0] + share * (tips[2] - tips[0]) + [0.0, 0.0, 0.24 * (1.0 - abs(2.0 * share - 1.0)) + 0.03]
            tone = shade((0.055, 0.085, 0.030), float(rng.uniform(0.6, 1.5)))
            b.lump(spot, (0.09, 0.27, 0.05), tone, rng, 0.35, 6, 3)


def _rock(b: MeshBuilder) -> None:
    """Slab leaning over head and chest on a boulder: the legs look out."""
    rng = np.random.default_rng(23)
    b.lump((-0.55, 0.72, 0.15), (0.55, 0.30, 0.55), STONE, rng, 0.14, 8, 6, faceted=True)
    b.lump((-1.15, 0.05, 0.1), (0.26, 0.55, 0.45), shade(STONE, 0.8), rng, 0.15, 7, 5, faceted=True)
    low = np.array([(-1.35, -0.45), (-0.15, -0.40), (-0.05, 0.35), (-0.35, 0.85), (-1.2, 0.8)])
    tilt = 0.62 + 0.22 * low[:, 1]
    for z0, z1, up in ((tilt, tilt + 0.16, True), (tilt, tilt, False)):
        top = np.column_stack([low, z1])
        order = range(1, 4)
        b.flat([[top[0], top[k], top[k + 1]] if up else [top[0], top[k + 1], top[k]] for k in order], shade(STONE, 1.1))
        if up:
            bottom = np.column_stack([low, z0])
            for k in range(5):
                n = (k + 1) % 5
                b.flat([[bottom[k], bottom[n], top[n]], [bottom[k], top[n], top[k]]], shade(STONE, 0.85))
    b.solid((-1.05, 0.45, 0.0), (-0.1, 1.0, 0.65))
    b.solid((-1.4, -0.45, 0.55), (-0.05, 0.85, 0.95))
    b.solid((-1.4, -0.5, 0.0), (-0.95, 0.6, 0.5))


def _scree(b: MeshBuilder) -> None:
    """Stones fallen over back and legs."""
    rng = np.random.default_rng(31)
    for _ in range(11):
        x, y = rng.uniform(-0.15, 0.65), rng.uniform(-0.35, 0.35)
        r = float(rng.uniform(0.09, 0.17))
        z = 0.24 if abs(y) < 0.2 else 0.08
        b.lump(
            (x, y, z), (r, 0.9 * r, 0.7 * r), shade(STONE, float(rng.uniform(0.7, 1.2))), rng, 0.18, 6, 4, faceted=True
        )


# By name: the words for it, and what lays it.
COVERS: dict[str, tuple[str, Callable[[MeshBuilder], None]]] = {
    "blanket": (
        "lying under a silver rescue blanket",
        lambda b: _sheet(b, (0.62, 0.60, 0.54), (-0.48, -0.46), (0.56, 0.44), 0.29),
    ),
    "gold": (
        "curled up under a golden rescue blanket",
        lambda b: _sheet(b, (0.70, 0.42, 0.06), (-0.36, -0.36), (0.44, 0.36), 0.36),
    ),
    "snow": ("lying half buried in snow", _snow),
    "branches": ("lying under branches", _branches),
    "rock": ("lying under a rock overhang, legs in sight", _rock),
    "scree": ("half buried under stones", _scree),
}
SHEETS = frozenset({"blanket", "gold"})  # those that somebody was wrapped in
