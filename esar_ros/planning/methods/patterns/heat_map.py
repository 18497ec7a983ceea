"""Heat maps of the missing in squares around the start: by published distances, or by what `belief` reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.planning.belief.search import BeliefSearch
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons
from esar_ros.planning.parameters import configured


def expected_by_brief(brief: Brief, seed: int, home: Vector, half: int, cell: float) -> NDArray[np.float64]:
    """Returns how many of the missing `belief` expects, before it flies, in each of 2 half + 1 square cells (m)."""
    search = BeliefSearch(configured(BeliefSearch.name, {}))
    search.reset(brief, seed)
    expected = np.sum([person.posterior for person in search.people], axis=0)
    places = np.stack(np.meshgrid(search.looks.x, search.looks.y), axis=-1).reshape(-1, 2)
    column, row = np.floor((places - home) / cell + 0.5).astype(int).T + half
    near = (np.minimum(column, row) >= 0) & (np.maximum(column, row) <= 2 * half)
    heat = np.zeros((2 * half + 1, 2 * half + 1))
    np.add.at(heat, (row[near], column[near]), expected.reshape(-1)[near])
    return heat


def expected_around(centres: NDArray[np.float64], home: Vector, cell: float) -> NDArray[np.float64]:
    """Returns the density at places (R, C, 2) by the published distances from the last known point."""
    distance = np.linalg.norm(centres - home, axis=-1)
    return load_lost_persons().category("hiker").density(np.maximum(distance, cell / 2.0))
