"""A part of a town: three streets each way, rows of houses about courtyards, a square, a car park."""

from __future__ import annotations

import math
from itertools import pairwise

from esar_ros.sim.terrain.settlements.plan import (
    ASPHALT,
    LAWN,
    PAVING,
    Plan,
    Planner,
    offset,
    rectangle,
)

_ROAD, _PAVEMENT = 8.0, 3.0  # m, of the carriageway and of each pavement
_HALF = _ROAD / 2 + _PAVEMENT
_WALLS = "plaster_white plaster_cream plaster_ochre plaster_rose brick_red brick_brown plaster_grey plaster_blue"
_ROOFS = "red brown slate dark"


def lay_out(seed: int, size: float) -> Plan:
    """A plan of three by three crossings."""
    planner = Planner(seed, size)
    edge = size / 2
    streets = (-size / 3, 0.0, size / 3)
    lines = [[(x, -edge), (x, edge)] for x in streets] + [[(-edge, y), (edge, y)] for y in streets]
    for line in lines:
        planner.road(line, 2 * _HALF, PAVING)
    for line in lines:
        planner.road(line, _ROAD, ASPHALT)
    for line in lines:
        _furnish_street(planner, line, streets)
    bounds = (-edge, *streets, edge)
    blocks = [(i, j) for i in range(4) for j in range(4)]
    inner = [(1, 1), (2, 1), (1, 2), (2, 2)]
    square, park = (inner[int(k)] for k in planner.rng.permutation(4)[:2])
    for i, j in blocks:
        low = (bounds[i] + (_HALF if i else 2.0), bounds[j] + (_HALF if j else 2.0))
        high = (bounds[i + 1] - (_HALF if i < 3 else 2.0), bounds[j + 1] - (_HALF if j < 3 else 2.0))
        if (i, j) == square:
            _square(planner, low, high)
        elif (i, j) == park:
            _car_park(planner, low, high)
        else:
            _block(planner, low, high, (i > 0, i < 3, j > 0, j < 3))
    return planner.plan()


def _furnish_street(planner: Planner, line: list[tuple[float, float]], streets: tuple[float, ...]) -> None:
    """Kerbs, marks, crossings, lamps and trees of one street."""
    (x0, y0), (x1, y1) = line
    yaw = math.atan2(y1 - y0, x1 - x0)
    c, s = math.cos(yaw), math.sin(yaw)
    own = x0 * abs(s) + y0 * abs(c)  # where it crosses the other axis
    half = math.hypot(x1 - x0, y1 - y0) / 2

    def at(along: float, aside: float) -> tuple[float, float]:
        return (own * abs(s) + along * c - aside * s, own * abs(c) + along * s + aside * c)

    bounds = [-half, *(street for street in streets), half]
    for low, high in pairwise(bounds):
        a = low + (_HALF if low > -half else 0.0)
        b = high - (_HALF if high < half else 0.0)
        middle, length = (a + b) / 2, b - a
        for side in (-1.0, 1.0):
            x, y = at(middle, side * (_ROAD / 2 + 0.08))
            planner.put("kerb", x, y, length, 0.16, 0.12, yaw)
            step = 22.0
            for k in range(int(length / step)):
                along = a + (k + 0.5) * length / int(length / step)
                x, y = at(along, side * (_ROAD / 2 + 0.5))
                planner.put("lamp", x, y, 0.3, 1.4, 6.5, yaw + (0.0 if side > 0 else math.pi), "street")
                x, y = at(along + step / 2, side * (_ROAD / 2 + 0.9))
                if planner.chance(0.55) and abs(along + step / 2) < half - 3.0 and along + step / 2 < b:
                    planner.tree(x, y, "broadleaf", 5.0, 7.5)
        for k in range(int(length / 7.0)):
            x, y = at(a + (k + 0.5) * length / int(length / 7.0), 0.0)
            planner.put("mark", x, y, 3.0, 0.15, 0.0, yaw)
        for end, inside in ((a, 1.0), (b, -1.0)):
            if abs(end) < half - 1.0:
                for k in range(7):
                    x, y = at(end + inside * 2.2, -3.0 + k)
                    planner.put("mark", x, y, 2.6, 0.5, 0.0, yaw)


def _block(
    planner: Planner, low: tuple[float, float], high: tuple[float, float], faces: tuple[bool, bool, bool, bool]
) -> None:
    """Rows of houses along the sides that face a street (west, east, south, north), a courtyard within."""
    west, east, south, north = faces
    depth = 11.0
    rows = []  # a corner, yaw along the row with the front to its right, length
    if south:
        rows.append((low[0], low[1], 0.0, high[0] - low[0]))
    if east:
        rows.append((high[0], low[1] + depth + 3.0, math.pi / 2, high[1] - low[1] - 2 * depth - 6.0))
    if north:
        rows.append((high[0], high[1], math.pi, high[0] - low[0]))
    if west:
        rows.append((low[0], high[1] - depth - 3.0, -math.pi / 2, high[1] - low[1] - 2 * depth - 6.0))
    floors = 2 + int(planner.rng.integers(0, 3))
    for x, y, yaw, length in rows:
        c, s = math.cos(yaw), math.sin(yaw)
        done = 0.0
        while length - done > 7.0:
            wide = min(planner.number(9.0, 16.0), length - done)
            if length - done - wide < 7.0:
                wide = min(length - done, 18.0)
            deep = depth - planner.number(0.0, 1.6)
            u, v = done + wide / 2, deep / 2
            px, py = x + c * u - s * v, y + s * u + c * v
            if planner.chance(0.16):
                _gap(planner, x, y, yaw, done, wide)
            else:
                tall = 3.0 * max(1, floors + int(planner.rng.integers(-1, 2))) + 0.5
                roof = "flat" if planner.chance(0.25) else "gable"
                style = (
                    f"{roof} {planner.pick(_WALLS)} {planner.pick(_ROOFS)} {'shop' if planner.chance(0.35) else 'door'}"
                )
                planner.put("house", px, py, wide, deep, tall, yaw, style, clear=-0.2)
            done += wide
    _courtyard(planner, low, high)


def _gap(planner: Planner, x: float, y: float, yaw: float, done: float, wide: float) -> None:
    """A plot without a house: a wall with a gateway, a tree behind."""
    c, s = math.cos(yaw), math.sin(yaw)
    for u0, u1 in ((done, done + 0.3 * wide), (done + 0.6 * wide, done + wide)):
        u = (u0 + u1) / 2
        planner.put(
            "wall", x + c * u - s * 0.3, y + s * u + c * 0.3, u1 - u0, 0.35, 2.0, yaw, planner.pick("brick plaster")
        )
    u = done + 0.5 * wide
    planner.tree(x + c * u - s * 6.0, y + s * u + c * 6.0, "broadleaf", 5.0, 8.0)


def _courtyard(planner: Planner, low: tuple[float, float], high: tuple[float, float]) -> None:
    """Sheds, walls and trees of back gardens."""
    x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
    wide, deep = high[0] - low[0] - 26.0, high[1] - low[1] - 26.0
    if min(wide, deep) < 10.0:
        return
    planner.paint(rectangle(x, y, wide, deep), PAVING if planner.chance(0.3) else LAWN, paved=False)
    for _ in range(4):
        shed = (x + planner.number(-0.4, 0.4) * wide, y + planner.number(-0.4, 0.4) * deep)
        yaw = planner.rng.integers(4) * math.pi / 2
        planner.put("house", *shed, 4.2, 3.2, 2.4, float(yaw), "gable timber_brown dark door plain", clear=2.0)
    for _ in range(3):
        u = planner.number(-0.35, 0.35) * wide
        line = [(x + u, y - 0.45 * deep), (x + u, y - 0.05 * deep)]
        planner.run(
            "wall", line if planner.chance(0.5) else [(b - y + x, a - x + y) for a, b in line], 5.0, 0.3, 1.6, "brick"
        )
    for _ in range(7):
        planner.tree(
            x + planner.number(-0.45, 0.45) * wide, y + planner.number(-0.45, 0.45) * deep, "broadleaf", 4.5, 8.0, 3.0
        )


def _square(planner: Planner, low: tuple[float, float], high: tuple[float, float]) -> None:
    """An open square: paving, a fountain, beds with hedges, two rows of trees, a pavilion."""
    x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
    wide, deep = high[0] - low[0], high[1] - low[1]
    planner.paint(rectangle(x, y, wide, deep), (0.31, 0.28, 0.24), True, (0.26, 0.24, 0.21), 3.0, 0.6)
    planner.put("fountain", x, y, 9.0, 9.0, 2.2, clear=1.0)
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            bx, by = x + sx * 0.25 * wide, y + sy * 0.25 * deep
            planner.paint(rectangle(bx, by, 14.0, 9.0), LAWN)
            for line in ([(bx - 7, by - 4.5), (bx + 7, by - 4.5)], [(bx - 7, by + 4.5), (bx + 7, by + 4.5)]):
                planner.run("hedge", line, 7.0, 0.8, 0.7)
            planner.tree(bx, by, "broadleaf", 6.0, 8.5)
    for side in (-1.0, 1.0):
        line = [(x - 0.42 * wide, y + side * 0.42 * deep), (x + 0.42 * wide, y + side * 0.42 * deep)]
        planner.avenue(line, 9.0, "broadleaf", 6.0, 8.0)
        planner.row("lamp", offset(line, -side * 4.0), 16.0, (0.3, 0.9, 4.2), "park")
    planner.put("pavilion", x - 0.3 * wide, y, 7.0, 7.0, 3.2, clear=1.0)
    planner.put("house", x + 0.36 * wide, y, 5.0, 4.0, 3.0, math.pi / 2, "flat timber_green dark shop plain", clear=1.0)


def _car_park(planner: Planner, low: tuple[float, float], high: tuple[float, float]) -> None:
    """A market hall with a car park before it."""
    x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
    wide, deep = high[0] - low[0], high[1] - low[1]
    planner.paint(rectangle(x, y, wide, deep), ASPHALT, True)
    hall = (0.72 * wide, 0.3 * deep)
    planner.put("house", x, high[1] - hall[1] / 2 - 5.0, *hall, 6.0, 0.0, "flat panel_grey dark shop", clear=0.5)
    for row in range(3):
        line_y = low[1] + 9.0 + row * 15.0
        planner.put("kerb", x, line_y, 0.75 * wide, 1.2, 0.14)
        for k in range(int(0.75 * wide / 2.6) + 1):
            for side in (-1.0, 1.0):
                planner.put("mark", x - 0.375 * wide + 2.6 * k, line_y + side * 3.0, 4.6, 0.1, 0.0, math.pi / 2)
        planner.avenue([(x - 0.34 * wide, line_y), (x + 0.34 * wide, line_y)], 15.0, "broadleaf", 4.5, 6.0)
    planner.run("fence", [(low[0] + 1, low[1] + 1), (low[0] + 1, high[1] - 1)], 4.0, 0.1, 1.1, "railing")
    planner.run("fence", [(high[0] - 1, low[1] + 1), (high[0] - 1, high[1] - 1)], 4.0, 0.1, 1.1, "railing")
