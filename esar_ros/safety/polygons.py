"""Plane geometry of fences and keep-out zones: corners (n, 2) in m, map frame."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Polygon = NDArray[np.float64]


def area(polygon: Polygon) -> float:
    """Signed area (m^2): positive when the corners run counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def nearest_on_edges(polygon: Polygon, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nearest point (n, 2) of each edge and its distance (n,)."""
    corners = np.ascontiguousarray(polygon, dtype=np.float64)
    foot, distance = np.empty_like(corners), np.empty(len(corners))
    _nearest(corners, float(point[0]), float(point[1]), foot, distance)
    return foot, distance


def outward(polygon: Polygon) -> NDArray[np.float64]:
    """Unit normals (n, 2) out of each edge of counter-clockwise corners."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    length = np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-9)
    return np.asarray(np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length)


def distance_outside(polygon: Polygon, point: NDArray[np.float64]) -> float:
    """Distance (m) to the boundary: positive outside, negative inside."""
    corners = np.ascontiguousarray(polygon, dtype=np.float64)
    return float(_distance_outside(corners, float(point[0]), float(point[1])))


def perimeter(polygon: Polygon) -> float:
    """Length (m) of all edges."""
    return float(np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1).sum())


def reaches_beyond(polygon: Polygon, other: Polygon, spacing: float) -> bool:
    """Returns whether an edge of the polygon leaves the other, looked at every spacing (m) where the two are near."""
    a, b = (np.ascontiguousarray(corners, dtype=np.float64) for corners in (polygon, other))
    return bool(_reaches_beyond(a, b, spacing))


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


# Asked several times a control step: compiled, since a few corners are not worth an array's overhead.


@njit(cache=True, nogil=True)
def _nearest(corners, x, y, foot, distance):  # type: ignore[no-untyped-def]
    """Fill in the nearest point of each edge and its distance."""
    count = len(corners)
    for i in range(count):
        j = (i + 1) % count
        ex, ey = corners[j, 0] - corners[i, 0], corners[j, 1] - corners[i, 1]
        share = ((x - corners[i, 0]) * ex + (y - corners[i, 1]) * ey) / max(ex * ex + ey * ey, 1e-12)
        share = min(max(share, 0.0), 1.0)
        foot[i, 0], foot[i, 1] = corners[i, 0] + share * ex, corners[i, 1] + share * ey
        distance[i] = np.hypot(foot[i, 0] - x, foot[i, 1] - y)


@njit(cache=True, nogil=True)
def _distance_outside(corners, x, y):  # type: ignore[no-untyped-def]
    """Distance to the nearest edge; its sign by the number of edges a ray to the east crosses."""
    count = len(corners)
    foot, distance = np.empty_like(corners), np.empty(count)
    _nearest(corners, x, y, foot, distance)
    inside = False
    for i in range(count):
        j = (i + 1) % count
        if (corners[i, 1] > y) != (corners[j, 1] > y):
            rise = corners[j, 1] - corners[i, 1]
            if x < corners[i, 0] + (y - corners[i, 1]) / rise * (corners[j, 0] - corners[i, 0]):
                inside = not inside
    nearest = distance.min()
    return -nearest if inside else nearest


@njit(cache=True, nogil=True)
def _reaches_beyond(polygon, other, spacing):  # type: ignore[no-untyped-def]
    """Walks along each edge by its depth inside the other: nothing within that distance leaves it."""
    for i in range(len(polygon)):
        start, end = polygon[i], polygon[(i + 1) % len(polygon)]
        length = np.hypot(end[0] - start[0], end[1] - start[1])
        along = 0.0
        while along <= length:
            share = along / max(length, 1e-9)
            x, y = start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
            distance = _distance_outside(other, x, y)
            if distance > 1e-6:
                return True
            along += max(spacing, -distance)
    return False
