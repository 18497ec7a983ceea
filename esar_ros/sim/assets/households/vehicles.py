"""Cars, trucks, tractors, caravans, trailers and scooters, parked."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.households.make import Family, Finish, Shape, Stand, family
from esar_ros.sim.assets.households.parts import DARK, LAMP_RED, LAMP_WHITE, PANE, STEEL, Parts
from esar_ros.sim.assets.mesh_builder import Colour, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, shade

Outline = list[tuple[float, float]]


def _hull(b: Parts, outline: Outline, width: float, colour: Colour, tumble: float = 0.0) -> None:
    """Body of a vehicle: an outline (x, z) from side to side, narrower by tumble (m a side) at its top."""
    o = np.array(outline)
    low, high = o[:, 1].min(), o[:, 1].max()
    half = width / 2 - tumble * (o[:, 1] - low) / max(high - low, 1e-6)
    right, left = np.column_stack([o[:, 0], -half, o[:, 1]]), np.column_stack([o[:, 0], half, o[:, 1]])
    next_right, next_left = np.roll(right, -1, axis=0), np.roll(left, -1, axis=0)
    middle, middle_left = (np.broadcast_to(side.mean(axis=0), side.shape) for side in (right, left))
    b.flat(np.concatenate([
        np.stack([middle, right, next_right], axis=1), np.stack([middle_left, next_left, left], axis=1),
        np.stack([right, left, next_left], axis=1), np.stack([right, next_left, next_right], axis=1),
    ]), colour)  # fmt: skip


def _lamps(b: Parts, front: float, back: float, y: float, z: float) -> None:
    """Head and tail lamps."""
    for s in (-1.0, 1.0):
        b.block((front - 0.02, s * y - 0.16, z - 0.07), (front + 0.02, s * y + 0.16, z + 0.07), LAMP_WHITE)
        b.block((back - 0.02, s * y - 0.13, z - 0.07), (back + 0.02, s * y + 0.13, z + 0.07), LAMP_RED)


def _car(kind: str, finish: Finish) -> Model:
    """Car, nose at +x: a saloon of 4.5 m, a hatchback of 3.7 m or an estate of 4.6 m."""
    b = Parts()
    front, back = {"saloon": (2.25, -2.25), "hatchback": (1.85, -1.85), "estate": (2.25, -2.35)}[kind]
    wide, bonnet, belt, roof = 1.75, 0.78, 0.9, 1.42
    body = [
        (back, 0.3),
        (front, 0.3),
        (front, 0.62),
        (front - 0.15, bonnet),
        (front - 1.15, belt),
        (back + 0.1, belt),
        (back, 0.7),
    ]
    _hull(b, body, wide, finish.tone)
    rear = {
        "saloon": (back + 0.75, back + 1.25),
        "hatchback": (back + 0.08, back + 0.45),
        "estate": (back + 0.12, back + 0.4),
    }[kind]
    cabin = [(rear[0], belt - 0.02), (front - 1.15, belt - 0.02), (front - 1.85, roof), (rear[1], roof)]
    _hull(b, cabin, wide - 0.1, PANE, 0.14)
    top = [
        (rear[1] - 0.03, roof - 0.02),
        (front - 1.83, roof - 0.02),
        (front - 1.9, roof + 0.04),
        (rear[1] + 0.03, roof + 0.04),
    ]
    _hull(b, top, wide - 0.36, finish.tone)
    middle = (rear[1] + front - 1.85) / 2
    for s in (-1.0, 1.0):
        for low, high in (
            ((front - 1.17, belt), (front - 1.86, roof)),
            ((middle, belt), (middle, roof)),
            ((rear[0], belt), (rear[1], roof)),
        ):
            b.rod(
                (low[0], s * (wide / 2 - 0.06), low[1]),
                (high[0], s * (wide / 2 - 0.19), high[1]),
                0.045,
                finish.tone,
                5,
            )
        for x in (front - 0.8, back + 0.8):
            b.wheel((x, s * (wide / 2 - 0.1), 0.32), 0.32, 0.22, COLOURS["silver"])
        b.block(
            (front - 1.3, s * (wide / 2 + 0.06) - 0.06, belt),
            (front - 1.15, s * (wide / 2 + 0.06) + 0.06, belt + 0.1),
            finish.tone,
        )
    _lamps(b, front, back, 0.62, 0.62)
    b.block((front - 0.01, -0.4, 0.38), (front + 0.03, 0.4, 0.5), DARK)
    b.block((back - 0.03, -0.27, 0.45), (back + 0.01, 0.27, 0.56), LAMP_WHITE)
    b.solid((back, -wide / 2, 0.0), (front, wide / 2, belt))
    b.solid((rear[0] + 0.1, -wide / 2 + 0.1, belt), (front - 1.5, wide / 2 - 0.1, roof + 0.04))
    return b.model()


def _pick_up(finish: Finish) -> Model:
    """Pick-up with an open bed, 5.0 m long."""
    b = Parts()
    _hull(
        b,
        [(-2.5, 0.45), (2.5, 0.45), (2.5, 0.8), (2.35, 1.0), (1.2, 1.08), (-0.75, 1.08), (-0.75, 0.7), (-2.5, 0.7)],
        1.85,
        finish.tone,
    )
    for s in (-1.0, 1.0):
        low, high = sorted((s * 0.82, s * 0.925))
        b.block((-2.5, low, 0.6), (-0.7, high, 1.08), finish.tone)
        for x in (1.6, -1.55):
            b.wheel((x, s * 0.84, 0.38), 0.38, 0.26, COLOURS["silver"])
        for low_x, high_x in ((1.2, 0.55), (-0.1, -0.1), (-0.72, -0.6)):
            b.rod((low_x, s * 0.86, 1.08), (high_x, s * 0.75, 1.72), 0.05, finish.tone, 5)
    b.block((-2.5, -0.9, 0.6), (-2.42, 0.9, 1.08), finish.tone)
    _hull(b, [(-0.72, 1.06), (1.2, 1.06), (0.55, 1.72), (-0.6, 1.72)], 1.74, PANE, 0.12)
    b.block((-0.62, -0.74, 1.7), (0.52, 0.74, 1.78), finish.tone)
    _lamps(b, 2.5, -2.5, 0.7, 0.82)
    b.block((2.48, -0.5, 0.6), (2.54, 0.5, 0.78), DARK)
    b.solid((-2.5, -0.92, 0.0), (2.5, 0.92, 1.08))
    b.solid((-0.72, -0.85, 1.08), (0.9, 0.85, 1.78))
    return b.model()


def _truck(load: str, finish: Finish) -> Model:
    """Truck, cab at +x, 6.8 m long: with a white box, a tipper full of earth, or a tank."""
    b = Parts()
    b.block((-3.3, -0.5, 0.55), (3.2, 0.5, 0.8), DARK)
    _hull(b, [(1.7, 0.5), (3.4, 0.5), (3.4, 1.6), (3.1, 2.6), (1.7, 2.6)], 2.3, finish.tone, 0.06)
    b.quad([(3.415, -0.95, 1.62), (3.415, 0.95, 1.62), (3.15, 0.92, 2.46), (3.15, -0.92, 2.46)], PANE, True)
    for s in (-1.0, 1.0):
        b.block((2.15, s * 1.13 - 0.01, 1.6), (2.95, s * 1.13 + 0.01, 2.35), PANE)
        b.block((3.0, s * 1.3 - 0.08, 1.5), (3.1, s * 1.3 + 0.08, 2.05), DARK)
        for x in (2.55, -1.4, -2.5):
            b.wheel((x, s * 1.0, 0.5), 0.5, 0.32, STEEL)
    _lamps(b, 3.41, -3.3, 0.85, 0.85)
    b.block((3.38, -1.1, 0.4), (3.46, 1.1, 0.65), DARK)
    b.block((3.4, -0.7, 1.0), (3.43, 0.7, 1.3), DARK)
    if load == "box":
        b.block((-3.35, -1.2, 0.9), (1.55, 1.2, 3.3), COLOURS["white"], True)
        for x in (-3.36, 1.56):
            b.block((x - 0.02, -1.2, 0.9), (x + 0.02, 1.2, 3.3), (0.45, 0.46, 0.47))
    elif load == "tipper":
        b.block((-3.35, -1.2, 0.9), (1.5, 1.2, 1.05), finish.tone)
        for s in (-1.0, 1.0):
            b.block((-3.35, s * 1.16 - 0.04, 1.0), (1.5, s * 1.16 + 0.04, 1.9), finish.tone)
        b.block((-3.35, -1.2, 1.0), (-3.25, 1.2, 1.9), finish.tone)
        b.block((1.4, -1.2, 1.0), (1.5, 1.2, 2.3), finish.tone)
        for x in (-2.4, -1.2, 0.0):
            for s in (-1.0, 1.0):
                b.block((x - 0.05, s * 1.2 - 0.04, 0.95), (x + 0.05, s * 1.2 + 0.04, 1.9), shade(finish.tone, 0.6))
        b.lump((-0.9, 0.0, 1.55), (2.2, 1.0, 0.75), (0.17, 0.12, 0.075), np.random.default_rng(3), 0.1, 14, 7)
        b.solid((-3.35, -1.2, 0.9), (1.5, 1.2, 2.1))
    else:
        b.body(
            [(x, 0.0, 1.95) for x in (-3.35, -3.2, 1.35, 1.5)],
            [0.7, 1.1, 1.1, 0.7],
            [0.7, 1.05, 1.05, 0.7],
            COLOURS["silver"],
            16,
        )
        turn = np.linspace(0.0, 2.0 * np.pi, 17)
        for x in (-2.2, 0.4):
            ring = [np.full(17, x), 1.11 * np.cos(turn), 1.95 + 1.06 * np.sin(turn)]
            b.tube(np.stack(ring, axis=1), 0.035, STEEL, 4)
        b.rod((-0.9, 0.0, 2.95), (-0.9, 0.0, 3.15), 0.25, STEEL, 10)
        b.block((-3.2, -0.8, 0.75), (1.4, 0.8, 1.1), finish.tone)
        b.solid((-3.35, -1.0, 0.9), (1.5, 1.0, 2.9))
    b.solid((1.6, -1.15, 0.0), (3.45, 1.15, 2.6))
    b.solid((-3.35, -1.15, 0.0), (1.6, 1.15, 0.95))
    return b.model()


def _caravan(finish: Finish) -> Model:
    """White caravan with a band of the finish's colour, its draw bar at +x, 5.4 m long."""
    b = Parts()
    shell = [(-2.1, 0.5), (2.0, 0.5), (2.2, 1.0), (2.1, 2.0), (1.7, 2.5), (-1.9, 2.55), (-2.2, 2.3), (-2.25, 0.9)]
    _hull(b, shell, 2.1, COLOURS["white"])
    for s in (-1.0, 1.0):
        b.block((-2.15, s * 1.05 - 0.012, 0.95), (2.05, s * 1.05 + 0.012, 1.25), finish.tone)
        for x0, x1 in ((-1.6, -0.5), (0.75, 1.6)):
            b.block((x0, s * 1.06 - 0.012, 1.45), (x1, s * 1.06 + 0.012, 2.05), PANE)
        b.wheel((-0.2, s * 0.95, 0.33), 0.33, 0.2, STEEL)
        b.rod((2.0, s * 0.6, 0.5), (3.1, 0.0, 0.5), 0.05, DARK)
    b.block((-0.1, -1.075, 0.6), (0.55, -1.05, 2.2), (0.55, 0.55, 0.53))
    b.block((2.12, -0.7, 1.35), (2.2, 0.7, 1.95), PANE)
    b.rod((2.95, 0.0, 0.0), (2.95, 0.0, 0.6), 0.04, STEEL)
    b.solid((-2.2, -1.05, 0.3), (2.15, 1.05, 2.5))
    b.solid((-0.6, -1.05, 0.0), (0.2, 1.05, 0.3))
    b.solid_rod((2.0, 0.0, 0.5), (3.1, 0.0, 0.5), 0.15)
    return b.model()


def _teardrop(finish: Finish) -> Model:
    """Small round-backed caravan in one colour, 3.6 m long with its draw bar."""
    b = Parts()
    arch = [(1.3 * np.cos(u) ** 1.0 - 0.1, 0.45 + 1.25 * np.sin(u) ** 0.7) for u in np.linspace(0.12, np.pi - 0.1, 9)]
    _hull(b, [(-1.4, 0.42), (1.2, 0.42), *arch], 1.6, finish.tone)
    for s in (-1.0, 1.0):
        b.block((-0.35, s * 0.8 - 0.012, 0.6), (0.45, s * 0.8 + 0.012, 1.4), shade(finish.tone, 0.65))
        b.block((-0.2, s * 0.81 - 0.012, 1.0), (0.3, s * 0.81 + 0.012, 1.32), PANE)
        b.wheel((-0.3, s * 0.85, 0.32), 0.32, 0.18, COLOURS["silver"])
    b.rod((1.1, 0.0, 0.45), (2.2, 0.0, 0.45), 0.05, DARK)
    b.rod((2.0, 0.0, 0.0), (2.0, 0.0, 0.5), 0.035, STEEL)
    b.solid((-1.3, -0.82, 0.2), (1.15, 0.82, 1.4))
    b.solid((-0.8, -0.8, 1.4), (0.6, 0.8, 1.68))
    b.solid_rod((1.1, 0.0, 0.45), (2.2, 0.0, 0.45), 0.06)
    return b.model()


def _tractor(cab: bool, finish: Finish) -> Model:
    """Tractor, 3.5 m long, its big wheels behind; with a glazed cab or a bare seat."""
    b = Parts()
    b.block((-0.3, -0.35, 0.85), (1.7, 0.35, 1.5), finish.tone)
    b.block((1.7, -0.3, 0.9), (1.73, 0.3, 1.42), DARK)
    b.block((-1.3, -0.45, 0.7), (-0.2, 0.45, 1.1), shade(finish.tone, 0.6))
    b.block((0.4, -0.2, 0.5), (1.6, 0.2, 0.86), DARK)
    for s in (-1.0, 1.0):
        b.wheel((-0.9, s * 0.72, 0.8), 0.8, 0.42, COLOURS["yellow"] if finish.colour != "yellow" else COLOURS["red"])
        b.wheel((1.25, s * 0.6, 0.42), 0.42, 0.26, COLOURS["yellow"] if finish.colour != "yellow" else COLOURS["red"])
        arc = np.linspace(0.5, 2.8, 6)
        b.sheet(
            [
                [
                    (-0.9 + 0.9 * np.cos(u), s * 0.5, 0.8 + 0.9 * np.sin(u)),
                    (-0.9 + 0.9 * np.cos(u), s * 0.95, 0.8 + 0.9 * np.sin(u)),
                ]
                for u in arc
            ][:: int(-s)],
            finish.tone,
            thick=0.04,
        )
    b.rod((0.9, 0.25, 1.5), (0.9, 0.25, 2.2), 0.05, DARK)
    if cab:
        _hull(b, [(-1.35, 1.1), (-0.05, 1.1), (-0.2, 2.45), (-1.25, 2.45)], 1.2, PANE, 0.06)
        b.block((-1.4, -0.66, 2.43), (-0.05, 0.66, 2.56), finish.tone)
        for s in (-1.0, 1.0):
            for x0, x1 in ((-1.35, -1.25), (-0.05, -0.2)):
                b.rod((x0, s * 0.6, 1.1), (x1, s * 0.56, 2.45), 0.045, finish.tone, 5)
        b.solid((-1.4, -0.62, 1.0), (-0.05, 0.62, 2.56))
    else:
        b.block((-1.15, -0.25, 1.2), (-0.7, 0.25, 1.28), BLACK)
        b.block((-1.22, -0.25, 1.2), (-1.14, 0.25, 1.6), BLACK)
        b.rod((-0.2, 0.0, 1.45), (-0.45, 0.0, 1.7), 0.03, DARK)
        b.hoop((-0.47, 0.0, 1.72), 0.22, 0.018, DARK, 14)
        b.solid((-1.25, -0.5, 1.0), (-0.3, 0.5, 1.72))
    for s in (-1.0, 1.0):
        b.solid((-1.7, s * 0.72 - 0.22, 0.0), (-0.1, s * 0.72 + 0.22, 1.55))
        b.solid((0.83, s * 0.6 - 0.13, 0.0), (1.67, s * 0.6 + 0.13, 0.84))
    b.solid((-1.3, -0.5, 0.6), (-0.2, 0.5, 1.1))
    b.solid((-0.3, -0.35, 0.5), (1.73, 0.35, 1.5))
    return b.model()


def _trailer(logs: bool, finish: Finish) -> Model:
    """Two-wheeled trailer with low sides, 3.0 m long; empty, or loaded with logs."""
    b = Parts()
    b.block((-1.1, -0.65, 0.5), (0.9, 0.65, 0.56), shade(finish.tone, 0.7))
    for low, high in (((-1.1, -0.68, 0.5), (0.9, -0.64, 0.9)), ((-1.1, 0.64, 0.5), (0.9, 0.68, 0.9)),
                      ((-1.13, -0.68, 0.5), (-1.09, 0.68, 0.9)), ((0.88, -0.68, 0.5), (0.92, 0.68, 0.9))):  # fmt: skip
        b.block(low, high, finish.tone)
    for s in (-1.0, 1.0):
        b.wheel((-0.15, s * 0.8, 0.3), 0.3, 0.18, COLOURS["silver"])
        b.block((-0.5, s * 0.82 - 0.12, 0.62), (0.2, s * 0.82 + 0.12, 0.66), finish.tone)
        b.rod((0.9, s * 0.4, 0.5), (1.8, 0.0, 0.5), 0.04, DARK)
    b.rod((1.7, 0.0, 0.0), (1.7, 0.0, 0.55), 0.035, STEEL)
    if logs:
        for y, z in ((-0.42, 0.72), (0.0, 0.72), (0.42, 0.72), (-0.21, 1.05), (0.21, 1.05), (0.0, 1.36)):
            b.rod((-1.0, y, z), (0.8, y, z), 0.19, (0.085, 0.055, 0.035), 10)
            b.rod((-1.01, y, z), (0.81, y, z), 0.165, (0.44, 0.32, 0.19), 10)
    b.solid((-1.13, -0.9, 0.0), (0.92, 0.9, 0.9))
    if logs:
        b.solid((-1.0, -0.5, 0.9), (0.8, 0.5, 1.45))
    b.solid_rod((0.9, 0.0, 0.5), (1.8, 0.0, 0.5), 0.1)
    return b.model()


def _scooter(box: bool, finish: Finish) -> Model:
    """Motor scooter on its stand, 1.8 m long; with a white case behind."""
    b = Parts()
    for x in (-0.62, 0.62):
        b.wheel((x, 0.0, 0.23), 0.23, 0.12, COLOURS["silver"])
    _hull(b, [(-0.85, 0.35), (-0.2, 0.28), (-0.15, 0.72), (-0.8, 0.75)], 0.32, finish.tone, 0.05)
    b.block((-0.3, -0.18, 0.24), (0.4, 0.18, 0.32), shade(finish.tone, 0.7))
    b.sheet(
        [[(0.42, -0.22, 0.28), (0.34, -0.16, 0.92)], [(0.42, 0.22, 0.28), (0.34, 0.16, 0.92)]], finish.tone, thick=0.06
    )
    b.rod((0.62, 0.0, 0.25), (0.36, 0.0, 1.0), 0.04, STEEL)
    b.rods([(0.22, -0.32, 1.04), (0.36, -0.1, 1.0), (0.36, 0.1, 1.0), (0.22, 0.32, 1.04)], 0.02, BLACK)
    b.ellipsoid((0.42, 0.0, 0.92), (0.08, 0.1, 0.1), LAMP_WHITE, 10, 6)
    b.block((-0.72, -0.16, 0.75), (-0.08, 0.16, 0.84), BLACK)
    b.rod((0.0, 0.0, 0.26), (0.0, 0.22, 0.0), 0.02, STEEL)
    if box:
        b.block((-0.98, -0.22, 0.82), (-0.56, 0.22, 1.2), COLOURS["white"])
    b.solid((-0.86, -0.2, 0.0), (0.86, 0.2, 0.8))
    b.solid((-0.95 if box else -0.7, -0.25, 0.8), (0.5, 0.25, 1.08))
    return b.model()


VEHICLES: tuple[Family, ...] = (
    family(
        "car",
        Stand.PAVED,
        Shape("saloon", "{} saloon car", lambda f: _car("saloon", f), "red/blue/white/black -"),
        Shape("hatchback", "small {} hatchback car", lambda f: _car("hatchback", f), "yellow/green/orange -"),
        Shape("estate", "long {} estate car", lambda f: _car("estate", f), "silver/navy/brown -"),
    ),
    family(
        "truck",
        Stand.PAVED,
        Shape("pick_up", "{} pick-up truck with an open bed", _pick_up, "red/white/blue -"),
        Shape("box", "{} truck with a white box", lambda f: _truck("box", f), "green/blue/red -"),
        Shape("tipper", "{} tipper truck full of earth", lambda f: _truck("tipper", f), "yellow/orange/green -"),
        Shape("tank", "{} truck with a silver tank", lambda f: _truck("tank", f), "white/red -"),
    ),
    family(
        "caravan",
        Stand.ANY,
        Shape("band", "white caravan with a {} band", _caravan, "red/blue/green/orange/brown -"),
        Shape("round", "small round-backed {} caravan", _teardrop, "yellow/silver/red -"),
    ),
    family(
        "tractor",
        Stand.ANY,
        Shape("cab", "{} tractor with a cab", lambda f: _tractor(True, f), "red/green/blue/yellow -"),
        Shape("seat", "{} tractor without a cab", lambda f: _tractor(False, f), "red/orange/grey -"),
    ),
    family(
        "trailer",
        Stand.ANY,
        Shape("empty", "empty {} trailer", lambda f: _trailer(False, f), "grey/green/blue metal"),
        Shape("logs", "{} trailer loaded with logs", lambda f: _trailer(True, f), "red/yellow/black metal"),
    ),
    family(
        "scooter",
        Stand.PAVED,
        Shape("plain", "{} motor scooter", lambda f: _scooter(False, f), "red/blue/green/white -"),
        Shape("case", "{} motor scooter with a white case", lambda f: _scooter(True, f), "yellow/black/orange -"),
    ),
)
