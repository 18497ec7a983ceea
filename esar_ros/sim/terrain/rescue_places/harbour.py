"""A harbour below a hill: a quay with containers and a loading deck, a slope in terraces above it, water in front."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_spec import PlantSpec
from esar_ros.sim.terrain.maps import Structure
from esar_ros.sim.terrain.noise import fbm
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import PAVING, Planner, rectangle

_SIZE, _SAMPLES = 128.0, 257
_WATER, _EDGE, _FOOT = -1.4, -34.0, -6.0  # m: its level, y of the quay's edge, y where the hill begins
_TERRACES, _RISE, _DEEP = 4, 2.2, 11.0  # m, of each: height and width
_REACH = 40.0
_THINGS = "barrel crate cart wheelbarrow bench traffic_cone truck/pick_up_white safe bollard"


def lay_out(seed: int) -> RescueSite:
    """A harbour of a seed."""
    planner = Planner(seed, _SIZE)
    axis = np.linspace(-_SIZE / 2, _SIZE / 2, _SAMPLES)
    y = np.repeat(axis[:, None], _SAMPLES, axis=1)
    share = np.clip((y - _FOOT) / _DEEP, 0.0, _TERRACES)
    part = share % 1.0  # the lower three fifths of a terrace climb, the rest is level
    climb = np.clip(part / 0.6, 0.0, 1.0)
    heights = _RISE * (np.floor(share) + climb * climb * (3.0 - 2.0 * climb))
    rough = np.array([[fbm(u / 14.0, v / 14.0, 3, seed + 31, 0.5) for u in axis] for v in axis])
    heights = heights + 0.5 * rough * np.clip((y - _FOOT) / 6.0, 0.0, 1.0)
    cover = np.full((_SAMPLES, _SAMPLES), LandCover.SCRUB, dtype=np.uint8)
    cover[y < _FOOT - 1.0] = LandCover.PAVED
    wet = y < _EDGE
    heights[wet], cover[wet] = _WATER, LandCover.WATER
    planner.paint(rectangle(0.0, (_EDGE + _FOOT) / 2, _SIZE, _FOOT - _EDGE), PAVING, True)
    planner.keep_free(0.0, _FOOT - 7.0, 2 * _REACH, 7.0)  # the road along the hill
    planner.put("loading_deck", planner.number(-20.0, 20.0), _EDGE + 7.0, 12.0, 5.0, 1.1, 0.0, clear=1.2)
    for _ in range(60):
        at = planner.number(-_REACH + 4.0, _REACH - 4.0), planner.number(_EDGE + 3.0, _FOOT - 12.0)
        tall = 2.6 * (1 + planner.chance(0.35))
        planner.put("container", *at, 6.06, 2.44, tall, math.pi / 2 * planner.chance(0.4), clear=1.1)
    for k in range(-4, 5):
        planner.put("lamp", 9.0 * k, _FOOT - 2.0, 0.3, 1.4, 6.5, 0.0, "street")
    for k, style in enumerate(("plaster_white", "plaster_cream", "stone_grey", "plaster_ochre")):
        along, up = -27.0 + 18.0 * k + planner.number(-3.0, 3.0), 1 + k % 3
        planner.put(
            "house", along, _FOOT + _DEEP * (up + 0.8), 8.0, 4.6, 3.2, 0.0, f"gable {style} red door", clear=0.6
        )
    things: list[Structure] = []
    for _ in range(18):
        at = planner.number(-_REACH + 2.0, _REACH - 2.0), planner.number(_EDGE + 2.0, _FOOT - 2.0)
        if planner.has_room(*at, 1.8, 1.8, 0.0):
            planner.keep_free(*at, 2.4, 2.4)
            things.append(Structure(f"household_{planner.pick(_THINGS)}", at, planner.number(0.0, 6.3), 1.0))
    flora = {"bush": PlantSpec(spacing=4.0, height=(0.6, 1.4), share={"scrub": 0.16}, steepest=0.8),
             "rock": PlantSpec(spacing=6.0, height=(0.4, 0.9), share={"scrub": 0.2}, steepest=1.0)}  # fmt: skip
    ground = heights.astype(np.float32)
    place = place_map(
        "harbour",
        "A harbour below a hill",
        seed,
        _SIZE,
        ground,
        cover,
        planner.plan(),
        tuple(things),
        flora,
        "sea",
        _WATER,
    )
    home = Area((-_REACH + 4.0, _FOOT - 9.0), (_REACH - 4.0, _FOOT - 5.0))
    return RescueSite(
        "harbour", seed, place, Area((-_REACH, _EDGE + 0.8), (_REACH, _FOOT + _DEEP * _TERRACES)), (home,)
    )
