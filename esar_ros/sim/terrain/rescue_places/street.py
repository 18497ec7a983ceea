"""A part of a town: the middle of the settlement of the same name, from another seed, with cars and things about."""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.maps import Structure
from esar_ros.sim.terrain.rescue_places.site import Area, RescueSite, place_map
from esar_ros.sim.terrain.settlements.ground import SettlementGround, settlement_ground
from esar_ros.sim.terrain.settlements.presets import plan_of

_SIZE, _SAMPLES = 320.0, 513
_HALF = 44.0  # m, of the part where people walk
_KERB = 4.0  # m from the middle of a street
_THINGS = (
    "car/saloon_blue car/estate_navy bench post_box bus_stop rubbish_bin bicycle phone_booth truck/box_green scooter"
)


def lay_out(seed: int) -> RescueSite:
    """A street of a seed, its ground rising a little."""
    relief = SettlementGround(kind="settlement", preset="street", tilt=0.014, tilt_towards=120.0, swell=0.4)
    heights, cover = settlement_ground(relief, _SAMPLES, _SIZE, seed, None)
    rng = np.random.default_rng([seed, 7])
    things: list[Structure] = []
    words = _THINGS.split()
    for k in range(14):  # along the kerbs, clear of the crossing
        along = float(rng.uniform(12.0, 40.0)) * (-1.0 if rng.random() < 0.5 else 1.0)
        side = -1.0 if k % 2 else 1.0
        thing = words[int(rng.integers(len(words)))]
        aside = side * (_KERB - 1.2 if thing.startswith(("car", "truck", "scooter")) else _KERB + 1.6)
        crosswise = rng.random() < 0.5
        xy = (aside, along) if crosswise else (along, aside)
        if all(math.dist(xy, other.xy) > 7.0 for other in things):
            things.append(Structure(f"household_{thing}", xy, math.pi / 2 if crosswise else 0.0, 1.0))
    ground = heights.astype(np.float32)
    place = place_map(
        "street", "A part of a town", seed, _SIZE, ground, cover, plan_of("street", seed, _SIZE), tuple(things)
    )
    home = (Area((-1.0, -_HALF), (1.0, _HALF)), Area((-_HALF, -1.0), (_HALF, 1.0)))
    return RescueSite("street", seed, place, Area((-_HALF, -_HALF), (_HALF, _HALF)), home)
