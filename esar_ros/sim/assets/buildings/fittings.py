"""Walls, fences, hedges, lamps and other fittings between buildings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.mesh_builder import Colour
from esar_ros.sim.assets.palette import shade
from esar_ros.sim.terrain.settlements.plan import Piece

_STONE: Colour = (0.27, 0.26, 0.235)
_BRICK: Colour = (0.28, 0.10, 0.065)
_PLASTER: Colour = (0.55, 0.52, 0.45)
_IRON: Colour = (0.045, 0.05, 0.05)
_RAIL: Colour = (0.20, 0.14, 0.09)
_WHITE: Colour = (0.62, 0.61, 0.58)
_WIRE: Colour = (0.23, 0.26, 0.24)
_LEAF: Colour = (0.035, 0.085, 0.020)
_PETALS: dict[str, Colour] = {
    "red": (0.60, 0.04, 0.03), "yellow": (0.75, 0.55, 0.04), "white": (0.70, 0.70, 0.68), "violet": (0.30, 0.09, 0.42),
}  # fmt: skip


def wall(m: Masonry, piece: Piece) -> None:
    """Part of a wall with a coping."""
    tone = {"stone": _STONE, "brick": _BRICK, "plaster": _PLASTER}[piece.style]
    rng = np.random.default_rng(piece.seed)
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    m.block((-x, -y, -0.6), (x, y, top), shade(tone, float(rng.uniform(0.85, 1.1))), solid=True)
    m.block((-x, -y - 0.05, top), (x, y + 0.05, top + 0.08), shade(tone, 0.75))
    if piece.style == "stone":
        spots = rng.uniform((-x + 0.2, 0.1), (x - 0.2, top - 0.15), (int(6 * x), 2)) if x > 0.5 else np.zeros((0, 2))
        for s in (-1.0, 1.0):
            centres = np.column_stack([spots[:, 0], np.full(len(spots), s * y), spots[:, 1]])
            tones = np.outer(rng.uniform(0.7, 1.3, len(spots)), tone)
            m.boxes(centres, (0.22, 0.03, 0.1), tones, fine=True)


def fence(m: Masonry, piece: Piece) -> None:
    """Part of a fence: rail and white (posts and rails), picket, railing, mesh."""
    x, top = piece.length / 2, piece.height
    m.solid((-x, -max(piece.width, 0.08) / 2, -0.1), (x, max(piece.width, 0.08) / 2, top))
    if piece.style in ("rail", "white"):
        tone = _RAIL if piece.style == "rail" else _WHITE
        m.block((-x, -0.07, -0.4), (-x + 0.14, 0.07, top), shade(tone, 0.85))
        m.boxes([(0.0, 0.0, share * top) for share in (0.38, 0.66, 0.92)], (x, 0.03, 0.055), tone)
        return
    if piece.style == "picket":
        m.boxes([(0.0, 0.03, 0.25 * top), (0.0, 0.03, 0.75 * top)], (x, 0.02, 0.04), shade(_WHITE, 0.8))
        spots = np.arange(-x + 0.08, x, 0.17)
        m.boxes(
            np.column_stack([spots, np.zeros(len(spots)), np.full(len(spots), top / 2)]), (0.05, 0.012, top / 2), _WHITE
        )
        return
    if piece.style == "railing":
        m.boxes([(0.0, 0.0, 0.12), (0.0, 0.0, top - 0.12)], (x, 0.02, 0.025), _IRON)
        m.boxes([(-x, 0.0, top / 2)], (0.05, 0.05, top / 2 + 0.05), _IRON)
        spots = np.arange(-x + 0.15, x, 0.16)
        centres = np.column_stack([spots, np.zeros(len(spots)), np.full(len(spots), top / 2)])
        m.boxes(centres, (0.013, 0.013, top / 2), _IRON, fine=True)
        return
    m.rod((-x, 0.0, 0.0), (-x, 0.0, top), 0.035, _WIRE)
    m.boxes([(0.0, 0.0, top - 0.03), (0.0, 0.0, 0.06)], (x, 0.02, 0.02), _WIRE)
    spots = np.arange(-x, x, 0.28)
    m.boxes(np.column_stack([spots, 0.0 * spots, 0.0 * spots + top / 2]), (0.008, 0.008, top / 2), _WIRE, fine=True)
    levels = np.arange(0.3, top, 0.28)
    m.boxes(np.column_stack([0.0 * levels, 0.0 * levels, levels]), (x, 0.008, 0.008), _WIRE, fine=True)


def hedge(m: Masonry, piece: Piece) -> None:
    """Part of a clipped hedge with an uneven skin."""
    rng = np.random.default_rng(piece.seed)
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    n = max(2, round(piece.length / 0.8))
    u = np.linspace(-x, x, n + 1)
    ring = [(-y, -0.3), (-y, 0.55 * top), (-0.8 * y, top), (0.8 * y, top), (y, 0.55 * top), (y, -0.3)]
    grid = np.array([[(a, b, c) for b, c in ring] for a in u])
    inner = rng.uniform(-0.09, 0.09, grid.shape) * (1.0, 1.0, 1.0)
    inner[[0, -1]] = 0.0  # parts meet
    grid = grid + inner * min(1.0, 2.0 * y)
    quads = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=2).reshape(-1, 4, 3)
    m.quads(quads, np.outer(rng.uniform(0.7, 1.35, len(quads)), _LEAF))
    for end, order in ((0, 1), (-1, -1)):
        face = grid[end][::order]
        m.quads([face[[0, 1, 4, 5]], face[[1, 2, 3, 4]]], _LEAF)
    m.solid((-x, -y, -0.1), (x, y, top))


def flower_bed(m: Masonry, piece: Piece) -> None:
    """Low leaves with flowers of a colour over a rectangle."""
    rng = np.random.default_rng(piece.seed)
    x, y = piece.length / 2, piece.width / 2
    count = int(1.6 * piece.length * piece.width)
    spots = rng.uniform((-x, -y), (x, y), (count, 2))
    heights = rng.uniform(0.12, piece.height, count)
    leaves = np.column_stack([spots, heights / 2])
    m.boxes(leaves, np.column_stack([0.24 * np.ones(count), 0.24 * np.ones(count), heights / 2]),
            np.outer(rng.uniform(0.7, 1.4, count), _LEAF))  # fmt: skip
    m.boxes(np.column_stack([spots, heights + 0.05]), (0.12, 0.12, 0.05), _PETALS[piece.style])


def lamp(m: Masonry, piece: Piece) -> None:
    """Street lamp with an arm over the road at -y, or a park lamp with a globe."""
    top = piece.height
    m.rod((0.0, 0.0, -0.2), (0.0, 0.0, top), 0.07 if piece.style == "street" else 0.05, _IRON, 6, solid=True)
    m.rod((0.0, 0.0, -0.1), (0.0, 0.0, 0.9), 0.11, _IRON, 6)
    if piece.style == "street":
        m.rod((0.0, 0.0, top - 0.1), (0.0, -1.3, top + 0.15), 0.045, _IRON, 5)
        m.boxes([(0.0, -1.5, top + 0.15)], (0.13, 0.35, 0.07), (0.30, 0.31, 0.32))
        m.boxes([(0.0, -1.5, top + 0.075)], (0.11, 0.3, 0.01), _WHITE, fine=True)
        m.solid((-0.15, -1.85, top - 0.1), (0.15, 0.1, top + 0.25))
        return
    m.prism(
        [(0.2 * np.cos(a), 0.2 * np.sin(a)) for a in np.arange(8) * np.pi / 4],
        top,
        top + 0.34,
        (0.66, 0.65, 0.58),
        1.15,
    )
    m.prism([(0.3 * np.cos(a), 0.3 * np.sin(a)) for a in np.arange(8) * np.pi / 4], top + 0.34, top + 0.5, _IRON, 0.2)
    m.solid((-0.22, -0.22, top), (0.22, 0.22, top + 0.5))


def pole(m: Masonry, piece: Piece) -> None:
    """Pole of a power line with a cross beam along y and insulators."""
    top = piece.height
    m.rod((0.0, 0.0, -0.6), (0.0, 0.0, top), 0.13, (0.13, 0.095, 0.065), 7, solid=True)
    m.boxes([(0.0, 0.0, top - 0.5)], (0.06, 1.0, 0.07), (0.13, 0.095, 0.065), solid=True)
    m.boxes([(0.0, v, top - 0.36) for v in (-0.9, -0.45, 0.45, 0.9)], (0.05, 0.05, 0.09), (0.45, 0.42, 0.36), fine=True)


def mark(m: Masonry, piece: Piece) -> None:
    """White paint on the ground."""
    _strip(m, piece.length / 2, piece.width / 2, 0.02, (0.56, 0.56, 0.53))


def kerb(m: Masonry, piece: Piece) -> None:
    """Kerb stones along x, or an island where it is wide."""
    _strip(m, piece.length / 2, piece.width / 2, piece.height, (0.36, 0.355, 0.34))


def _strip(m: Masonry, x: float, y: float, top: float, tone: Colour) -> None:
    """A flat body in parts of some metres, so that it can follow the ground."""
    u = np.linspace(-x, x, max(2, int(2 * x / 4.0) + 1))
    a, b = u[:-1], u[1:]
    n = len(a)

    def quad(*corners: tuple[NDArray[np.float64], float, float]) -> None:
        m.quads(np.stack([np.column_stack([c[0], np.full(n, c[1]), np.full(n, c[2])]) for c in corners], axis=1), tone)

    quad((a, -y, top), (b, -y, top), (b, y, top), (a, y, top))
    if top > 0.05:
        quad((a, -y, -0.1), (b, -y, -0.1), (b, -y, top), (a, -y, top))
        quad((b, y, -0.1), (a, y, -0.1), (a, y, top), (b, y, top))
