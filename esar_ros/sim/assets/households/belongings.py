"""Smaller belongings, and what stands in gardens for show."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, LAMP_WHITE, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, STONE, shade


def _radio(finish: Finish) -> Model:
    """Portable radio with a speaker, a dial and an aerial, 0.4 m wide."""
    b = Parts()
    b.block((-0.07, -0.2, 0.0), (0.07, 0.2, 0.24), finish.tone)
    b.rod((0.07, -0.09, 0.11), (0.08, -0.09, 0.11), 0.08, BLACK, 14)
    b.block((0.07, 0.03, 0.15), (0.078, 0.17, 0.2), LAMP_WHITE)
    for y in (0.06, 0.14):
        b.rod((0.07, y, 0.07), (0.1, y, 0.07), 0.022, STEEL, 8)
    b.rod((0.0, 0.17, 0.24), (-0.1, 0.3, 0.62), 0.006, STEEL, 4)
    b.rods([(0.0, -0.17, 0.24), (0.0, -0.15, 0.31), (0.0, 0.12, 0.31), (0.0, 0.14, 0.24)], 0.012, DARK)
    b.solid((-0.07, -0.2, 0.0), (0.09, 0.2, 0.3))
    return b.model()


def _boom_box(finish: Finish) -> Model:
    """Wide radio with two round speakers, 0.65 m."""
    b = Parts()
    b.block((-0.1, -0.32, 0.0), (0.1, 0.32, 0.28), finish.tone)
    for y in (-0.19, 0.19):
        b.rod((0.1, y, 0.12), (0.112, y, 0.12), 0.1, BLACK, 16)
        b.rod((0.11, y, 0.12), (0.118, y, 0.12), 0.05, STEEL, 12)
    b.block((0.1, -0.06, 0.05), (0.108, 0.06, 0.15), DARK)
    b.block((0.1, -0.28, 0.23), (0.108, 0.28, 0.26), COLOURS["silver"])
    b.rods([(0.0, -0.28, 0.28), (0.0, -0.26, 0.36), (0.0, 0.26, 0.36), (0.0, 0.28, 0.28)], 0.014, DARK)
    b.solid((-0.1, -0.32, 0.0), (0.12, 0.32, 0.36))
    return b.model()


def _brimmed_hat(finish: Finish) -> Model:
    """Broad-brimmed hat with a dark band, 0.42 m."""
    b = Parts()
    b.turned([(0.19, 0.0), (0.22, 0.02), (0.1, 0.035)], shade(finish.tone, 0.85), 16)
    b.turned([(0.1, 0.0), (0.105, 0.03), (0.095, 0.13), (0.06, 0.15)], finish.tone, 14)
    b.turned([(0.108, 0.02), (0.104, 0.055)], BLACK, 14)
    return b.model()


def _top_hat(finish: Finish) -> Model:
    """Top hat with a white band, 0.3 m."""
    b = Parts()
    b.turned([(0.16, 0.0), (0.16, 0.012)], finish.tone, 16)
    b.turned([(0.1, 0.0), (0.1, 0.17), (0.108, 0.19)], finish.tone, 14)
    b.turned([(0.103, 0.012), (0.103, 0.045)], COLOURS["white"], 14)
    return b.model()


def _parasol(finish: Finish) -> Model:
    """Parasol with white segments, 2.4 m across, on a foot."""
    b = Parts()
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), 0.26, STONE, 14)
    b.rod((0.0, 0.0, 0.05), (0.0, 0.0, 2.45), 0.025, (0.40, 0.28, 0.16), 8, True)
    angles = np.linspace(0.0, 2.0 * np.pi, 9)
    for k in range(8):
        a, c = angles[k], angles[k + 1]
        rim = [np.array([1.2 * np.cos(t), 1.2 * np.sin(t), 1.95]) for t in (a, c)]
        tone = COLOURS["white"] if k % 2 else finish.tone
        top = np.array([0.0, 0.0, 2.4])
        b.flat([[rim[0], rim[1], top], [rim[1], rim[0], top]], tone)
    b.solid((-0.9, -0.9, 1.95), (0.9, 0.9, 2.15))
    b.solid((-0.4, -0.4, 2.15), (0.4, 0.4, 2.42))
    b.solid((-0.26, -0.26, 0.0), (0.26, 0.26, 0.1))
    return b.model()


def _beach_tent(finish: Finish) -> Model:
    """Square pavilion of cloth on four poles, 3 x 3 m."""
    b = Parts()
    for x in (-1.5, 1.5):
        for y in (-1.5, 1.5):
            b.rod((x, y, 0.0), (x, y, 2.1), 0.035, STEEL, 6, True)
    ring = [(-1.55, -1.55), (1.55, -1.55), (1.55, 1.55), (-1.55, 1.55)]
    b.loft(
        [[(x, y, 1.9) for x, y in ring], [(x, y, 2.1) for x, y in ring], [(0.05 * x, 0.05 * y, 2.9) for x, y in ring]],
        finish.tone,
    )
    b.solid((-1.5, -1.5, 1.9), (1.5, 1.5, 2.2))
    b.solid((-0.8, -0.8, 2.2), (0.8, 0.8, 2.75))
    return b.model()


def _figure(b: Parts, z: float, size: float, tone: tuple[float, float, float], arm: bool) -> None:
    """A standing human figure on z, of a size in m; an arm raised."""
    s = size / 1.8
    for side in (-1.0, 1.0):
        b.limb((0.0, 0.11 * side * s, z), (0.0, 0.1 * side * s, z + 0.9 * s), 0.075 * s, 0.1 * s, tone, 8)
        hand = (0.12 * s, 0.42 * s, z + 1.95 * s) if arm and side > 0 else (0.14 * s, 0.28 * side * s, z + 0.85 * s)
        b.limb((0.0, 0.2 * side * s, z + 1.42 * s), hand, 0.06 * s, 0.045 * s, tone, 7)
    b.body(
        [(0.0, 0.0, z + 0.85 * s), (0.0, 0.0, z + 1.15 * s), (0.0, 0.0, z + 1.45 * s), (0.0, 0.0, z + 1.52 * s)],
        np.array([0.17, 0.16, 0.22, 0.1]) * s,
        np.array([0.12, 0.12, 0.13, 0.07]) * s,
        tone,
        10,
    )
    b.ellipsoid((0.01 * s, 0.0, z + 1.67 * s), (0.1 * s, 0.085 * s, 0.13 * s), tone, 10, 7)


def _statue(pose: str, finish: Finish) -> Model:
    """Statue on a plinth: a person with a raised arm, 3 m high, or a bust of 1.9 m."""
    b = Parts()
    if pose == "arm":
        b.block((-0.5, -0.5, 0.0), (0.5, 0.5, 0.2), shade(STONE, 0.8))
        b.block((-0.4, -0.4, 0.2), (0.4, 0.4, 1.0), STONE)
        _figure(b, 1.0, 1.9, finish.tone, True)
        b.solid((-0.45, -0.45, 0.0), (0.45, 0.45, 1.0))
        b.solid((-0.2, -0.35, 1.0), (0.2, 0.35, 2.9))
        return b.model()
    b.block((-0.3, -0.3, 0.0), (0.3, 0.3, 0.15), shade(STONE, 0.8))
    b.block((-0.22, -0.22, 0.15), (0.22, 0.22, 1.2), STONE)
    b.body([(0.0, 0.0, 1.2), (0.0, 0.0, 1.4), (0.0, 0.0, 1.5)], [0.14, 0.3, 0.1], [0.1, 0.16, 0.09], finish.tone, 10)
    b.ellipsoid((0.02, 0.0, 1.68), (0.16, 0.14, 0.2), finish.tone, 12, 8)
    b.solid((-0.28, -0.3, 0.0), (0.28, 0.3, 1.88))
    return b.model()


def _lion(finish: Finish) -> Model:
    """Lying lion of stone on a slab, 1.9 m long."""
    b = Parts()
    b.block((-0.95, -0.35, 0.0), (0.95, 0.35, 0.25), STONE)
    x = np.array([-0.75, -0.6, 0.0, 0.5])
    b.body(
        np.stack([x, 0.0 * x, [0.45, 0.5, 0.5, 0.6]], axis=1),
        [0.14, 0.25, 0.23, 0.26],
        [0.14, 0.24, 0.22, 0.3],
        finish.tone,
        10,
    )
    b.lump((0.55, 0.0, 0.85), (0.26, 0.3, 0.32), shade(finish.tone, 0.7), np.random.default_rng(3), 0.1, 10, 7)
    b.ellipsoid((0.74, 0.0, 0.86), (0.17, 0.15, 0.17), finish.tone, 10, 7)
    for s in (-1.0, 1.0):
        b.limb((0.3, s * 0.2, 0.33), (0.92, s * 0.22, 0.31), 0.08, 0.07, finish.tone, 7)
        b.limb((-0.3, s * 0.25, 0.36), (-0.7, s * 0.28, 0.34), 0.13, 0.09, finish.tone, 7)
    b.solid((-0.95, -0.35, 0.0), (0.95, 0.35, 0.7))
    b.solid((0.25, -0.3, 0.7), (0.9, 0.3, 1.15))
    return b.model()


def _gnome(coat: str, finish: Finish) -> Model:
    """Garden gnome with a pointed hat of the finish's colour and a beard, 0.7 m high."""
    b = Parts()
    b.turned([(0.15, 0.0), (0.17, 0.1), (0.12, 0.36)], COLOURS[coat], 12)
    b.ellipsoid((0.02, 0.0, 0.42), (0.09, 0.09, 0.1), (0.55, 0.34, 0.25), 10, 7)
    b.ellipsoid((0.06, 0.0, 0.36), (0.07, 0.08, 0.11), COLOURS["white"], 10, 7)
    b.limb((0.0, 0.0, 0.46), (-0.02, 0.0, 0.72), 0.1, 0.0, finish.tone, 12)
    for s in (-1.0, 1.0):
        b.limb((0.02, s * 0.12, 0.3), (0.13, s * 0.12, 0.2), 0.04, 0.035, COLOURS[coat], 7)
        b.ellipsoid((0.08, s * 0.08, 0.025), (0.1, 0.05, 0.035), BLACK, 8, 5)
    return b.model()


def _flag(finish: Finish) -> Model:
    """Pole with a flag in the finish's colour and white, 5 m high."""
    b = Parts()
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 5.0), 0.045, COLOURS["silver"], 8, True)
    b.ellipsoid((0.0, 0.0, 5.05), (0.07, 0.07, 0.07), (0.60, 0.40, 0.09), 8, 6)
    y = np.linspace(0.05, 1.5, 7)
    wave = 0.09 * np.sin(4.0 * y) * y
    for low, high, tone in ((3.95, 4.45, COLOURS["white"]), (4.45, 4.95, finish.tone)):
        grid = [[(float(w), float(v), low), (float(w), float(v), high)] for v, w in zip(y, wave, strict=True)]
        b.sheet(grid, tone, thick=0.01)
    b.solid((-0.1, 0.0, 3.95), (0.1, 1.5, 4.95))
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.08), 0.2, STONE, 10)
    return b.model()


BELONGINGS: tuple[Family, ...] = (
    family(
        "radio",
        Stand.ANY,
        Shape("aerial", "small {} radio with an aerial", _radio, "red/blue plastic, light brown wood"),
        Shape("wide", "wide {} radio with two round speakers", _boom_box, "silver/yellow/green plastic"),
    ),
    family(
        "hat",
        Stand.ANY,
        Shape(
            "brim",
            "broad-brimmed {} hat with a black band",
            _brimmed_hat,
            "yellow straw, brown leather, white/red cloth",
        ),
        Shape("top", "{} top hat with a white band", _top_hat, "black/purple/green cloth"),
    ),
    family(
        "parasol",
        Stand.ANY,
        Shape("round", "parasol in {} and white", _parasol, "red/blue/green/orange -"),
        Shape("square", "square {} pavilion on four poles", _beach_tent, "white/yellow/navy/red cloth"),
    ),
    family(
        "statue",
        Stand.ANY,
        Shape(
            "arm",
            "{} statue of a person with a raised arm",
            lambda f: _statue("arm", f),
            "green bronze, white stone, golden metal",
        ),
        Shape("bust", "{} bust on a plinth", lambda f: _statue("bust", f), "brown bronze, white stone"),
        Shape("lion", "{} statue of a lying lion", _lion, "sand-coloured/white stone, green bronze"),
    ),
    family(
        "garden gnome",
        Stand.GREEN,
        Shape(
            "blue_coat", "garden gnome with a {} hat and a blue coat", lambda f: _gnome("blue", f), "red/yellow/green -"
        ),
        Shape(
            "green_coat",
            "garden gnome with a {} hat and a green coat",
            lambda f: _gnome("green", f),
            "red/orange/purple -",
        ),
    ),
    family(
        "flag",
        Stand.GREEN,
        Shape("pole", "{} and white flag on a pole", _flag, "red/blue/green/yellow/black/orange -"),
    ),
)
