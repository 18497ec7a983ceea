"""Foot paths and wheel tracks: the path a walker would choose between way points, as a polyline.

The cost of a step is Tobler's ("Three presentations on geographical analysis and modeling", 1993): time on foot by
slope, with a factor for land cover that is hard to cross.
"""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.land_cover import LandCover

ROUTE_CELL = 8.0  # m
_HARD = {LandCover.FOREST: 1.5, LandCover.SCRUB: 1.3, LandCover.BLOCKFIELD: 1.6, LandCover.CLAY: 4.0,
         LandCover.SAND: 1.5, LandCover.ROCK: 2.0, LandCover.ICE: 2.5, LandCover.WATER: 1e4}  # fmt: skip


class TrackSpec(StrictModel):
    """A track through way points (m, map frame); between them the route is searched."""

    via: list[tuple[float, float]] = Field(min_length=2)
    width: float = Field(1.0, gt=0.0, le=12.0, description="m")
    straight: bool = Field(False, description="true: keep to the way points, as roads and fixed ropes do")


class Track(NamedTuple):
    """A track as drawn in the ground."""

    line: NDArray[np.float64]  # (N, 2) m
    width: float  # m


def lay_track(
    spec: TrackSpec, heights: NDArray[np.float32], cover: NDArray[np.uint8], size: float
) -> NDArray[np.float64]:
    """Polyline (N, 2) in m, a vertex about every few metres, inside the map."""
    points = np.array(spec.via, dtype=np.float64)
    if not spec.straight:
        stride = max(1, round(ROUTE_CELL * (heights.shape[0] - 1) / size))
        price = np.ones(256)
        for kind, value in _HARD.items():
            price[kind] = value
        coarse = np.ascontiguousarray(heights[::stride, ::stride], dtype=np.float64)
        hard = price[cover[::stride, ::stride]]
        cell = size / (heights.shape[0] - 1) * stride
        cells = np.clip(np.rint((points + size / 2) / cell).astype(np.int64), 0, coarse.shape[0] - 1)
        legs = [_route(coarse, hard, cell, int(a[0]), int(a[1]), int(b[0]), int(b[1])) for a, b in pairwise(cells)]
        parts = [legs[0], *(leg[1:] for leg in legs[1:])]
        points = np.concatenate(parts).astype(np.float64) * cell - size / 2
    return _smooth(points, size)


def _smooth(points: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Chaikin's corner cutting, thrice; the ends stay."""
    for _ in range(3):
        low, high = points[:-1], points[1:]
        cut = np.stack([0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high], axis=1).reshape(-1, 2)
        points = np.concatenate([points[:1], cut, points[-1:]])
    return np.clip(points, -size / 2, size / 2)


def _route(
    heights: NDArray[np.float64], hard: NDArray[np.float64], cell: float, x0: int, y0: int, x1: int, y1: int
) -> NDArray[np.int64]:
    """Cells (N, 2) of x, y on the quickest route (Dijkstra over sixteen neighbours)."""
    back = _dijkstra(heights, hard, cell, x0, y0, x1, y1)
    n = heights.shape[0]
    at, route = y1 * n + x1, []
    while at >= 0:
        route.append((at % n, at // n))
        at = int(back[at])
    return np.array(route[::-1], dtype=np.int64)


@njit(cache=True, nogil=True)
def _dijkstra(heights, hard, cell, x0, y0, x1, y1):  # type: ignore[no-untyped-def]
    n = heights.shape[0]
    best = np.full(n * n, math.inf)
    back = np.full(n * n, -1, np.int64)
    start = y0 * n + x0
    goal = y1 * n + x1
    best[start] = 0.0
    heap = [(0.0, start)]
    moves = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1),
             (2, 1), (1, 2), (-2, 1), (-1, 2), (2, -1), (1, -2), (-2, -1), (-1, -2))  # fmt: skip
    while len(heap) > 0:
        cost, at = heapq.heappop(heap)
        if at == goal:
            break
        if cost > best[at]:
            continue
        x = at % n
        y = at // n
        for dx, dy in moves:
            a = x + dx
            b = y + dy
            if a < 0 or b < 0 or a >= n or b >= n:
                continue
            length = cell * math.sqrt(float(dx * dx + dy * dy))
            rise = (heights[b, a] - heights[y, x]) / length
            # Tobler's walking speed, m/s; the same price both ways, so that a path serves both.
            speed = 1.667 * math.exp(-3.5 * abs(rise))
            there = cost + length / speed * 0.5 * (hard[y, x] + hard[b, a])
            k = b * n + a
            if there < best[k]:
                best[k] = there
                back[k] = at
                heapq.heappush(heap, (there, k))
    return back
