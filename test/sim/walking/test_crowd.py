"""Bystanders and vehicles: on seeded ways, clear of the task, never through the walker."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.geometry.frames import Vector
from esar_ros.sim.terrain.rescue_places.makers import rescue_site
from esar_ros.sim.walking.crowd import PEOPLE, VEHICLES, Crowd
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.sim.world.world import World

KEPT = np.array([0.0, 0.0, 0.0])
FAR = np.array([1e3, 1e3, 0.0])


@pytest.fixture(scope="module")
def world() -> World:
    return World(rescue_site("desert", 1).place, 0)


@pytest.fixture(scope="module")
def grid(world: World) -> WalkableGrid:
    return WalkableGrid.of(world, rescue_site("desert", 1).area)


def passed(world: World, grid: WalkableGrid, seed: int, steps: int, walker: Vector = FAR) -> np.ndarray:
    """Returns the places (steps, N, 3) m of all."""
    crowd = Crowd(world, grid, seed, [KEPT])
    places = []
    for _ in range(steps):
        crowd.advance(0.2, walker)
        places.append(crowd.places)
    crowd.leave()
    assert not world.objects
    return np.array(places)


def test_a_seed_gives_the_same_ways_on_free_ground(world: World, grid: WalkableGrid) -> None:
    places = passed(world, grid, 3, 60)
    assert places.shape == (60, PEOPLE + VEHICLES, 3)
    assert (passed(world, grid, 3, 5) == places[:5]).all() and (passed(world, grid, 4, 5) != places[:5]).any()
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=2) / 0.2
    assert speeds[:, :PEOPLE].max() < 1.31 and 2.0 < speeds[:, PEOPLE:].max() < 2.51
    assert (np.ptp(places[:, :, :2], axis=0).max(axis=1) > 3.0).all()  # all of them get somewhere
    assert np.hypot(*np.moveaxis(places - KEPT, 2, 0)[:2]).min() > 1.4
    for place in places[::30].reshape(-1, 3):
        assert grid.node_at(place) is not None


def test_they_turn_back_before_a_walker_who_stands_in_their_way(world: World, grid: WalkableGrid) -> None:
    free = passed(world, grid, 5, 30)
    for one in (0, PEOPLE):
        stood = free[25, one] + [0.05, 0.0, 0.0]
        start = np.hypot(*(free[0, one] - stood)[:2])
        gaps = np.hypot(*np.moveaxis(passed(world, grid, 5, 30, stood)[:, one] - stood, 1, 0)[:2])
        assert gaps.min() >= min(1.2 if one < PEOPLE else 4.4, start - 0.6)


def test_who_is_in_the_way_for_too_long_can_be_walked_through(world: World, grid: WalkableGrid) -> None:
    crowd = Crowd(world, grid, 3, [KEPT])
    solid = []
    for _ in range(20):
        crowd.advance(0.25, crowd.places[0])
        solid.append(not world.objects["passing_0"].passable)
    assert solid == [True] * 12 + [False] * 8
    crowd.advance(0.2, FAR)
    assert not world.objects["passing_0"].passable
    crowd.leave()
