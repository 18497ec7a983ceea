"""One place and its worlds for all tests of the simulator; tests leave a shared world as they found it."""

from __future__ import annotations

import dataclasses

import pytest

from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.world import World


@pytest.fixture(scope="session")
def place() -> PlaceMap:
    """The Aotai map."""
    return load_map("aotai")


@pytest.fixture(scope="session")
def world(place: PlaceMap) -> World:
    """Aotai with its plants and no objects."""
    return World(place, 0)


@pytest.fixture(scope="session")
def empty_world(place: PlaceMap) -> World:
    """Aotai's ground without plants."""
    return World(dataclasses.replace(place, flora={}), 0)
