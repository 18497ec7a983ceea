"""A grid of the places where a walker can stand, floor above floor, and the shortest ways between them.

The grid is made of a world as it is: a shut door is in the way. It knows everything, so it is for oracles, for proving
that a task can be done, and for a game's own navigation; not for agents that are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from esar_ros.sim.terrain.rescue_places.site import Area
from esar_ros.sim.walking.contacts import (
    HALF_HEIGHT,
    STEEPEST,
    STEP_HEIGHT,
    deepest,
    floor_under,
    span_of_box,
)
from esar_ros.sim.world.raycast import GRID_CELL, NO_HIT, ground_height
from esar_ros.sim.world.world import World

CELL = 0.2  # m
_BODY = 0.39  # m, radius that must be free: the walker's and a little more, since ways run between cells
_FLOORS = 4  # above one another at most
_NEAR = 0.8  # m, from a point to the cell that stands for it, level
_LEVEL = 0.7  # m, upright
_DIAGONAL = math.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class Reach:
    """Shortest ways from one place to every other."""

    grid: WalkableGrid
    metres: NDArray[np.float64]  # (nodes,) level, of the way from cell to cell, inf where there is none
    before: NDArray[np.int64]  # (nodes,) the node that the way comes from, -1 at its start

    def distance(self, point: ArrayLike) -> float:
        """Returns the metres to walk to a point (3,), inf where there is no way."""
        node = self.grid.node_at(point)
        return math.inf if node is None else float(self.metres[node])

    def path(self, point: ArrayLike) -> NDArray[np.float64] | None:
        """Returns the way to a point (3,): corners (N, 3) on the floors, straight between them; None without one."""
        node = self.grid.node_at(point)
        if node is None or not math.isfinite(self.metres[node]):
            return None
        nodes = [node]
        while self.before[nodes[-1]] >= 0:
            nodes.append(int(self.before[nodes[-1]]))
        return self.grid.straightened(np.array(nodes[::-1]))


@dataclass(frozen=True, eq=False)
class WalkableGrid:
    """Cells of side CELL above a corner low (2,), and the floors of each on which a walker can stand."""

    low: NDArray[np.float64]
    floors: NDArray[np.float64]  # (nx, ny, F) m, ascending, NaN where there are fewer

    @staticmethod
    def of(world: World, area: Area) -> WalkableGrid:
        """The grid of a part of a world."""
        low = np.array(area.low, dtype=np.float64)
        nx, ny = (max(1, math.floor((high - start) / CELL)) for start, high in zip(area.low, area.high, strict=True))
        floors = np.full((nx, ny, _FLOORS), np.nan)
        _fill(world.collision_scene(), low, floors)
        return WalkableGrid(low, floors)

    @property
    def count(self) -> int:
        """Number of nodes: of cells times floors, standable or not."""
        return int(self.floors.size)

    def points(self) -> NDArray[np.float64]:
        """Every place to stand, (N, 3) m, the middle of its cell on its floor."""
        return self.position(np.flatnonzero(np.isfinite(self.floors.ravel())))

    def moved(self, by: ArrayLike) -> WalkableGrid:
        """Returns the same grid elsewhere; by: (3,) m."""
        gap = np.asarray(by, dtype=np.float64)
        return WalkableGrid(self.low + gap[:2], self.floors + gap[2])

    def position(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Places (..., 3) of nodes (...)."""
        index = np.asarray(nodes, dtype=np.int64)
        _, ny, deep = self.floors.shape
        i, j = index // (ny * deep), index // deep % ny
        return np.stack(
            [self.low[0] + (i + 0.5) * CELL, self.low[1] + (j + 0.5) * CELL, self.floors.ravel()[index]], axis=-1
        )

    def node_at(self, point: ArrayLike) -> int | None:
        """Returns the nearest place to stand near a point (3,) on a floor; None where there is none."""
        x, y, z = (float(value) for value in np.asarray(point, dtype=np.float64))
        nx, ny, deep = self.floors.shape
        i, j = math.floor((x - self.low[0]) / CELL), math.floor((y - self.low[1]) / CELL)
        span = math.ceil(_NEAR / CELL)
        best, found = math.inf, None
        for a in range(max(0, i - span), min(nx, i + span + 1)):
            for b in range(max(0, j - span), min(ny, j + span + 1)):
                gap = math.hypot(self.low[0] + (a + 0.5) * CELL - x, self.low[1] + (b + 0.5) * CELL - y)
                for k in range(deep):
                    off = abs(self.floors[a, b, k] - z)
                    if gap <= _NEAR and off <= _LEVEL and gap + off < best:
                        best, found = gap + off, (a * ny + b) * deep + k
        return found

    def reach(self, start: ArrayLike) -> Reach:
        """Ways from a point (3,) to everywhere; none where nobody stands there."""
        return self._search(start, -1)

    def path(self, start: ArrayLike, goal: ArrayLike) -> NDArray[np.float64] | None:
        """Returns the shortest way between two points (3,) on floors: see Reach.path."""
        node = self.node_at(goal)
        return None if node is None else self._search(start, node).path(goal)

    def straightened(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The corners (N, 3) of a way along nodes (M,): the shortest of straight lines between them over free cells."""
        points = self.position(nodes)
        before = _shortcuts(self.low, self.floors, points)
        kept = [len(points) - 1]
        while kept[-1] > 0:
            kept.append(int(before[kept[-1]]))
        return points[kept[::-1]]

    def _search(self, start: ArrayLike, goal: int) -> Reach:
        metres, before = np.full(self.count, np.inf), np.full(self.count, -1, dtype=np.int64)
        node = self.node_at(start)
        if node is not None:
            _spread(self.floors, node, goal, metres, before)
        return Reach(self, metres, before)


@njit(cache=True, nogil=True)
def _fill(scene, low, floors):  # type: ignore[no-untyped-def]
    """Write the floors of every cell, lowest first."""
    ground, _, _, _, _, boxes, _, bins = scene
    tops = np.empty(64)
    for i in range(floors.shape[0]):
        for j in range(floors.shape[1]):
            x = low[0] + (i + 0.5) * CELL
            y = low[1] + (j + 0.5) * CELL
            tops[0] = ground_height(ground, x, y)
            count = 1
            column = math.floor((x + bins.half) / GRID_CELL)
            row = math.floor((y + bins.half) / GRID_CELL)
            if 0 <= column < bins.side and 0 <= row < bins.side:
                c = row * bins.side + column
                for q in range(bins.starts[c], bins.starts[c + 1]):
                    box = boxes[bins.items[q]]
                    bottom, top, _, _ = span_of_box(box, x, y)
                    if top > bottom and top > tops[0] and count < tops.shape[0]:
                        tops[count] = top
                        count += 1
            kept = 0
            ordered = np.sort(tops[:count])
            for k in range(count):
                z = ordered[k]
                if kept == floors.shape[2] or (k > 0 and z - ordered[k - 1] < 1e-6):
                    continue
                floor, gx, gy, crest = floor_under(scene, x, y, z + STEP_HEIGHT)
                if floor > z + 1e-6 or (gx * gx + gy * gy > STEEPEST * STEEPEST and crest > z + STEP_HEIGHT):
                    continue
                if _has_room(scene, x, y, z):
                    floors[i, j, kept] = z
                    kept += 1


@njit(cache=True, nogil=True)
def _has_room(scene, x, y, foot):  # type: ignore[no-untyped-def]
    """Returns whether a body on a floor touches nothing that it does not step on."""
    low = foot + STEP_HEIGHT + _BODY
    high = foot + 2.0 * HALF_HEIGHT - _BODY
    count = max(1, math.ceil((high - low) / 0.22))
    for k in range(count + 1):
        z = low + (high - low) * k / count
        if deepest(scene, x, y, z, _BODY, foot + 2.0 * HALF_HEIGHT)[0] != NO_HIT:
            return False
    return True


@njit(cache=True, nogil=True)
def _beside(floors, i, j, z):  # type: ignore[no-untyped-def]
    """Floor of a cell that is a step from height z: the nearest one's index, or -1."""
    if i < 0 or j < 0 or i >= floors.shape[0] or j >= floors.shape[1]:
        return -1
    best = STEP_HEIGHT
    found = -1
    for k in range(floors.shape[2]):
        off = abs(floors[i, j, k] - z)
        if off <= best:  # never so for NaN
            best = off
            found = k
    return found


@njit(cache=True, nogil=True)
def _spread(floors, start, goal, metres, before):  # type: ignore[no-untyped-def]
    """Shortest ways (Dijkstra, 1959) from a node to all, or to a goal by A* (Hart et al., 1968)."""
    ny, deep = floors.shape[1:]
    done = np.zeros(metres.shape[0], dtype=np.bool_)
    gi = goal // (ny * deep)
    gj = goal // deep % ny
    heap = [(0.0, start)]
    metres[start] = 0.0
    while len(heap) > 0:
        _, node = heappop(heap)
        if done[node]:
            continue
        done[node] = True
        if node == goal:
            return
        i = node // (ny * deep)
        j = node // deep % ny
        z = floors[i, j, node % deep]
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di == 0 and dj == 0:
                    continue
                k = _beside(floors, i + di, j + dj, z)
                if k < 0:
                    continue
                if di != 0 and dj != 0 and (_beside(floors, i + di, j, z) < 0 or _beside(floors, i, j + dj, z) < 0):
                    continue  # no corner is cut
                cost = metres[node] + CELL * (_DIAGONAL if di != 0 and dj != 0 else 1.0)
                other = ((i + di) * ny + j + dj) * deep + k
                if cost < metres[other] - 1e-12:
                    metres[other] = cost
                    before[other] = node
                    rest = 0.0
                    if goal >= 0:
                        rest = CELL * math.sqrt((i + di - gi) ** 2 + (j + dj - gj) ** 2)
                    heappush(heap, (cost + rest, other))


@njit(cache=True, nogil=True)
def _shortcuts(low, floors, points):  # type: ignore[no-untyped-def]
    """For each of the points (M, 3) of a way the earlier one from which it is reached soonest in straight lines."""
    count = points.shape[0]
    metres = np.full(count, np.inf)
    before = np.zeros(count, dtype=np.int64)
    metres[0] = 0.0
    for k in range(1, count):
        for earlier in range(k):
            length = math.hypot(points[k, 0] - points[earlier, 0], points[k, 1] - points[earlier, 1])
            if metres[earlier] + length < metres[k] - 1e-9 and (
                earlier == k - 1 or _is_clear(low, floors, points[earlier], points[k])
            ):
                metres[k] = metres[earlier] + length
                before[k] = earlier
    return before


@njit(cache=True, nogil=True)
def _is_clear(low, floors, a, b):  # type: ignore[no-untyped-def]
    """Returns whether a straight line between two places runs over cells that a walker stands on."""
    length = math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2)
    count = max(1, math.ceil(length / (0.5 * CELL)))
    z = a[2]
    for n in range(count + 1):
        x = a[0] + (b[0] - a[0]) * n / count
        y = a[1] + (b[1] - a[1]) * n / count
        i = math.floor((x - low[0]) / CELL)
        j = math.floor((y - low[1]) / CELL)
        k = _beside(floors, i, j, z)
        if k < 0:
            return False
        z = floors[i, j, k]
    return abs(z - b[2]) < 1e-6
