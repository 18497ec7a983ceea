"""Tools and fittings of gardens and farmyards."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, EARTH, STONE, WOOD, shade


def _tray(b: Parts, low: tuple[float, float, float], high: tuple[float, float, float], finish: Finish) -> None:
    """Open box with flaring walls."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    flare = 0.12
    rings = []
    for grow, z in ((0.0, z0), (flare, z1), (flare - 0.03, z1), (-0.02, z0 + 0.03)):
        rings.append(
            [(x0 - grow, y0 - grow, z), (x1 + grow, y0 - grow, z), (x1 + grow, y1 + grow, z), (x0 - grow, y1 + grow, z)]
        )
    b.loft(rings, [shade(finish.tone, 0.8), finish.tone, finish.tone, shade(finish.tone, 0.65)])


def _wheelbarrow(full: bool, finish: Finish) -> Model:
    """Wheelbarrow, 1.5 m long, its wheel at +x; full: of earth."""
    b = Parts()
    _tray(b, (-0.3, -0.2, 0.34), (0.36, 0.2, 0.62), finish)
    for s in (-1.0, 1.0):
        b.rods([(-0.82, s * 0.3, 0.55), (-0.3, s * 0.22, 0.32), (0.6, s * 0.06, 0.2)], 0.022, WOOD)
        b.rod((-0.28, s * 0.24, 0.0), (-0.2, s * 0.22, 0.34), 0.02, DARK)
    b.wheel((0.6, 0.0, 0.2), 0.2, 0.09, COLOURS["silver"])
    if full:
        b.lump((0.04, 0.0, 0.6), (0.4, 0.26, 0.2), EARTH, np.random.default_rng(2), 0.12, 10, 6)
    b.solid((-0.42, -0.3, 0.0), (0.8, 0.3, 0.7))
    return b.model()


def _handcart(finish: Finish) -> Model:
    """Four-wheeled hand cart with boarded sides, 1.3 m long, its pole at +x."""
    b = Parts()
    b.boards((-0.65, -0.36, 0.42), (0.65, 0.36, 0.47), finish, 4)
    for s in (-1.0, 1.0):
        for z in (0.56, 0.7):
            b.block((-0.65, s * 0.36 - 0.015, z - 0.055), (0.65, s * 0.36 + 0.015, z + 0.055), finish.tone)
            b.block((s * 0.65 - 0.015, -0.36, z - 0.055), (s * 0.65 + 0.015, 0.36, z + 0.055), shade(finish.tone, 0.85))
        for x in (-0.42, 0.42):
            b.wheel((x, s * 0.42, 0.24), 0.24, 0.07, shade(finish.tone, 0.7), True)
    b.rods([(0.5, 0.0, 0.35), (1.1, 0.0, 0.5), (1.35, 0.0, 0.95)], 0.025, WOOD)
    b.rod((1.35, -0.15, 0.95), (1.35, 0.15, 0.95), 0.022, WOOD)
    b.solid((-0.66, -0.44, 0.0), (0.66, 0.44, 0.77))
    b.solid_rod((0.6, 0.0, 0.4), (1.35, 0.0, 0.95), 0.04)
    return b.model()


def _two_wheeled_cart(finish: Finish) -> Model:
    """Farm cart on two spoked wheels, its shafts on the ground, 3.2 m long."""
    b = Parts()
    b.boards((-0.9, -0.6, 0.7), (0.9, 0.6, 0.76), finish, 6)
    for s in (-1.0, 1.0):
        for z in (0.86, 1.06):
            b.block((-0.9, s * 0.6 - 0.02, z - 0.06), (0.9, s * 0.6 + 0.02, z + 0.06), finish.tone)
        for x in (-0.85, 0.0, 0.85):
            b.block((x - 0.04, s * 0.64 - 0.03, 0.7), (x + 0.04, s * 0.64 + 0.03, 1.14), shade(finish.tone, 0.75))
        b.wheel((-0.05, s * 0.76, 0.55), 0.55, 0.09, shade(finish.tone, 0.7), True)
        b.rod((0.6, s * 0.5, 0.68), (2.3, s * 0.42, 0.05), 0.045, shade(finish.tone, 0.8))
        b.solid_rod((0.6, s * 0.5, 0.68), (2.3, s * 0.42, 0.05), 0.05)
    b.rod((-0.05, -0.76, 0.55), (-0.05, 0.76, 0.55), 0.05, DARK)
    b.solid((-0.9, -0.66, 0.45), (0.9, 0.66, 1.14))
    b.solid((-0.5, -0.82, 0.0), (0.4, 0.82, 0.9))
    return b.model()


def _hay_bale(finish: Finish) -> Model:
    """Round bale on its rim, 1.3 m across, 1.2 m wide."""
    b = Parts()
    b.rod((0.0, -0.6, 0.64), (0.0, 0.6, 0.64), 0.65, finish.tone, 20)
    for k, r in enumerate((0.5, 0.34, 0.18)):
        tone = shade(finish.tone, 0.75 if k % 2 == 0 else 1.0)
        b.rod((0.0, -0.61 - 0.005 * k, 0.64), (0.0, 0.61 + 0.005 * k, 0.64), r, tone, 16)
    for y in (-0.3, 0.0, 0.3):
        b.rod((0.0, y - 0.02, 0.64), (0.0, y + 0.02, 0.64), 0.66, shade(finish.tone, 0.8), 20)
    b.solid((-0.55, -0.6, 0.0), (0.55, 0.6, 1.28))
    return b.model()


def _bale_stack(finish: Finish) -> Model:
    """Six square bales in a stack, 1.9 m long."""
    b = Parts()
    rng = np.random.default_rng(8)
    for layer, places in ((0, (-0.65, 0.0, 0.65)), (1, (-0.33, 0.33)), (2, (0.0,))):
        for y in places:
            tone = shade(finish.tone, float(rng.uniform(0.8, 1.1)))
            low, high = (-0.45, y - 0.31, 0.42 * layer), (0.45, y + 0.31, 0.42 * layer + 0.41)
            b.block(low, high, tone)
            for x in (-0.2, 0.2):
                b.block((x - 0.012, y - 0.315, low[2]), (x + 0.012, y + 0.315, high[2] + 0.005), shade(tone, 0.4))
    b.solid((-0.46, -0.97, 0.0), (0.46, 0.97, 0.42))
    b.solid((-0.46, -0.64, 0.42), (0.46, 0.64, 0.84))
    b.solid((-0.46, -0.31, 0.84), (0.46, 0.31, 1.25))
    return b.model()


def _scarecrow(trousers: str, finish: Finish) -> Model:
    """Scarecrow with outstretched arms and a hat, 1.9 m high; its coat has the finish's colour."""
    b = Parts()
    straw = (0.52, 0.40, 0.15)
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 1.5), 0.03, WOOD)
    b.rod((0.0, -0.85, 1.36), (0.0, 0.85, 1.36), 0.025, WOOD)
    b.body([(0.0, 0.0, 0.8), (0.0, 0.0, 1.1), (0.0, 0.0, 1.45)], [0.2, 0.19, 0.22], [0.14, 0.13, 0.12], finish.tone, 10)
    for s in (-1.0, 1.0):
        b.limb((0.0, s * 0.16, 1.38), (0.0, s * 0.72, 1.3), 0.11, 0.13, finish.tone, 8)
        b.limb((0.0, s * 0.7, 1.33), (0.0, s * 0.9, 1.33), 0.05, 0.08, straw, 6)
        b.limb((0.0, s * 0.1, 0.85), (0.0, s * 0.14, 0.3), 0.11, 0.12, COLOURS[trousers], 8)
        b.limb((0.0, s * 0.14, 0.32), (0.0, s * 0.15, 0.18), 0.05, 0.08, straw, 6)
    b.ellipsoid((0.0, 0.0, 1.62), (0.14, 0.14, 0.16), (0.46, 0.36, 0.22), 10, 7)
    b.rod((0.0, 0.0, 1.72), (0.0, 0.0, 1.74), 0.26, BLACK, 12)
    b.limb((0.0, 0.0, 1.73), (0.0, 0.0, 1.92), 0.15, 0.12, BLACK, 10)
    b.solid((-0.2, -0.3, 0.0), (0.2, 0.3, 1.9))
    b.solid((-0.12, -0.9, 1.2), (0.12, 0.9, 1.46))
    return b.model()


def _hive(finish: Finish) -> Model:
    """Beehive of three boxes under a flat roof, 1.0 m high."""
    b = Parts()
    b.legs(0.2, 0.2, 0.22, 0.03, WOOD)
    for k in range(3):
        b.block((-0.25, -0.25, 0.2 + 0.22 * k), (0.25, 0.25, 0.41 + 0.22 * k), shade(finish.tone, (1.0, 0.86)[k % 2]))
    b.block((0.25, -0.2, 0.22), (0.34, 0.2, 0.24), WOOD)
    b.block((0.25, -0.12, 0.25), (0.255, 0.12, 0.28), BLACK)
    b.block((-0.29, -0.29, 0.86), (0.29, 0.29, 0.96), STEEL)
    b.solid((-0.29, -0.29, 0.0), (0.34, 0.29, 0.96))
    return b.model()


def _skep(finish: Finish) -> Model:
    """Domed hive of coiled straw on a stand, 0.95 m high."""
    b = Parts()
    b.block((-0.32, -0.32, 0.36), (0.36, 0.32, 0.4), WOOD)
    b.legs(0.26, 0.26, 0.36, 0.03, WOOD, 0.04)
    for k in range(6):
        r = 0.28 * np.cos(0.24 * k) ** 0.7 if k < 5 else 0.08
        b.turned([(0.9 * r, 0.4 + 0.09 * k), (r, 0.445 + 0.09 * k), (0.88 * r, 0.49 + 0.09 * k)],
                 shade(finish.tone, (1.0, 0.8)[k % 2]), 14)  # fmt: skip
    b.ellipsoid((0.27, 0.0, 0.46), (0.03, 0.06, 0.05), BLACK, 8, 5)
    b.solid((-0.32, -0.32, 0.0), (0.36, 0.32, 0.92))
    return b.model()


def _saw_horse(finish: Finish) -> Model:
    """Trestle: a beam on four splayed legs, 1.1 m long."""
    b = Parts()
    b.block((-0.06, -0.55, 0.72), (0.06, 0.55, 0.8), finish.tone)
    for y in (-0.45, 0.45):
        for s in (-1.0, 1.0):
            b.rod((s * 0.3, y, 0.0), (s * 0.05, y, 0.74), 0.03, shade(finish.tone, 0.8), 5)
        b.block((-0.2, y - 0.015, 0.25), (0.2, y + 0.015, 0.3), finish.tone)
    b.solid((-0.1, -0.55, 0.5), (0.1, 0.55, 0.8))
    b.solid((-0.28, -0.5, 0.0), (0.28, 0.5, 0.5))
    return b.model()


def _saw_buck(finish: Finish) -> Model:
    """Two crossed pairs of legs that hold a log, 1.0 m long."""
    b = Parts()
    for y in (-0.35, 0.35):
        for s in (-1.0, 1.0):
            b.rod((s * 0.32, y, 0.0), (-s * 0.26, y + 0.05 * s, 0.95), 0.035, finish.tone, 5)
    for s in (-1.0, 1.0):
        b.rod((s * 0.2, -0.4, 0.2), (s * 0.2, 0.4, 0.2), 0.025, shade(finish.tone, 0.8), 5)
    b.rod((0.0, -0.6, 0.72), (0.0, 0.6, 0.72), 0.12, (0.075, 0.05, 0.032), 10)
    b.rod((0.0, -0.61, 0.72), (0.0, 0.61, 0.72), 0.1, (0.44, 0.32, 0.19), 10)
    b.solid((-0.3, -0.42, 0.0), (0.3, 0.42, 0.6))
    b.solid((-0.12, -0.6, 0.58), (0.12, 0.6, 0.9))
    return b.model()


def _step_ladder(finish: Finish) -> Model:
    """Step ladder standing open, 1.9 m high."""
    b = Parts()
    for y, top in ((-0.3, -0.2), (0.3, 0.2)):
        b.rod((0.55, y, 0.0), (0.03, top, 1.85), 0.03, finish.tone)
        b.rod((-0.5, y, 0.0), (-0.03, top, 1.85), 0.025, shade(finish.tone, 0.8))
    for k in range(1, 7):
        u = k / 7.0
        half = 0.3 - 0.1 * u
        x, z = 0.55 - 0.52 * u, 1.85 * u
        b.block((x - 0.06, -half, z - 0.015), (x + 0.06, half, z + 0.015), finish.tone)
    b.block((-0.12, -0.24, 1.84), (0.12, 0.24, 1.88), shade(finish.tone, 0.7))
    b.solid_rod((0.55, 0.0, 0.0), (0.03, 0.0, 1.85), 0.22)
    b.solid_rod((-0.5, 0.0, 0.0), (-0.03, 0.0, 1.85), 0.2)
    return b.model()


def _orchard_ladder(finish: Finish) -> Model:
    """Ladder lying on the ground, 3.6 m long."""
    b = Parts()
    for s in (-1.0, 1.0):
        b.rod((-1.8, s * 0.25, 0.05), (1.8, s * 0.18, 0.05), 0.035, finish.tone)
    for k in range(10):
        x = -1.6 + 0.355 * k
        b.rod((x, -0.23, 0.05), (x, 0.23, 0.05), 0.02, shade(finish.tone, 0.85), 5)
    b.solid((-1.8, -0.28, 0.0), (1.8, 0.28, 0.09))
    return b.model()


def _pump(finish: Finish) -> Model:
    """Hand pump with a long lever over a stone basin, 1.4 m high."""
    b = Parts()
    b.turned([(0.09, 0.0), (0.08, 0.9), (0.11, 0.95), (0.11, 1.12), (0.04, 1.25)], finish.tone, 12)
    b.limb((0.06, 0.0, 0.85), (0.32, 0.0, 0.78), 0.04, 0.03, finish.tone, 8)
    b.rods([(0.0, 0.0, 1.2), (-0.2, 0.0, 1.32), (-0.55, 0.0, 0.75)], 0.022, shade(finish.tone, 0.8))
    b.block((0.12, -0.3, 0.0), (0.75, 0.3, 0.34), STONE)
    b.block((0.18, -0.24, 0.34), (0.69, 0.24, 0.345), (0.03, 0.07, 0.09))
    b.solid((-0.1, -0.1, 0.0), (0.1, 0.1, 1.3))
    b.solid((0.12, -0.3, 0.0), (0.75, 0.3, 0.34))
    return b.model()


def _draw_well(finish: Finish) -> Model:
    """Round well of stone under a little roof in the finish's colour, 2.3 m high."""
    b = Parts()
    b.turned([(0.72, 0.0), (0.72, 0.8), (0.55, 0.8), (0.55, 0.5)], STONE, 14)
    for z in (0.26, 0.52):
        b.hoop((0.0, 0.0, z), 0.725, 0.015, shade(STONE, 0.6), 14)
    for y in (-0.62, 0.62):
        b.block((-0.06, y - 0.06, 0.7), (0.06, y + 0.06, 1.9), WOOD)
    b.rod((0.0, -0.62, 1.3), (0.0, 0.62, 1.3), 0.07, WOOD)
    for s in (-1.0, 1.0):
        b.sheet(
            [[(s * 0.75, -0.85, 1.75), (0.0, -0.85, 2.3)], [(s * 0.75, 0.85, 1.75), (0.0, 0.85, 2.3)]][:: int(-s)],
            finish.tone,
            thick=0.05,
        )
    b.solid((-0.7, -0.7, 0.0), (0.7, 0.7, 0.8))
    b.solid((-0.1, -0.68, 0.8), (0.1, 0.68, 1.8))
    b.solid((-0.7, -0.85, 1.75), (0.7, 0.85, 2.1))
    return b.model()


def _watering_can(finish: Finish) -> Model:
    """Watering can with a rose, 0.62 m long."""
    b = Parts()
    b.turned([(0.13, 0.0), (0.13, 0.27), (0.1, 0.29)], finish.tone, 14)
    b.limb((0.11, 0.0, 0.05), (0.4, 0.0, 0.34), 0.03, 0.018, finish.tone, 7)
    b.limb((0.39, 0.0, 0.33), (0.44, 0.0, 0.38), 0.02, 0.06, shade(finish.tone, 0.8), 10)
    arc = np.linspace(-1.2, 1.5, 9)
    b.tube(np.stack([-0.1 - 0.1 * np.cos(arc), 0.0 * arc, 0.2 + 0.15 * np.sin(arc)], axis=1), 0.014, finish.tone, 5)
    return b.model()


def _kennel(finish: Finish) -> Model:
    """Dog house with a gabled roof and a round door at +x, 1.1 m long."""
    b = Parts()
    house = [(-0.4, 0.0), (0.4, 0.0), (0.4, 0.62), (0.0, 0.95), (-0.4, 0.62)]
    ring = np.array([(0.0, y, z) for y, z in house])
    b.loft([ring + [-0.5, 0.0, 0.0], ring + [0.5, 0.0, 0.0]], finish.tone)
    for s in (-1.0, 1.0):
        b.sheet(
            [[(-0.6, s * 0.52, 0.54), (-0.6, 0.0, 1.0)], [(0.62, s * 0.52, 0.54), (0.62, 0.0, 1.0)]][:: int(s)],
            shade(finish.tone, 0.35),
            thick=0.04,
        )
    b.ellipsoid((0.5, 0.0, 0.34), (0.015, 0.19, 0.26), BLACK, 14, 8)
    b.solid((-0.5, -0.42, 0.0), (0.5, 0.42, 0.65))
    b.solid((-0.58, -0.3, 0.65), (0.6, 0.3, 0.98))
    return b.model()


def _push_mower(finish: Finish) -> Model:
    """Motor mower with a long handle, 1.6 m long."""
    b = Parts()
    b.block((-0.3, -0.26, 0.12), (0.32, 0.26, 0.26), finish.tone)
    b.turned([(0.14, 0.26), (0.14, 0.38), (0.09, 0.42)], DARK, 12)
    for x in (-0.26, 0.28):
        for s in (-1.0, 1.0):
            b.wheel((x, s * 0.29, 0.11), 0.11, 0.06, COLOURS["white"])
    b.rods([(-0.28, -0.22, 0.24), (-1.15, -0.22, 1.0), (-1.15, 0.22, 1.0), (-0.28, 0.22, 0.24)], 0.016, STEEL)
    b.solid((-0.32, -0.32, 0.0), (0.38, 0.32, 0.42))
    b.solid_rod((-0.28, 0.0, 0.24), (-1.15, 0.0, 1.0), 0.2)
    return b.model()


def _ride_on_mower(finish: Finish) -> Model:
    """Ride-on mower with a seat and a wheel, 1.8 m long."""
    b = Parts()
    b.block((-0.15, -0.3, 0.3), (0.85, 0.3, 0.72), finish.tone)
    b.block((0.85, -0.22, 0.4), (0.87, 0.22, 0.62), DARK)
    b.block((-0.85, -0.4, 0.3), (-0.15, 0.4, 0.5), shade(finish.tone, 0.85))
    b.block((-0.6, -0.24, 0.5), (-0.2, 0.24, 0.6), BLACK)
    b.block((-0.68, -0.24, 0.5), (-0.58, 0.24, 0.95), BLACK)
    b.rod((0.1, 0.0, 0.7), (-0.08, 0.0, 0.95), 0.02, DARK)
    b.hoop((-0.08, 0.0, 0.96), 0.16, 0.016, DARK, 12)
    b.block((-0.25, -0.52, 0.12), (0.4, 0.52, 0.24), shade(finish.tone, 0.6))
    for s in (-1.0, 1.0):
        b.wheel((-0.62, s * 0.42, 0.24), 0.24, 0.18, COLOURS["white"])
        b.wheel((0.62, s * 0.36, 0.17), 0.17, 0.13, COLOURS["white"])
    b.solid((-0.87, -0.5, 0.0), (0.88, 0.5, 0.72))
    b.solid((-0.7, -0.25, 0.72), (0.1, 0.25, 0.98))
    return b.model()


GARDEN: tuple[Family, ...] = (
    family(
        "wheelbarrow",
        Stand.ANY,
        Shape("empty", "empty {} wheelbarrow", lambda f: _wheelbarrow(False, f), "green/red/blue/grey metal"),
        Shape(
            "full",
            "{} wheelbarrow full of earth",
            lambda f: _wheelbarrow(True, f),
            "yellow/orange plastic, black metal",
        ),
    ),
    family(
        "cart",
        Stand.ANY,
        Shape("hand", "small {} hand cart on four wheels", _handcart, "light brown/green/red wood"),
        Shape("farm", "{} farm cart on two wheels", _two_wheeled_cart, "brown/blue/grey wood"),
    ),
    family(
        "hay bale",
        Stand.GREEN,
        Shape("round", "round {} bale", _hay_bale, "yellow/brown straw, white/black plastic"),
        Shape("stack", "stack of six {} bales", _bale_stack, "yellow/brown straw"),
    ),
    family(
        "scarecrow",
        Stand.GREEN,
        Shape(
            "blue_legs",
            "scarecrow in a {} coat and blue trousers",
            lambda f: _scarecrow("blue", f),
            "red/yellow/white cloth",
            True,
        ),
        Shape(
            "brown_legs",
            "scarecrow in a {} coat and brown trousers",
            lambda f: _scarecrow("brown", f),
            "green/purple/orange cloth",
            True,
        ),
    ),
    family(
        "beehive",
        Stand.GREEN,
        Shape("box", "{} box beehive with a flat roof", _hive, "white/blue/yellow/green wood"),
        Shape("skep", "domed {} beehive on a stand", _skep, "yellow/brown straw, white clay"),
    ),
    family(
        "saw horse",
        Stand.ANY,
        Shape("trestle", "{} trestle", _saw_horse, "light brown/red/blue wood, yellow metal"),
        Shape("buck", "{} saw buck with a log in it", _saw_buck, "light brown/dark brown/green wood"),
    ),
    family(
        "ladder",
        Stand.ANY,
        Shape("step", "{} step ladder, standing", _step_ladder, "silver/red metal, light brown/blue wood"),
        Shape("flat", "long {} ladder, lying", _orchard_ladder, "light brown/green wood, silver metal"),
    ),
    family(
        "well",
        Stand.ANY,
        Shape("pump", "{} hand pump with a stone basin", _pump, "green/black/blue/red metal"),
        Shape("draw", "round stone well under a {} roof", _draw_well, "brown/red/green wood", True),
    ),
    family(
        "watering can",
        Stand.ANY,
        Shape("rose", "{} watering can", _watering_can, "green/red/blue/yellow/white plastic, silver/golden metal"),
    ),
    family(
        "dog house",
        Stand.GREEN,
        Shape("gable", "{} dog house with a dark roof", _kennel, "light brown/red/white/blue/green/yellow wood"),
    ),
    family(
        "lawn mower",
        Stand.GREEN,
        Shape("push", "{} push mower with a long handle", _push_mower, "red/green/orange metal"),
        Shape("ride", "{} ride-on mower", _ride_on_mower, "red/green/yellow metal"),
    ),
)
