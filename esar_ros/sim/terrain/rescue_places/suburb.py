"""A street of a suburb: houses, some of which one walks into, walled gardens with a door, hedges, cars and trees."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import Structure
from esar_ros.sim.terrain.rescue_places import house
from esar_ros.sim.terrain.rescue_places.site import Area, Doorway, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import ASPHALT, GRAVEL, PAVING, Piece, Planner, rectangle

_SIZE, _SAMPLES = 128.0, 257
_PLOT, _DEPTH = 18.0, 22.0  # m, of a plot along and away from the street
_ROAD, _PAVEMENT = 7.0, 2.4
_HALF = _ROAD / 2 + _PAVEMENT
_WALLS = "plaster_white plaster_cream plaster_ochre plaster_rose brick_red brick_brown"
_ROOFS = "red brown slate dark"
_CARS = "car/saloon_red car/hatchback_green car/estate_silver car/saloon_white"
_YARD = "bench picnic_table barrel swing slide dog_house wheelbarrow deck_chair/striped_red_cloth bicycle rubbish_bin"
_GATE = 1.04  # m


def lay_out(seed: int) -> RescueSite:
    """A suburb of a seed: five plots on each side of a street along x."""
    planner = Planner(seed, _SIZE)
    edge = _SIZE / 2
    planner.road([(-edge, 0.0), (edge, 0.0)], 2 * _HALF, PAVING)
    planner.road([(-edge, 0.0), (edge, 0.0)], _ROAD, ASPHALT)
    kinds = ["walk_in", "walk_in", "house", "walk_in", "garden", "house", "garden", "walk_in", "house", "lawn"]
    order = planner.rng.permutation(len(kinds))
    doors: list[Doorway] = []
    things: list[Structure] = []
    for plot, index in enumerate(order):
        side = 1.0 if plot < 5 else -1.0
        x = (plot % 5 - 2) * _PLOT
        _plot(planner, kinds[int(index)], x, side, doors, things)
    for k in range(-4, 5):
        planner.put("lamp", 12.0 * k + 4.0, _ROAD / 2 + 0.5, 0.3, 1.4, 6.5, 0.0, "street")
        if k % 2:
            planner.tree(12.0 * k, -_ROAD / 2 - 1.2, "broadleaf", 6.0, 8.0)
    for side in (-1.0, 1.0):
        planner.put("kerb", 0.0, side * (_ROAD / 2 + 0.08), _SIZE, 0.16, 0.12)
    for k in range(-5, 6):
        planner.put("mark", 10.0 * k, 0.0, 3.0, 0.15, 0.0)
    for x in (-38.0, -9.0, 23.0):
        at = (x + planner.number(-4.0, 4.0), -_ROAD / 2 + 1.1)
        things.append(Structure(f"household_{planner.pick(_CARS)}", at, math.pi * planner.rng.integers(2), 1.0))
    cover = np.full((_SAMPLES, _SAMPLES), LandCover.GRASS, dtype=np.uint8)
    heights = np.zeros((_SAMPLES, _SAMPLES), dtype=np.float32)
    words = "A street of a suburb, some of its houses open to whoever has a hand for the door"
    place = place_map("suburb", words, seed, _SIZE, heights, cover, planner.plan(), tuple(things))
    reach = 2.5 * _PLOT
    return RescueSite(
        "suburb",
        seed,
        place,
        area=Area((-reach - 2.0, -_HALF - _DEPTH), (reach + 2.0, _HALF + _DEPTH)),
        home=(Area((-reach + 4.0, -1.5), (reach - 4.0, 2.5)),),
        doors=tuple(doors),
    )


def _plot(planner: Planner, kind: str, x: float, side: float, doors: list[Doorway], things: list[Structure]) -> None:
    """A plot on a side of the street, its middle at x, with a hedge or fence to its neighbours."""
    front, back = side * _HALF, side * (_HALF + _DEPTH)
    yaw = 0.0 if side > 0 else math.pi  # fronts, at -y of their own, look to the street
    for edge in (-1.0, 1.0):
        line = [(x + edge * _PLOT / 2, front + side * 0.5), (x + edge * _PLOT / 2, back)]
        if planner.chance(0.6):
            planner.run("hedge", line, 5.0, 0.7, 1.5)
        else:
            planner.run("fence", line, 2.8, 0.1, 1.2, "rail")
    if kind == "walk_in":
        along = x + planner.number(-1.5, 1.5)
        xy = (along, side * (_HALF + 3.5 + house.WIDTH / 2 + planner.number(0.0, 1.5)))
        style = f"{planner.pick(_WALLS)} {planner.pick(_ROOFS)}"
        planner.put("walk_in_house", *xy, house.LENGTH, house.WIDTH, 2 * house.STOREY, yaw, style, clear=0.5)
        piece = Piece("walk_in_house", xy, yaw, house.LENGTH, house.WIDTH, 2 * house.STOREY, style)
        doors += house.doorways(piece, 0.0)
        door_x = doors[-3].position[0]
        planner.paint(
            rectangle(door_x, (front + doors[-3].position[1]) / 2, 1.6, abs(doors[-3].position[1] - front)), PAVING
        )
    elif kind == "house":
        wide, deep = planner.number(9.0, 12.0), planner.number(8.0, 10.0)
        style = f"gable {planner.pick(_WALLS)} {planner.pick(_ROOFS)} door"
        planner.put(
            "house", x, side * (_HALF + 4.0 + deep / 2), wide, deep, planner.number(3.2, 6.0), yaw, style, clear=0.5
        )
    elif kind == "garden":
        _garden(planner, x, side, doors)
    _scatter(planner, x, side, things)


def _garden(planner: Planner, x: float, side: float, doors: list[Doorway]) -> None:
    """A garden behind a wall taller than a man, with a door to the street."""
    low, high = _HALF + 3.0, _HALF + 17.0
    half, gate = _PLOT / 2 - 2.0, x + planner.number(-3.0, 3.0)
    style = planner.pick("brick plaster stone")
    planner.paint(rectangle(x, side * (low + high) / 2, 2 * half, high - low), GRAVEL)
    walls = [(x, side * high, 2 * half + 0.3, 0.0)]
    for edge in (-1.0, 1.0):
        end, near = x + edge * (half + 0.15), gate + edge * _GATE / 2
        walls.append((x + edge * half, side * (low + high) / 2, high - low, math.pi / 2))
        walls.append(((end + near) / 2, side * low, abs(end - near), 0.0))
    for at_x, at_y, length, yaw in walls:
        planner.put("wall", at_x, at_y, length, 0.3, 2.2, yaw, style)
        planner.keep_free(at_x, at_y, length, 0.3, yaw)
    doors.append(Doorway((gate, side * low, 0.0), math.pi / 2 if side > 0 else -math.pi / 2))
    planner.tree(x + 3.5, side * (high - 3.0), "broadleaf", 4.5, 6.0)


def _scatter(planner: Planner, x: float, side: float, things: list[Structure]) -> None:
    """A tree, bushes and up to three things that stand about in a garden."""
    for _ in range(3):
        at = x + planner.number(-0.4, 0.4) * _PLOT, side * (_HALF + planner.number(3.0, _DEPTH - 2.0))
        yaw = planner.number(0.0, 2.0 * math.pi)
        if planner.has_room(*at, 2.2, 1.6, yaw):
            planner.keep_free(*at, 2.6, 1.6, yaw)
            things.append(Structure(f"household_{planner.pick(_YARD)}", at, yaw, 1.0))
    for species, low, high in (("broadleaf", 5.0, 8.0), ("bush", 0.7, 1.4), ("bush", 0.7, 1.4)):
        planner.tree(
            x + planner.number(-0.45, 0.45) * _PLOT,
            side * (_HALF + planner.number(4.0, _DEPTH - 1.0)),
            species,
            low,
            high,
            1.6,
        )
