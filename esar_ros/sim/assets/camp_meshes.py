"""Tents and camp fires in their real sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esar_ros.sim.assets.emitters import embers, fire
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import ASH, BLACK, CHAR, EARTH, FLAME, FLAME_CORE, SILVER, SNOW, STONE, WOOD, shade
from esar_ros.sim.assets.variants import Variant, in_colours, one

_DOOR: Colour = (0.025, 0.025, 0.03)


def _ridge(b: MeshBuilder, colour: Colour) -> None:
    """Two-person ridge tent, 2.8 x 2.2 m, 1.25 m high, its open door at -y."""
    w, depth, h = 1.1, 1.4, 1.25
    front, back = (0.0, -0.9 * depth, h), (0.0, 0.9 * depth, h)
    b.quad([(w, -depth, 0.0), (w, depth, 0.0), back, front], colour)
    b.quad([(-w, depth, 0.0), (-w, -depth, 0.0), front, back], shade(colour, 0.92))
    b.flat([[(-w, -depth, 0.0), (w, -depth, 0.0), front]], shade(colour, 0.75))
    b.flat([[(w, depth, 0.0), (-w, depth, 0.0), back]], shade(colour, 0.75))
    b.quad([(-w, depth, 0.0), (w, depth, 0.0), (w, -depth, 0.0), (-w, -depth, 0.0)], shade(colour, 0.5))
    door = [(-0.42, -depth - 0.02, 0.0), (0.42, -depth - 0.02, 0.0), (0.0, -0.915 * depth - 0.02, 0.86 * h)]
    b.flat([door, door[::-1]], _DOOR)
    b.sheet([[(0.42, -1.44, 0.0), (0.72, -1.55, 0.0)], [(0.1, -1.33, 0.85), (0.36, -1.36, 0.55)]], shade(colour, 0.85))
    b.limb((0.0, -0.9 * depth - 0.1, h + 0.01), (0.0, 0.9 * depth + 0.1, h + 0.01), 0.025, 0.025, SILVER, 4)
    for x in (-w, w):  # a light hem, as flysheets have, and guy lines
        b.limb((x, -depth, 0.03), (x, depth, 0.03), 0.035, 0.035, SILVER, 4)
        for y in (-0.8, 0.8):
            b.limb((0.5 * x, y, 0.55 * h), (1.65 * x, 1.2 * y, 0.0), 0.008, 0.008, SILVER, 3)
    for low, high, share in ((0.0, 0.4, 1.0), (0.4, 0.8, 0.66), (0.8, h, 0.34)):
        b.solid((-w * share, -depth, low), (w * share, depth, high))


def _ridge_tent(colour: Colour) -> Model:
    b = MeshBuilder()
    _ridge(b, colour)
    return b.model()


def _dome_tent(colour: Colour) -> Model:
    """Dome tent, 2.4 x 2.1 m, 1.15 m high, crossed poles outside, vestibule and door at -y."""
    b = MeshBuilder()
    sides = 16
    angles = np.arange(sides) * 2.0 * np.pi / sides
    rings, tones = [], []
    for share, z in ((1.0, 0.0), (0.97, 0.30), (0.86, 0.62), (0.63, 0.90), (0.33, 1.08), (0.03, 1.15)):
        rings.append(np.stack([1.2 * share * np.cos(angles), 1.05 * share * np.sin(angles), np.full(sides, z)], axis=1))
        tones.append(shade(colour, 0.72 if z < 0.1 else 1.0))
    b.loft(rings, tones)
    b.body(
        [(0.0, -0.75, 0.35), (0.0, -1.25, 0.24), (0.0, -1.62, 0.04)],
        [0.62, 0.5, 0.2],
        [0.52, 0.36, 0.1],
        shade(colour, 0.8),
    )
    door = [(-0.30, -1.70, 0.01), (0.30, -1.70, 0.01), (0.0, -1.16, 0.64)]
    b.flat([door, door[::-1]], _DOOR)
    for angle in (0.785, 2.356):
        d = np.array([1.24 * np.cos(angle), 1.09 * np.sin(angle)])
        arch = [(*(np.cos(u) * d), 1.2 * np.sin(u) ** 0.8) for u in np.linspace(0.0, np.pi, 10)]
        b.tube(arch, 0.02, SILVER, 4)
    b.solid((-1.1, -0.95, 0.0), (1.1, 0.95, 0.7))
    b.solid((-0.75, -0.65, 0.7), (0.75, 0.65, 1.15))
    b.solid((-0.5, -1.5, 0.0), (0.5, -0.9, 0.5))
    return b.model()


def _tunnel_tent(colour: Colour) -> Model:
    """Tunnel tent along x, 3.6 x 1.7 m, 1.1 m high, three hoops; its dark mouth at +x."""
    b = MeshBuilder()
    arch = np.linspace(0.0, np.pi, 9)
    rings, tones = [], []
    for x, w, h in ((-1.8, 0.35, 0.12), (-1.2, 0.75, 0.85), (0.0, 0.85, 1.1), (1.1, 0.85, 1.1), (1.75, 0.78, 0.8)):
        rings.append(np.stack([np.full(9, x), w * np.cos(arch), h * np.sin(arch) ** 0.8], axis=1))
        tones.append(shade(colour, 0.8 if abs(x) > 1.5 else 1.0))
    b.loft(rings, tones)
    mouth = [(1.79, 0.5 * np.cos(u), 0.62 * np.sin(u)) for u in np.linspace(0.0, np.pi, 7)]
    b.flat([[mouth[0], mouth[k], mouth[k + 1]] for k in range(1, 6)], _DOOR)
    b.flat([[mouth[0], mouth[k + 1], mouth[k]] for k in range(1, 6)], _DOOR)
    for x, w, h in ((-1.2, 0.77, 0.87), (0.0, 0.87, 1.12), (1.1, 0.87, 1.12)):
        b.tube([(x, w * np.cos(u), h * np.sin(u) ** 0.8) for u in np.linspace(0.0, np.pi, 9)], 0.022, BLACK, 4)
    for x, y in ((1.1, 0.8), (1.1, -0.8), (-1.2, 0.7), (-1.2, -0.7)):
        b.limb((x, y, 0.5), (x + 0.3 * np.sign(x), 1.9 * y, 0.0), 0.008, 0.008, SILVER, 3)
    b.solid((-1.3, -0.8, 0.0), (1.75, 0.8, 0.75))
    b.solid((-1.0, -0.5, 0.75), (1.4, 0.5, 1.1))
    b.solid((-1.75, -0.4, 0.0), (-1.3, 0.4, 0.5))
    return b.model()


def _pyramid_tent(colour: Colour) -> Model:
    """Single-pole pyramid, 2.7 m square, 1.7 m high, with a bright apex and a door at -y."""
    b = MeshBuilder()
    half, h = 1.35, 1.7
    low = [(-half, -half), (half, -half), (half, half), (-half, half)]
    apex = np.array([0.0, 0.0, h])
    for k in range(4):
        p, q = np.array([*low[k], 0.0]), np.array([*low[(k + 1) % 4], 0.0])
        mid = (p + q) / 2 * 0.93  # the hem is drawn in between its pegs
        upper = [p + (apex - p) * 0.8, q + (apex - q) * 0.8]
        b.flat([[p, mid, upper[0]], [mid, upper[1], upper[0]], [mid, q, upper[1]]], shade(colour, (1.0, 0.9)[k % 2]))
        b.flat([[upper[0], upper[1], apex]], SILVER)
        b.flat([[mid, p, np.zeros(3)], [q, mid, np.zeros(3)]], shade(colour, 0.5))
    door = [(-0.38, -1.29, 0.02), (0.38, -1.29, 0.02), (0.0, -0.50, 1.15)]
    b.flat([door, door[::-1]], _DOOR)
    b.limb((0.0, 0.0, h - 0.05), (0.0, 0.0, h + 0.12), 0.02, 0.015, BLACK, 4)
    for x, y in low:
        b.limb((0.7 * x, 0.7 * y, 0.3 * h), (1.5 * x, 1.5 * y, 0.0), 0.008, 0.008, SILVER, 3)
    for z0, z1, share in ((0.0, 0.5, 0.85), (0.5, 1.0, 0.56), (1.0, h, 0.28)):
        b.solid((-half * share, -half * share, z0), (half * share, half * share, z1))
    return b.model()


def _collapsed_tent(colour: Colour) -> Model:
    """A tent that the wind has flattened: folds of cloth over 2.6 x 1.8 m, a pole sticking out of them."""
    b = MeshBuilder()
    b.limp = True
    rng = np.random.default_rng(11)
    x, y = np.linspace(-1.3, 1.3, 11), np.linspace(-0.9, 0.9, 9)
    grid = np.empty((11, 9, 3))
    grid[..., 0], grid[..., 1] = x[:, None], y[None, :]
    fold = 0.16 + 0.11 * np.sin(4.1 * x)[:, None] * np.cos(3.3 * y + 1.0)[None, :] + rng.uniform(-0.06, 0.06, (11, 9))
    edge = np.minimum(1.4 * (1.0 - np.abs(x / 1.3)), 1.0)[:, None] * np.minimum(1.4 * (1.0 - np.abs(y / 0.9)), 1.0)
    grid[..., 2] = 0.01 + fold * edge
    grid[..., :2] += rng.uniform(-0.10, 0.10, (11, 9, 2))
    tones = np.clip(np.array(colour) * rng.uniform(0.75, 1.1, (11, 9, 1)), 0.0, 1.0)
    b.sheet(grid, tones)
    b.tube([(-0.9, -0.3, 0.1), (-0.35, -0.1, 0.55), (0.3, 0.15, 0.62), (0.55, 0.3, 0.25)], 0.018, SILVER, 4)
    b.limb((0.1, 0.1, 0.2), (0.75, 0.95, 0.42), 0.018, 0.018, SILVER, 4)
    b.solid((-1.2, -0.8, 0.0), (1.2, 0.8, 0.3))
    b.solid_rod((-0.9, -0.3, 0.1), (0.55, 0.3, 0.55), 0.08)
    return b.model()


def _snowed_tent(colour: Colour) -> Model:
    """A ridge tent whose windward half lies under drifted snow."""
    b = MeshBuilder()
    _ridge(b, colour)
    rng = np.random.default_rng(3)
    b.foreign = True
    b.lump((0.75, 0.3, 0.0), (1.35, 1.6, 0.72), SNOW, rng, 0.07, 10, 6)
    b.lump((0.1, 1.25, 0.0), (1.5, 0.85, 0.75), SNOW, rng, 0.08, 9, 6)
    b.solid((-0.2, -0.9, 0.0), (1.7, 1.6, 0.6))
    return b.model()


TENTS: tuple[Variant, ...] = (
    *in_colours(_ridge_tent, "", "{} ridge tent", "orange blue green yellow grey red"),
    *in_colours(_dome_tent, "dome", "{} dome tent", "red yellow orange blue green white pink"),
    *in_colours(_tunnel_tent, "tunnel", "{} tunnel tent", "green orange red khaki teal"),
    *in_colours(_pyramid_tent, "pyramid", "{} pyramid tent", "orange blue lime white", held_out=True),
    *in_colours(_collapsed_tent, "collapsed", "collapsed {} tent", "orange blue yellow"),
    *in_colours(_snowed_tent, "covered", "{} tent half buried in snow", "orange yellow red"),
)


def _ring(b: MeshBuilder, radius: float, count: int, rng: np.random.Generator) -> None:
    for i in range(count):
        a = i * 2.0 * np.pi / count + rng.uniform(-0.1, 0.1)
        r = rng.uniform(0.12, 0.17)
        b.lump((radius * np.cos(a), radius * np.sin(a), 0.06), (r, 0.9 * r, 0.8 * r), STONE, rng, 0.15, 6, 4)


def _flames(b: MeshBuilder, spots: Sequence[tuple[float, float, float, float]]) -> None:
    """Tongues (x, y, radius, height), yellow at the root, red at the bent tip."""
    b.warmth = 800.0
    for k, (x, y, radius, height) in enumerate(spots):
        lean = 0.18 * height * np.array([np.cos(2.3 * k), np.sin(2.3 * k)])
        path = [
            (x, y, 0.05),
            (x, y, 0.30 * height),
            (x + 0.4 * lean[0], y + 0.4 * lean[1], 0.65 * height),
            (x + lean[0], y + lean[1], height),
        ]
        angles = np.arange(6) * (2.0 * np.pi / 6)
        rings = [
            np.array(p) + r * radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
            for p, r in zip(path, (0.8, 1.0, 0.55, 0.04), strict=True)
        ]
        b.loft(rings, [FLAME_CORE, FLAME_CORE, FLAME, (1.6, 0.32, 0.04)], 1.0)
    b.warmth = 0.0


def _logs(b: MeshBuilder, count: int, reach: float, top: float, colour: Colour) -> None:
    for i in range(count):
        a = i * 2.0 * np.pi / count + 0.4
        b.limb(
            (reach * np.cos(a), reach * np.sin(a), 0.05),
            (-0.05 * np.cos(a), -0.05 * np.sin(a), top),
            0.055,
            0.04,
            colour,
            5,
        )


def _burning() -> Model:
    """Ring of stones 1.3 m across, logs and metre-high flames."""
    b = MeshBuilder()
    _ring(b, 0.55, 8, np.random.default_rng(1))
    b.warmth = 250.0
    b.ellipsoid((0.0, 0.0, 0.0), (0.46, 0.46, 0.06), CHAR, 8, 4)
    _logs(b, 5, 0.42, 0.30, WOOD)
    _flames(
        b, [(0.0, 0.0, 0.20, 0.95), (0.18, 0.05, 0.13, 0.62), (-0.14, 0.12, 0.13, 0.70), (-0.05, -0.17, 0.12, 0.55)]
    )
    b.emit(fire(0.95))
    b.solid((-0.7, -0.7, 0.0), (0.7, 0.7, 0.2))
    b.solid((-0.25, -0.25, 0.0), (0.25, 0.25, 0.7))
    return b.model()


def _pyre() -> Model:
    """Signal fire: a tepee of long logs 1.2 m high, ablaze."""
    b = MeshBuilder()
    b.ellipsoid((0.0, 0.0, 0.0), (0.7, 0.7, 0.05), CHAR, 10, 4)
    b.warmth = 250.0
    for i in range(7):
        a = i * 0.8976
        b.limb(
            (0.55 * np.cos(a), 0.55 * np.sin(a), 0.0), (-0.1 * np.cos(a), -0.1 * np.sin(a), 1.15), 0.06, 0.04, WOOD, 5
        )
    _flames(b, [(0.0, 0.0, 0.36, 1.55), (0.24, 0.1, 0.2, 1.0), (-0.2, 0.18, 0.2, 1.1), (0.0, -0.27, 0.18, 0.85)])
    b.emit(fire(1.5))
    b.solid((-0.6, -0.6, 0.0), (0.6, 0.6, 0.5))
    b.solid((-0.3, -0.3, 0.5), (0.3, 0.3, 1.2))
    return b.model()


def _small_fire() -> Model:
    """Twigs between three stones, flames of half a metre."""
    b = MeshBuilder()
    _ring(b, 0.3, 3, np.random.default_rng(2))
    b.warmth = 200.0
    b.ellipsoid((0.0, 0.0, 0.0), (0.3, 0.3, 0.04), CHAR, 8, 4)
    _logs(b, 6, 0.32, 0.18, WOOD)
    _flames(b, [(0.0, 0.0, 0.14, 0.52), (0.09, 0.06, 0.08, 0.36), (-0.08, -0.05, 0.09, 0.40)])
    b.emit(fire(0.5))
    b.solid((-0.42, -0.42, 0.0), (0.42, 0.42, 0.2))
    return b.model()


def _long_fire() -> Model:
    """Two long logs side by side with a row of flames between them."""
    b = MeshBuilder()
    b.warmth = 200.0
    b.slab([(-0.9, -0.4), (0.9, -0.45), (0.95, 0.4), (-0.85, 0.42)], -0.05, 0.015, CHAR)
    for y in (-0.2, 0.2):
        b.limb((-0.95, y, 0.11), (0.95, 0.9 * y, 0.11), 0.12, 0.10, WOOD, 7)
    _flames(b, [(-0.55, 0.0, 0.14, 0.6), (-0.2, 0.02, 0.17, 0.85), (0.2, -0.02, 0.16, 0.75), (0.55, 0.0, 0.13, 0.55)])
    b.emit(fire(0.8))
    b.solid((-0.95, -0.32, 0.0), (0.95, 0.32, 0.25))
    return b.model()


def _ash_bed(b: MeshBuilder, colour: Colour) -> None:
    rng = np.random.default_rng(4)
    b.lump((0.0, 0.0, 0.0), (0.47, 0.47, 0.08), colour, rng, 0.12, 9, 5)
    for i in range(5):
        a = i * 1.2566 + 0.4
        far, near = 0.40 + 0.05 * (i % 2), 0.12
        b.limb(
            (far * np.cos(a), far * np.sin(a), 0.07), (near * np.cos(a), near * np.sin(a), 0.12), 0.05, 0.025, CHAR, 5
        )


def _ashes() -> Model:
    """Cold fireplace: stones, pale ash, charred ends."""
    b = MeshBuilder()
    _ring(b, 0.55, 9, np.random.default_rng(1))
    _ash_bed(b, ASH)
    b.solid((-0.7, -0.7, 0.0), (0.7, 0.7, 0.2))
    return b.model()


def _embers() -> Model:
    """Fireplace that still glows and smokes."""
    b = MeshBuilder()
    _ring(b, 0.55, 9, np.random.default_rng(7))
    b.warmth = 180.0
    _ash_bed(b, shade(ASH, 0.5))
    for k in range(6):
        a = k * 1.05
        b.ellipsoid((0.2 * np.cos(a), 0.17 * np.sin(a), 0.07), (0.07, 0.05, 0.025), (1.4, 0.22, 0.03), 5, 3, 1.0)
    b.emit(embers(0.1))
    b.solid((-0.7, -0.7, 0.0), (0.7, 0.7, 0.2))
    return b.model()


def _burnt_patch() -> Model:
    """Scorched ground without stones: black earth, ash, half-burnt branches."""
    b = MeshBuilder()
    rng = np.random.default_rng(6)
    a = np.arange(11) * (2.0 * np.pi / 11)
    r = 0.75 * rng.uniform(0.75, 1.1, 11)
    b.slab(np.stack([r * np.cos(a), 0.85 * r * np.sin(a)], axis=1), -0.05, 0.02, CHAR)
    b.lump((0.05, 0.0, 0.02), (0.36, 0.30, 0.05), ASH, rng, 0.15, 8, 4)
    for x, y, yaw in ((0.35, 0.2, 0.4), (-0.3, 0.25, 2.2), (-0.1, -0.4, 5.0), (0.4, -0.25, 5.6)):
        c, s = 0.28 * np.cos(yaw), 0.28 * np.sin(yaw)
        b.limb((x - 0.4 * c, y - 0.4 * s, 0.05), (x, y, 0.06), 0.04, 0.045, CHAR, 5)
        b.limb((x, y, 0.06), (x + c, y + s, 0.05), 0.045, 0.05, WOOD, 5)
    b.solid((-0.7, -0.6, 0.0), (0.7, 0.6, 0.1))
    return b.model()


def _covered_ashes() -> Model:
    """Fireplace half filled with blown earth."""
    b = MeshBuilder()
    _ring(b, 0.55, 9, np.random.default_rng(1))
    _ash_bed(b, shade(ASH, 0.6))
    b.foreign = True
    b.lump((0.3, 0.25, 0.0), (0.5, 0.45, 0.14), EARTH, np.random.default_rng(2), 0.1, 9, 5)
    b.solid((-0.7, -0.7, 0.0), (0.7, 0.7, 0.2))
    return b.model()


CAMPFIRES: tuple[Variant, ...] = (
    one("burning", "orange", "burning campfire", _burning),
    one("ashes", "grey", "cold campfire with ashes", _ashes),
    one("pyre_burning", "orange", "large burning signal fire", _pyre),
    one("small_burning", "orange", "small burning campfire", _small_fire),
    one("embers", "grey", "smouldering campfire", _embers),
    one("long_burning", "orange", "burning fire between two logs", _long_fire, True),
    one("burnt_patch", "black", "burnt patch of a fire", _burnt_patch, True),
    one("ashes_covered", "grey", "old fireplace half covered with earth", _covered_ashes),
)
