"""Terrain in the first POA: drainages of the elevation model, trails and roads where they are known.

Steep ground excludes nobody: who fell lies at its foot, in the same cell (benchmarks/map_score.py measures it).
Drainages follow the steepest descent on a model whose hollows are filled: Barnes, Lehman and Mulla (*Priority-Flood*,
Computers & Geosciences 62, 2014), O'Callaghan and Mark (*The Extraction of Drainage Networks from Digital Elevation
Data*, Computer Vision, Graphics, and Image Processing 28, 1984).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt  # type: ignore[import-untyped]

from esar_ros.incident.features import Floats
from esar_ros.incident.ground import Ground
from esar_ros.planning.methods.patterns.lost_persons import Found

CHANNEL = 100_000.0  # m² that drain through a cell, from which it is a drainage; assumed
BESIDE = 25.0  # m from its middle that still count as in a drainage; assumed
_AROUND = tuple(step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0))


NOWHERE = Found()  # of whom no statistics of terrain are known


@dataclass(frozen=True)
class Terrain:
    """Facts of the ground by its cells (H, W), each None where it is not to count."""

    factor: Floats | None = None  # on a place: 0 where nobody is laid
    drained: NDArray[np.bool_] | None = None  # in or beside a drainage
    offset: Floats | None = None  # m to the nearest trail or road
    found: Found = NOWHERE  # where people of the subject's kind were

    @staticmethod
    def of(ground: Ground, found: Found, offset: Floats | None = None) -> Terrain:
        """Returns all that the elevation model tells, and metres (H, W) to the nearest trail or road where known."""
        drained = near(drainages(ground), ground.cell, BESIDE) if found.in_drainages > 0.0 else None
        known = np.isfinite(ground.heights)
        return Terrain(
            None if known.all() else known.astype(np.float64), drained, offset if found.offsets else None, found
        )

    @property
    def told(self) -> str:
        """Returns in words what counts."""
        share = f"{self.found.in_drainages:.0%} of them in drainages"
        parts = (
            share if self.drained is not None else "",
            "as far from trails and roads as such people are found" if self.offset is not None else "",
        )
        return "; ".join(part for part in parts if part)


def weighed(cells: Floats, terrain: Terrain) -> Floats:
    """Returns probabilities (H, W) with the same sum, moved to where people of the subject's kind are found."""
    if terrain.drained is not None:
        cells = raised(cells, terrain.drained, terrain.found.in_drainages)
    if terrain.offset is not None:
        cells = by_offset(cells, terrain.offset, terrain.found)
    return cells


def raised(cells: Floats, inside: NDArray[np.bool_], share: float) -> Floats:
    """Returns probabilities of which at least a share lies inside, where any does; the rest in its proportions."""
    total, held = float(cells.sum()), float(cells[inside].sum())
    if held <= 0.0 or held >= share * total or held >= total:
        return cells
    return np.where(inside, cells * (share * total / held), cells * ((1.0 - share) * total / (total - held)))


def by_offset(cells: Floats, distance: Floats, found: Found) -> Floats:
    """Returns probabilities of which as much lies in each band about trails and roads as people were found there.

    Bands of which the map has nothing keep out of it: the others share what they hold.
    """
    edges = (0.0, *found.offsets, math.inf)
    shares = np.diff([0.0, *found.shares, 1.0])
    bands = [(distance >= low) & (distance < high) for low, high in pairwise(edges)]
    held = np.array([float(cells[band].sum()) for band in bands])
    wanted = np.where(held > 0.0, shares, 0.0)
    if wanted.sum() <= 0.0:
        return cells
    moved = np.zeros_like(cells)
    for band, mass, share in zip(bands, held, wanted / wanted.sum(), strict=True):
        if mass > 0.0:
            moved[band] = cells[band] * (share * float(cells.sum()) / mass)
    return moved


def near(cells: NDArray[np.bool_], cell: float, metres: float) -> NDArray[np.bool_]:
    """Returns which cells (H, W) lie within some metres of marked ones."""
    if not cells.any():
        return cells
    return np.asarray(distance_transform_edt(~cells) * cell <= metres)


def distance_to(ways: Sequence[Floats], ground: Ground) -> Floats:
    """Returns the metres (H, W) to the nearest of lines (N, 2; m east and north); inf where none crosses the ground."""
    rows, columns = ground.heights.shape
    marked = np.zeros((rows, columns), bool)
    for way in ways:
        for start, end in pairwise(way):
            count = max(2, math.ceil(2.0 * float(np.linalg.norm(end - start)) / ground.cell) + 1)
            at = start + (end - start) * np.linspace(0.0, 1.0, count)[:, None]
            column = np.floor((at[:, 0] - ground.west) / ground.cell).astype(int)
            row = np.floor((ground.north - at[:, 1]) / ground.cell).astype(int)
            inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
            marked[row[inside], column[inside]] = True
    if not marked.any():
        return np.full(marked.shape, np.inf)
    return np.asarray(distance_transform_edt(~marked) * ground.cell)


def drainages(ground: Ground) -> NDArray[np.bool_]:
    """Returns which cells (H, W) at least CHANNEL of the ground drains through."""
    order, down = _downstream(ground.heights)
    area = np.full(ground.heights.size, ground.cell**2)
    for cell in reversed(order):
        if down[cell] >= 0:
            area[down[cell]] += area[cell]
    return np.asarray(area.reshape(ground.heights.shape) >= CHANNEL) & np.isfinite(ground.heights)


def _downstream(heights: Floats) -> tuple[list[int], NDArray[np.int64]]:
    """Returns the cells, as flat numbers, in the order in which rising water comes to them from the edges, and of each
    the neighbour that it drains to, -1 off the ground."""
    rows, columns = heights.shape
    known = np.isfinite(heights)
    level = heights.ravel().astype(np.float64).tolist()
    down = np.full(heights.size, -1)
    reached = (~known).ravel().tolist()
    rank = [-1] * heights.size
    border = known.copy()
    border[1:-1, 1:-1] &= ~(known[:-2, 1:-1] & known[2:, 1:-1] & known[1:-1, :-2] & known[1:-1, 2:])[:, :]
    queue = [(level[cell], cell) for cell in np.flatnonzero(border).tolist()]
    for _, cell in queue:
        reached[cell] = True
    heapq.heapify(queue)
    order = list[int]()
    while queue:
        height, cell = heapq.heappop(queue)
        rank[cell] = len(order)
        order.append(cell)
        row, column = divmod(cell, columns)
        steepest = 0.0
        for j, i in _AROUND:
            if not (0 <= row + j < rows and 0 <= column + i < columns):
                continue
            other = cell + j * columns + i
            if rank[other] >= 0:
                drop = (height - level[other]) / math.hypot(i, j)
                if drop > steepest or (drop == steepest and down[cell] < 0 and not border.flat[cell]):
                    steepest, down[cell] = drop, other
            elif not reached[other]:
                reached[other] = True
                level[other] = max(level[other], height)
                heapq.heappush(queue, (level[other], other))
    return order, down
