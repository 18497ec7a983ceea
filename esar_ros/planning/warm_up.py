"""Loads, or compiles once, the kernels of path search and of trees: compiling them in flight would stall it."""

from __future__ import annotations

import numpy as np

from esar_ros.flight.grid import RouteGrid
from esar_ros.flight.terrain_following import Surface
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow, pack_cells
from esar_ros.planning.belief.detection_probability import Curves
from esar_ros.planning.belief.look_map import SIDES
from esar_ros.planning.methods.maps.grid_path import farthest_visible, nearest_target
from esar_ros.planning.methods.patterns.information_tree import Ground, InformationTree, Reach, count_looks


def warm_up() -> None:
    """Plans once around a wall, over its top, on a grid and by a tree, and forgets it."""
    cells = np.full((24, 24, 16), FREE, dtype=np.uint8)
    cells[:, :, :2] = cells[12, 4:20, :12] = OCCUPIED
    window = OccupancyWindow.from_packed(pack_cells(cells), np.zeros(3), 1.0, cells.shape, 0.0)
    RouteGrid(window, 2.0, 2.0, 0.0).route(np.array([3.0, 12.0, 6.0]), np.array([21.0, 12.0, 6.0]))
    Surface.of(window).ahead(np.array([3.0, 12.0, 6.0]), np.array([1.0, 0.0]), 10.0, 2.0)
    passable = np.ones((16, 16), dtype=bool)
    passable[8, 2:14] = False
    targets = np.zeros_like(passable)
    targets[14, 8] = True
    path = nearest_target(passable, targets, (2, 8))
    assert path is not None
    farthest_visible(passable, path)
    looks = np.zeros((SIDES, 16, 16))
    ground = Ground(10.0, np.full((16, 16), 1e-3), looks, np.ones((16, 16), dtype=bool), Curves(*np.full((2, 40), 0.5)))
    start = np.full(2, 80.0)
    count_looks(start, start, ground)
    tree = InformationTree(start, 100.0, ground, Reach(30.0, 30.0, 30.0))
    tree.grow(4, np.random.default_rng(0))
    tree.reroot(tree.best()[0], 100.0, ground)
