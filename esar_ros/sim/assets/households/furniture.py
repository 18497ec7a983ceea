"""Tables, beds and heavy things of a house that somebody has carried outside."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, shade


def _table(finish: Finish) -> Model:
    """Table, 1.6 x 0.85 m, four legs."""
    b = Parts()
    b.boards((-0.8, -0.43, 0.71), (0.8, 0.43, 0.76), finish, 5)
    b.legs(0.72, 0.35, 0.71, 0.045, shade(finish.tone, 0.8))
    b.solid((-0.8, -0.43, 0.0), (0.8, 0.43, 0.76))
    return b.model()


def _round_table(finish: Finish) -> Model:
    """Round table, 1.1 m across, on one foot."""
    b = Parts()
    b.turned([(0.32, 0.0), (0.3, 0.04), (0.06, 0.08), (0.05, 0.7), (0.1, 0.71)], shade(finish.tone, 0.8))
    b.rod((0.0, 0.0, 0.7), (0.0, 0.0, 0.75), 0.55, finish.tone, 18)
    b.solid((-0.5, -0.5, 0.66), (0.5, 0.5, 0.75))
    b.solid((-0.25, -0.25, 0.0), (0.25, 0.25, 0.66))
    return b.model()


def _coffee_table(finish: Finish) -> Model:
    """Low table, 1.0 x 0.6 m, a shelf beneath."""
    b = Parts()
    for z in (0.14, 0.4):
        b.block((-0.5, -0.3, z - 0.02), (0.5, 0.3, z + 0.02), finish.tone if z > 0.2 else shade(finish.tone, 0.8))
    b.legs(0.46, 0.26, 0.38, 0.03, shade(finish.tone, 0.8))
    return b.model()


def _picnic_table(finish: Finish) -> Model:
    """Table and two benches in one, 1.8 x 1.5 m."""
    b = Parts()
    b.boards((-0.9, -0.36, 0.7), (0.9, 0.36, 0.75), finish, 5)
    dark = shade(finish.tone, 0.75)
    for s in (-1.0, 1.0):
        low, high = sorted((s * 0.52, s * 0.78))
        b.boards((-0.9, low, 0.42), (0.9, high, 0.46), finish, 2)
        for x in (-0.65, 0.65):
            b.rod((x, s * 0.7, 0.0), (x, s * 0.22, 0.7), 0.045, dark)
    for x in (-0.65, 0.65):
        b.block((x - 0.04, -0.72, 0.35), (x + 0.04, 0.72, 0.42), dark)
    b.solid((-0.9, -0.78, 0.0), (0.9, 0.78, 0.46))
    b.solid((-0.9, -0.36, 0.46), (0.9, 0.36, 0.75))
    return b.model()


def _hexagonal_table(finish: Finish) -> Model:
    """Hexagonal table with six seats about it, 2.0 m across."""
    b = Parts()
    angles = np.arange(6) * np.pi / 3
    b.slab(0.62 * np.stack([np.cos(angles), np.sin(angles)], axis=1), 0.7, 0.75, finish.tone)
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.7), 0.08, shade(finish.tone, 0.7))
    for k, a in enumerate(angles):
        c, s = float(np.cos(a + np.pi / 6)), float(np.sin(a + np.pi / 6))
        b.box((0.86 * c, 0.86 * s, 0.44), (0.14, 0.24, 0.025), shade(finish.tone, 0.8 + 0.1 * (k % 2)), a + np.pi / 6)
        b.rod((0.1 * c, 0.1 * s, 0.3), (0.86 * c, 0.86 * s, 0.41), 0.035, shade(finish.tone, 0.7))
        b.rod((0.86 * c, 0.86 * s, 0.0), (0.86 * c, 0.86 * s, 0.41), 0.035, shade(finish.tone, 0.7))
    b.solid((-0.8, -0.8, 0.0), (0.8, 0.8, 0.46))
    b.solid((-0.55, -0.55, 0.46), (0.55, 0.55, 0.75))
    return b.model()


def _bed(frame: str, wide: float, finish: Finish) -> Model:
    """Bed 2 m long, its head at -x; the cover has the finish's colour."""
    b = Parts()
    wood = (0.20, 0.12, 0.06) if frame == "wood" else STEEL
    half = wide / 2
    b.block((-1.0, -half, 0.24), (1.0, half, 0.34), wood)
    b.legs(0.95, half - 0.06, 0.26, 0.04, wood)
    b.block((-0.98, -half + 0.03, 0.34), (0.98, half - 0.03, 0.5), COLOURS["white"])
    b.block((-0.5, -half - 0.02, 0.4), (1.0, half + 0.02, 0.54), finish.tone)
    for y in np.linspace(-half, half, 3 if wide > 1.2 else 2)[:-1]:
        b.ellipsoid((-0.76, y + (0.25 * wide if wide > 1.2 else half), 0.56), (0.2, 0.3, 0.08), COLOURS["white"], 10, 5)
    if frame == "wood":
        b.block((-1.06, -half, 0.2), (-1.0, half, 1.0), wood)
        b.block((1.0, -half, 0.2), (1.05, half, 0.6), wood)
    else:
        for x, top in ((-1.02, 1.05), (1.02, 0.75)):
            b.rod((x, -half, top), (x, half, top), 0.02, wood)
            for y in np.linspace(-half, half, 6):
                b.rod((x, y, 0.2), (x, y, top), 0.012, wood, 5)
    b.solid((-1.05, -half, 0.0), (1.05, half, 0.56))
    b.solid((-1.06, -half, 0.56), (-0.98, half, 1.0))
    return b.model()


def _upright_piano(finish: Finish) -> Model:
    """Upright piano, 1.5 m wide, its keys towards +x."""
    b = Parts()
    b.block((-0.3, -0.75, 0.05), (0.05, 0.75, 1.2), finish.tone)
    b.block((-0.32, -0.78, 1.2), (0.08, 0.78, 1.24), shade(finish.tone, 0.8))
    b.block((0.05, -0.75, 0.62), (0.34, 0.75, 0.68), finish.tone)
    b.block((0.1, -0.66, 0.68), (0.32, 0.66, 0.71), COLOURS["white"])
    for k in range(12):
        b.block((0.1, -0.6 + 0.105 * k, 0.71), (0.22, -0.56 + 0.105 * k, 0.73), BLACK)
    for y in (-0.68, 0.68):
        b.block((0.22, y - 0.04, 0.0), (0.3, y + 0.04, 0.62), shade(finish.tone, 0.8))
    b.solid((-0.32, -0.78, 0.0), (0.08, 0.78, 1.24))
    b.solid((0.08, -0.75, 0.0), (0.34, 0.75, 0.73))
    return b.model()


def _grand_piano(finish: Finish) -> Model:
    """Grand piano, 1.5 x 1.9 m, its lid raised."""
    b = Parts()
    case = [(0.55, -0.75), (0.55, 0.75), (-0.3, 0.75), (-0.95, 0.6), (-1.3, 0.2), (-1.25, -0.4), (-0.9, -0.75)]
    b.slab(case, 0.62, 0.94, finish.tone)
    b.block((0.55, -0.75, 0.62), (0.8, 0.75, 0.72), finish.tone)
    b.block((0.56, -0.66, 0.72), (0.78, 0.66, 0.75), COLOURS["white"])
    for k in range(12):
        b.block((0.56, -0.6 + 0.105 * k, 0.75), (0.68, -0.56 + 0.105 * k, 0.77), BLACK)
    lid = [[(x, -0.75, 0.95), (x * 0.9, 0.35, 1.75)] for x in (0.5, -0.3, -1.0)]
    b.sheet(lid, shade(finish.tone, 1.2), thick=0.03)
    b.rod((0.2, 0.5, 0.94), (0.1, 0.2, 1.62), 0.012, STEEL)
    for x, y in ((0.5, -0.6), (0.5, 0.6), (-1.0, 0.0)):
        b.rod((x, y, 0.0), (x, y, 0.62), 0.06, finish.tone)
    b.solid((-1.25, -0.7, 0.5), (0.8, 0.7, 0.95))
    b.solid((-1.0, -0.6, 0.95), (0.45, -0.1, 1.35))
    b.solid((-0.95, -0.2, 1.2), (0.4, 0.35, 1.75))
    for x, y in ((0.5, -0.6), (0.5, 0.6), (-1.0, 0.0)):
        b.solid_rod((x, y, 0.0), (x, y, 0.62), 0.06)
    return b.model()


def _safe(tall: float, finish: Finish) -> Model:
    """Safe with a dial and a handle on its front at +x."""
    b = Parts()
    half = 0.32 if tall < 1.0 else 0.36
    b.block((-half, -half, 0.04), (half, half, tall), finish.tone)
    b.block((half, -half + 0.06, 0.1), (half + 0.02, half - 0.06, tall - 0.06), shade(finish.tone, 0.7))
    b.rod((half, 0.1, 0.55 * tall), (half + 0.06, 0.1, 0.55 * tall), 0.07, STEEL, 12)
    b.rod((half + 0.05, -0.15, 0.45 * tall), (half + 0.05, -0.15, 0.65 * tall), 0.02, STEEL)
    b.rod((half, -0.15, 0.55 * tall), (half + 0.06, -0.15, 0.55 * tall), 0.02, STEEL)
    for x in (-half + 0.06, half - 0.06):
        for y in (-half + 0.06, half - 0.06):
            b.rod((x, y, 0.0), (x, y, 0.05), 0.04, DARK)
    return b.model()


def _wardrobe(finish: Finish) -> Model:
    """Wardrobe with two doors, 2 m high."""
    b = Parts()
    b.block((-0.28, -0.6, 0.06), (0.28, 0.6, 1.95), finish.tone)
    b.block((-0.3, -0.63, 1.95), (0.31, 0.63, 2.02), shade(finish.tone, 0.75))
    for s in (-1.0, 1.0):
        low, high = sorted((s * 0.03, s * 0.57))
        b.block((0.28, low, 0.12), (0.3, high, 1.88), shade(finish.tone, 0.82))
        b.ellipsoid((0.32, s * 0.08, 1.0), (0.02, 0.02, 0.02), STEEL, 6, 4)
    b.legs(0.22, 0.54, 0.08, 0.04, DARK)
    b.solid((-0.3, -0.63, 0.0), (0.31, 0.63, 2.02))
    return b.model()


def _bookcase(finish: Finish) -> Model:
    """Open bookcase with three rows of books, 1.2 m high."""
    b = Parts()
    for y in (-0.44, 0.44):
        b.block((-0.16, y - 0.02, 0.0), (0.16, y + 0.02, 1.2), finish.tone)
    b.block((-0.16, -0.44, 0.0), (-0.14, 0.44, 1.2), shade(finish.tone, 0.7))
    for z in (0.05, 0.43, 0.81, 1.19):
        b.block((-0.16, -0.44, z - 0.015), (0.16, 0.44, z + 0.015), finish.tone)
    words = ("red", "blue", "green", "yellow", "black", "white")
    for row, z in enumerate((0.065, 0.445, 0.825)):
        for k in range(8):
            tall = 0.22 + 0.03 * ((3 * k + row) % 4)
            y = -0.4 + 0.1 * k
            b.block((-0.1, y, z), (0.12, y + 0.08, z + tall), COLOURS[words[(k + 2 * row) % 6]])
    b.solid((-0.16, -0.46, 0.0), (0.16, 0.46, 1.2))
    return b.model()


FURNITURE: tuple[Family, ...] = (
    family(
        "table",
        Stand.ANY,
        Shape("long", "{} table with four legs", _table, "light brown/dark brown/white wood"),
        Shape("round", "round {} table on one foot", _round_table, "brown wood, white/green metal"),
        Shape("low", "low {} table with a shelf", _coffee_table, "light brown wood, black/red metal"),
    ),
    family(
        "picnic table",
        Stand.GREEN,
        Shape("long", "long {} picnic table with two benches", _picnic_table, "light brown/green/red wood"),
        Shape("six", "hexagonal {} picnic table with six seats", _hexagonal_table, "brown/white/blue wood"),
    ),
    family(
        "bed",
        Stand.ANY,
        Shape(
            "single",
            "single bed with a metal frame and a {} cover",
            lambda finish: _bed("metal", 0.95, finish),
            "red/green/blue cloth",
            True,
        ),
        Shape(
            "double",
            "double bed with a wooden frame and a {} cover",
            lambda finish: _bed("wood", 1.6, finish),
            "yellow/purple/white/navy cloth",
            True,
        ),
    ),
    family(
        "piano",
        Stand.ANY,
        Shape("upright", "{} upright piano", _upright_piano, "brown/black/white wood"),
        Shape("grand", "{} grand piano with its lid up", _grand_piano, "black/red/white wood"),
    ),
    family(
        "safe",
        Stand.ANY,
        Shape("small", "small {} safe", lambda finish: _safe(0.7, finish), "green/grey/black metal"),
        Shape("tall", "tall {} safe", lambda finish: _safe(1.4, finish), "green/red/silver metal"),
    ),
    family(
        "wardrobe",
        Stand.ANY,
        Shape("doors", "{} wardrobe with two doors", _wardrobe, "light brown/dark brown/white/green wood"),
    ),
    family(
        "bookcase",
        Stand.ANY,
        Shape("open", "{} bookcase full of books", _bookcase, "light brown/black/white/red wood"),
    ),
)
