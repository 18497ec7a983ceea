"""Things that children and sportsmen leave in a park."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, shade

_TIMBER: Colour = (0.30, 0.20, 0.11)


def _frame(b: Parts, y: float, top: float, spread: float, colour: Colour) -> None:
    """Two legs that meet at the top, in the plane of y."""
    for s in (-1.0, 1.0):
        b.rod((s * spread, y, 0.0), (0.0, y, top), 0.045, colour, 6, True)


def _slide(roofed: bool, finish: Finish) -> Model:
    """Slide, 3.6 m long, its ladder at -x; roofed: a hut on its platform."""
    b = Parts()
    tower = COLOURS["grey"] if not roofed else _TIMBER
    for x in (-1.5, -0.7):
        for y in (-0.35, 0.35):
            b.rod((x, y, 0.0), (x, y, 2.3 if roofed else 1.5), 0.05, tower, 6, True)
    b.block((-1.5, -0.35, 1.36), (-0.7, 0.35, 1.44), tower, True)
    for k in range(5):
        b.rod((-1.85 + 0.07 * k, -0.28, 0.25 + 0.26 * k), (-1.85 + 0.07 * k, 0.28, 0.25 + 0.26 * k), 0.025, tower)
    for s in (-1.0, 1.0):
        b.rod((-1.92, s * 0.28, 0.0), (-1.5, s * 0.28, 2.0), 0.03, tower)
        b.rods([(-0.7, s * 0.3, 1.62), (1.5, s * 0.3, 0.36), (1.9, s * 0.3, 0.3)], 0.05, shade(finish.tone, 0.8))
    chute = [(-0.72, 1.46), (0.4, 0.82), (1.4, 0.26), (1.9, 0.18)]
    b.sheet([[(x, -0.3, z) for x, z in chute], [(x, 0.3, z) for x, z in chute]][::-1], finish.tone, thick=0.05)
    if roofed:
        for s in (-1.0, 1.0):
            b.sheet(
                [[(-1.7, s * 0.55, 2.25), (-1.7, 0.0, 2.75)], [(-0.5, s * 0.55, 2.25), (-0.5, 0.0, 2.75)]][:: int(s)],
                finish.tone,
                thick=0.05,
            )
        b.solid((-1.7, -0.5, 2.2), (-0.5, 0.5, 2.7))
    b.solid_rod((-0.72, 0.0, 1.46), (1.4, 0.0, 0.26), 0.28)
    b.solid((-1.95, -0.32, 0.0), (-1.5, 0.32, 1.6))
    return b.model()


def _seesaw(finish: Finish) -> Model:
    """Seesaw, 3.2 m long, one end on the ground."""
    b = Parts()
    tilt = 0.2
    c, s = float(np.cos(tilt)), float(np.sin(tilt))
    b.box((0.0, 0.0, 0.5), (1.6, 0.12, 0.035), finish.tone, 0.0, tilt)
    for side in (-1.0, 1.0):
        at = np.array([side * 1.35 * c, 0.0, 0.5 - side * 1.35 * s])
        b.box(at + [0.0, 0.0, 0.06], (0.2, 0.16, 0.03), DARK, 0.0, tilt)
        grip = at - np.array([side * 0.35 * c, 0.0, -side * 0.35 * s])
        b.rods([grip, grip + [0.0, 0.0, 0.3]], 0.018, STEEL)
        b.rod(grip + [0.0, -0.16, 0.3], grip + [0.0, 0.16, 0.3], 0.018, STEEL)
        b.rod((side * 0.25, 0.0, 0.0), (0.0, 0.0, 0.48), 0.05, STEEL)
    b.solid_rod((-1.58 * c, 0.0, 0.5 + 1.58 * s), (1.58 * c, 0.0, 0.5 - 1.58 * s), 0.13)
    b.solid((-0.2, -0.1, 0.0), (0.2, 0.1, 0.5))
    return b.model()


def _spring_horse(animal: str, finish: Finish) -> Model:
    """Rocker on a spring, in the shape of an animal, 0.9 m."""
    b = Parts()
    for k in range(6):
        b.hoop((0.0, 0.0, 0.04 + 0.055 * k), 0.1, 0.016, BLACK, 10)
    if animal == "horse":
        outline = [(-0.42, 0.36), (0.34, 0.36), (0.62, 0.86), (0.44, 0.98), (0.24, 0.68), (-0.3, 0.66), (-0.5, 0.78)]
    else:
        outline = [
            (-0.4, 0.38),
            (0.3, 0.38),
            (0.5, 0.62),
            (0.72, 0.66),
            (0.68, 0.76),
            (0.48, 0.86),
            (-0.1, 0.72),
            (-0.62, 0.86),
        ]
    b.prism(outline, -0.09, 0.09, finish.tone)
    b.block((-0.25, -0.15, 0.66), (0.12, 0.15, 0.71), DARK)
    for z in (0.44, 0.84):
        b.rod((0.3, -0.26, z), (0.3, 0.26, z), 0.02, STEEL)
    b.ellipsoid((0.52, 0.09, 0.84 if animal == "horse" else 0.74), (0.025, 0.012, 0.025), COLOURS["white"], 7, 5)
    b.solid((-0.5, -0.2, 0.0), (0.6, 0.2, 0.95))
    return b.model()


def _swing(seats: int, finish: Finish) -> Model:
    """Swing with board seats, 2.3 m high."""
    b = Parts()
    half = 0.5 + 0.8 * (seats - 1)
    for y in (-half - 0.4, half + 0.4):
        _frame(b, y, 2.3, 0.8, finish.tone)
    b.rod((0.0, -half - 0.5, 2.3), (0.0, half + 0.5, 2.3), 0.05, finish.tone, 8, True)
    for k in range(seats):
        y = -0.8 * (seats - 1) + 1.6 * k
        for s in (-0.24, 0.24):
            b.rod((0.0, y + s, 0.5), (0.0, y + s, 2.3), 0.012, STEEL, 4)
        b.block((-0.12, y - 0.28, 0.46), (0.12, y + 0.28, 0.5), BLACK)
        b.solid((-0.12, y - 0.28, 0.44), (0.12, y + 0.28, 0.52))
    return b.model()


def _nest_swing(finish: Finish) -> Model:
    """Swing with a round nest to lie in, 2.4 m high."""
    b = Parts()
    for y in (-1.2, 1.2):
        _frame(b, y, 2.4, 0.9, _TIMBER)
    b.rod((0.0, -1.35, 2.4), (0.0, 1.35, 2.4), 0.06, _TIMBER, 8, True)
    b.hoop((0.0, 0.0, 0.55), 0.6, 0.06, finish.tone, 18)
    b.turned([(0.58, 0.54), (0.58, 0.56)], shade(finish.tone, 0.45), 16)
    for s in (-1.0, 1.0):
        for x in (-0.42, 0.42):
            b.rod((x, s * 0.42, 0.55), (0.0, s * 0.5, 2.4), 0.014, STEEL, 4)
    b.solid((-0.55, -0.55, 0.46), (0.55, 0.55, 0.62))
    return b.model()


def _monkey_bars(finish: Finish) -> Model:
    """Level ladder to swing along, 3.2 m long, 2.2 m high."""
    b = Parts()
    for x in (-1.6, 1.6):
        for y in (-0.5, 0.5):
            b.rod((x, y, 0.0), (x, y, 2.2), 0.05, finish.tone, 6, True)
        for z in (0.5, 1.0, 1.5):
            b.rod((x, -0.5, z), (x, 0.5, z), 0.022, STEEL)
    for y in (-0.5, 0.5):
        b.rod((-1.6, y, 2.2), (1.6, y, 2.2), 0.045, finish.tone, 6, True)
    for x in np.linspace(-1.3, 1.3, 8):
        b.rod((x, -0.5, 2.2), (x, 0.5, 2.2), 0.022, STEEL)
    b.solid((-1.6, -0.5, 2.15), (1.6, 0.5, 2.25))
    return b.model()


def _climbing_dome(finish: Finish) -> Model:
    """Dome of bars, 2.8 m across, 1.5 m high."""
    b = Parts()
    rows = [(1.4, 0.0, 8), (1.25, 0.7, 8), (0.75, 1.25, 8), (0.0, 1.5, 1)]
    points = [[(r * np.cos(2 * np.pi * k / n), r * np.sin(2 * np.pi * k / n), z) for k in range(n)] for r, z, n in rows]
    for low, high in pairwise(points):
        for k in range(8):
            b.rod(low[k], high[k % len(high)], 0.03, finish.tone, 5)
            if len(high) > 1:
                b.rod(low[k], high[(k + 1) % 8], 0.025, shade(finish.tone, 0.8), 5)
                b.rod(high[k], high[(k + 1) % 8], 0.025, finish.tone, 5)
    b.solid((-1.05, -1.05, 0.0), (1.05, 1.05, 0.9))
    b.solid((-0.7, -0.7, 0.9), (0.7, 0.7, 1.45))
    return b.model()


def _pull_up_bars(finish: Finish) -> Model:
    """Three bars of rising height in a row, 3.9 m wide."""
    b = Parts()
    tops = (1.4, 1.9, 2.4)
    for k, y in enumerate((-1.95, -0.65, 0.65, 1.95)):
        top = tops[min(k, 2)] if k else tops[0]
        b.rod((0.0, y, 0.0), (0.0, y, max(top, tops[k - 1] if k else top)), 0.055, finish.tone, 8, True)
    for k, top in enumerate(tops):
        b.rod((0.0, -1.95 + 1.3 * k, top - 0.08), (0.0, -0.65 + 1.3 * k, top - 0.08), 0.022, STEEL, 6, True)
    return b.model()


def _parallel_bars(finish: Finish) -> Model:
    """Two level bars side by side, 2.2 m long, 1.3 m high."""
    b = Parts()
    for y in (-0.28, 0.28):
        for x in (-0.8, 0.8):
            b.rod((x, y, 0.0), (x, y, 1.3), 0.045, finish.tone, 6, True)
        b.rod((-1.1, y, 1.3), (1.1, y, 1.3), 0.03, STEEL, 8, True)
    return b.model()


def _ball(pattern: str, finish: Finish) -> Model:
    """Ball, 0.24 m: with dark patches, or in bands with white."""
    b = Parts()
    r = 0.12
    b.ellipsoid((0.0, 0.0, r), (r, r, r), finish.tone, 16, 10)
    if pattern == "patches":
        middle, golden = np.array([0.0, 0.0, r]), (1.0 + 5.0**0.5) / 2.0
        for k in range(12):  # corners of an icosahedron
            s, t = (-1.0) ** k, (-1.0) ** (k // 2)
            corner = np.roll([0.0, s, t * golden], k // 4) / np.hypot(1.0, golden)
            b.rod(middle + 0.9 * r * corner, middle + 1.015 * r * corner, 0.3 * r, BLACK, 5)
    else:
        for z, share in ((0.06, 0.87), (0.18, 0.87)):
            b.rod((0.0, 0.0, z - 0.014), (0.0, 0.0, z + 0.014), share * r * 1.06, COLOURS["white"], 16)
    return b.model()


def _goal(finish: Finish) -> Model:
    """Small goal with a net, 1.8 x 1.2 m."""
    b = Parts()
    for y in (-0.9, 0.9):
        b.rod((0.0, y, 0.0), (0.0, y, 1.2), 0.04, finish.tone, 8, True)
        b.rod((0.0, y, 1.2), (-0.7, y, 0.02), 0.02, finish.tone)
        b.rod((0.0, y, 0.03), (-0.7, y, 0.03), 0.02, finish.tone)
    b.rod((0.0, -0.94, 1.2), (0.0, 0.94, 1.2), 0.04, finish.tone, 8, True)
    b.rod((-0.7, -0.9, 0.03), (-0.7, 0.9, 0.03), 0.02, finish.tone)
    for y in np.linspace(-0.75, 0.75, 9):
        b.rod((0.0, y, 1.2), (-0.7, y, 0.03), 0.007, COLOURS["white"], 3)
    for u in (0.2, 0.4, 0.6, 0.8):
        b.rod((-0.7 * u, -0.9, 1.2 - 1.17 * u), (-0.7 * u, 0.9, 1.2 - 1.17 * u), 0.007, COLOURS["white"], 3)
    for y in (-0.6, 0.0, 0.6):
        b.solid_rod((-0.05, y, 1.15), (-0.7, y, 0.05), 0.3)
    return b.model()


def _bicycle(style: str, finish: Finish) -> Model:
    """Bicycle on its stand, 1.75 m long; with a basket before, or a child's seat behind."""
    b = Parts()
    for x in (-0.54, 0.54):
        b.wheel((x, 0.0, 0.34), 0.34, 0.045, STEEL, True)
    crank, seat, head = (-0.08, 0.0, 0.3), (-0.24, 0.0, 0.82), (0.36, 0.0, 0.78)
    for a, c in (
        (crank, seat),
        (crank, head),
        ((-0.2, 0.0, 0.7), head),
        ((-0.54, 0.0, 0.34), crank),
        ((-0.54, 0.0, 0.34), (-0.2, 0.0, 0.7)),
    ):
        b.rod(a, c, 0.024, finish.tone)
    b.rod((0.54, 0.0, 0.34), (0.34, 0.0, 0.95), 0.022, finish.tone)
    b.rods([(0.22, -0.28, 1.0), (0.34, -0.1, 0.97), (0.34, 0.1, 0.97), (0.22, 0.28, 1.0)], 0.016, STEEL)
    b.ellipsoid((-0.26, 0.0, 0.88), (0.15, 0.09, 0.045), BLACK, 10, 5)
    for s in (-1.0, 1.0):
        b.block((-0.14, s * 0.16 - 0.05, 0.24 - 0.06 * s), (-0.02, s * 0.16 + 0.05, 0.27 - 0.06 * s), DARK)
    b.rod((-0.1, 0.0, 0.28), (-0.16, 0.24, 0.0), 0.014, STEEL)
    if style == "basket":
        b.turned([(0.13, 0.82), (0.18, 1.02), (0.16, 1.02), (0.11, 0.84)], (0.44, 0.30, 0.15), 8, (0.58, 0.0))
    else:
        b.block((-0.78, -0.16, 0.74), (-0.44, 0.16, 0.8), COLOURS["white"])
        b.block((-0.8, -0.16, 0.74), (-0.74, 0.16, 1.15), COLOURS["white"])
    b.solid((-0.86, -0.1, 0.0), (0.86, 0.1, 0.7))
    b.solid((-0.8, -0.2, 0.7), (0.7, 0.2, 1.02))
    return b.model()


def _tricycle(finish: Finish) -> Model:
    """Child's tricycle, 0.75 m long."""
    b = Parts()
    b.wheel((0.25, 0.0, 0.16), 0.16, 0.05, finish.tone)
    for y in (-0.22, 0.22):
        b.wheel((-0.26, y, 0.12), 0.12, 0.05, finish.tone)
    b.rod((-0.26, -0.22, 0.12), (-0.26, 0.22, 0.12), 0.02, STEEL)
    b.rods([(-0.26, 0.0, 0.14), (0.0, 0.0, 0.22), (0.2, 0.0, 0.42)], 0.03, finish.tone)
    b.rod((0.25, 0.0, 0.16), (0.16, 0.0, 0.52), 0.025, STEEL)
    b.rod((0.15, -0.2, 0.54), (0.15, 0.2, 0.54), 0.02, BLACK)
    b.block((-0.3, -0.12, 0.3), (-0.04, 0.12, 0.34), BLACK)
    b.rod((-0.16, 0.0, 0.17), (-0.16, 0.0, 0.3), 0.02, STEEL)
    return b.model()


def _kayak(finish: Finish) -> Model:
    """Closed kayak with a dark cockpit, a paddle on it, 3.8 m long."""
    b = Parts()
    x = np.array([-1.9, -1.5, -0.8, 0.0, 0.8, 1.5, 1.9])
    wide = np.array([0.02, 0.16, 0.29, 0.32, 0.29, 0.16, 0.02])
    rise = 0.2 + 0.08 * (x / 1.9) ** 2
    path = np.stack([x, np.zeros(7), rise], axis=1)
    b.body(path, wide, np.array([0.03, 0.13, 0.18, 0.19, 0.18, 0.13, 0.03]), finish.tone, 12)
    b.ellipsoid((-0.1, 0.0, 0.36), (0.42, 0.22, 0.045), BLACK, 14, 6)
    b.rod((-0.55, -0.95, 0.44), (0.35, 0.95, 0.44), 0.018, STEEL)
    for s in (-1.0, 1.0):
        b.ellipsoid((-0.1 + s * 0.5, s * 1.06, 0.44), (0.13, 0.22, 0.015), COLOURS["white"], 10, 5, yaw=-0.3)
    b.solid((-1.6, -0.25, 0.0), (1.6, 0.25, 0.4))
    b.solid_rod((-0.75, -1.2, 0.44), (0.5, 1.2, 0.44), 0.08)
    return b.model()


def _canoe(finish: Finish) -> Model:
    """Open canoe with raised ends and two thwarts, 4.4 m long."""
    b = Parts()
    x = np.array([-2.2, -1.9, -1.2, 0.0, 1.2, 1.9, 2.2])
    wide = np.array([0.02, 0.18, 0.38, 0.44, 0.38, 0.18, 0.02])
    top = 0.42 + 0.22 * np.abs(x / 2.2) ** 3
    keel = 0.02 + 0.2 * np.abs(x / 2.2) ** 6
    rows = []
    for u, w, t, k in zip(x, wide, top, keel, strict=True):
        rows.append([(u, -w, t), (u, -0.85 * w, 0.45 * t), (u, 0.0, k), (u, 0.85 * w, 0.45 * t), (u, w, t)])
    b.sheet(np.array(rows)[:, ::-1], finish.tone, under=(0.34, 0.24, 0.13), thick=0.03)
    for u in (-0.8, 0.8):
        b.block((u - 0.1, -0.38, 0.3), (u + 0.1, 0.38, 0.33), (0.34, 0.24, 0.13))
    b.solid((-1.9, -0.4, 0.0), (1.9, 0.4, 0.45))
    return b.model()


PLAYGROUND: tuple[Family, ...] = (
    family(
        "slide",
        Stand.GREEN,
        Shape("open", "{} slide with a ladder", lambda f: _slide(False, f), "red/blue/yellow plastic, silver metal"),
        Shape(
            "roof", "{} slide on a wooden tower with a roof", lambda f: _slide(True, f), "green/orange/purple plastic"
        ),
    ),
    family(
        "seesaw",
        Stand.GREEN,
        Shape("plank", "{} seesaw", _seesaw, "brown/red/blue wood, yellow/green metal"),
    ),
    family(
        "spring rider",
        Stand.GREEN,
        Shape(
            "horse", "{} spring rider shaped as a horse", lambda f: _spring_horse("horse", f), "red/blue/white plastic"
        ),
        Shape(
            "duck",
            "{} spring rider shaped as a duck",
            lambda f: _spring_horse("duck", f),
            "yellow/green/orange plastic",
        ),
    ),
    family(
        "swing",
        Stand.GREEN,
        Shape("one", "{} swing with one seat", lambda f: _swing(1, f), "red/blue metal, brown wood"),
        Shape("two", "{} swing with two seats", lambda f: _swing(2, f), "green/yellow/grey metal"),
        Shape("nest", "nest swing with a {} ring", _nest_swing, "red/black cloth"),
    ),
    family(
        "climbing frame",
        Stand.GREEN,
        Shape("bars", "{} monkey bars", _monkey_bars, "red/blue/yellow metal, brown wood"),
        Shape("dome", "{} climbing dome", _climbing_dome, "green/orange/black metal"),
    ),
    family(
        "exercise bars",
        Stand.GREEN,
        Shape("pull_up", "three {} pull-up bars of rising height", _pull_up_bars, "blue/red/black metal, brown wood"),
        Shape("parallel", "two {} parallel bars", _parallel_bars, "green/yellow metal"),
    ),
    family(
        "ball",
        Stand.ANY,
        Shape("patches", "{} ball with black patches", lambda f: _ball("patches", f), "white/yellow/orange leather"),
        Shape("bands", "{} ball with white bands", lambda f: _ball("bands", f), "red/blue/green/purple rubber"),
    ),
    family(
        "goal",
        Stand.GREEN,
        Shape("net", "small {} goal with a net", _goal, "white/red/yellow/black/blue metal, brown wood"),
    ),
    family(
        "bicycle",
        Stand.PAVED,
        Shape("basket", "{} bicycle with a basket", lambda f: _bicycle("basket", f), "red/blue/green metal"),
        Shape("child", "{} bicycle with a child's seat", lambda f: _bicycle("seat", f), "black/yellow/orange metal"),
        Shape("tricycle", "child's {} tricycle", _tricycle, "red/blue plastic"),
    ),
    family(
        "canoe",
        Stand.GREEN,
        Shape("kayak", "{} kayak with a paddle", _kayak, "red/yellow/blue/orange plastic"),
        Shape("open", "open {} canoe", _canoe, "green/red wood, silver metal"),
    ),
)
