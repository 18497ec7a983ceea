"""Walkable ground: floors above one another, ways up and around, and none through shut doors."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.sim.terrain.rescue_places.site import Area
from esar_ros.sim.walking.walkable import CELL, WalkableGrid
from helpers.walking import small_world, stack, walker_at, wall

AREA = Area((-6.0, -6.0), (6.0, 6.0))


def length(way: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


def test_an_open_place_is_crossed_straight() -> None:
    way = WalkableGrid.of(small_world(), AREA).path((-5.0, -5.0, 0.0), (5.0, 3.0, 0.0))
    assert way is not None and len(way) <= 3
    assert length(way) == pytest.approx(math.hypot(10.0, 8.0), abs=0.4)


def test_a_wall_is_gone_around_with_room_to_spare() -> None:
    world = small_world(wall(0.0, 0.0, 8.0))
    grid = WalkableGrid.of(world, AREA)
    way = grid.path((-3.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    assert way is not None and length(way) == pytest.approx(2.0 * math.hypot(3.0, 4.3), rel=0.08)
    assert grid.path((-3.0, 0.0, 0.0), (0.0, 0.0, 5.0)) is None  # nobody stands in the air
    for a, b in pairwise(way):
        for share in np.linspace(0.0, 1.0, 40):
            at = a + share * (b - a) + [0.0, 0.0, 1.0]
            assert world.contact(at, 0.34) is None


def test_a_closed_ring_is_not_left_until_its_door_is_passable() -> None:
    walls = [wall(2.0, 1.5, 2.0), wall(2.0, -1.5, 2.0), wall(-2.5, 0.0, 5.0)]
    world = small_world(
        *walls, wall(-0.25, 2.5, 4.8, 0.0), wall(-0.25, -2.5, 4.8, 0.0), wall(2.0, -0.75, 0.5), wall(2.0, 0.75, 0.5)
    )
    shut = Pose(np.array([2.0, 0.0, 0.0]), quaternion_from_yaw(0.0))
    world.spawn("door_0", "rescue_door", shut)
    inside, outside = (0.0, 0.0, 0.0), (5.0, 0.0, 0.0)
    assert WalkableGrid.of(world, AREA).path(inside, outside) is None
    world.move("door_0", shut, passable=True)
    way = WalkableGrid.of(world, AREA).path(inside, outside)
    assert way is not None and length(way) == pytest.approx(5.0, abs=0.4)


def test_steps_lead_to_a_floor_above_and_the_ground_is_not_lost_below() -> None:
    steps = [stack(-1.0 + k, 0.0, 1.0, 0.4 * (k + 1)) for k in range(4)]
    grid = WalkableGrid.of(small_world(*steps), AREA)
    top = (2.0, 0.0, 1.6)
    way = grid.path((-5.0, 0.0, 0.0), top)
    assert way is not None and way[-1][2] == pytest.approx(1.6)
    assert grid.path((2.0, 5.0, 0.0), top) is not None
    assert grid.node_at((2.0, 0.0, 0.0)) is None  # inside the stack
    reach = grid.reach((-5.0, 0.0, 0.0))
    assert reach.distance(top) == pytest.approx(length(way), rel=0.1)


def test_a_cell_is_free_where_a_walker_can_be() -> None:
    world = small_world(wall(1.0, 0.0, 3.0), stack(-2.0, 1.0, 1.2, 1.5))
    free = WalkableGrid.of(world, AREA).points()
    assert len(free) > 0.8 * (12.0 / CELL) ** 2
    for x, y, z in free[:: len(free) // 40]:
        walker = walker_at(world, x, y, 0.0, z)
        assert tuple(walker.foot) == pytest.approx((x, y, z)) and walker.take_hit() is None
