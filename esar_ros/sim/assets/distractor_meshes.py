"""Things of the colours and sizes of clues that are none: stones, wood, shrubs, rubbish, barrels, tarpaulins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, SILVER, SNOW, STONE, WOOD, mix, shade
from esar_ros.sim.assets.variants import Variant, in_colours, one


def _rock(colour: Colour, size: tuple[float, float, float], seed: int) -> Callable[[], Model]:
    """Boulder of half extents (m), partly sunk."""

    def make() -> Model:
        b = MeshBuilder()
        rng = np.random.default_rng(seed)
        b.lump((0.0, 0.0, 0.35 * size[2]), size, colour, rng, 0.18, 9, 6, faceted=True)
        x, y, z = size
        b.solid((-0.9 * x, -0.9 * y, 0.0), (0.9 * x, 0.9 * y, 0.9 * z))
        b.solid((-0.6 * x, -0.6 * y, 0.0), (0.6 * x, 0.6 * y, 1.25 * z))
        return b.model()

    return make


def _log(bark: Colour, length: float, radius: float) -> Callable[[], Model]:
    """Fallen trunk with stubs of branches and pale ends."""

    def make() -> Model:
        b = MeshBuilder()
        half = length / 2
        bend = 0.06 * length
        x = np.linspace(-half, half, 6)
        path = np.stack([x, bend * (x / half) ** 2 - 0.5 * bend, np.full(6, 0.9 * radius)], axis=1)
        b.body(path, radius * np.linspace(1.1, 0.75, 6), radius * np.linspace(1.1, 0.75, 6), bark, 8)
        for end, r in ((-half, 1.0), (half, 0.68)):
            s = float(np.sign(end))
            y = 0.5 * bend
            b.limb(
                (end, y, 0.9 * radius),
                (end + 0.015 * s, y, 0.9 * radius),
                r * radius,
                r * radius,
                (0.42, 0.30, 0.17),
                8,
            )
        for k, share in enumerate((-0.4, 0.05, 0.5)):
            foot = np.array([share * half, 0.0, 1.4 * radius])
            b.limb(foot, foot + [0.12, (0.25, -0.3, 0.2)[k], 0.28], 0.3 * radius, 0.12 * radius, bark, 5)
        b.solid((-half, -radius - 0.3 * bend, 0.0), (half, radius + 0.3 * bend, 1.8 * radius))
        return b.model()

    return make


def _stump() -> Model:
    """Tree stump, 0.45 m high, with roots."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.42), 0.30, 0.24, WOOD, 9)
    b.limb((0.0, 0.0, 0.415), (0.0, 0.0, 0.44), 0.235, 0.23, (0.40, 0.28, 0.16), 9)
    for a in (0.3, 1.6, 2.9, 4.4, 5.3):
        b.limb((0.2 * np.cos(a), 0.2 * np.sin(a), 0.14), (0.52 * np.cos(a), 0.52 * np.sin(a), 0.0), 0.09, 0.03, WOOD, 5)
    b.solid((-0.28, -0.28, 0.0), (0.28, 0.28, 0.44))
    return b.model()


def _bush(leaf: Colour, size: float, seed: int, berry: Colour | None = None) -> Callable[[], Model]:
    """Shrub of several leafy lumps, of a height in m."""

    def make() -> Model:
        b = MeshBuilder()
        rng = np.random.default_rng(seed)
        for k in range(6):
            a = k * 1.05 + 0.3
            r = size * float(rng.uniform(0.30, 0.42))
            reach = 0.0 if k == 5 else 0.42 * size
            z = 0.66 * size if k == 5 else 0.38 * size
            tone = shade(leaf, float(rng.uniform(0.7, 1.35)))
            b.lump((reach * np.cos(a), reach * np.sin(a), z), (r, r, 0.9 * r), tone, rng, 0.3, 8, 5, faceted=True)
        for _ in range(14 if berry else 0):
            d = rng.normal(size=3)
            d /= np.linalg.norm(d)
            at = np.array([0.0, 0.0, 0.5 * size]) + 0.68 * size * np.abs(d) * np.sign([d[0], d[1], 1.0]) * [
                1.0,
                1.0,
                0.6,
            ]
            b.ellipsoid(at, np.full(3, 0.05 * size), berry or leaf, 5, 3)
        b.solid((-0.6 * size, -0.6 * size, 0.0), (0.6 * size, 0.6 * size, 0.9 * size))
        return b.model()

    return make


def _sack(colour: Colour) -> Model:
    """Knotted rubbish bag, 0.6 m."""
    b = MeshBuilder()
    b.lump((0.0, 0.0, 0.22), (0.32, 0.28, 0.26), colour, np.random.default_rng(6), 0.13, 9, 7)
    b.limb((0.03, 0.02, 0.44), (0.05, 0.03, 0.54), 0.06, 0.03, colour, 6)
    b.limb((0.05, 0.03, 0.52), (0.08, 0.05, 0.62), 0.03, 0.09, shade(colour, 0.8), 6)
    b.solid((-0.28, -0.25, 0.0), (0.28, 0.25, 0.46))
    return b.model()


def _crate(colour: Colour) -> Model:
    """Plastic fish crate, 0.6 x 0.4 m, open above."""
    b = MeshBuilder()
    b.box((0.0, 0.0, 0.02), (0.30, 0.20, 0.02), shade(colour, 0.6))
    for x, y, hx, hy in (
        (0.29, 0.0, 0.015, 0.2),
        (-0.29, 0.0, 0.015, 0.2),
        (0.0, 0.19, 0.3, 0.015),
        (0.0, -0.19, 0.3, 0.015),
    ):
        for z in (0.07, 0.15, 0.23):
            b.box((x, y, z), (hx, hy, 0.03), colour)
    b.solid((-0.3, -0.2, 0.0), (0.3, 0.2, 0.26))
    return b.model()


def _scrap() -> Model:
    """Torn plastic sheet, a cardboard box and cans."""
    b = MeshBuilder()
    rng = np.random.default_rng(14)
    b.box((0.25, 0.15, 0.12), (0.22, 0.16, 0.12), (0.34, 0.24, 0.13), 0.5)
    x, y = np.meshgrid(np.linspace(-0.6, 0.0, 5), np.linspace(-0.3, 0.3, 4), indexing="ij")
    grid = np.stack(
        [
            x + rng.uniform(-0.05, 0.05, x.shape),
            y + rng.uniform(-0.05, 0.05, x.shape),
            rng.uniform(0.02, 0.16, x.shape),
        ],
        axis=-1,
    )
    b.sheet(grid, (0.55, 0.58, 0.60))
    for cx, cy, tone in ((0.05, -0.35, COLOURS["red"]), (0.2, -0.25, SILVER), (-0.15, 0.42, COLOURS["blue"])):
        b.limb((cx, cy, 0.035), (cx + 0.1, cy + 0.05, 0.035), 0.033, 0.033, tone, 7)
    b.solid((0.0, -0.05, 0.0), (0.5, 0.35, 0.24))
    return b.model()


def _tarp(colour: Colour) -> Model:
    """Tarpaulin 3 x 2 m on the ground, weighted with stones."""
    b = MeshBuilder()
    b.limp = True
    rng = np.random.default_rng(15)
    x, y = np.linspace(-1.5, 1.5, 10), np.linspace(-1.0, 1.0, 8)
    grid = np.empty((10, 8, 3))
    grid[..., 0], grid[..., 1] = x[:, None], y[None, :]
    grid[..., 2] = 0.06 + 0.05 * np.sin(3.0 * x)[:, None] * np.cos(4.0 * y)[None, :] + rng.uniform(-0.02, 0.02, (10, 8))
    b.sheet(grid, np.clip(np.array(colour) * rng.uniform(0.85, 1.1, (10, 8, 1)), 0.0, 1.0), under=shade(colour, 0.6))
    for px, py in ((-1.35, -0.85), (-1.35, 0.85), (1.35, -0.85), (1.35, 0.85), (0.1, 0.2)):
        b.lump((px, py, 0.13), (0.14, 0.11, 0.10), STONE, rng, 0.15, 6, 4, faceted=True)
    b.solid((-1.5, -1.0, 0.0), (1.5, 1.0, 0.12))
    return b.model()


def _woodpile_tarp(colour: Colour) -> Model:
    """Stack of wood under a tarpaulin, 1.8 x 1 m, 0.9 m high."""
    b = MeshBuilder()
    for row in range(3):
        for k in range(4 - row):
            y = -0.34 + 0.23 * k + 0.115 * row
            b.limb((-0.95, y, 0.12 + 0.2 * row), (0.95, y, 0.12 + 0.2 * row), 0.115, 0.11, WOOD, 6)
            b.limb((0.94, y, 0.12 + 0.2 * row), (0.955, y, 0.12 + 0.2 * row), 0.10, 0.10, (0.40, 0.28, 0.16), 6)
    arch = np.array([(-0.56, 0.22), (-0.40, 0.52), (0.0, 0.82), (0.40, 0.52), (0.56, 0.22)])
    grid = np.array([[(x, y, z) for y, z in arch] for x in (-0.85, 0.0, 0.85)])
    b.sheet(grid, colour, under=shade(colour, 0.6), thick=0.02)
    b.solid((-0.95, -0.5, 0.0), (0.95, 0.5, 0.5))
    b.solid((-0.95, -0.25, 0.5), (0.95, 0.25, 0.8))
    return b.model()


def _drum(colour: Colour) -> Model:
    """200 l oil drum standing, 0.88 m high."""
    b = MeshBuilder()
    b.limb((0.0, 0.0, 0.0), (0.0, 0.0, 0.88), 0.285, 0.285, colour, 14)
    for z in (0.02, 0.30, 0.58, 0.86):
        b.limb((0.0, 0.0, z - 0.018), (0.0, 0.0, z + 0.018), 0.30, 0.30, shade(colour, 0.75), 14)
    b.limb((0.12, 0.10, 0.87), (0.12, 0.10, 0.90), 0.04, 0.04, BLACK, 6)
    b.solid((-0.28, -0.28, 0.0), (0.28, 0.28, 0.89))
    return b.model()


def _fallen_drum(colour: Colour) -> Model:
    """The same drum on its side, rusty at the ends."""
    b = MeshBuilder()
    rust = mix(colour, (0.18, 0.06, 0.02), 0.7)
    b.limb((-0.44, 0.0, 0.29), (0.44, 0.0, 0.29), 0.285, 0.285, colour, 14)
    for x in (-0.42, -0.14, 0.14, 0.42):
        b.limb((x - 0.02, 0.0, 0.29), (x + 0.02, 0.0, 0.29), 0.30, 0.30, rust, 14)
    b.solid((-0.44, -0.28, 0.0), (0.44, 0.28, 0.57))
    return b.model()


def _salt(tall: float, seed: int) -> Callable[[], Model]:
    """Heaved plates of salt crust, of a height in m."""

    def make() -> Model:
        b = MeshBuilder()
        rng = np.random.default_rng(seed)
        for k in range(7):
            x, y = rng.uniform(-0.75, 0.75, 2) * tall
            half = np.array([rng.uniform(0.22, 0.42), rng.uniform(0.16, 0.32), rng.uniform(0.05, 0.09)]) * tall
            tone = shade((0.66, 0.63, 0.58), float(rng.uniform(0.75, 1.15)))
            height = (0.35 - 0.25 * np.hypot(x, y) / tall) * tall
            b.box((x, y, height), half, tone, float(rng.uniform(0.0, 6.28)), float(rng.uniform(0.1, 1.2)) * (-1) ** k)
        b.lump(
            (0.0, 0.0, 0.08 * tall), (0.8 * tall, 0.7 * tall, 0.30 * tall), (0.56, 0.53, 0.48), rng, 0.22, 8, 5, True
        )
        b.solid((-0.7 * tall, -0.7 * tall, 0.0), (0.7 * tall, 0.7 * tall, 0.5 * tall))
        return b.model()

    return make


def _buoy(colour: Colour) -> Model:
    """Fishing float washed ashore, 0.4 m, with a tail of line."""
    b = MeshBuilder()
    b.ellipsoid((0.0, 0.0, 0.19), (0.21, 0.21, 0.20), colour, 10, 7)
    b.limb((0.0, 0.0, 0.36), (0.0, 0.0, 0.47), 0.05, 0.04, BLACK, 7)
    b.tube(
        [(0.0, 0.0, 0.45), (0.2, 0.1, 0.2), (0.4, 0.05, 0.02), (0.6, 0.25, 0.015), (0.9, 0.15, 0.015)],
        0.012,
        (0.05, 0.20, 0.16),
        4,
    )
    b.solid((-0.2, -0.2, 0.0), (0.2, 0.2, 0.45))
    return b.model()


def _tyre() -> Model:
    """Car tyre lying, 0.65 m across."""
    b = MeshBuilder()
    u = np.linspace(0.0, 2.0 * np.pi, 17)
    b.tube(np.stack([0.24 * np.cos(u), 0.24 * np.sin(u), np.full(17, 0.09)], axis=1), 0.09, BLACK, 7)
    b.solid((-0.33, -0.33, 0.0), (0.33, 0.33, 0.18))
    return b.model()


def _patch(colour: Colour, seed: int) -> Callable[[], Model]:
    """Flat patch of lichen, flowers or old snow on the ground, 1.4 m across."""

    def make() -> Model:
        b = MeshBuilder()
        rng = np.random.default_rng(seed)
        for _ in range(6):
            x, y = rng.uniform(-0.45, 0.45, 2)
            r = float(rng.uniform(0.15, 0.35))
            b.lump((x, y, 0.0), (r, 0.8 * r, 0.07), shade(colour, float(rng.uniform(0.75, 1.2))), rng, 0.2, 8, 4)
        b.solid((-0.6, -0.6, 0.0), (0.6, 0.6, 0.04))
        return b.model()

    return make


_LEAF: Colour = (0.055, 0.085, 0.030)
THINGS: dict[str, tuple[Variant, ...]] = {
    "rock": (
        one("grey", "grey", "grey boulder", _rock(STONE, (0.55, 0.42, 0.38), 1)),
        one("red", "red", "reddish boulder", _rock((0.30, 0.10, 0.06), (0.50, 0.45, 0.40), 2)),
        one("white", "white", "white quartz boulder", _rock((0.62, 0.61, 0.58), (0.45, 0.40, 0.32), 3)),
        one("orange", "orange", "boulder orange with lichen", _rock((0.45, 0.19, 0.04), (0.60, 0.45, 0.45), 4)),
        one("black", "black", "black boulder", _rock((0.035, 0.035, 0.04), (0.50, 0.50, 0.42), 5)),
        one("long_brown", "brown", "long brown boulder", _rock((0.16, 0.11, 0.07), (0.95, 0.33, 0.26), 6)),
        one("long_blue", "blue-grey", "long blue-grey boulder", _rock((0.12, 0.15, 0.20), (0.90, 0.35, 0.28), 7), True),
    ),
    "log": (
        one("brown", "brown", "fallen log", _log(WOOD, 2.4, 0.15)),
        one("grey", "grey", "weathered grey log", _log((0.24, 0.23, 0.21), 1.9, 0.12)),
        one("thick", "brown", "thick fallen trunk", _log((0.07, 0.045, 0.03), 3.4, 0.27)),
        one("birch", "white", "birch log", _log((0.50, 0.48, 0.44), 1.8, 0.11), True),
        one("stump", "brown", "tree stump", _stump),
    ),
    "bush": (
        one("green", "green", "green bush", _bush(_LEAF, 0.9, 1)),
        one("red", "red", "bush red in autumn", _bush((0.28, 0.05, 0.03), 0.8, 2)),
        one("yellow", "yellow", "bush yellow in autumn", _bush((0.42, 0.28, 0.04), 0.9, 3)),
        one("dry", "brown", "dry bush", _bush((0.20, 0.15, 0.09), 0.7, 4)),
        one("berry", "green", "bush with orange berries", _bush(_LEAF, 0.9, 5, COLOURS["orange"]), True),
    ),
    "rubbish": (
        *in_colours(_sack, "bag", "{} rubbish bag", "black blue white pink"),
        *in_colours(_crate, "crate", "{} fish crate", "blue yellow red"),
        one("scrap", "grey", "scraps of plastic, cardboard and cans", _scrap),
        one("tyre", "black", "old tyre", _tyre),
        *in_colours(_buoy, "buoy", "{} fishing float", "orange white lime"),
    ),
    "tarp": (
        *in_colours(_tarp, "", "{} tarpaulin weighted with stones", "blue orange green silver teal"),
        *in_colours(_woodpile_tarp, "woodpile", "woodpile under a {} tarpaulin", "blue green orange", held_out=True),
    ),
    "drum": (
        *in_colours(_drum, "", "{} oil drum", "blue red yellow grey lime"),
        *in_colours(_fallen_drum, "fallen", "{} oil drum on its side", "blue red brown"),
    ),
    "salt": (
        one("block", "white", "heaved block of salt crust", _salt(0.7, 1)),
        one("low", "white", "low ridge of salt crust", _salt(0.4, 2)),
        one("tall", "white", "tall block of salt crust", _salt(1.1, 3), True),
    ),
    "patch": (
        one("lichen", "orange", "patch of orange lichen", _patch((0.42, 0.20, 0.04), 1)),
        one("flowers", "yellow", "patch of yellow flowers", _patch((0.55, 0.45, 0.05), 2)),
        one("pink_flowers", "pink", "patch of pink flowers", _patch((0.50, 0.15, 0.28), 3), True),
        one("snow", "white", "patch of old snow", _patch(SNOW, 4)),
    ),
}
