"""Cabins by a lake: a shore with jetties, log cabins along a gravel road, woods between them."""

from __future__ import annotations

import math
from itertools import pairwise

from esar_ros.sim.terrain.settlements.plan import (
    EARTH,
    GRAVEL,
    SAND,
    Plan,
    Planner,
    blob,
    curved,
    offset,
    spaced,
)

Line = list[tuple[float, float]]


def lay_out(seed: int, size: float) -> Plan:
    """A plan with the lake in the north; vehicles start on the meadow at the centre."""
    planner = Planner(seed, size)
    edge = size / 2
    planner.keep_free(0.0, 0.0, 10.0, 10.0)
    shore = curved([
        (-edge - 5.0, 0.20 * size), (-0.34 * size, 0.16 * size), (-0.20 * size, 0.24 * size),
        (-0.04 * size, 0.14 * size),
        (0.12 * size, 0.09 * size), (0.24 * size, 0.18 * size), (0.38 * size, 0.10 * size), (edge + 5.0, 0.14 * size),
    ])  # fmt: skip
    planner.water([*shore, (edge + 5.0, edge + 5.0), (-edge - 5.0, edge + 5.0)])
    planner.paint([*offset(shore, -5.0), *offset(shore, 3.0)[::-1]], SAND)
    for (x0, y0), (x1, y1) in pairwise(shore):
        planner.keep_free((x0 + x1) / 2, (y0 + y1) / 2 + 30.0, abs(x1 - x0) + 2.0, 64.0)
    road = curved([
        (-edge, -0.10 * size), (-0.30 * size, -0.02 * size), (-0.12 * size, -0.07 * size), (0.06 * size, -0.10 * size),
        (0.24 * size, -0.02 * size), (0.36 * size, -0.08 * size), (edge, -0.02 * size),
    ])  # fmt: skip
    back = curved(
        [(0.06 * size, -0.10 * size), (0.02 * size, -0.24 * size), (-0.14 * size, -0.34 * size), (-0.16 * size, -edge)]
    )
    planner.road(road, 4.6, GRAVEL, True)
    planner.road(back, 3.8, GRAVEL, True)
    cabins = _cabins(planner, road, back)
    _shore(planner, shore, size)
    planner.row("pole", offset(road, -5.5), 34.0, (0.4, 2.0, 7.5))
    planner.put("house", 0.02 * size, 0.03 * size, 14.0, 9.0, 4.2, 0.2, "hip log_brown dark shop chimney", clear=2.0)
    planner.put("water_tower", -0.36 * size, -0.28 * size, 3.6, 3.6, 11.0, style="lookout", clear=2.0)
    planner.put("pavilion", 0.16 * size, 0.02 * size, 6.5, 6.5, 2.8, clear=2.0)
    for x, y, rx, ry in (
        (-0.40, -0.30, 0.09, 0.16), (-0.20, -0.20, 0.07, 0.05), (0.20, -0.28, 0.16, 0.09), (0.40, -0.34, 0.09, 0.12),
        (-0.02, -0.42, 0.09, 0.07), (0.43, -0.14, 0.05, 0.04), (-0.30, -0.44, 0.10, 0.05), (-0.44, 0.07, 0.05, 0.05),
    ):  # fmt: skip
        planner.wood(blob(x * size, y * size, rx * size, ry * size, planner.rng))
    for _ in range(330):
        x, y = planner.number(-0.49, 0.49) * size, planner.number(-0.49, 0.22) * size
        if min((math.hypot(x - a, y - b) for a, b in cabins), default=99.0) > 7.0:
            planner.tree(x, y, planner.pick("conifer conifer conifer broadleaf bush"), 5.0, 13.0, 3.0)
    return planner.plan()


def _cabins(
    planner: Planner, road: list[tuple[float, float]], back: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Cabins beside the roads, fronts to them, each with its clearing and wood pile; returns where they stand."""
    found = []
    for line, every in ((road, 36.0), (back, 34.0)):
        for k, (x, y, yaw) in enumerate(spaced(line, every)):
            side = 1.0 if k % 2 == 0 else -1.0
            away = planner.number(15.0, 21.0)
            cx, cy = x - math.sin(yaw) * side * away, y + math.cos(yaw) * side * away
            front = yaw if side > 0 else yaw + math.pi
            wide, deep = planner.number(8.0, 11.5), planner.number(6.0, 8.0)
            walls = planner.pick("log_brown log_dark timber_red timber_green")
            style = f"{planner.pick('gable gable aframe')} {walls} {planner.pick('dark brown green')} door chimney"
            turn = front + planner.number(-0.35, 0.35)
            if not planner.put("house", cx, cy, wide, deep, 2.9, turn, style, clear=2.5):
                continue
            found.append((cx, cy))
            planner.paint(blob(cx, cy, 10.0, 9.0, planner.rng), EARTH if planner.chance(0.3) else GRAVEL)
            planner.road([(x, y), (cx, cy)], 2.4, GRAVEL, False)
            c, s = math.cos(turn), math.sin(turn)
            u = wide / 2 + 3.0
            planner.put("wood_pile", cx + c * u, cy + s * u, 3.2, 1.0, 1.4, turn + math.pi / 2, clear=0.3)
            if planner.chance(0.5):
                u, v = -wide / 2 - 4.5, 2.0
                planner.put(
                    "house",
                    cx + c * u - s * v,
                    cy + s * u + c * v,
                    3.2,
                    2.6,
                    2.2,
                    turn,
                    "gable timber_brown dark door plain",
                    clear=0.5,
                )
            if planner.chance(0.6):
                v = deep / 2 + 7.0
                middle = (cx - s * v, cy + c * v)
                ends = [(middle[0] - c * 9.0, middle[1] - s * 9.0), (middle[0] + c * 9.0, middle[1] + s * 9.0)]
                planner.run("fence", ends, 3.0, 0.1, 1.05, planner.pick("rail picket"))
    return found


def _shore(planner: Planner, shore: Line, size: float) -> None:
    """Jetties into the lake, and a boat house."""
    for k, (x, y, yaw) in enumerate(spaced(shore, 52.0)):
        if max(abs(x), abs(y)) > 0.44 * size:
            continue
        out = yaw + math.pi / 2
        planner.put("jetty", x + 9.0 * math.cos(out), y + 9.0 * math.sin(out), 22.0, 2.0, 0.9, out)
        if k % 3 == 1:
            bx, by = x + 6.0 * math.cos(yaw) - 7.0 * math.cos(out), y + 6.0 * math.sin(yaw) - 7.0 * math.sin(out)
            planner.put("house", bx, by, 7.0, 5.0, 2.8, yaw, "gable timber_red dark barn plain", clear=0.0)
