"""Meshes of structures: huts, a tomb, a mast, a jetty, a boat. Fronts along +x, standing on z = 0."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, PLANK, SILVER, STONE, WOOD, shade
from esar_ros.sim.assets.trail_meshes import CAIRNS, FENCES, FLAGS, MARKERS, SIGNS, TENT_PLATFORMS
from esar_ros.sim.assets.variants import Variant, one

_DARK: Colour = (0.03, 0.03, 0.035)
_FOOTING = 1.2  # m that walls go into the ground: they stand upright on slopes
_SLATE: Colour = (0.12, 0.125, 0.135)


def _courses(
    b: MeshBuilder, low: tuple[float, float], high: tuple[float, float], top: float, colour: Colour, seed: int
) -> None:
    """Wall of stone courses over a rectangle, each a little different."""
    rng = np.random.default_rng(seed)
    (x0, y0), (x1, y1) = low, high
    _footing(b, low, high)
    z, k = 0.0, 0
    while z < top - 1e-6:
        rise = min(0.35, top - z)
        inset = 0.015 * (k % 2)
        half = ((x1 - x0) / 2 - inset, (y1 - y0) / 2 - inset, rise / 2)
        b.box(((x0 + x1) / 2, (y0 + y1) / 2, z + rise / 2), half, shade(colour, float(rng.uniform(0.8, 1.15))))
        z, k = z + rise, k + 1


def _footing(b: MeshBuilder, low: tuple[float, float], high: tuple[float, float]) -> None:
    """Adds a wall's footing: below ground, and visible on the wall's downhill side."""
    (x0, y0), (x1, y1) = low, high
    b.box(
        ((x0 + x1) / 2, (y0 + y1) / 2, -_FOOTING / 2), ((x1 - x0) / 2, (y1 - y0) / 2, _FOOTING / 2), shade(STONE, 0.8)
    )
    b.solid((x0, y0, -_FOOTING), (x1, y1, 0.0))


def _gable(b: MeshBuilder, half: tuple[float, float], eaves: float, ridge: float, wall: Colour, roof: Colour) -> None:
    """Gables at +-x, the ridge along x, the roof overhanging by 0.25 m."""
    x, y = half
    for s in (-1.0, 1.0):
        peak = [(s * x, -s * y, eaves), (s * x, s * y, eaves), (s * x, 0.0, ridge - 0.05)]
        b.flat([peak, peak[::-1]], shade(wall, 0.9))
        slope = (ridge - eaves) / y
        low = eaves - 0.25 * slope
        grid = [
            [(-x - 0.25, s * (y + 0.25), low), (-x - 0.25, 0.0, ridge)],
            [(x + 0.25, s * (y + 0.25), low), (x + 0.25, 0.0, ridge)],
        ]
        b.sheet(grid[:: -1 if s > 0 else 1], shade(roof, 1.0 if s > 0 else 0.85), thick=0.08)
    b.limb((-x - 0.25, 0.0, ridge), (x + 0.25, 0.0, ridge), 0.07, 0.07, shade(roof, 0.7), 5)


def _door_and_windows(b: MeshBuilder, x: float, y: float, door: Colour) -> None:
    b.box((x + 0.02, 0.5 * y, 0.95), (0.03, 0.42, 0.95), door)
    b.box((x + 0.02, -0.45 * y, 1.25), (0.03, 0.32, 0.30), _DARK)
    b.box((x + 0.04, -0.45 * y, 0.92), (0.03, 0.38, 0.04), PLANK)
    for s in (-1.0, 1.0):
        b.box((-0.2 * x, s * (y + 0.02), 1.3), (0.34, 0.03, 0.28), _DARK)


def _stone_hut() -> Model:
    """Shepherd's hut of rubble, 4.4 x 3.4 m, slate roof, chimney."""
    b = MeshBuilder(_FOOTING)
    _courses(b, (-2.2, -1.7), (2.2, 1.7), 2.1, STONE, 1)
    _gable(b, (2.2, 1.7), 2.1, 3.1, STONE, _SLATE)
    _door_and_windows(b, 2.2, 1.7, WOOD)
    b.box((-1.4, 0.6, 3.0), (0.25, 0.25, 0.55), shade(STONE, 0.8))
    b.solid((-2.3, -1.8, 0.0), (2.3, 1.8, 2.1))
    b.solid((-2.4, -0.9, 2.1), (2.4, 0.9, 2.7))
    b.solid((-2.4, -0.35, 2.7), (2.4, 0.35, 3.15))
    b.solid((-1.65, 0.35, 2.4), (-1.15, 0.85, 3.55))
    return b.model()


def _timber_hut() -> Model:
    """Plank refuge, 5 x 3.6 m, red sheet roof, a stove pipe."""
    b = MeshBuilder(_FOOTING)
    _footing(b, (-2.45, -1.75), (2.45, 1.75))
    for k in range(7):
        tone = shade(PLANK, 1.0 if k % 2 else 0.82)
        b.box((0.0, 0.0, 0.16 + 0.32 * k), (2.5 - 0.01 * (k % 2), 1.8 - 0.01 * (k % 2), 0.16), tone)
    _gable(b, (2.5, 1.8), 2.24, 3.2, PLANK, (0.26, 0.045, 0.035))
    _door_and_windows(b, 2.5, 1.8, COLOURS["green"])
    b.limb((-1.5, -0.7, 2.6), (-1.5, -0.7, 3.6), 0.09, 0.09, SILVER, 7)
    b.solid((-2.6, -1.9, 0.0), (2.6, 1.9, 2.24))
    b.solid((-2.7, -1.0, 2.24), (2.7, 1.0, 2.8))
    b.solid((-2.7, -0.4, 2.8), (2.7, 0.4, 3.25))
    b.solid_rod((-1.5, -0.7, 2.6), (-1.5, -0.7, 3.6), 0.09)
    return b.model()


def _ruin() -> Model:
    """Roofless walls of a house, 5 x 4 m, half fallen."""
    b = MeshBuilder(_FOOTING)
    walls = (
        ((-2.5, -2.0), (2.5, -1.6), 1.9),
        ((-2.5, 1.6), (0.6, 2.0), 1.5),
        ((-2.5, -1.6), (-2.1, 1.6), 2.3),
        ((2.1, -1.6), (2.5, -0.2), 1.2),
        ((0.6, 1.6), (1.8, 2.0), 0.7),
    )
    for k, (low, high, top) in enumerate(walls):
        _courses(b, low, high, top, shade(STONE, 0.9), k)
        b.solid((*low, 0.0), (*high, top))
    rng = np.random.default_rng(9)
    for x, y in ((1.6, 0.6), (2.4, 0.9), (0.9, -0.3), (2.0, 2.3), (-1.2, 0.4)):
        b.lump((x, y, 0.1), (0.3, 0.26, 0.22), STONE, rng, 0.2, 6, 4, faceted=True)
        b.solid((x - 0.25, y - 0.2, 0.0), (x + 0.25, y + 0.2, 0.28))
    return b.model()


def _tomb() -> Model:
    """Walled grave with a standing stone: plinth 3.2 x 3.2 m, stele 2.3 m high, offerings before it."""
    b = MeshBuilder(_FOOTING)
    pale: Colour = (0.38, 0.35, 0.31)
    _footing(b, (-1.55, -1.55), (1.55, 1.55))
    b.box((0.0, 0.0, 0.10), (1.6, 1.6, 0.15), shade(pale, 0.8))
    b.box((-0.4, 0.0, 0.38), (0.75, 0.62, 0.16), pale)
    b.box((-0.4, 0.0, 1.42), (0.14, 0.46, 0.90), (0.20, 0.19, 0.185))
    arch = [(0.46 * np.cos(u), 2.32 + 0.22 * np.sin(u)) for u in np.linspace(0.0, np.pi, 7)]
    for x, turn in ((-0.26, 1), (-0.54, -1)):
        p = [(x, y, z) for y, z in arch]
        b.flat([[p[0], p[k], p[k + 1]][::turn] for k in range(1, 6)], (0.20, 0.19, 0.185))
    for k in range(7):
        (y0, z0), (y1, z1) = arch[k], arch[(k + 1) % 7]
        b.quad([(-0.26, y0, z0), (-0.54, y0, z0), (-0.54, y1, z1), (-0.26, y1, z1)], (0.18, 0.17, 0.165))
    for z in (1.95, 1.65, 1.35, 1.05):
        b.box((-0.255, 0.0, z), (0.006, 0.09, 0.10), (0.45, 0.05, 0.03))
    rng = np.random.default_rng(3)
    for k in range(12):
        a = k * 0.5236
        x, y = 2.3 * np.cos(a), 2.3 * np.sin(a)
        b.lump((x, y, 0.08), (0.26, 0.24, 0.20), shade(pale, 0.8), rng, 0.18, 6, 4, faceted=True)
        b.solid((x - 0.2, y - 0.2, 0.0), (x + 0.2, y + 0.2, 0.25))
    for y, tone in ((-0.5, COLOURS["white"]), (0.1, COLOURS["red"]), (0.5, COLOURS["yellow"])):
        b.limb((0.7, y, 0.25), (0.7, y, 0.48), 0.07, 0.05, tone, 7)
    b.solid((-1.6, -1.6, 0.0), (1.6, 1.6, 0.25))
    b.solid((-1.15, -0.62, 0.25), (0.35, 0.62, 0.54))
    b.solid((-0.55, -0.46, 0.5), (-0.25, 0.46, 2.54))
    return b.model()


def _relay_tower() -> Model:
    """Lattice mast, 9 m high, red and white, with a cabin at its foot."""
    b = MeshBuilder()
    legs = [(-0.6, -0.35), (0.6, -0.35), (0.0, 0.69)]
    for k in range(5):
        z0, z1 = 1.8 * k, 1.8 * (k + 1)
        tone = COLOURS["red"] if k % 2 == 0 else COLOURS["white"]
        s0, s1 = 1.0 - 0.16 * k, 1.0 - 0.16 * (k + 1)
        for i, (x, y) in enumerate(legs):
            b.limb((x * s0, y * s0, z0), (x * s1, y * s1, z1), 0.05, 0.05, tone, 4)
            u, v = legs[(i + 1) % 3]
            b.limb((x * s0, y * s0, z0), (u * s1, v * s1, z1), 0.025, 0.025, tone, 3)
        b.solid((-0.65 * s0, -0.4 * s0, z0), (0.65 * s0, 0.72 * s0, z1))
    b.limb((0.0, 0.0, 9.0), (0.0, 0.0, 10.2), 0.03, 0.02, BLACK, 4)
    b.solid_rod((0.0, 0.0, 9.0), (0.0, 0.0, 10.2), 0.03)
    b.box((1.6, 0.0, 0.9), (0.7, 0.8, 0.9), (0.42, 0.43, 0.42))
    b.solid((0.9, -0.8, 0.0), (2.3, 0.8, 1.8))
    return b.model()


def _shrine() -> Model:
    """Wayside shrine of stone, 1.9 m high, dark niche to the front."""
    b = MeshBuilder(_FOOTING)
    _courses(b, (-0.5, -0.55), (0.5, 0.55), 1.3, STONE, 6)
    b.box((0.505, 0.0, 0.85), (0.01, 0.3, 0.3), _DARK)
    _gable(b, (0.5, 0.55), 1.3, 1.85, STONE, (0.22, 0.05, 0.03))
    b.solid((-0.55, -0.6, 0.0), (0.55, 0.6, 1.3))
    b.solid((-0.7, -0.3, 1.3), (0.7, 0.3, 1.85))
    return b.model()


def _pier() -> Model:
    """Wooden jetty along +x, 10 m long, 1 m above its foot."""
    b = MeshBuilder(_FOOTING)
    for k in range(16):
        b.box((-4.7 + 0.625 * k, 0.0, 1.0), (0.28, 0.9, 0.04), shade(PLANK, 1.0 if k % 2 else 0.8))
    for x in (-4.5, -1.5, 1.5, 4.5):
        for y in (-0.8, 0.8):
            b.limb((x, y, -_FOOTING), (x, y, 1.5), 0.09, 0.09, WOOD, 6)
            b.solid_rod((x, y, -_FOOTING), (x, y, 1.5), 0.09)
    b.solid((-5.0, -0.9, 0.92), (5.0, 0.9, 1.05))
    return b.model()


def _boat() -> Model:
    """Fishing boat pulled ashore, 4.8 m, white with a blue band, heeled over."""
    b = MeshBuilder()
    stations = (
        (-2.4, 0.55, 0.20, 0.75),
        (-1.2, 0.80, 0.05, 0.75),
        (0.3, 0.82, 0.0, 0.78),
        (1.5, 0.55, 0.05, 0.88),
        (2.4, 0.05, 0.35, 1.05),
    )
    lines = []
    for x, w, keel, top in stations:
        lines.append(
            [
                (x, -w, top),
                (x, -0.9 * w, 0.72 * top),
                (x, -0.55 * w, keel + 0.1),
                (x, 0.0, keel),
                (x, 0.55 * w, keel + 0.1),
                (x, 0.9 * w, 0.72 * top),
                (x, w, top),
            ]
        )
    grid = np.array(lines)
    tones = np.empty((5, 7, 3))
    tones[:] = COLOURS["white"]
    tones[:, [0, 6]] = COLOURS["blue"]
    b.sheet(grid[:, ::-1], tones, under=(0.30, 0.22, 0.14), thick=0.06)
    b.sheet(
        [[(-2.4, 0.55, 0.75), (-2.4, -0.55, 0.75)], [(-2.4, 0.3, 0.28), (-2.4, -0.3, 0.28)]],
        COLOURS["white"],
        thick=0.05,
    )
    for x in (-1.4, 0.0, 1.2):
        b.box((x, 0.0, 0.60), (0.14, 0.66, 0.02), PLANK)
    heel = 0.24
    c, d = np.cos(heel), np.sin(heel)
    b.turn(((1.0, 0.0, 0.0), (0.0, c, -d), (0.0, d, c)))
    b.solid((-2.4, -0.8, 0.0), (1.5, 0.7, 0.8))
    b.solid((1.5, -0.4, 0.2), (2.4, 0.3, 1.05))
    return b.model()


def _trig_pillar() -> Model:
    """Survey pillar, 1.3 m of white concrete on a plinth."""
    b = MeshBuilder(_FOOTING)
    _footing(b, (-0.5, -0.5), (0.5, 0.5))
    b.box((0.0, 0.0, 0.06), (0.5, 0.5, 0.11), shade(STONE, 1.2))
    rings = [
        np.array([(s * x, s * y, z) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))], dtype=float)
        for s, z in ((0.30, 0.15), (0.20, 1.3))
    ]
    for k in range(4):
        n = (k + 1) % 4
        b.quad([rings[0][k], rings[0][n], rings[1][n], rings[1][k]], COLOURS["white"])
    b.quad(rings[1], COLOURS["white"])
    b.quad(rings[0][::-1], COLOURS["white"])
    b.limb((0.0, 0.0, 1.29), (0.0, 0.0, 1.36), 0.07, 0.06, SILVER, 7)
    b.solid((-0.5, -0.5, 0.0), (0.5, 0.5, 0.17))
    b.solid((-0.28, -0.28, 0.17), (0.28, 0.28, 1.3))
    return b.model()


STRUCTURES: dict[str, tuple[Variant, ...]] = {
    "hut": (
        one("stone", "grey", "stone hut", _stone_hut),
        one("timber", "brown", "wooden hut with a red roof", _timber_hut),
        one("ruin", "grey", "ruined house", _ruin),
    ),
    "sign": SIGNS,
    "cairn": CAIRNS,
    "flags": FLAGS,
    "tomb": (one("stele", "grey", "tomb with a standing stone", _tomb),),
    "tower": (one("relay", "red and white", "relay mast", _relay_tower),),
    "shrine": (one("stone", "grey", "wayside shrine", _shrine),),
    "pier": (one("wood", "brown", "wooden jetty", _pier),),
    "boat": (one("beached", "white", "beached boat", _boat),),
    "fence": FENCES,
    "tent_platform": TENT_PLATFORMS,
    "marker": MARKERS,
    "trig": (one("pillar", "white", "survey pillar", _trig_pillar),),
}
# Built things that stand where a task puts them, to be mistaken for a clue.
DISTRACTOR_STRUCTURES: dict[str, tuple[Variant, ...]] = {
    thing: STRUCTURES[thing] for thing in ("hut", "sign", "cairn", "flags", "boat", "marker")
}
