"""Buckets, tubs, barrels, crates, sacks, baskets, cases and flower pots."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import COLOURS, EARTH, shade

_LEAF: Colour = (0.05, 0.14, 0.03)


def _bucket(finish: Finish) -> Model:
    """Bucket with its bow laid over, 0.3 m high."""
    b = Parts()
    b.turned([(0.1, 0.0), (0.145, 0.28), (0.15, 0.3), (0.135, 0.29), (0.09, 0.03)], finish.tone, 14)
    arc = np.linspace(0.0, np.pi, 9)
    b.tube(np.stack([0.14 * np.sin(arc), 0.15 * np.cos(arc), 0.29 + 0.1 * np.sin(arc)], axis=1), 0.007, STEEL, 4)
    return b.model()


def _coal_bucket(finish: Finish) -> Model:
    """Scuttle with a broad lip, 0.5 m long."""
    b = Parts()
    b.turned([(0.13, 0.0), (0.13, 0.04), (0.19, 0.3), (0.17, 0.3), (0.11, 0.05)], finish.tone, 14)
    b.sheet(
        [[(0.1, -0.15, 0.28), (0.34, -0.1, 0.42)], [(0.1, 0.15, 0.28), (0.34, 0.1, 0.42)]], finish.tone, thick=0.012
    )
    arc = np.linspace(0.0, np.pi, 9)
    b.tube(np.stack([0.0 * arc, 0.18 * np.cos(arc), 0.3 + 0.18 * np.sin(arc)], axis=1), 0.009, DARK, 4)
    return b.model()


def _tub(finish: Finish) -> Model:
    """Round wash tub with two handles, 0.7 m across."""
    b = Parts()
    b.turned([(0.29, 0.0), (0.33, 0.3), (0.35, 0.31), (0.31, 0.29), (0.27, 0.03)], finish.tone, 18)
    for s in (-1.0, 1.0):
        b.rods(
            [(-0.08, s * 0.34, 0.22), (-0.08, s * 0.4, 0.25), (0.08, s * 0.4, 0.25), (0.08, s * 0.34, 0.22)],
            0.012,
            STEEL,
        )
    return b.model()


def _bath(finish: Finish) -> Model:
    """Bath on four feet, 1.6 m long."""
    b = Parts()
    wall = [(0.62, 0.12), (0.9, 0.3), (1.0, 0.58), (1.04, 0.6), (0.93, 0.58), (0.8, 0.32), (0.5, 0.2)]
    tones = [finish.tone] * 4 + [(0.62, 0.62, 0.6)] * 3
    b.turned(wall, tones, 16, stretch=(0.8, 0.37))
    b.legs(0.5, 0.2, 0.2, 0.04, STEEL)
    b.rods([(-0.84, 0.0, 0.4), (-0.84, 0.0, 0.75), (-0.7, 0.0, 0.75), (-0.7, 0.0, 0.68)], 0.02, STEEL)
    b.solid((-0.82, -0.37, 0.0), (0.82, 0.37, 0.6))
    return b.model()


def _barrel(finish: Finish) -> Model:
    """Barrel with hoops, 0.9 m high."""
    b = Parts()
    b.turned([(0.26, 0.0), (0.31, 0.2), (0.335, 0.45), (0.31, 0.7), (0.26, 0.9)], finish.tone, 16)
    b.rod((0.0, 0.0, 0.9), (0.0, 0.0, 0.905), 0.23, shade(finish.tone, 0.6), 14)
    for z, r in ((0.12, 0.295), (0.32, 0.328), (0.58, 0.328), (0.78, 0.295)):
        b.rod((0.0, 0.0, z - 0.025), (0.0, 0.0, z + 0.025), r, DARK if finish.material == "wood" else finish.tone, 16)
    return b.model()


def _lying_barrel(finish: Finish) -> Model:
    """Barrel on its side in a cradle, a tap at +x, 0.95 m long."""
    b = Parts()
    z = 0.46
    b.body(
        [(x, 0.0, z) for x in (-0.45, -0.25, 0.0, 0.25, 0.45)],
        [0.26, 0.31, 0.335, 0.31, 0.26],
        [0.26, 0.31, 0.335, 0.31, 0.26],
        finish.tone,
        16,
    )
    for x, r in ((-0.33, 0.295), (-0.13, 0.328), (0.13, 0.328), (0.33, 0.295)):
        b.rod((x - 0.025, 0.0, z), (x + 0.025, 0.0, z), r, DARK, 16)
    for x in (-0.28, 0.28):
        b.prism(
            [(x - 0.05, 0.0), (x + 0.05, 0.0), (x + 0.05, 0.2), (x - 0.05, 0.2)], -0.3, 0.3, shade(finish.tone, 0.6)
        )
    b.rods([(0.44, 0.0, 0.28), (0.54, 0.0, 0.28), (0.54, 0.0, 0.22)], 0.02, (0.60, 0.40, 0.09))
    b.solid((-0.46, -0.33, 0.0), (0.5, 0.33, 0.8))
    return b.model()


def _crate(finish: Finish) -> Model:
    """Slatted crate, 0.6 x 0.4 x 0.32 m, open above."""
    b = Parts()
    b.block((-0.3, -0.2, 0.0), (0.3, 0.2, 0.03), shade(finish.tone, 0.7))
    for z in (0.05, 0.16, 0.27):
        for s in (-1.0, 1.0):
            b.block((-0.31, s * 0.2 - 0.01, z - 0.04), (0.31, s * 0.2 + 0.01, z + 0.04), finish.tone)
            b.block((s * 0.3 - 0.01, -0.2, z - 0.04), (s * 0.3 + 0.01, 0.2, z + 0.04), shade(finish.tone, 0.85))
    for x in (-0.28, 0.28):
        for y in (-0.18, 0.18):
            b.block((x - 0.025, y - 0.025, 0.0), (x + 0.025, y + 0.025, 0.32), shade(finish.tone, 0.8))
    b.solid((-0.31, -0.21, 0.0), (0.31, 0.21, 0.32))
    return b.model()


def _chest(finish: Finish) -> Model:
    """Closed chest with a rounded lid and two bands, 0.9 m long."""
    b = Parts()
    b.block((-0.25, -0.45, 0.0), (0.25, 0.45, 0.34), finish.tone)
    arch = np.linspace(0.0, np.pi, 8)
    lid = [(0.25 * np.cos(u), 0.34 + 0.2 * np.sin(u)) for u in arch]
    b.prism(lid, -0.45, 0.45, shade(finish.tone, 0.85))
    for y in (-0.28, 0.28):
        b.block((-0.262, y - 0.03, 0.0), (0.262, y + 0.03, 0.34), DARK)
        band = [(0.262 * np.cos(u), 0.34 + 0.212 * np.sin(u)) for u in arch]
        b.prism(band, y - 0.03, y + 0.03, DARK)
    b.block((0.25, -0.05, 0.28), (0.275, 0.05, 0.4), (0.60, 0.40, 0.09))
    b.solid((-0.26, -0.45, 0.0), (0.27, 0.45, 0.5))
    return b.model()


def _sacks(count: int, finish: Finish) -> Model:
    """Filled sacks: one standing, or a heap of four lying."""
    b = Parts()
    rng = np.random.default_rng(4 + count)
    if count == 1:
        b.lump((0.0, 0.0, 0.33), (0.23, 0.2, 0.36), finish.tone, rng, 0.06, 12, 8)
        b.limb((0.0, 0.0, 0.64), (0.02, 0.0, 0.8), 0.05, 0.12, shade(finish.tone, 0.9), 8)
        b.hoop((0.0, 0.0, 0.67), 0.055, 0.014, DARK, 8)
        b.solid((-0.2, -0.18, 0.0), (0.2, 0.18, 0.78))
        return b.model()
    for x, y, z in ((-0.22, 0.0, 0.13), (0.22, 0.03, 0.13), (-0.2, -0.03, 0.36), (0.2, 0.0, 0.37)):
        b.lump((x, y, z), (0.22, 0.42, 0.15), shade(finish.tone, float(rng.uniform(0.85, 1.1))), rng, 0.06, 12, 7)
    b.solid((-0.42, -0.4, 0.0), (0.42, 0.42, 0.5))
    return b.model()


def _basket(finish: Finish) -> Model:
    """Round basket with a bow, full of apples, 0.5 m."""
    b = Parts()
    b.turned([(0.17, 0.0), (0.22, 0.12), (0.24, 0.24), (0.21, 0.23), (0.2, 0.2)], finish.tone, 14)
    for z in (0.06, 0.12, 0.18):
        b.rod((0.0, 0.0, z - 0.012), (0.0, 0.0, z + 0.012), 0.2 + 0.22 * z, shade(finish.tone, 0.65), 14)
    arc = np.linspace(0.0, np.pi, 10)
    b.tube(np.stack([0.0 * arc, 0.235 * np.cos(arc), 0.24 + 0.26 * np.sin(arc)], axis=1), 0.016, finish.tone, 5)
    rng = np.random.default_rng(7)
    for k in range(9):
        x, y = rng.uniform(-0.13, 0.13, 2)
        b.ellipsoid((x, y, 0.24 + 0.02 * (k % 2)), (0.045, 0.045, 0.045), COLOURS["red"], 7, 5)
    b.solid((-0.22, -0.22, 0.0), (0.22, 0.22, 0.45))
    return b.model()


def _laundry_basket(finish: Finish) -> Model:
    """Oblong basket with white washing, 0.75 m long."""
    b = Parts()
    wall = [(0.8, 0.0), (0.95, 0.2), (1.03, 0.33), (0.95, 0.32), (0.9, 0.26)]
    b.turned(wall, finish.tone, 16, stretch=(0.36, 0.24))
    rng = np.random.default_rng(3)
    b.lump((-0.1, 0.02, 0.3), (0.2, 0.18, 0.1), COLOURS["white"], rng, 0.18, 10, 6)
    b.lump((0.15, -0.02, 0.3), (0.16, 0.17, 0.09), (0.62, 0.62, 0.66), rng, 0.18, 10, 6)
    b.solid((-0.36, -0.24, 0.0), (0.36, 0.24, 0.36))
    return b.model()


def _suitcase(finish: Finish) -> Model:
    """Upright suitcase with a drawn-out handle, 1.0 m high with it."""
    b = Parts()
    b.block((-0.13, -0.22, 0.05), (0.13, 0.22, 0.68), finish.tone)
    for y in (-0.13, 0.0, 0.13):
        b.block((0.13, y - 0.02, 0.1), (0.145, y + 0.02, 0.63), shade(finish.tone, 0.8))
    b.rods([(-0.1, -0.1, 0.66), (-0.1, -0.1, 1.0), (-0.1, 0.1, 1.0), (-0.1, 0.1, 0.66)], 0.012, STEEL)
    for x in (-0.1, 0.1):
        for y in (-0.18, 0.18):
            b.wheel((x, y, 0.03), 0.03, 0.025, DARK)
    b.solid((-0.14, -0.22, 0.0), (0.14, 0.22, 0.7))
    return b.model()


def _old_suitcase(finish: Finish) -> Model:
    """Old case lying flat, with two straps, 0.7 m long."""
    b = Parts()
    b.block((-0.24, -0.35, 0.0), (0.24, 0.35, 0.2), finish.tone)
    for y in (-0.18, 0.18):
        b.block((-0.25, y - 0.03, 0.0), (0.25, y + 0.03, 0.21), shade(finish.tone, 0.4))
    for x in (-0.22, 0.22):
        for y in (-0.33, 0.33):
            b.block((x - 0.03, y - 0.03, 0.0), (x + 0.03, y + 0.03, 0.207), shade(finish.tone, 0.5))
    b.rods([(0.24, -0.08, 0.1), (0.3, -0.06, 0.1), (0.3, 0.06, 0.1), (0.24, 0.08, 0.1)], 0.014, DARK)
    return b.model()


def _flower_pot(flower: str, finish: Finish) -> Model:
    """Pot with a bush of flowers of a colour, 0.75 m high."""
    b = Parts()
    b.turned([(0.16, 0.0), (0.23, 0.3), (0.25, 0.3), (0.25, 0.36), (0.2, 0.36), (0.19, 0.32)], finish.tone, 14)
    b.rod((0.0, 0.0, 0.31), (0.0, 0.0, 0.33), 0.19, EARTH, 12)
    rng = np.random.default_rng(5)
    b.lump((0.0, 0.0, 0.5), (0.24, 0.24, 0.2), _LEAF, rng, 0.15, 9, 6)
    for _ in range(16):
        a, up = float(rng.uniform(0.0, 6.28)), float(rng.uniform(0.15, 0.95))
        r = 0.27 * np.sqrt(1.0 - up * up * 0.8)
        b.ellipsoid((r * np.cos(a), r * np.sin(a), 0.5 + 0.22 * up), (0.055, 0.055, 0.04), COLOURS[flower], 6, 4)
    b.solid((-0.23, -0.23, 0.0), (0.23, 0.23, 0.7))
    return b.model()


def _planter(flower: str, finish: Finish) -> Model:
    """Long trough of flowers, 1.1 m."""
    b = Parts()
    b.boards((-0.19, -0.55, 0.0), (0.19, 0.55, 0.32), finish, 3)
    if finish.material == "wood":
        b.block((-0.17, -0.54, 0.01), (0.17, 0.54, 0.31), shade(finish.tone, 0.6))
    b.block((-0.17, -0.53, 0.3), (0.17, 0.53, 0.33), EARTH)
    rng = np.random.default_rng(6)
    for k in range(5):
        y = -0.42 + 0.21 * k
        b.lump((0.0, y, 0.4), (0.17, 0.14, 0.13), _LEAF, rng, 0.15, 7, 5)
        for _ in range(4):
            x, v = rng.uniform(-0.12, 0.12, 2)
            b.ellipsoid((x, y + v, 0.51), (0.05, 0.05, 0.04), COLOURS[flower], 6, 4)
    b.solid((-0.19, -0.55, 0.0), (0.19, 0.55, 0.5))
    return b.model()


CONTAINERS: tuple[Family, ...] = (
    family(
        "bucket",
        Stand.ANY,
        Shape("bow", "round {} bucket", _bucket, "red/blue/yellow plastic, silver metal"),
        Shape("lip", "{} coal bucket with a broad lip", _coal_bucket, "black/rusty/golden metal"),
    ),
    family(
        "tub",
        Stand.ANY,
        Shape("wash", "round {} wash tub", _tub, "silver/rusty metal, blue/green plastic"),
        Shape("bath", "{} bath tub on four feet", _bath, "white/red/navy metal"),
    ),
    family(
        "barrel",
        Stand.ANY,
        Shape("upright", "upright {} barrel", _barrel, "brown/grey wood, blue/red metal"),
        Shape("tap", "{} barrel on its side with a tap", _lying_barrel, "light brown/dark brown/red wood"),
    ),
    family(
        "crate",
        Stand.ANY,
        Shape("slatted", "open slatted {} crate", _crate, "light brown/grey/green wood, red/yellow plastic"),
        Shape("chest", "{} chest with a rounded lid", _chest, "brown/blue/red wood"),
    ),
    family(
        "sack",
        Stand.ANY,
        Shape(
            "upright", "tied {} sack, standing", lambda f: _sacks(1, f), "light brown burlap, white/green/blue cloth"
        ),
        Shape("heap", "heap of four {} sacks", lambda f: _sacks(4, f), "light brown burlap, white/orange cloth"),
    ),
    family(
        "basket",
        Stand.ANY,
        Shape("apples", "round {} basket of red apples", _basket, "light brown/dark brown wicker, white/green plastic"),
        Shape("washing", "oblong {} basket of washing", _laundry_basket, "light brown wicker, blue/purple plastic"),
    ),
    family(
        "suitcase",
        Stand.ANY,
        Shape("upright", "{} suitcase on wheels, standing", _suitcase, "red/black/blue/yellow plastic"),
        Shape("flat", "{} suitcase with two straps, lying", _old_suitcase, "brown leather, green/red/grey cloth"),
    ),
    family(
        "flower pot",
        Stand.ANY,
        Shape("red_pot", "{} pot of red flowers", lambda f: _flower_pot("red", f), "red clay, white/blue china"),
        Shape("yellow_pot", "{} pot of yellow flowers", lambda f: _flower_pot("yellow", f), "red clay, grey stone"),
        Shape(
            "white_trough", "long {} trough of white flowers", lambda f: _planter("white", f), "brown wood, grey stone"
        ),
        Shape(
            "purple_trough",
            "long {} trough of purple flowers",
            lambda f: _planter("purple", f),
            "brown wood, white stone",
        ),
    ),
)
