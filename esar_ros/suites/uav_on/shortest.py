"""Shortest paths through a scene: cells of 1 m that a vehicle fits into, searched by A*.

Source: Hart, Nilsson and Raphael, "A formal basis for the heuristic determination of minimum cost paths", 1968. Steps
lead to the 6 neighbours along the axes or to all 26; a step across a corner needs every cell that it passes beside.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import product

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.world.occupancy import occupied
from esar_ros.sim.world.world import World

CELL = 1.0  # m
AXES = np.array([step for step in product((-1, 0, 1), repeat=3) if sum(map(abs, step)) == 1])  # (6, 3)
ALL = np.array([step for step in product((-1, 0, 1), repeat=3) if any(step)])  # (26, 3)


@dataclass(frozen=True, eq=False)
class Occupancy:
    """Cells of a box of the map."""

    low: Vector  # (3,) m, least corner
    blocked: NDArray[np.bool_]  # (nx, ny, nz)

    @staticmethod
    def around(world: World, points: Vector, margin: float, radius: float) -> Occupancy:
        """The cells of the box around points (N, 3) m and a margin (m), blocked where a sphere (radius m) touches."""
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        nx, ny, nz = np.ceil((high - low) / CELL).astype(int).tolist()
        return Occupancy(low, occupied(world, low, (nx, ny, nz), CELL, radius))

    def path(self, start: Vector, goal: Vector, reach: float, steps: NDArray[np.int64] = ALL) -> Vector | None:
        """Centres (N, 3) m of the cells from that of the start to the first within reach (m) of the goal.

        The start's cell counts as free. None where there is no way inside the box.
        """
        first = np.floor((start - self.low) / CELL).astype(np.int64)
        if (first < 0).any() or (first >= self.blocked.shape).any():
            return None
        blocked = self.blocked.copy()
        blocked[tuple(first)] = False
        cells = _search(blocked, first, (goal - self.low) / CELL - 0.5, reach / CELL, np.ascontiguousarray(steps))
        return self.low + (cells + 0.5) * CELL if len(cells) else None


def length(path: Vector) -> float:
    """Length (m) of a path (N, 3)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


@njit(cache=True, nogil=True)
def _search(blocked, start, goal, reach, steps):  # type: ignore[no-untyped-def]
    """Cells (N, 3) of a shortest path; goal and reach in cells. No rows where there is none."""
    nx, ny, nz = blocked.shape
    cost = np.full(blocked.size, np.inf)
    parent = np.full(blocked.size, -1, dtype=np.int64)
    closed = np.zeros(blocked.size, dtype=np.bool_)
    first = (start[0] * ny + start[1]) * nz + start[2]
    cost[first] = 0.0
    queue = [(0.0, first)]
    last = -1
    while len(queue) > 0:
        _, here = heapq.heappop(queue)
        if closed[here]:
            continue
        closed[here] = True
        x, y, z = here // (ny * nz), here // nz % ny, here % nz
        if np.sqrt((x - goal[0]) ** 2 + (y - goal[1]) ** 2 + (z - goal[2]) ** 2) <= reach:
            last = here
            break
        for k in range(steps.shape[0]):
            dx, dy, dz = steps[k, 0], steps[k, 1], steps[k, 2]
            if not (0 <= x + dx < nx and 0 <= y + dy < ny and 0 <= z + dz < nz):
                continue
            free = True
            for corner in range(1, 8):
                if blocked[x + dx * (corner & 1), y + dy * (corner >> 1 & 1), z + dz * (corner >> 2 & 1)]:
                    free = False
            if not free:
                continue
            there = ((x + dx) * ny + y + dy) * nz + z + dz
            way = cost[here] + np.sqrt(float(dx * dx + dy * dy + dz * dz))
            if way < cost[there]:
                cost[there] = way
                parent[there] = here
                gap = np.sqrt((x + dx - goal[0]) ** 2 + (y + dy - goal[1]) ** 2 + (z + dz - goal[2]) ** 2)
                heapq.heappush(queue, (way + max(gap - reach, 0.0), there))
    count = 0
    here = last
    while here >= 0:
        count += 1
        here = parent[here]
    cells = np.empty((count, 3), dtype=np.int64)
    here = last
    while here >= 0:
        count -= 1
        cells[count, 0], cells[count, 1], cells[count, 2] = here // (ny * nz), here // nz % ny, here % nz
        here = parent[here]
    return cells
