"""A town park: lawns, paths and avenues, a pond with a bridge, beds, courts, a bandstand; houses along its south."""

from __future__ import annotations

import math

from esar_ros.sim.terrain.settlements.plan import (
    ASPHALT,
    COURT,
    EARTH,
    GRAVEL,
    LAWN,
    LAWN_LIGHT,
    PAVING,
    SAND,
    Plan,
    Planner,
    blob,
    curved,
    offset,
    rectangle,
)


def lay_out(seed: int, size: float) -> Plan:
    """A plan about the meeting of its ways at the centre, where vehicles start."""
    planner = Planner(seed, size)
    edge = size / 2
    planner.keep_free(0.0, 0.0, 10.0, 10.0)
    street = -edge + 34.0  # y of the street along the south
    _houses(planner, edge, street)
    gate = planner.number(-12.0, 12.0)
    inside = street + 9.0  # y of the park's railing
    fence = [(-edge + 6, inside), (-edge + 6, edge - 6), (edge - 6, edge - 6), (edge - 6, inside), (-edge + 6, inside)]
    gates = [(gate, inside, 5.0), (-edge + 6, 20.0, 5.0), (edge - 6, -30.0, 5.0), (30.0, edge - 6, 5.0)]
    planner.run("fence", fence, 4.0, 0.1, 1.7, "railing", gates)
    for x, y, _ in gates:
        along = 0.0 if abs(y) > abs(x) - 1.0 and abs(x) < edge - 10.0 else math.pi / 2
        for s in (-4.2, 4.2):
            planner.put("wall", x + s * math.cos(along), y + s * math.sin(along), 0.8, 0.8, 2.4, along, "stone")
    pond = blob(0.24 * size, 0.20 * size, 0.125 * size, 0.085 * size, planner.rng)
    planner.water(pond)
    planner.keep_free(0.24 * size, 0.20 * size, 0.29 * size, 0.21 * size)
    planner.put("pavilion", -17.0, 15.0, 10.0, 10.0, 3.6, style="bandstand", clear=2.0)
    planner.put("fountain", gate * 0.5, -0.18 * size, 8.0, 8.0, 2.6, clear=2.0)
    _paths(planner, size, gate, inside, edge)
    planner.put("bridge", 0.24 * size, 0.085 * size + 0.02 * size, 17.0, 2.6, 1.0, math.pi / 2)
    _garden(planner, 0.28 * size, -0.16 * size)
    _courts(planner, -0.27 * size, 0.24 * size)
    _play_ground(planner, -0.26 * size, -0.14 * size)
    for x, y, wide, style in (
        (-0.08 * size, -0.29 * size, 6.0, "hip timber_green dark shop plain"),
        (0.36 * size, 0.02 * size, 7.0, "hip brick_red slate door plain"),
        (-0.38 * size, 0.13 * size, 9.0, "gable timber_brown dark barn plain"),
    ):
        planner.put("house", x, y, wide, 5.0, 3.0, planner.number(-0.3, 0.3), style, clear=2.0)
    planner.put("greenhouse", 0.38 * size, -0.28 * size, 14.0, 6.5, 2.4, 0.0, clear=2.0)
    planner.wood(blob(-0.36 * size, 0.40 * size, 34.0, 16.0, planner.rng))
    planner.wood(blob(0.40 * size, 0.39 * size, 20.0, 22.0, planner.rng))
    planner.wood(blob(-0.42 * size, -0.10 * size, 9.0, 26.0, planner.rng))
    for _ in range(150):
        x, y = planner.number(-0.46, 0.46) * size, planner.number(inside / size + 0.03, 0.46) * size
        planner.tree(x, y, planner.pick("broadleaf broadleaf evergreen conifer"), 6.0, 13.0, 5.0)
    for _ in range(60):
        x, y = planner.number(-0.46, 0.46) * size, planner.number(inside / size + 0.03, 0.46) * size
        planner.tree(x, y, "bush", 0.9, 1.6, 2.5)
    return planner.plan()


def _houses(planner: Planner, edge: float, street: float) -> None:
    """A street with a row of town houses to its south."""
    road = [(-edge, street), (edge, street)]
    planner.road(road, 13.0, PAVING)
    planner.road(road, 7.5, ASPHALT)
    for side in (-1.0, 1.0):
        planner.put("kerb", 0.0, street + side * 3.83, 2 * edge, 0.16, 0.12)
        planner.row("lamp", offset(road, side * 4.4), 26.0, (0.3, 1.4, 6.0), "street", 0.0 if side > 0 else math.pi)
    planner.row("mark", road, 7.0, (3.0, 0.15, 0.0))
    x = -edge + 4.0
    while x < edge - 14.0:
        wide, deep = planner.number(10.0, 15.0), planner.number(9.5, 11.5)
        wall = planner.pick("plaster_white plaster_cream plaster_ochre brick_red plaster_rose")
        style = f"{planner.pick('gable hip gable')} {wall} {planner.pick('red brown slate')} door"
        tall = 3.0 * (2 + int(planner.rng.integers(0, 2))) + 0.4
        planner.put("house", x + wide / 2, street - 8.0 - deep / 2, wide, deep, tall, math.pi, style, clear=0.0)
        x += wide + (planner.number(2.0, 5.0) if planner.chance(0.4) else 0.2)


def _paths(planner: Planner, size: float, gate: float, inside: float, edge: float) -> None:
    """The main avenue, a ring, and ways to the gates; lamps and trees along them."""
    avenue = [(gate, inside - 3.0), (0.5 * gate, -0.18 * size), (0.0, 0.0)]
    ring = curved([
        (-0.02 * size, -0.25 * size), (0.22 * size, -0.28 * size), (0.40 * size, -0.14 * size),
        (0.41 * size, 0.10 * size), (0.34 * size, 0.33 * size), (0.05 * size, 0.38 * size), (-0.20 * size, 0.36 * size),
        (-0.40 * size, 0.22 * size), (-0.41 * size, -0.04 * size), (-0.28 * size, -0.27 * size),
        (-0.02 * size, -0.25 * size),
    ])  # fmt: skip
    ways = [
        curved([(0.0, 0.0), (-0.16 * size, 0.02 * size), (-0.30 * size, 0.07 * size), (-edge + 6, 20.0)]),
        curved([(0.0, 0.0), (0.14 * size, -0.04 * size), (0.34 * size, -0.07 * size), (edge - 6, -30.0)]),
        curved([(0.0, 0.0), (0.02 * size, 0.16 * size), (0.06 * size, 0.30 * size), (30.0, edge - 6)]),
    ]
    for line, width in ((ring, 3.2), *((way, 2.8) for way in ways), (avenue, 5.0)):
        planner.road(line, width, GRAVEL, False)
    planner.paint(blob(0.0, 0.0, 14.0, 14.0, planner.rng, 0.0), GRAVEL)
    for side in (-1.0, 1.0):
        planner.avenue(offset(avenue, side * 5.2), 10.0, "broadleaf", 8.0, 10.5)
        planner.row("lamp", offset(avenue, side * 3.2), 18.0, (0.3, 0.9, 4.0), "park")
    planner.row("lamp", offset(ring, 2.3), 24.0, (0.3, 0.9, 4.0), "park")
    for way in ways:
        planner.row("lamp", offset(way, 2.0), 28.0, (0.3, 0.9, 4.0), "park")


def _garden(planner: Planner, x: float, y: float) -> None:
    """A parterre: four beds within low hedges about a round one."""
    planner.keep_free(x, y, 44.0, 34.0)
    planner.paint(rectangle(x, y, 44.0, 34.0), GRAVEL)
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            bx, by = x + 10.5 * sx, y + 8.0 * sy
            planner.paint(rectangle(bx, by, 16.0, 11.0), EARTH)
            corners = rectangle(bx, by, 17.0, 12.0)
            planner.run("hedge", [*corners, corners[0]], 4.0, 0.6, 0.6)
            planner.put("flower_bed", bx, by, 14.0, 9.0, 0.35, 0.0, planner.pick("red yellow white violet"))
    planner.put("fountain", x, y, 4.5, 4.5, 1.5)
    for side in (-1.0, 1.0):
        planner.run("hedge", [(x - 22.0, y + side * 18.0), (x + 22.0, y + side * 18.0)], 5.5, 1.0, 1.9)


def _courts(planner: Planner, x: float, y: float) -> None:
    """Two tennis courts within wire fences."""
    for k in (-1.0, 1.0):
        cx = x + 10.5 * k
        planner.keep_free(cx, y, 19.0, 35.0)
        planner.paint(rectangle(cx, y, 18.0, 34.0), COURT, True)
        for u in (-5.5, -4.1, 4.1, 5.5):
            planner.put("mark", cx + u, y, 23.8, 0.06, 0.0, math.pi / 2)
        for v in (-11.9, -6.4, 6.4, 11.9):
            planner.put("mark", cx, y + v, 11.0 if abs(v) > 7 else 8.2, 0.06, 0.0)
        planner.put("fence", cx, y, 12.0, 0.05, 1.0, 0.0, "mesh")
    outline = rectangle(x, y, 40.0, 35.0)
    planner.run("fence", [*outline, outline[0]], 5.0, 0.08, 3.0, "mesh", [(x, y - 17.5, 3.0)])


def _play_ground(planner: Planner, x: float, y: float) -> None:
    """Sand and soft ground with a low fence, and a mown ball field beside."""
    planner.keep_free(x, y, 36.0, 30.0)
    planner.paint(blob(x, y, 16.0, 13.0, planner.rng, 0.06), SAND)
    outline = blob(x, y, 19.0, 16.0, planner.rng, 0.05, 24)
    planner.run("fence", [*outline, outline[0]], 4.0, 0.1, 1.0, "picket", [(x + 19.0, y, 5.0)])
    planner.paint(rectangle(x + 4.0, y + 52.0, 44.0, 30.0, 0.2), LAWN, False, LAWN_LIGHT, 4.0, 0.2)
    planner.keep_free(x + 4.0, y + 52.0, 44.0, 30.0, 0.2)
