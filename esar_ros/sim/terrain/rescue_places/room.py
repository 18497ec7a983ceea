"""A walled room open to the sky, flat, about 28 m by 29 m, with partitions, pillars, crates and furniture."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import Structure
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import Planner, rectangle

_SIZE, _SAMPLES = 64.0, 129
_LENGTH, _WIDTH, _WALL = 28.0, 29.0, 3.2  # m
_GAP = 1.6  # m between things: a stretcher and whoever carries one pass
_FLOOR, _TILE = (0.36, 0.35, 0.33), (0.30, 0.295, 0.28)
_FURNITURE = (
    "sofa/two_red_cloth sofa/three_blue_cloth table bed piano wardrobe bookcase stove safe barrel chair "
    "wheelbarrow suitcase bench/slab_grey_concrete"
)


def lay_out(seed: int) -> RescueSite:
    """A room of a seed."""
    planner = Planner(seed, _SIZE)
    x, y = _LENGTH / 2, _WIDTH / 2
    planner.paint(rectangle(0.0, 0.0, _LENGTH + 4.0, _WIDTH + 4.0), _FLOOR, True, _TILE, 1.0)
    for (px, py), length, yaw in (
        ((0.0, -y), _LENGTH, 0.0), ((0.0, y), _LENGTH, 0.0),
        ((-x, 0.0), _WIDTH, math.pi / 2), ((x, 0.0), _WIDTH, math.pi / 2),
    ):  # fmt: skip
        planner.put("wall", px, py, length + 0.3, 0.3, _WALL, yaw, "plaster")
    home = Area((-x + 0.6, -y + 0.6), (x - 0.6, y - 0.6))
    _partitions(planner)
    furniture = _furnish(planner)
    cover = np.full((_SAMPLES, _SAMPLES), LandCover.GRASS, dtype=np.uint8)
    heights = np.zeros((_SAMPLES, _SAMPLES), dtype=np.float32)
    place = place_map("room", "A walled room without a roof", seed, _SIZE, heights, cover, planner.plan(), furniture)
    return RescueSite("room", seed, place, home, (home,))


def _partitions(planner: Planner) -> None:
    """A few half walls, pillars and stacks of crates, never so near each other that a way is shut."""
    x, y = _LENGTH / 2, _WIDTH / 2
    for _ in range(200):
        kind = planner.pick("partition partition pillar crates crates")
        yaw = planner.rng.integers(2) * math.pi / 2
        length, width, height = {
            "partition": (planner.number(2.5, 5.5), 0.25, 2.4),
            "pillar": (0.6, 0.6, _WALL),
            "crates": (planner.number(0.9, 1.9), planner.number(0.9, 1.4), planner.number(0.8, 1.7)),
        }[kind]
        at = planner.number(-x + 3.5, x - 3.5), planner.number(-y + 3.5, y - 3.5)
        if kind == "crates":
            planner.put("crates", *at, length, width, height, float(yaw), clear=_GAP)
        else:
            style = "brick" if kind == "pillar" else "plaster"
            planner.put("wall", *at, length, width, height, float(yaw), style, clear=_GAP)
        if len(planner.plan().pieces) >= 4 + 9:
            return


def _furnish(planner: Planner) -> tuple[Structure, ...]:
    """Furniture where there is room for it."""
    x, y = _LENGTH / 2, _WIDTH / 2
    placed: list[Structure] = []
    for _ in range(200):
        if len(placed) == 10:
            break
        at = planner.number(-x + 1.6, x - 1.6), planner.number(-y + 1.6, y - 1.6)
        yaw = planner.number(0.0, 2.0 * math.pi)
        if planner.has_room(*at, 1.0 + _GAP / 2, 0.6 + _GAP / 2, yaw):
            planner.keep_free(*at, 2.0, 1.2, yaw)
            placed.append(Structure(f"household_{planner.pick(_FURNITURE)}", at, yaw, 1.0))
    return tuple(placed)
