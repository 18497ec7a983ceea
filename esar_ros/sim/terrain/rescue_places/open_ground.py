"""Level ground with nothing on it: where a walker can go everywhere."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.plan import Planner

_SIZE, _SAMPLES = 256.0, 257
_HALF = _SIZE / 2 - 4.0


@lru_cache(1)
def open_ground() -> RescueSite:
    """The place, at z = 0."""
    heights = np.zeros((_SAMPLES, _SAMPLES), dtype=np.float32)
    cover = np.full((_SAMPLES, _SAMPLES), LandCover.GRASS, dtype=np.uint8)
    plan = Planner(0, _SIZE).plan()
    place = place_map("open", "Level ground with nothing on it", 0, _SIZE, heights, cover, plan)
    area = Area((-_HALF, -_HALF), (_HALF, _HALF))
    return RescueSite("open", 0, place, area, (area,))
