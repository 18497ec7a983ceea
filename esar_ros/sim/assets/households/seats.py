"""Chairs, stools, benches, deck chairs and sofas that stand about."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import COLOURS, shade


def _chair(finish: Finish) -> Model:
    """Kitchen chair, seat 0.46 m high, a ladder back."""
    b = Parts()
    tone = finish.tone
    b.block((-0.22, -0.22, 0.43), (0.22, 0.22, 0.47), tone)
    for y in (-0.19, 0.19):
        b.rod((0.19, y, 0.0), (0.19, y, 0.43), 0.022, tone)
        b.rod((-0.19, y, 0.0), (-0.24, y, 0.95), 0.022, tone)
    for z in (0.62, 0.76, 0.9):
        b.block((-0.25, -0.19, z - 0.035), (-0.2, 0.19, z + 0.035), shade(tone, 0.85))
    b.solid((-0.24, -0.22, 0.0), (0.22, 0.22, 0.47))
    b.solid((-0.26, -0.22, 0.47), (-0.18, 0.22, 0.95))
    return b.model()


def _armchair(finish: Finish) -> Model:
    """Garden armchair with broad arms, 0.7 m wide."""
    b = Parts()
    b.boards((-0.3, -0.28, 0.36), (0.32, 0.28, 0.4), finish, 4, 1)
    b.sheet(
        [[(-0.24, -0.28, 0.4), (-0.46, -0.28, 1.0)], [(-0.24, 0.28, 0.4), (-0.46, 0.28, 1.0)]], finish.tone, thick=0.04
    )
    for y in (-0.31, 0.31):
        b.block((-0.38, y - 0.05, 0.6), (0.36, y + 0.05, 0.64), finish.tone)
        b.block((0.26, y - 0.03, 0.0), (0.34, y + 0.03, 0.6), shade(finish.tone, 0.85))
        b.block((-0.36, y - 0.03, 0.0), (-0.28, y + 0.03, 0.6), shade(finish.tone, 0.85))
    b.solid((-0.38, -0.36, 0.0), (0.36, 0.36, 0.64))
    b.solid((-0.48, -0.3, 0.64), (-0.3, 0.3, 1.0))
    return b.model()


def _stool(finish: Finish) -> Model:
    """Three-legged milking stool, 0.4 m."""
    b = Parts()
    b.rod((0.0, 0.0, 0.36), (0.0, 0.0, 0.41), 0.19, finish.tone, 14)
    for k in range(3):
        a = k * 2.0 * np.pi / 3
        b.rod(
            (0.2 * np.cos(a), 0.2 * np.sin(a), 0.0),
            (0.11 * np.cos(a), 0.11 * np.sin(a), 0.37),
            0.022,
            shade(finish.tone, 0.8),
        )
    return b.model()


def _bar_stool(finish: Finish) -> Model:
    """Bar stool, 0.78 m, on one foot."""
    b = Parts()
    b.turned([(0.2, 0.0), (0.2, 0.02), (0.03, 0.05), (0.03, 0.7), (0.18, 0.72), (0.18, 0.78)], finish.tone)
    b.hoop((0.0, 0.0, 0.28), 0.15, 0.014, STEEL)
    return b.model()


def _bench(finish: Finish) -> Model:
    """Park bench, 1.7 m long, with a back."""
    b = Parts()
    b.boards((-0.22, -0.85, 0.42), (0.24, 0.85, 0.46), finish, 4, 1)
    for z in (0.62, 0.78):
        b.block((-0.32, -0.85, z - 0.06), (-0.27, 0.85, z + 0.06), finish.tone)
    dark = shade(finish.tone, 0.55) if finish.material == "wood" else finish.tone
    for y in (-0.7, 0.7):
        b.block((-0.26, y - 0.04, 0.0), (-0.18, y + 0.04, 0.42), dark)
        b.block((0.14, y - 0.04, 0.0), (0.22, y + 0.04, 0.42), dark)
        b.rod((-0.22, y, 0.42), (-0.31, y, 0.86), 0.03, dark)
        b.block((-0.3, y - 0.04, 0.62), (0.22, y + 0.04, 0.66), dark)
    b.solid((-0.28, -0.85, 0.0), (0.25, 0.85, 0.48))
    b.solid((-0.34, -0.85, 0.48), (-0.24, 0.85, 0.86))
    return b.model()


def _slab_bench(finish: Finish) -> Model:
    """Bench without a back, 1.9 m long, on two blocks."""
    b = Parts()
    b.block((-0.25, -0.95, 0.38), (0.25, 0.95, 0.48), finish.tone)
    for y in (-0.65, 0.65):
        b.block((-0.2, y - 0.14, 0.0), (0.2, y + 0.14, 0.38), shade(finish.tone, 0.75))
    b.solid((-0.25, -0.95, 0.0), (0.25, 0.95, 0.48))
    return b.model()


def _round_bench(finish: Finish) -> Model:
    """Ring of seats about a bare middle, 2.4 m across."""
    b = Parts()
    corners = [k * np.pi / 4 + np.pi / 8 for k in range(8)]
    for k, a in enumerate(corners):
        c = corners[(k + 1) % 8]
        inner = [(0.75 * np.cos(t), 0.75 * np.sin(t)) for t in (a, c)]
        outer = [(1.2 * np.cos(t), 1.2 * np.sin(t)) for t in (a, c)]
        b.slab([inner[0], outer[0], outer[1], inner[1]], 0.42, 0.47, shade(finish.tone, 1.0 if k % 2 else 0.82))
        b.rod((0.98 * np.cos(a), 0.98 * np.sin(a), 0.0), (0.98 * np.cos(a), 0.98 * np.sin(a), 0.42), 0.05, finish.tone)
        m = 0.5 * (a + c) if c > a else a + np.pi / 8
        b.solid(
            (0.93 * np.cos(m) - 0.3, 0.93 * np.sin(m) - 0.3, 0.0),
            (0.93 * np.cos(m) + 0.3, 0.93 * np.sin(m) + 0.3, 0.47),
        )
    return b.model()


def _deck_chair(finish: Finish) -> Model:
    """Deck chair of two crossed frames and a striped cloth, 1.1 m long."""
    b = Parts()
    wood = (0.40, 0.28, 0.16)
    for y in (-0.27, 0.27):
        b.rod((0.55, y, 0.02), (-0.55, y, 0.98), 0.02, wood)
        b.rod((-0.5, 0.9 * y, 0.02), (0.5, 0.9 * y, 0.5), 0.02, wood)
    for end in ((-0.55, 0.98), (0.5, 0.5), (0.55, 0.03), (-0.5, 0.03)):
        b.rod((end[0], -0.27, end[1]), (end[0], 0.27, end[1]), 0.018, wood)
    across = np.linspace(-0.24, 0.24, 8)
    rows = [(-0.54, 0.97), (-0.38, 0.66), (-0.12, 0.38), (0.16, 0.34), (0.49, 0.5)]
    grid = np.array([[(x, v, z) for x, z in rows] for v in across])
    tones = np.empty((8, 5, 3))
    tones[:] = finish.tone
    tones[[1, 4, 6]] = COLOURS["white"]
    b.sheet(grid, tones, under=shade(finish.tone, 0.7), thick=0.01)
    return b.model()


def _sun_bed(finish: Finish) -> Model:
    """Lounger, 1.9 m, its head raised."""
    b = Parts()
    b.block((-0.35, -0.32, 0.28), (0.98, 0.32, 0.36), finish.tone)
    b.sheet(
        [[(-0.36, -0.32, 0.36), (-0.9, -0.32, 0.8)], [(-0.36, 0.32, 0.36), (-0.9, 0.32, 0.8)]], finish.tone, thick=0.06
    )
    for x in (-0.3, 0.85):
        for y in (-0.28, 0.28):
            b.rod((x, y, 0.0), (x, y, 0.28), 0.025, STEEL)
    b.rod((-0.85, 0.0, 0.0), (-0.8, 0.0, 0.68), 0.025, STEEL)
    b.solid((-0.4, -0.32, 0.0), (0.98, 0.32, 0.36))
    b.solid((-0.9, -0.32, 0.3), (-0.36, 0.32, 0.75))
    return b.model()


def _sofa(seats: int, finish: Finish) -> Model:
    """Upholstered sofa; a seat is 0.62 m wide."""
    b = Parts()
    half = 0.31 * seats
    b.block((-0.38, -half - 0.14, 0.0), (0.4, half + 0.14, 0.3), shade(finish.tone, 0.75))
    for k in range(seats):
        y = -half + 0.62 * k
        b.block((-0.2, y + 0.01, 0.3), (0.42, y + 0.61, 0.45), finish.tone)
        b.block((-0.34, y + 0.01, 0.45), (-0.16, y + 0.61, 0.84), finish.tone)
    b.block((-0.42, -half - 0.14, 0.3), (-0.3, half + 0.14, 0.8), shade(finish.tone, 0.85))
    for s in (-1.0, 1.0):
        low, high = sorted((s * half, s * (half + 0.16)))
        b.block((-0.42, low, 0.06), (0.4, high, 0.62), shade(finish.tone, 0.9))
    b.solid((-0.42, -half - 0.16, 0.0), (0.42, half + 0.16, 0.5))
    b.solid((-0.42, -half - 0.16, 0.5), (-0.16, half + 0.16, 0.84))
    return b.model()


SEATS: tuple[Family, ...] = (
    family(
        "chair",
        Stand.ANY,
        Shape("kitchen", "{} kitchen chair with a ladder back", _chair, "light brown/dark brown/red/white wood"),
        Shape("arm", "{} garden armchair", _armchair, "green/blue wood, white/yellow plastic"),
    ),
    family(
        "stool",
        Stand.ANY,
        Shape("milking", "low {} stool with three legs", _stool, "light brown/dark brown/blue wood"),
        Shape("bar", "tall {} bar stool on one foot", _bar_stool, "red/yellow plastic, black metal"),
    ),
    family(
        "bench",
        Stand.ANY,
        Shape("back", "{} bench with a back", _bench, "brown/green/white wood, blue metal"),
        Shape("slab", "{} bench without a back", _slab_bench, "grey concrete, sand-coloured stone, brown wood"),
        Shape("ring", "ring-shaped {} bench", _round_bench, "light brown/red wood"),
    ),
    family(
        "deck chair",
        Stand.ANY,
        Shape("striped", "deck chair with {} and white stripes", _deck_chair, "red/blue/green/yellow cloth"),
        Shape("lounger", "long {} lounger", _sun_bed, "white plastic, orange/blue cloth"),
    ),
    family(
        "sofa",
        Stand.ANY,
        Shape("two", "{} sofa with two seats", lambda finish: _sofa(2, finish), "red/green/grey cloth"),
        Shape("three", "{} sofa with three seats", lambda finish: _sofa(3, finish), "brown leather, blue/white cloth"),
    ),
)
