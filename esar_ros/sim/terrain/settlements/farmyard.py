"""A farm: house, barns and silos about a yard, paddocks within fences and walls, an orchard, fields, a pond."""

from __future__ import annotations

import math

from esar_ros.sim.terrain.settlements.plan import (
    CROP,
    EARTH,
    GRAVEL,
    LAWN,
    LAWN_LIGHT,
    WHEAT,
    Plan,
    Planner,
    blob,
    curved,
    offset,
    rectangle,
)


def lay_out(seed: int, size: float) -> Plan:
    """A plan about a yard at the centre, where vehicles start."""
    planner = Planner(seed, size)
    edge = size / 2
    planner.keep_free(0.0, 0.0, 10.0, 10.0)
    yard = blob(0.0, 0.0, 38.0, 32.0, planner.rng, 0.05)
    lane = curved(
        [(-edge, -0.32 * size), (-0.30 * size, -0.28 * size), (-0.10 * size, -0.20 * size), (0.0, -0.06 * size)]
    )
    track = curved([(14.0, 20.0), (0.07 * size, 0.24 * size), (0.20 * size, 0.34 * size), (0.30 * size, edge)])
    _fields(planner, size)
    planner.paint(yard, GRAVEL)
    planner.road(lane, 5.0, GRAVEL, True)
    planner.road(track, 3.6, EARTH, False)
    planner.put("house", -30.0, 20.0, 15.0, 9.5, 6.0, -0.9, "gable plaster_white red door chimney", clear=1.0)
    planner.put("house", 32.0, 14.0, 26.0, 13.0, 6.5, math.pi / 2 + 0.05, "gable timber_red slate barn", clear=1.0)
    planner.put("house", -10.0, 40.0, 28.0, 8.5, 3.6, 0.04, "gable stone_grey brown stable", clear=1.0)
    planner.put("open_shed", 16.0, -34.0, 24.0, 9.0, 4.4, math.pi, clear=1.0)
    planner.put("house", -42.0, -12.0, 9.0, 6.5, 3.0, 1.35, "gable brick_red red barn plain", clear=1.0)
    for k, x in enumerate((50.0, 57.5)):
        planner.put("silo", x, -4.0 + 1.5 * k, 6.0, 6.0, 12.0 + 2.5 * k, clear=0.5)
    planner.put("wood_pile", -16.0, 30.0, 7.0, 1.2, 1.6, 0.1, clear=0.5)
    planner.put("wood_pile", -25.0, -30.0, 5.0, 1.2, 1.3, 1.2, clear=0.5)
    planner.put("greenhouse", -56.0, 30.0, 12.0, 5.0, 2.2, 0.3, clear=1.0)
    planner.put("water_tower", 62.0, 30.0, 3.4, 3.4, 8.5, clear=0.5)
    _walls(planner)
    _paddocks(planner, size)
    _orchard(planner, -0.30 * size, 0.20 * size)
    pond = blob(0.24 * size, -0.20 * size, 20.0, 13.0, planner.rng)
    planner.water(pond)
    planner.keep_free(0.24 * size, -0.20 * size, 46.0, 32.0)
    planner.avenue(blob(0.24 * size, -0.20 * size, 26.0, 18.0, planner.rng), 12.0, "broadleaf", 6.0, 10.0)
    for line in (offset(lane, 4.6), offset(lane, -4.6)):
        planner.run("hedge", line, 5.0, 1.1, 1.3, gaps=[(-0.1 * size, -0.2 * size, 16.0), (0.0, -0.06 * size, 26.0)])
    planner.row("pole", offset(lane, 8.0), 30.0, (0.4, 2.2, 8.0))
    for x, y in ((-20.0, 10.0), (-52.0, 14.0), (20.0, 30.0), (-12.0, -44.0), (44.0, -30.0), (70.0, 12.0)):
        planner.tree(x, y, "broadleaf", 8.0, 12.0, 3.0)
    planner.wood(blob(-0.40 * size, 0.42 * size, 36.0, 18.0, planner.rng))
    planner.wood(blob(0.43 * size, 0.40 * size, 16.0, 26.0, planner.rng))
    for _ in range(50):
        x, y = planner.number(-0.48, 0.48) * size, planner.number(-0.48, 0.48) * size
        planner.tree(x, y, planner.pick("broadleaf broadleaf evergreen bush"), 3.0, 8.0, 4.0)
    return planner.plan()


def _fields(planner: Planner, size: float) -> None:
    """Fields of wheat, green crop and ploughed earth about mown pasture."""
    spots = [
        (0.33, 0.10, 0.30, 0.34, WHEAT, (0.36, 0.27, 0.10)),
        (0.36, -0.40, 0.26, 0.18, CROP, (0.10, 0.085, 0.05)),
        (-0.36, -0.06, 0.24, 0.26, LAWN, LAWN_LIGHT),
        (-0.05, 0.38, 0.34, 0.20, CROP, (0.05, 0.13, 0.025)),
        (-0.06, -0.40, 0.46, 0.16, EARTH, (0.13, 0.095, 0.062)),
    ]
    for x, y, wide, deep, tone, other in spots:
        yaw = planner.number(-0.12, 0.12)
        outline = rectangle(x * size, y * size, wide * size, deep * size, yaw)
        planner.paint(outline, tone, False, other, planner.number(0.9, 1.8), yaw)


def _walls(planner: Planner) -> None:
    """Stone walls of the yard, with gateways."""
    for line in (
        [(-46.0, -26.0), (-34.0, -38.0), (-12.0, -40.0)],
        [(32.0, -40.0), (46.0, -30.0), (48.0, -14.0)],
        [(-46.0, 34.0), (-30.0, 46.0), (-14.0, 46.0)],
        [(24.0, 44.0), (40.0, 40.0), (44.0, 30.0)],
    ):
        planner.run("wall", line, 4.0, 0.5, 1.3, "stone")


def _paddocks(planner: Planner, size: float) -> None:
    """Pastures within post-and-rail fences, each with a gap for a gate and a shelter."""
    for x, y, wide, deep in (
        (-0.33 * size, -0.05 * size, 60.0, 54.0),
        (0.30 * size, 0.16 * size, 56.0, 60.0),
        (-0.04 * size, -0.31 * size, 66.0, 36.0),
        (0.05 * size, 0.30 * size, 50.0, 34.0),
    ):
        yaw = planner.number(-0.15, 0.15)
        corners = rectangle(x, y, wide, deep, yaw)
        middle = ((corners[0][0] + corners[1][0]) / 2, (corners[0][1] + corners[1][1]) / 2)
        planner.run("fence", [*corners, corners[0]], 3.6, 0.12, 1.25, planner.pick("rail rail white"), [(*middle, 4.0)])
        u, v = 0.32 * wide, 0.28 * deep
        c, s = math.cos(yaw), math.sin(yaw)
        planner.put("open_shed", x + c * u - s * v, y + s * u + c * v, 7.0, 4.0, 2.8, yaw, clear=1.0)
        planner.paint(blob(*middle, 5.0, 3.5, planner.rng), EARTH)


def _orchard(planner: Planner, x: float, y: float) -> None:
    """Fruit trees in rows within a picket fence."""
    corners = rectangle(x, y, 58.0, 44.0, 0.1)
    planner.run("fence", [*corners, corners[0]], 3.0, 0.08, 1.0, "picket", [(x + 29.0, y, 4.0)])
    for i in range(6):
        for j in range(5):
            u, v = -22.5 + 9.0 * i + planner.number(-0.6, 0.6), -18.0 + 9.0 * j + planner.number(-0.6, 0.6)
            planner.tree(x + 0.995 * u - 0.0998 * v, y + 0.0998 * u + 0.995 * v, "broadleaf", 3.6, 5.0, 1.5)
    planner.keep_free(x, y, 58.0, 44.0, 0.1)
