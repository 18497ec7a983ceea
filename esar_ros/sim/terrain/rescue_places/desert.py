"""A camp in the desert: dunes about a level place, tents, an open shed, trucks, barrels, stones and shrubs."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.map_spec import PlantSpec
from esar_ros.sim.terrain.maps import Structure
from esar_ros.sim.terrain.noise import fbm
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import Planner

_SIZE, _SAMPLES = 128.0, 257
_CAMP, _DUNES = 12.0, 42.0  # m from the middle: level within, dunes at their full height without
_HEIGHT = 4.5  # m, of the dunes
_REACH = 45.0
_THINGS = (
    "tent/dome_orange tent/dome_blue household_truck/pick_up_white household_truck/tank_white household_barrel "
    "household_sack household_crate household_cart household_suitcase household_flag household_bucket backpack"
)


def lay_out(seed: int) -> RescueSite:
    """A camp of a seed."""
    planner = Planner(seed, _SIZE)
    axis = np.linspace(-_SIZE / 2, _SIZE / 2, _SAMPLES)
    x, y = np.meshgrid(axis, axis)
    far = np.clip((np.hypot(x, y) - _CAMP) / (_DUNES - _CAMP), 0.0, 1.0)
    dunes = np.array([[fbm(u / 34.0, v / 22.0, 3, seed + 41, 0.4) for u in axis] for v in axis])
    ripple = np.array([[fbm(u / 5.0, v / 5.0, 2, seed + 43, 0.5) for u in axis] for v in axis])
    heights = (_HEIGHT * dunes * far * far * (3.0 - 2.0 * far) + 0.04 * ripple).astype(np.float32)
    cover = np.where(dunes * far < -0.12, LandCover.GOBI, LandCover.SAND).astype(np.uint8)
    planner.keep_free(0.0, 0.0, 12.0, 12.0)
    for _ in range(2):
        at = planner.number(-24.0, 24.0), planner.number(-24.0, 24.0)
        planner.put("open_shed", *at, 7.0, 4.5, 2.6, planner.number(0.0, 6.3), clear=1.5)
    things: list[Structure] = []
    for _ in range(200):
        if len(things) == 34:
            break
        at = planner.number(-_REACH + 4.0, _REACH - 4.0), planner.number(-_REACH + 4.0, _REACH - 4.0)
        yaw = planner.number(0.0, 2.0 * math.pi)
        if planner.has_room(*at, 3.6, 2.4, yaw):
            planner.keep_free(*at, 5.2, 2.6, yaw)
            things.append(Structure(planner.pick(_THINGS), at, yaw, 1.0))
    flora = {
        "gobi_stone": PlantSpec(spacing=3.0, height=(0.1, 0.5), share={"gobi": 0.3, "sand": 0.02}, steepest=1.0),
        "boulder": PlantSpec(spacing=9.0, height=(0.6, 1.8), share={"gobi": 0.3, "sand": 0.05}, steepest=1.0),
        "tamarisk": PlantSpec(spacing=7.0, height=(0.7, 1.6), share={"sand": 0.08, "gobi": 0.1}, steepest=1.0),
    }
    place = place_map(
        "desert", "A camp in the desert", seed, _SIZE, heights, cover, planner.plan(), tuple(things), flora
    )
    area = Area((-_REACH, -_REACH), (_REACH, _REACH))
    return RescueSite("desert", seed, place, area, (Area((-_CAMP, -_CAMP), (_CAMP, _CAMP)),))
