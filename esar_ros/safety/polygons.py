"""Plane geometry of fences and keep-out zones: corners (n, 2) in m, map frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Polygon = NDArray[np.float64]


def area(polygon: Polygon) -> float:
    """Signed area (m^2): positive when the corners run counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def nearest_on_edges(polygon: Polygon, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nearest point (n, 2) of each edge and its distance (n,)."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    share = np.einsum("ij,ij->i", point - polygon, edge) / np.maximum(np.einsum("ij,ij->i", edge, edge), 1e-12)
    foot = polygon + np.clip(share, 0.0, 1.0)[:, None] * edge
    return foot, np.hypot(foot[:, 0] - point[0], foot[:, 1] - point[1])


def outward(polygon: Polygon) -> NDArray[np.float64]:
    """Unit normals (n, 2) out of each edge of counter-clockwise corners."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    length = np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-9)
    return np.asarray(np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length)


def distance_outside(polygon: Polygon, point: NDArray[np.float64]) -> float:
    """Distance (m) to the boundary: positive outside, negative inside."""
    _, distance = nearest_on_edges(polygon, point)
    ends = np.roll(polygon, -1, axis=0)
    x, y = float(point[0]), float(point[1])
    crosses = (polygon[:, 1] > y) != (ends[:, 1] > y)
    rise = np.where(crosses, ends[:, 1] - polygon[:, 1], 1.0)
    at = polygon[:, 0] + (y - polygon[:, 1]) / rise * (ends[:, 0] - polygon[:, 0])
    inside = bool(np.count_nonzero(crosses & (x < at)) % 2)
    nearest = float(distance.min())
    return -nearest if inside else nearest


def convex_hull(points: NDArray[np.float64]) -> Polygon:
    """Counter-clockwise hull (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))

    def chain(items: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        hull: list[tuple[float, ...]] = []
        for p in items:
            while (
                len(hull) >= 2
                and (
                    (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1])
                    - (hull[-1][1] - hull[-2][1]) * (p[0] - hull[-2][0])
                )
                <= 0.0
            ):
                hull.pop()
            hull.append(p)
        return hull[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))
