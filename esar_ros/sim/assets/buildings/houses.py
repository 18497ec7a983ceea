"""Houses, halls, barns and cabins from a footprint and a few words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.mesh_builder import Colour
from esar_ros.sim.assets.palette import shade
from esar_ros.sim.terrain.settlements.plan import Piece

FOOTING = 1.2  # m that walls go into the ground
WALLS: dict[str, Colour] = {
    "plaster_white": (0.62, 0.61, 0.57), "plaster_cream": (0.58, 0.50, 0.36), "plaster_ochre": (0.50, 0.33, 0.14),
    "plaster_rose": (0.52, 0.31, 0.25), "plaster_grey": (0.36, 0.36, 0.35), "plaster_blue": (0.26, 0.34, 0.42),
    "brick_red": (0.30, 0.095, 0.055), "brick_brown": (0.20, 0.115, 0.075), "stone_grey": (0.27, 0.26, 0.235),
    "timber_red": (0.27, 0.050, 0.035), "timber_brown": (0.17, 0.105, 0.060), "timber_green": (0.07, 0.14, 0.075),
    "log_brown": (0.24, 0.145, 0.075), "log_dark": (0.11, 0.065, 0.038), "panel_grey": (0.42, 0.43, 0.44),
}  # fmt: skip
ROOFS: dict[str, Colour] = {
    "red": (0.29, 0.075, 0.042), "brown": (0.145, 0.075, 0.045), "slate": (0.105, 0.110, 0.122),
    "dark": (0.060, 0.060, 0.064), "green": (0.055, 0.110, 0.065),
}  # fmt: skip
_GLASS: Colour = (0.045, 0.065, 0.080)
_TRIM: Colour = (0.60, 0.59, 0.55)
_DOORS: tuple[Colour, ...] = ((0.10, 0.055, 0.03), (0.05, 0.13, 0.07), (0.22, 0.03, 0.025), (0.04, 0.08, 0.19))
_AWNINGS: tuple[Colour, ...] = ((0.45, 0.05, 0.04), (0.05, 0.20, 0.12), (0.06, 0.12, 0.34), (0.55, 0.40, 0.08))
_PITCH = {"gable": 0.75, "hip": 0.65, "aframe": 1.5}  # rise over run


def house(m: Masonry, piece: Piece) -> None:
    """A building: roof (gable, hip, flat, aframe), walls, roof colour, then words: door, shop, barn, stable, chimney,
    plain (few windows)."""
    roof, walls, cover, *words = piece.style.split()
    rng = np.random.default_rng(piece.seed)
    wall, tiles = WALLS[walls], ROOFS[cover]
    x, y, eaves = piece.length / 2, piece.width / 2, piece.height
    wall = shade(wall, float(rng.uniform(0.9, 1.1)))
    if roof == "aframe":
        eaves = 0.9
    m.block((-x, -y, -FOOTING), (x, y, eaves), wall, solid=True)
    m.block((-x - 0.06, -y - 0.06, -FOOTING), (x + 0.06, y + 0.06, 0.35), shade((0.27, 0.26, 0.24), 0.9))
    if walls.startswith(("timber", "log")):
        _boarding(m, x, y, eaves, wall, walls.startswith("log"))
    if roof == "flat":
        _flat_roof(m, x, y, eaves, wall, tiles, rng)
    else:
        _pitched_roof(m, x, y, eaves, roof, wall, tiles)
    _openings(m, x, y, eaves, roof, words, rng)
    if "chimney" in words or ("plain" not in words and roof == "gable" and rng.random() < 0.6):
        ridge = eaves + _PITCH.get(roof, 0.75) * y
        at = float(rng.uniform(-0.3, 0.3)) * x
        m.block(
            (at - 0.35, 0.1 * y, ridge - 1.6), (at + 0.35, 0.1 * y + 0.6, ridge + 0.7), (0.24, 0.12, 0.085), solid=True
        )


def _boarding(m: Masonry, x: float, y: float, eaves: float, wall: Colour, logs: bool) -> None:
    """Boards or logs one above another, a little before the wall."""
    step = 0.3 if logs else 0.42
    z = np.arange(0.4 + step / 2, eaves, step)
    half = 0.36 * step
    for k, centre in enumerate(z):
        tone = shade(wall, (0.82, 1.12, 0.95)[k % 3])
        for s in (-1.0, 1.0):
            m.boxes([(0.0, s * (y + 0.02), centre)], (x, 0.03, half), tone, fine=True)
            m.boxes([(s * (x + 0.02), 0.0, centre)], (0.03, y, half), tone, fine=True)
    if logs:
        ends = [(sx * (x + 0.15), sy * y, centre) for sx in (-1.0, 1.0) for sy in (-1.0, 1.0) for centre in z]
        m.boxes(ends, (0.16, 0.11, half), shade(wall, 0.85), fine=True)


def _flat_roof(
    m: Masonry, x: float, y: float, eaves: float, wall: Colour, cover: Colour, rng: np.random.Generator
) -> None:
    """Parapet, gravelled roof, a box or two of machinery on it."""
    top = eaves + 0.7
    for s in (-1.0, 1.0):
        m.block((-x - 0.05, s * (y - 0.1) - 0.15, eaves), (x + 0.05, s * (y - 0.1) + 0.15, top), shade(wall, 0.9))
        m.block((s * (x - 0.1) - 0.15, -y, eaves), (s * (x - 0.1) + 0.15, y, top), shade(wall, 0.9))
    m.block((-x, -y, eaves), (x, y, eaves + 0.1), (0.24, 0.235, 0.225))
    m.solid((-x - 0.05, -y - 0.05, eaves), (x + 0.05, y + 0.05, top))
    for _ in range(1 + int(x * y > 60.0)):
        u, v = rng.uniform(-0.55, 0.55, 2) * (x, y)
        half = (float(rng.uniform(0.6, 1.3)), float(rng.uniform(0.5, 1.0)), float(rng.uniform(0.5, 1.0)))
        m.boxes([(u, v, eaves + 0.1 + half[2])], half, shade(cover, 3.0), solid=True)


def _pitched_roof(m: Masonry, x: float, y: float, eaves: float, roof: str, wall: Colour, tiles: Colour) -> None:
    """Two slopes with gables, or four; the ridge along x."""
    pitch, over = _PITCH[roof], 0.45
    ridge = eaves + pitch * y
    low = eaves - pitch * over
    if roof == "hip":
        back = max(x - y, 0.3)
        corner = [
            (-x - over, -y - over, low),
            (x + over, -y - over, low),
            (x + over, y + over, low),
            (-x - over, y + over, low),
        ]
        a, b = (-back, 0.0, ridge), (back, 0.0, ridge)
        m.quads([(corner[0], corner[1], b, a), (corner[2], corner[3], a, b)], [tiles, shade(tiles, 0.9)])
        m.triangles([(corner[1], corner[2], b), (corner[3], corner[0], a)], shade(tiles, 0.95))
        m.quads([corner[::-1]], shade(tiles, 0.5))
        for k in range(3):
            share = 1.0 - k / 3.0 - 0.12
            top = low + (ridge - low) * (k + 1) / 3.0
            m.solid((-back - (x + over - back) * share, -(y + over) * share, low + (ridge - low) * k / 3.0),
                    (back + (x + over - back) * share, (y + over) * share, top))  # fmt: skip
        return
    for s in (-1.0, 1.0):
        peak = [(s * x, s * y, eaves), (s * x, 0.0, ridge), (s * x, -s * y, eaves)]
        m.triangles([peak], shade(wall, 0.93))
        m.slope(
            (0.0, s * (y + over), low), (0.0, 0.0, ridge), 2.0 * (x + over), 0.16, shade(tiles, 1.0 if s > 0 else 0.9)
        )
        rows = np.arange(0.12, 0.95, 0.16)
        for u in rows:  # courses of tiles
            at = (0.0, s * (y + over) * (1.0 - u), low + (ridge - low) * u + 0.19)
            m.boxes([at], (x + over - 0.02, 0.04, 0.02), shade(tiles, 0.7), fine=True)
    m.boxes([(0.0, 0.0, ridge + 0.16)], (x + over, 0.14, 0.07), shade(tiles, 0.75))
    steps = 3
    for k in range(steps):  # the attic is solid too
        u = (k + 1) / steps
        m.solid(
            (-x, -y * (1.0 - u) - 0.1, eaves + (ridge - eaves) * k / steps),
            (x, y * (1.0 - u) + 0.1, eaves + (ridge - eaves) * u),
        )


def _openings(
    m: Masonry, x: float, y: float, eaves: float, roof: str, words: list[str], rng: np.random.Generator
) -> None:
    """Windows in rows, and doors in the front at -y."""
    tone = _DOORS[int(rng.integers(len(_DOORS)))]
    floors = max(1, round((eaves - 0.4) / 3.0))
    tall = eaves / floors
    if roof == "aframe":
        _gable_glass(m, x, y, tone)
        return
    if "barn" in words:
        wide, high = min(2.2, 0.35 * x + 0.9), min(0.8 * eaves, 4.2)
        for at in (x, -x):
            m.boxes([(at, 0.0, high / 2)], (0.06, wide, high / 2), tone)
            m.boxes([(at, 0.0, high / 2)], (0.09, 0.05, high / 2), shade(tone, 1.8), fine=True)
            for v in (-wide, wide):
                m.boxes([(at, v, high / 2)], (0.09, 0.07, high / 2), _TRIM, fine=True)
            m.boxes([(at, 0.0, high)], (0.09, wide, 0.07), _TRIM, fine=True)
        _windows(m, x, y, [1.7], 0.5, 0.35, 4.5, fine=True)
        return
    if "stable" in words:
        for u in np.arange(-x + 2.0, x - 1.0, 3.6):
            m.boxes([(u, -y, 1.05)], (0.6, 0.06, 1.05), tone)
            m.boxes([(u, -y - 0.02, 1.2)], (0.62, 0.06, 0.05), shade(tone, 1.9), fine=True)
            m.boxes([(u + 1.6, -y - 0.01, 1.7)], (0.4, 0.04, 0.3), _GLASS, fine=True)
        return
    if "shop" in words:
        _shop_front(m, x, y, rng)
    else:
        at = float(rng.uniform(-0.4, 0.4)) * x
        m.boxes([(at, -y, 1.15)], (0.55, 0.07, 1.05), tone)
        m.boxes([(at, -y, 2.3)], (0.75, 0.12, 0.08), _TRIM, fine=True)
        m.boxes([(at, -y - 0.5, 0.1)], (0.8, 0.5, 0.1), (0.30, 0.29, 0.27))
    levels = [tall * k + 0.52 * tall for k in range(floors) if not (k == 0 and "shop" in words)]
    few = "plain" in words
    _windows(m, x, y, levels, 0.5, 0.62 if not few else 0.35, 2.4 if not few else 3.0, skip_front=few)


def _windows(m: Masonry, x: float, y: float, levels: list[float], wide: float, high: float, every: float,
             skip_front: bool = False, fine: bool = False) -> None:  # fmt: skip
    """Rows of windows on all four sides at heights of their middles: panes, frames and sills."""
    spots: list[tuple[float, float, float, float]] = []  # x, y, z, yaw of the outward normal - 90 degrees
    for z in levels:
        for half, depth, yaw in ((x, y, 0.0), (y, x, np.pi / 2), (x, y, np.pi), (y, x, -np.pi / 2)):
            if skip_front and yaw == 0.0:
                continue
            count = int((2.0 * half - 1.0) / every)
            for k in range(count):
                u = (k + 0.5 - count / 2) * every
                spots.append((u, -depth, z, yaw))
    if not spots:
        return
    for grow, out, tone, detail in ((0.0, 0.085, _GLASS, fine), (0.09, 0.07, _TRIM, True)):
        corners = []
        for u, v, z, yaw in spots:
            c, s = np.cos(yaw), np.sin(yaw)
            a, b = wide + grow, high + grow
            rim = [(u - a, v - out, z - b), (u + a, v - out, z - b), (u + a, v - out, z + b), (u - a, v - out, z + b)]
            corners.append([(c * p - s * q, s * p + c * q, r) for p, q, r in rim])
        m.quads(corners, tone, detail)
    bars = [(u, v - 0.09, z, yaw) for u, v, z, yaw in spots]
    for bar, dz in (((0.03, 0.012, high), 0.0), ((wide + 0.14, 0.09, 0.045), -high - 0.1)):
        for turned in (0.0, np.pi / 2, np.pi, -np.pi / 2):
            c, s = np.cos(turned), np.sin(turned)
            own = [(c * u - s * v, s * u + c * v, z + dz) for u, v, z, yaw in bars if yaw == turned]
            if own:
                m.boxes(own, bar, _TRIM, turned, fine=True)


def _shop_front(m: Masonry, x: float, y: float, rng: np.random.Generator) -> None:
    """Wide panes, a door, and a striped awning along the front."""
    m.boxes([(-0.3 * x, -y, 1.35)], (0.55 * x, 0.06, 1.0), _GLASS)
    m.boxes([(0.55 * x, -y, 1.15)], (0.6, 0.07, 1.05), (0.07, 0.06, 0.05))
    m.boxes([(0.0, -y - 0.02, 2.62)], (0.92 * x, 0.08, 0.22), _AWNINGS[int(rng.integers(len(_AWNINGS)))])
    tone = _AWNINGS[int(rng.integers(len(_AWNINGS)))]
    edges = np.linspace(-0.9 * x, 0.9 * x, 2 * max(2, int(x / 0.6)) + 1)
    quads, tones = [], []
    for k, (a, b) in enumerate(pairwise(edges)):
        top, low = (-y - 0.03, 2.45), (-y - 1.25, 2.05)
        corners = [(a, low[0], low[1]), (b, low[0], low[1]), (b, top[0], top[1]), (a, top[0], top[1])]
        quads += [corners, corners[::-1]]
        tones += 2 * [tone if k % 2 else (0.62, 0.61, 0.58)]
    m.quads(quads, tones)
    m.solid((-0.9 * x, -y - 1.25, 2.0), (0.9 * x, -y, 2.45))


def _gable_glass(m: Masonry, x: float, y: float, tone: Colour) -> None:
    """The glazed ends of an A-shaped cabin, a door below."""
    for s in (-1.0, 1.0):
        out = s * (x + 0.03)
        pane = [(out, -0.55 * y, 1.5), (out, 0.55 * y, 1.5), (out, 0.0, 0.9 + 1.15 * y)]
        m.triangles([pane[:: int(s)]], _GLASS)
        m.boxes([(out, 0.0, 1.05)], (0.05, 0.5, 1.05), tone)
        m.boxes([(s * (x + 1.0), 0.0, 0.12)], (1.0, 0.9 * y, 0.12), (0.22, 0.15, 0.09), solid=True)
