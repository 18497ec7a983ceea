"""The measures of a house that one walks into: two floors, a stair, three doors. What it looks like is in sim/assets.

Its frame: x along its front, the front door at -y, z = 0 on level ground at its middle. Lengths in m.
"""

from __future__ import annotations

import math

import numpy as np

from esar_ros.sim.terrain.rescue_places.site import Doorway
from esar_ros.sim.terrain.settlements.plan import Piece

LENGTH, WIDTH = 10.0, 8.0  # outside
THICK = 0.2  # of walls and slabs
STOREY = 3.0  # from floor to floor
FLOOR = 0.02  # z of the ground floor
PARTITION = -1.6  # x of the wall across the house, on both floors
FRONT_DOOR = 1.2  # x
STEPS, RISE, RUN = 16, STOREY / 16, 0.26  # of the stair
STAIR_FOOT, STAIR_SIDE = 3.5, 2.6  # x where it begins, going up towards -x; y of its open side, the back wall its other


def doorways(piece: Piece, ground: float) -> tuple[Doorway, ...]:
    """The doors of a house that stands on ground of a height (m): the front one, and one on each floor inside."""
    c, s = math.cos(piece.yaw), math.sin(piece.yaw)
    own = (
        (FRONT_DOOR, -WIDTH / 2 + THICK / 2, FLOOR, math.pi / 2),
        (PARTITION, 0.0, FLOOR, math.pi),
        (PARTITION, 0.0, FLOOR + STOREY, math.pi),
    )
    x, y = piece.xy
    return tuple(
        Doorway((x + c * u - s * v, y + s * u + c * v, ground + z), float(np.remainder(piece.yaw + yaw, math.tau)))
        for u, v, z, yaw in own
    )
