"""The plane geometry of fences and keep-out zones: corners (n, 2) in m, map frame."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MIN_LENGTH = 1e-9  # m, of an edge
_MIN_SQUARE = 1e-12  # m^2, squared length of an edge
_COLLINEAR = 1e-12  # squared distance (m^2) of a corner from an edge on which it lies
_BEYOND = 1e-6  # m outside of a polygon that count

Polygon = NDArray[np.float64]


def area(polygon: Polygon) -> float:
    """Returns the signed area (m^2), positive when the corners run counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def nearest_on_edges(polygon: Polygon, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the nearest point (n, 2) of each edge and its distance (n,) in m."""
    corners = np.ascontiguousarray(polygon, dtype=np.float64)
    foot, distance = np.empty_like(corners), np.empty(len(corners))
    _nearest(corners, float(point[0]), float(point[1]), foot, distance)
    return foot, distance


def outward(polygon: Polygon) -> NDArray[np.float64]:
    """Returns the outward unit normals (n, 2) of the edges of counter-clockwise corners."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    length = np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), _MIN_LENGTH)
    return np.asarray(np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length)


def distance_outside(polygon: Polygon, point: NDArray[np.float64]) -> float:
    """Returns the distance (m) to the boundary: positive outside, negative inside."""
    corners = np.ascontiguousarray(polygon, dtype=np.float64)
    return float(_distance_outside(corners, float(point[0]), float(point[1])))


def perimeter(polygon: Polygon) -> float:
    """Returns the length (m) of all edges."""
    return float(np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1).sum())


def reaches_beyond(polygon: Polygon, other: Polygon) -> bool:
    """Returns whether an edge of the polygon leaves the other by more than _BEYOND."""
    a, b = (np.ascontiguousarray(corners, dtype=np.float64) for corners in (polygon, other))
    return bool(_reaches_beyond(a, b))


def convex_hull(points: NDArray[np.float64]) -> Polygon:
    """Returns the convex hull (m, 2) of points (n, 2), counter-clockwise (Andrew's monotone chain)."""
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


# Called several times a control step: compiled, since a few corners are not worth an array's overhead.


@njit(cache=True, nogil=True)
def _nearest(corners, x, y, foot, distance):  # type: ignore[no-untyped-def]
    """Fills in the nearest point of each edge (foot) and its distance."""
    count = len(corners)
    for i in range(count):
        j = (i + 1) % count
        ex, ey = corners[j, 0] - corners[i, 0], corners[j, 1] - corners[i, 1]
        share = ((x - corners[i, 0]) * ex + (y - corners[i, 1]) * ey) / max(ex * ex + ey * ey, _MIN_SQUARE)
        share = min(max(share, 0.0), 1.0)
        foot[i, 0], foot[i, 1] = corners[i, 0] + share * ex, corners[i, 1] + share * ey
        distance[i] = np.hypot(foot[i, 0] - x, foot[i, 1] - y)


@njit(cache=True, nogil=True)
def _distance_outside(corners, x, y):  # type: ignore[no-untyped-def]
    """Returns the distance (m) to the nearest edge, negative where a ray to the east crosses an odd number of edges."""
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
def _reaches_beyond(polygon, other):  # type: ignore[no-untyped-def]
    """Cuts each edge where it meets the other's edges, so that each piece lies on one side, and tests the pieces."""
    count = len(other)
    cuts = np.empty(2 * count + 2)
    for i in range(len(polygon)):
        x, y = polygon[i, 0], polygon[i, 1]
        j = (i + 1) % len(polygon)
        dx, dy = polygon[j, 0] - x, polygon[j, 1] - y
        square = max(dx * dx + dy * dy, _MIN_SQUARE)
        cuts[0], cuts[1], n = 0.0, 1.0, 2
        for k in range(count):
            m = (k + 1) % count
            ax, ay = other[k, 0] - x, other[k, 1] - y
            ex, ey = other[m, 0] - other[k, 0], other[m, 1] - other[k, 1]
            if (ax * dy - ay * dx) ** 2 <= _COLLINEAR * square:  # a corner on the edge: the two edges overlap
                cuts[n] = min(max((ax * dx + ay * dy) / square, 0.0), 1.0)
                n += 1
            cross = dx * ey - dy * ex
            if cross != 0.0:
                along, across = (ax * ey - ay * ex) / cross, (ax * dy - ay * dx) / cross
                if 0.0 < along < 1.0 and 0.0 <= across <= 1.0:
                    cuts[n] = along
                    n += 1
        places = np.sort(cuts[:n])
        if _distance_outside(other, x, y) > _BEYOND:
            return True
        for k in range(n - 1):
            middle = 0.5 * (places[k] + places[k + 1])
            if _distance_outside(other, x + middle * dx, y + middle * dy) > _BEYOND:
                return True
    return False
