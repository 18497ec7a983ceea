"""One place and its worlds for all tests of the simulator; tests leave a shared world as they found it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from esar_ros.sim.maps import PlaceMap, load_map
from esar_ros.sim.world import World

sys.path.insert(0, str(Path(__file__).parent))  # helpers beside the tests


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
