"""Sheds, silos, towers, pavilions, bridges: what stands in yards, parks and by water."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.mesh_builder import Colour
from esar_ros.sim.assets.palette import shade
from esar_ros.sim.terrain.settlements.plan import Piece

_WOOD: Colour = (0.16, 0.105, 0.065)
_PLANK: Colour = (0.24, 0.17, 0.105)
_TIN: Colour = (0.33, 0.34, 0.35)
_STONE: Colour = (0.31, 0.30, 0.275)
_WATER: Colour = (0.035, 0.090, 0.105)
_DEEP = 1.2  # m that posts go into the ground


def _ring(radius: float, sides: int = 8) -> list[tuple[float, float]]:
    """Corners of a regular polygon."""
    angles = np.arange(sides) * 2.0 * np.pi / sides + np.pi / sides
    return [(radius * float(np.cos(a)), radius * float(np.sin(a))) for a in angles]


def open_shed(m: Masonry, piece: Piece) -> None:
    """Shed with a back wall and posts, open to the front at -y, under one slope."""
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    m.block((-x, y - 0.15, -_DEEP), (x, y, top), _WOOD, solid=True)
    for s in (-1.0, 1.0):
        m.block((s * x - 0.08, -0.2 * y, -_DEEP), (s * x + 0.08, y, top), shade(_WOOD, 0.9), solid=True)
    posts = np.linspace(-x + 0.15, x - 0.15, max(2, round(piece.length / 4.0) + 1))
    for u in posts:
        m.block((u - 0.12, -y, -_DEEP), (u + 0.12, -y + 0.24, top + 0.3), shade(_WOOD, 0.8), solid=True)
    m.slope((0.0, y + 0.5, top - 0.1), (0.0, -y - 0.7, top + 0.55), 2 * x + 0.8, 0.12, (0.20, 0.075, 0.05))
    for u in np.arange(-x, x, 0.8):
        m.rod((u, y + 0.4, top + 0.04), (u, -y - 0.6, top + 0.68), 0.035, (0.16, 0.06, 0.04), 4, fine=True)


def silo(m: Masonry, piece: Piece) -> None:
    """Round tower of tin with a cone on it."""
    r, top = piece.length / 2, piece.height
    m.prism(_ring(r, 14), -_DEEP, top, _TIN)
    for z in np.arange(1.2, top, 1.2):
        m.prism(_ring(r + 0.05, 14), z, z + 0.09, shade(_TIN, 0.75))
    m.prism(_ring(r + 0.15, 14), top, top + 0.55 * r, shade(_TIN, 0.8), 0.06)
    m.boxes([(0.0, -r - 0.12, top / 2)], (0.25, 0.06, top / 2), shade(_TIN, 0.6), fine=True)
    for turned in (0.0, np.pi / 4):
        m.turned_solid((0.0, 0.0, top / 2 + 0.3), (0.83 * r, 0.83 * r, top / 2 + 0.3), turned)


def greenhouse(m: Masonry, piece: Piece) -> None:
    """House of glass between white bars."""
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    glass: Colour = (0.30, 0.38, 0.38)
    m.block((-x, -y, -_DEEP), (x, y, 0.5), _STONE, solid=True)
    m.block((-x + 0.04, -y + 0.04, 0.5), (x - 0.04, y - 0.04, top), glass, solid=True)
    ridge = top + 0.5 * y
    for s in (-1.0, 1.0):
        m.slope((0.0, s * y, top), (0.0, 0.0, ridge), 2 * x, 0.05, glass)
        m.triangles([[(s * x, s * y, top), (s * x, 0.0, ridge), (s * x, -s * y, top)]], glass)
        for u in np.linspace(-x, x, max(3, round(piece.length / 1.2) + 1)):
            m.rod((u, s * y, 0.5), (u, s * y, top), 0.035, (0.62, 0.62, 0.60), 4)
            m.rod((u, s * y, top), (u, 0.0, ridge + 0.05), 0.035, (0.62, 0.62, 0.60), 4)
    m.rod((-x, 0.0, ridge + 0.06), (x, 0.0, ridge + 0.06), 0.05, (0.62, 0.62, 0.60), 4)


def water_tower(m: Masonry, piece: Piece) -> None:
    """Tank on four braced legs; a lookout has a cabin and a railing instead."""
    half, top = piece.length / 2, piece.height
    deck = 0.72 * top
    legs = [(sx * half, sy * half) for sx in (-1.0, 1.0) for sy in (-1.0, 1.0)]
    for x, y in legs:
        m.rod((1.25 * x, 1.25 * y, -_DEEP), (0.8 * x, 0.8 * y, deck), 0.13, _WOOD, 5, solid=True)
    for k in range(3):
        low, high = deck * k / 3.0, deck * (k + 1) / 3.0
        a, b = half * (1.25 - 0.15 * k), half * (1.25 - 0.15 * (k + 1))
        for s in (-1.0, 1.0):
            m.rod((-a, s * a, low), (b, s * b, high), 0.06, _WOOD, 4)
            m.rod((s * a, -a, low), (s * b, b, high), 0.06, _WOOD, 4)
    m.block((-half, -half, deck), (half, half, deck + 0.15), _PLANK, solid=True)
    if piece.style == "lookout":
        m.block((-0.7 * half, -0.7 * half, deck), (0.7 * half, 0.7 * half, deck + 2.2), shade(_PLANK, 0.8), solid=True)
        m.block((-0.72 * half, -0.72 * half, deck + 1.1), (0.72 * half, 0.72 * half, deck + 1.8), (0.045, 0.06, 0.07))
        m.prism(_ring(1.35 * half, 4), deck + 2.2, deck + 3.2, (0.07, 0.13, 0.08), 0.1)
        for s in (-1.0, 1.0):
            m.boxes([(0.0, s * half, deck + 1.0), (0.0, s * half, deck + 0.6)], (half, 0.04, 0.04), _WOOD)
            m.boxes([(s * half, 0.0, deck + 1.0), (s * half, 0.0, deck + 0.6)], (0.04, half, 0.04), _WOOD)
        m.solid((-half, -half, deck), (half, half, deck + 3.0))
        return
    m.prism(_ring(0.95 * half, 12), deck + 0.15, top, (0.30, 0.12, 0.06))
    m.prism(_ring(1.0 * half, 12), top, top + 0.5 * half, shade(_TIN, 0.7), 0.06)
    m.solid((-0.85 * half, -0.85 * half, deck), (0.85 * half, 0.85 * half, top + 0.3 * half))


def pavilion(m: Masonry, piece: Piece) -> None:
    """Eight posts under a pointed roof on a low floor; a bandstand has a railing."""
    r, top = piece.length / 2, piece.height
    m.prism(_ring(r), -0.6, 0.45, _STONE)
    for x, y in _ring(0.9 * r):
        m.rod((x, y, 0.4), (x, y, top), 0.11, (0.58, 0.57, 0.53), 6, solid=True)
    m.prism(_ring(1.12 * r), top, top + 0.3, (0.58, 0.57, 0.53))
    m.prism(_ring(1.15 * r), top + 0.3, top + 0.3 + 0.55 * r, (0.075, 0.20, 0.16), 0.08)
    m.prism(_ring(0.16 * r), top + 0.3 + 0.5 * r, top + 0.3 + 0.8 * r, (0.55, 0.40, 0.10), 0.2)
    m.solid((-0.85 * r, -0.85 * r, -0.6), (0.85 * r, 0.85 * r, 0.45))
    m.solid((-r, -r, top), (r, r, top + 0.3 + 0.25 * r))
    m.solid((-0.5 * r, -0.5 * r, top), (0.5 * r, 0.5 * r, top + 0.3 + 0.55 * r))
    if piece.style == "bandstand":
        corners = _ring(0.9 * r)
        for k in range(1, 8):
            a, b = np.array([*corners[k], 0.0]), np.array([*corners[(k + 1) % 8], 0.0])
            for z in (0.75, 1.35):
                m.rod(a + [0.0, 0.0, z], b + [0.0, 0.0, z], 0.045, (0.07, 0.19, 0.15), 4)


def fountain(m: Masonry, piece: Piece) -> None:
    """Round basin of stone with water, and a column with a bowl."""
    r, top = piece.length / 2, piece.height
    m.prism(_ring(r, 16), -0.4, 0.5, _STONE)
    m.prism(_ring(0.88 * r, 16), 0.4, 0.51, _WATER)
    m.prism(_ring(0.16 * r, 10), 0.4, 0.62 * top, shade(_STONE, 1.1), 0.7)
    m.prism(_ring(0.2 * r, 10), 0.58 * top, 0.7 * top, shade(_STONE, 1.1), 1.9)
    m.prism(_ring(0.08 * r, 8), 0.68 * top, top, shade(_STONE, 1.1), 0.4)
    m.solid((-0.9 * r, -0.9 * r, -0.4), (0.9 * r, 0.9 * r, 0.5))
    m.solid((-0.2 * r, -0.2 * r, 0.5), (0.2 * r, 0.2 * r, top))


def bridge(m: Masonry, piece: Piece) -> None:
    """Foot bridge of planks with a railing, bowed a little."""
    x, y, rise = piece.length / 2, piece.width / 2, piece.height
    u = np.linspace(-x, x, 25)
    z = 0.35 + rise * (1.0 - (u / x) ** 2)
    m.boxes(np.column_stack([u, 0.0 * u, z]), (x / 24 * 0.92, y, 0.05), np.outer(np.tile([1.0, 0.82], 13)[:25], _PLANK))
    for k in range(0, 24, 6):
        a, b = k, min(k + 6, 24)
        m.solid((u[a], -y, min(z[a], z[b]) - 0.3), (u[b], y, max(z[a], z[b]) + 0.05))
        for s in (-1.0, 1.0):
            m.rod((u[a], s * y, z[a] + 1.0), (u[b], s * y, z[b] + 1.0), 0.05, _WOOD, 5, solid=True)
            m.rod((u[a], s * y, z[a] + 0.55), (u[b], s * y, z[b] + 0.55), 0.035, _WOOD, 4)
    for k in range(0, 25, 3):
        for s in (-1.0, 1.0):
            m.rod((u[k], s * y, -_DEEP if k in (0, 24) else z[k] - 0.1), (u[k], s * y, z[k] + 1.0), 0.05, _WOOD, 4)


def jetty(m: Masonry, piece: Piece) -> None:
    """Planks on piles, out over the water along +x."""
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    u = np.arange(-x + 0.15, x, 0.32)
    m.boxes(
        np.column_stack([u, 0.0 * u, 0.0 * u + top]),
        (0.145, y, 0.04),
        np.outer(np.tile([1.0, 0.8], len(u))[: len(u)], _PLANK),
    )
    for v in np.arange(-x + 0.4, x + 0.1, 3.0):
        for s in (-1.0, 1.0):
            m.rod((v, s * (y - 0.1), -_DEEP), (v, s * (y - 0.1), top + 0.55), 0.1, _WOOD, 6, solid=True)
    m.solid((-x, -y, top - 0.1), (x, y, top + 0.05))


def wood_pile(m: Masonry, piece: Piece) -> None:
    """Split logs stacked along x under a plank."""
    rng = np.random.default_rng(piece.seed)
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    m.block((-x, -0.85 * y, -0.3), (x, 0.85 * y, 0.95 * top), (0.10, 0.065, 0.04), solid=True)
    step = 0.24
    columns, rows = int(2 * x / step), int(0.95 * top / step)
    spots = [((i + 0.5) * step - x, (j + 0.5) * step) for i in range(columns) for j in range(rows)]
    for s in (-1.0, 1.0):
        centres = [(u, s * 0.88 * y, z) for u, z in spots]
        tones = np.outer(rng.uniform(0.75, 1.2, len(spots)), (0.42, 0.30, 0.17))
        m.boxes(centres, (0.1, 0.06, 0.1), tones, fine=True)
    m.boxes([(0.0, 0.0, top)], (x + 0.15, y + 0.15, 0.035), _PLANK)
