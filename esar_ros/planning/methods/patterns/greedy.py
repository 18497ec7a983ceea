"""Greedy: always to the neighbouring cell that most likely holds the missing and was not looked at.

Source: SARenv's "greedy" baseline, a walk over the cells of a lost-person heat map to the best unvisited neighbour.
Adapted for the air: the last known point is the start, since the baseline reads no brief; the heat map is the
distance statistics of config/lost_persons.yaml around it; cells are as wide as the cameras see a person on both
sides; when all neighbours are done, the path leads to the cell with the most probability a metre of path. Needs no
model. `greedy@brief` walks over the prior that `belief` reads from the brief instead: what `belief` finds beyond it is
the worth of its search, what it finds beyond `greedy` that of reading.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.planning.methods.patterns.heat_map import HeatMapPattern
from esar_ros.planning.methods.patterns.pattern import cut, inside
from esar_ros.planning.registry import register
from esar_ros.planning.search_area import AREA_MARGIN, distance_to_edge

_MAX_CELLS = 120  # a side; the start is far less than this many cells from wherever the time allows to fly


@register("greedy")
class Greedy(HeatMapPattern):
    """Walks over a heat map of the missing from home and stops when the time for it is used."""

    name = "greedy"

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        half = min(_MAX_CELLS // 2, math.ceil(longest / spacing))
        heat, centres = self._heat(home, half, spacing)
        heat[distance_to_edge(corners, centres) < AREA_MARGIN] = 0.0
        cells = walk(heat, (half, half), longest / spacing)
        return cut(inside(centres[cells[:, 0], cells[:, 1]], corners), home, longest)


def walk(heat: NDArray[np.float64], start: tuple[int, int], longest: float) -> NDArray[np.intp]:
    """Cells (N, 2) of the greedy walk over probabilities (R, C) from a cell, which counts as visited; length in cells.

    Ends when nothing is left or the path is `longest` long. Equal cells: the one straighter ahead, then the first.
    """
    left = heat.copy()
    left[start] = 0.0
    here, ahead, length, cells = np.array(start), np.array([0, 1]), 0.0, []
    rows, columns = np.indices(heat.shape)
    while length < longest:
        window = left[max(0, here[0] - 1) : here[0] + 2, max(0, here[1] - 1) : here[1] + 2]
        if not left.any():
            break
        steps = np.stack([rows - here[0], columns - here[1]], axis=-1)
        distance = np.maximum(np.hypot(steps[..., 0], steps[..., 1]), 1e-9)
        near = np.maximum(np.abs(steps[..., 0]), np.abs(steps[..., 1])) <= 1
        value = np.where(near, left, 0.0) if window.any() else left / distance
        # A millionth decides between cells that are equal but for rounding.
        value = value * (1.0 + 1e-6 * (steps @ ahead) / distance)
        best = np.array(np.unravel_index(int(np.argmax(value)), value.shape))
        length += float(distance[tuple(best)])
        here, ahead = best, np.sign(best - here)
        left[tuple(best)] = 0.0
        cells.append(best)
    return np.array(cells, dtype=np.intp).reshape(-1, 2)
