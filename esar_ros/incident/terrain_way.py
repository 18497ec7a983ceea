"""The heights of a way over terrain: high above the highest ground near it, and below the governor's ceiling.

The governor counts its ceiling from the lowest ground that it sees below, so what is far above the highest of a steep
place is too far above its lowest; and where no range sensor shows the ground, it lets nobody climb but slowly. There a
way leads lower, by half of its height at most; over what is too steep even for that leads none. Between the cells of a
coarse model the ground is bilinear here; the highest of whole cells would lie tens of metres above what is flown over.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates, maximum_filter, maximum_filter1d, minimum_filter  # type: ignore[import-untyped]

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground

FINE = 10.0  # m, cells by which a way sees the ground
CLEAR = 30.0  # m around the way whose highest ground counts
BELOW = 20.0  # m around the way whose lowest ground the governor may count from
ROOM = 15.0  # m below the ceiling: to brake within, and what a model of the ground is off by
STEP = 10.0  # m between two heights of a way
LOWEST = 0.5  # of the height, above the highest ground near a steep place
OFF = 3.0  # m that a straight line between two corners may lie off the heights between


class TerrainWay:
    """Heights above a ground, for ways flown at a height (m) over the highest near them and below a ceiling (m).

    sight: m above the ground, beyond which range sensors may not see it; a way keeps within it, unless it is to be
    flown higher anyway.
    """

    def __init__(self, ground: Ground, height: float, ceiling: float, sight: float) -> None:
        self._ground, self._factor = ground, max(1, round(ground.cell / FINE))
        cell = ground.cell / self._factor
        heights = _finer(ground.heights, self._factor)
        known = np.isfinite(heights)
        highest = maximum_filter(np.where(known, heights, -math.inf), footprint=_disc(CLEAR / cell))
        lowest = minimum_filter(np.where(known, heights, math.inf), footprint=_disc(BELOW / cell))
        least, self._top = highest + LOWEST * height, lowest + ceiling - ROOM
        seen = np.maximum(lowest + max(sight, height), least)
        self._wanted = np.minimum(np.minimum(highest + height, seen), self._top)
        self._open = known & (self._top >= least) & (least <= heights + max(sight, height))
        self._cell = cell

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Returns the ground's cells (H, W) of which more than half is too steep, or not known."""
        rows, columns = self._ground.heights.shape
        parts = self._open.reshape(rows, self._factor, columns, self._factor)
        return np.asarray(parts.mean(axis=(1, 3)) < 0.5)

    def heights(self, start: Floats, end: Floats) -> Floats:
        """Returns heights (N,; m above the sea) along a leg between two places (2,; m, grid), at most STEP apart."""
        row, column = self._at(start, end, STEP)
        rows, columns = self._wanted.shape
        at = np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)
        return np.asarray(np.minimum(maximum_filter1d(self._wanted[at], 3), self._top[at]))  # a step is met before it

    def is_open(self, start: Floats, end: Floats) -> bool:
        """Returns whether a leg lies on known ground that is nowhere too steep for both height and ceiling."""
        row, column = self._at(start, end, self._cell)
        rows, columns = self._open.shape
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        return bool(inside.all() and self._open[row, column].all())

    def corners(self, way: Floats) -> Floats:
        """Returns the corners (N, 3; m) of a way (M, 2), with more where the ground asks for another height."""
        corners: list[Floats] = []
        for start, end in pairwise(way):
            heights = self.heights(start, end)
            shares = np.linspace(0.0, 1.0, len(heights))
            for at in _kept(heights)[bool(corners) :]:
                corners.append(np.array([*(start + (end - start) * shares[at]), heights[at]]))
        return np.array(corners)

    def _at(self, start: Floats, end: Floats, step: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns rows and columns (N,) of fine cells along a leg."""
        count = max(2, math.ceil(float(np.linalg.norm(end - start)) / step) + 1)
        places = start + (end - start) * np.linspace(0.0, 1.0, count)[:, None]
        column = np.floor((places[:, 0] - self._ground.west) / self._cell).astype(int)
        row = np.floor((self._ground.north - places[:, 1]) / self._cell).astype(int)
        return row, column


def _disc(radius: float) -> NDArray[np.bool_]:
    """Returns the cells (N, N) that a disc about the middle one touches; radius in cells."""
    axis = np.maximum(np.abs(np.arange(-math.ceil(radius), math.ceil(radius) + 1)) - 0.5, 0.0)
    return np.asarray(axis[:, None] ** 2 + axis**2 <= radius**2)


def _finer(heights: Floats, factor: int) -> Floats:
    """Returns the heights of cells that are smaller by a factor, bilinear between the middles of the coarse."""
    if factor == 1:
        return heights
    axes = [(np.arange(count * factor) + 0.5) / factor - 0.5 for count in heights.shape]
    return np.asarray(map_coordinates(heights, np.meshgrid(*axes, indexing="ij"), order=1, mode="nearest"))


def _kept(heights: Floats) -> NDArray[np.int64]:
    """Returns the indices of heights between which straight lines lie within OFF of all (Douglas and Peucker)."""
    kept, parts = {0, len(heights) - 1}, [(0, len(heights) - 1)]
    while parts:
        first, last = parts.pop()
        line = np.interp(np.arange(first, last + 1), [first, last], [heights[first], heights[last]])
        farthest = int(np.abs(heights[first : last + 1] - line).argmax()) + first
        if abs(heights[farthest] - line[farthest - first]) > OFF and first < farthest < last:
            kept.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return np.array(sorted(kept))
