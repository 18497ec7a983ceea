"""Things that stand at the side of a street."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, LAMP_RED, LAMP_WHITE, PANE, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, STONE, shade


def _cone(finish: Finish) -> Model:
    """Traffic cone with two white bands, 0.75 m high."""
    b = Parts()
    b.block((-0.2, -0.2, 0.0), (0.2, 0.2, 0.03), shade(finish.tone, 0.6))
    b.turned([(0.16, 0.03), (0.035, 0.75)], finish.tone, 14)
    for low in (0.28, 0.48):
        r0, r1 = (0.168 - 0.174 * (z - 0.03) for z in (low, low + 0.1))
        b.turned([(r0, low), (r1, low + 0.1)], COLOURS["white"], 14)
    b.solid((-0.14, -0.14, 0.0), (0.14, 0.14, 0.75))
    return b.model()


def _barrier(finish: Finish) -> Model:
    """Road barrier with slanting white stripes, 1.8 m wide."""
    b = Parts()
    for y in (-0.8, 0.8):
        b.block((-0.25, y - 0.04, 0.0), (0.25, y + 0.04, 0.08), DARK)
        b.rod((0.0, y, 0.0), (0.0, y, 1.05), 0.03, STEEL)
    for z in (0.55, 0.95):
        b.block((-0.02, -0.9, z - 0.1), (0.02, 0.9, z + 0.1), finish.tone)
        for k in range(4):
            y = -0.75 + 0.42 * k
            for x, turn in ((0.022, 1), (-0.022, -1)):
                quad = [(x, y, z - 0.1), (x, y + 0.18, z - 0.1), (x, y + 0.3, z + 0.1), (x, y + 0.12, z + 0.1)]
                b.quad(np.array(quad)[::turn], COLOURS["white"], True)
    b.solid((-0.06, -0.9, 0.0), (0.06, 0.9, 1.06))
    return b.model()


def _traffic_light(arm: bool, finish: Finish) -> Model:
    """Traffic light of three lamps, 3.2 m high; on an arm it hangs over the road at 4.5 m."""
    b = Parts()
    top, x = (4.6, 1.6) if arm else (3.2, 0.12)
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, top), 0.07, finish.tone, 8, True)
    if arm:
        b.rod((0.0, 0.0, 4.5), (1.7, 0.0, 4.5), 0.05, finish.tone, 8, True)
    low = 3.5 if arm else 2.2
    b.block((x - 0.12, -0.17, low), (x + 0.12, 0.17, low + 0.95), finish.tone, True)
    for k, colour in enumerate(((0.02, 0.55, 0.10), (0.80, 0.50, 0.03), (0.70, 0.03, 0.02))):
        z = low + 0.19 + 0.285 * k
        b.rod((x + 0.12, 0.0, z), (x + 0.15, 0.0, z), 0.11, colour, 12)
        b.rod((x + 0.12, 0.0, z + 0.12), (x + 0.24, 0.0, z + 0.12), 0.02, BLACK, 5)
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.12), 0.14, DARK, 10)
    return b.model()


def _sign(shape: str, finish: Finish) -> Model:
    """Road sign on a post, 2.5 m high: an octagon, a triangle, a disc or a square, with a white mark."""
    b = Parts()
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 2.5), 0.035, STEEL, 6, True)
    count = {"octagon": 8, "triangle": 3, "disc": 20, "square": 4}[shape]
    turn = {"octagon": np.pi / 8, "triangle": np.pi / 2, "disc": 0.0, "square": np.pi / 4}[shape]
    a = turn + np.arange(count) * 2.0 * np.pi / count
    for half, radius, tone in (
        (0.02, 0.42, finish.tone),
        (0.026, 0.3 if shape != "triangle" else 0.24, COLOURS["white"]),
    ):
        ring = np.stack([np.zeros(count), radius * np.cos(a), 2.2 + radius * np.sin(a)], axis=1)
        b.loft([ring + [0.05 - half, 0.0, 0.0], ring + [0.05 + half, 0.0, 0.0]], tone)
    b.block((0.07, -0.2, 2.15), (0.082, 0.2, 2.25), finish.tone)
    b.solid((0.02, -0.38, 1.85), (0.1, 0.38, 2.58))
    return b.model()


def _bus_stop(glass: bool, finish: Finish) -> Model:
    """Bus stop: a flag on a post, or a shelter of glass with a roof, open to +x, 3.2 m long."""
    b = Parts()
    if not glass:
        b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 2.8), 0.04, STEEL, 8, True)
        b.rod((-0.02, 0.3, 2.5), (0.02, 0.3, 2.5), 0.3, finish.tone, 18)
        b.rod((-0.026, 0.3, 2.5), (0.026, 0.3, 2.5), 0.2, COLOURS["white"], 18)
        b.block((-0.03, -0.22, 1.2), (0.03, 0.22, 1.7), LAMP_WHITE)
        b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), 0.2, DARK, 10)
        b.solid((-0.05, -0.02, 2.2), (0.05, 0.6, 2.8))
        return b.model()
    for x in (-0.6, 0.6):
        for y in (-1.6, 1.6):
            b.rod((x, y, 0.0), (x, y, 2.4), 0.045, finish.tone, 6, True)
    b.block((-0.75, -1.75, 2.4), (0.8, 1.75, 2.5), finish.tone, True)
    b.block((-0.62, -1.55, 0.3), (-0.58, 1.55, 2.1), (0.36, 0.44, 0.46), True)
    b.block((-0.5, -1.58, 0.3), (0.4, -1.55, 2.1), (0.36, 0.44, 0.46), True)
    b.block((-0.5, -1.2, 0.42), (-0.15, 1.2, 0.47), (0.30, 0.20, 0.11))
    for y in (-1.0, 1.0):
        b.block((-0.4, y - 0.03, 0.0), (-0.3, y + 0.03, 0.42), STEEL)
    b.solid((-0.5, -1.2, 0.0), (-0.15, 1.2, 0.47))
    return b.model()


def _hydrant(finish: Finish) -> Model:
    """Fire hydrant with a domed cap and side outlets, 0.85 m high."""
    b = Parts()
    b.turned([(0.17, 0.0), (0.17, 0.06), (0.11, 0.08), (0.11, 0.58)], finish.tone, 14)
    b.turned([(0.15, 0.58), (0.14, 0.66), (0.06, 0.78), (0.04, 0.85)], finish.tone, 14)
    for s in (-1.0, 1.0):
        b.rod((0.0, s * 0.1, 0.46), (0.0, s * 0.2, 0.46), 0.06, shade(finish.tone, 0.7), 10)
    b.rod((0.1, 0.0, 0.36), (0.2, 0.0, 0.36), 0.08, shade(finish.tone, 0.7), 10)
    b.solid((-0.15, -0.18, 0.0), (0.2, 0.18, 0.82))
    return b.model()


def _pillar_hydrant(finish: Finish) -> Model:
    """Slim pillar hydrant with a white top, 1.2 m high."""
    b = Parts()
    b.turned([(0.13, 0.0), (0.08, 0.06), (0.08, 0.95)], finish.tone, 12)
    b.turned([(0.1, 0.95), (0.1, 1.12), (0.05, 1.2)], COLOURS["white"], 12)
    for s in (-1.0, 1.0):
        b.limb((0.0, s * 0.06, 0.72), (0.06, s * 0.2, 0.62), 0.045, 0.05, STEEL, 8)
    b.solid((-0.1, -0.14, 0.0), (0.12, 0.14, 1.2))
    return b.model()


def _pillar_box(finish: Finish) -> Model:
    """Round pillar box with a cap, 1.5 m high."""
    b = Parts()
    b.turned(
        [(0.26, 0.0), (0.26, 0.12), (0.22, 0.14), (0.22, 1.25), (0.27, 1.27), (0.27, 1.36), (0.1, 1.48)],
        finish.tone,
        16,
    )
    b.block((0.2, -0.12, 1.06), (0.235, 0.12, 1.11), BLACK)
    b.block((0.2, -0.07, 0.78), (0.235, 0.07, 0.98), LAMP_WHITE)
    b.solid((-0.24, -0.24, 0.0), (0.24, 0.24, 1.46))
    return b.model()


def _letter_box(finish: Finish) -> Model:
    """Letter box with an arched top on a post, 1.25 m high."""
    b = Parts()
    b.block((-0.05, -0.05, 0.0), (0.05, 0.05, 0.95), (0.30, 0.20, 0.11))
    arch = [
        (-0.14 + 0.0, 0.95),
        (0.14, 0.95),
        *((0.14 * np.cos(u), 1.09 + 0.14 * np.sin(u)) for u in np.linspace(0.0, np.pi, 8)),
    ]
    ring = np.array([(0.0, y, z) for y, z in arch])
    b.loft([ring + [-0.26, 0.0, 0.0], ring + [0.26, 0.0, 0.0]], finish.tone)
    b.block((0.26, -0.1, 0.98), (0.27, 0.1, 1.12), shade(finish.tone, 0.7))
    b.block((0.0, 0.14, 1.08), (0.1, 0.16, 1.3), LAMP_RED)
    b.solid((-0.26, -0.14, 0.93), (0.27, 0.14, 1.23))
    b.solid((-0.06, -0.06, 0.0), (0.06, 0.06, 0.95))
    return b.model()


def _wheelie_bin(finish: Finish) -> Model:
    """Wheeled bin with a lid, 1.1 m high."""
    b = Parts()
    rings = []
    for grow, z in ((0.0, 0.04), (0.06, 0.98)):
        w, d = 0.22 + grow, 0.24 + grow
        rings.append([(-d, -w, z), (d, -w, z), (d, w, z), (-d, w, z)])
    b.loft(rings, finish.tone)
    b.block((-0.36, -0.3, 0.98), (0.33, 0.3, 1.05), shade(finish.tone, 0.75))
    b.rod((-0.36, -0.25, 0.94), (-0.36, 0.25, 0.94), 0.02, DARK)
    for y in (-0.24, 0.24):
        b.wheel((-0.22, y, 0.1), 0.1, 0.06, STEEL)
    b.solid((-0.34, -0.3, 0.0), (0.32, 0.3, 1.05))
    return b.model()


def _litter_bin(finish: Finish) -> Model:
    """Round litter bin of slats with a domed cover, 1.15 m high."""
    b = Parts()
    b.turned([(0.2, 0.05), (0.22, 0.78), (0.18, 0.78)], shade(finish.tone, 0.55), 14)
    for k in range(14):
        a = 2.0 * np.pi * k / 14
        b.box((0.225 * np.cos(a), 0.225 * np.sin(a), 0.43), (0.015, 0.035, 0.37), finish.tone, a)
    b.turned([(0.27, 0.96), (0.2, 1.08), (0.05, 1.13)], finish.tone, 14)
    for y in (-0.22, 0.22):
        b.rod((0.0, y, 0.78), (0.0, y, 0.97), 0.015, DARK)
    b.rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.06), 0.16, DARK, 12)
    b.solid((-0.22, -0.22, 0.0), (0.22, 0.22, 1.12))
    return b.model()


def _skip(finish: Finish) -> Model:
    """Open skip for rubble, 3.2 m long."""
    b = Parts()
    rings = []
    for x, y, z in ((1.0, 0.75, 0.1), (1.6, 0.85, 1.2), (1.54, 0.8, 1.2), (1.0, 0.7, 0.45)):
        rings.append([(-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)])
    b.loft(rings, [finish.tone, finish.tone, finish.tone, shade(finish.tone, 0.5)])
    b.lump((0.1, 0.0, 0.55), (0.95, 0.65, 0.35), STONE, np.random.default_rng(4), 0.2, 12, 7, True)
    for s in (-1.0, 1.0):
        for x in (-0.6, 0.6):
            b.rod((x, s * 0.84, 0.7), (x, s * 0.98, 0.7), 0.05, DARK, 8)
    b.block((-0.9, -0.7, 0.0), (0.9, 0.7, 0.1), DARK)
    b.solid((-1.3, -0.85, 0.0), (1.3, 0.85, 0.9))
    b.solid((-1.6, -0.85, 0.8), (1.6, 0.85, 1.2))
    return b.model()


def _phone_booth(finish: Finish) -> Model:
    """Telephone booth with panes on all sides, 2.5 m high."""
    b = Parts()
    b.block((-0.45, -0.45, 0.0), (0.45, 0.45, 0.12), shade(finish.tone, 0.7))
    b.block((-0.4, -0.4, 0.12), (0.4, 0.4, 2.2), PANE)
    for x in (-0.41, 0.41):
        for y in (-0.41, 0.41):
            b.block((x - 0.05, y - 0.05, 0.1), (x + 0.05, y + 0.05, 2.2), finish.tone)
    for z in (0.55, 0.95, 1.35, 1.75):
        b.block((-0.43, -0.43, z - 0.02), (0.43, 0.43, z + 0.02), finish.tone)
    for s in (-1.0, 1.0):
        b.block((-0.015, s * 0.42 - 0.015, 0.12), (0.015, s * 0.42 + 0.015, 2.1), finish.tone)
        b.block((s * 0.42 - 0.015, -0.015, 0.12), (s * 0.42 + 0.015, 0.015, 2.1), finish.tone)
    b.block((-0.46, -0.46, 2.1), (0.46, 0.46, 2.36), finish.tone)
    b.block((0.46, -0.3, 2.16), (0.47, 0.3, 2.3), LAMP_WHITE)
    b.turned([(0.62, 2.36), (0.45, 2.46), (0.1, 2.52)], shade(finish.tone, 0.8), 4)
    b.solid((-0.46, -0.46, 0.0), (0.46, 0.46, 2.48))
    return b.model()


def _bollard(top: str, finish: Finish) -> Model:
    """Bollard, 0.95 m: with a ball on it and a white ring, or a square block of stone."""
    b = Parts()
    if top == "ball":
        b.turned([(0.11, 0.0), (0.08, 0.05), (0.075, 0.78), (0.1, 0.8), (0.1, 0.84)], finish.tone, 12)
        b.ellipsoid((0.0, 0.0, 0.92), (0.1, 0.1, 0.1), finish.tone, 12, 8)
        b.turned([(0.082, 0.58), (0.081, 0.66)], COLOURS["white"], 12)
        return b.model()
    b.block((-0.16, -0.16, 0.0), (0.16, 0.16, 0.7), finish.tone)
    b.turned([(0.226, 0.7), (0.02, 0.85)], shade(finish.tone, 0.9), 4)
    return b.model()


def _air_conditioner(fans: int, finish: Finish) -> Model:
    """Air conditioner's outdoor unit on feet; one fan, or two above each other."""
    b = Parts()
    tall = 0.62 if fans == 1 else 1.25
    b.block((-0.17, -0.42, 0.08), (0.17, 0.42, 0.08 + tall), finish.tone)
    for k in range(fans):
        z = 0.39 + 0.6 * k
        b.rod((0.17, -0.08, z), (0.18, -0.08, z), 0.25, DARK, 16)
        for a in 0.6 + 0.5 * np.pi * np.arange(4):
            b.rod((0.184, -0.08, z), (0.184, -0.08 + 0.23 * np.cos(a), z + 0.23 * np.sin(a)), 0.012, STEEL, 4)
    for z in np.arange(0.2, tall, 0.12):
        b.block((0.17, 0.22, z), (0.178, 0.38, z + 0.05), shade(finish.tone, 0.55))
    for y in (-0.32, 0.32):
        b.block((-0.2, y - 0.05, 0.0), (0.2, y + 0.05, 0.08), DARK)
    b.solid((-0.18, -0.42, 0.0), (0.19, 0.42, 0.08 + tall))
    return b.model()


STREET: tuple[Family, ...] = (
    family(
        "traffic cone",
        Stand.PAVED,
        Shape("cone", "{} traffic cone with white bands", _cone, "orange/red/yellow/green/blue plastic, black rubber"),
    ),
    family(
        "road barrier",
        Stand.PAVED,
        Shape(
            "stripes",
            "{} road barrier with white stripes",
            _barrier,
            "red/orange/blue/green/black metal, yellow plastic",
        ),
    ),
    family(
        "traffic light",
        Stand.PAVED,
        Shape("post", "{} traffic light on a post", lambda f: _traffic_light(False, f), "black/yellow/green metal"),
        Shape(
            "arm", "{} traffic light hanging from an arm", lambda f: _traffic_light(True, f), "black/grey/yellow metal"
        ),
    ),
    family(
        "road sign",
        Stand.PAVED,
        Shape("octagon", "eight-sided {} road sign", lambda f: _sign("octagon", f), "red/yellow metal"),
        Shape("triangle", "three-sided {} road sign", lambda f: _sign("triangle", f), "red/yellow metal"),
        Shape("disc", "round {} road sign", lambda f: _sign("disc", f), "red/blue metal"),
        Shape("square", "square {} road sign", lambda f: _sign("square", f), "blue/green metal"),
    ),
    family(
        "bus stop",
        Stand.PAVED,
        Shape("post", "bus stop post with a round {} flag", lambda f: _bus_stop(False, f), "yellow/red/green metal"),
        Shape("shelter", "bus shelter with a {} roof", lambda f: _bus_stop(True, f), "blue/red/green/white metal"),
    ),
    family(
        "hydrant",
        Stand.PAVED,
        Shape("dome", "stout {} fire hydrant", _hydrant, "red/yellow/blue/silver metal"),
        Shape("pillar", "slim {} fire hydrant with a white top", _pillar_hydrant, "red/green/blue metal"),
    ),
    family(
        "post box",
        Stand.PAVED,
        Shape("pillar", "round {} pillar box", _pillar_box, "red/yellow/blue/green metal"),
        Shape("arch", "{} letter box on a wooden post", _letter_box, "white/black/red metal"),
    ),
    family(
        "rubbish bin",
        Stand.PAVED,
        Shape("wheels", "{} wheeled bin with a lid", _wheelie_bin, "green/blue/yellow/grey plastic"),
        Shape("slats", "round slatted {} litter bin", _litter_bin, "brown wood, green/red metal"),
        Shape("skip", "{} skip full of rubble", _skip, "yellow/blue/green metal"),
    ),
    family(
        "phone booth",
        Stand.PAVED,
        Shape("panes", "{} phone booth", _phone_booth, "red/blue/green/yellow/white/black metal"),
    ),
    family(
        "bollard",
        Stand.PAVED,
        Shape("ball", "{} bollard with a ball on it", lambda f: _bollard("ball", f), "black/green/red/blue metal"),
        Shape(
            "block",
            "square {} bollard with a pointed top",
            lambda f: _bollard("block", f),
            "grey/white/sand-coloured stone",
        ),
    ),
    family(
        "air conditioner",
        Stand.ANY,
        Shape("one", "{} air conditioner with one fan", lambda f: _air_conditioner(1, f), "white/grey/black metal"),
        Shape(
            "two", "tall {} air conditioner with two fans", lambda f: _air_conditioner(2, f), "white/green/blue metal"
        ),
    ),
)
