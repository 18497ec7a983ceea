"""The brief's search area: is a point inside, and how high may the search fly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief

AREA_MARGIN = 15.0  # m kept from the area's edge, where the fence would stop the vehicle
CEILING_MARGIN = 5.0  # m kept below the ceiling, so that gusts do not carry the vehicle through it


def polygon_of(brief: Brief) -> NDArray[np.float64]:
    """Corners (N, 2) of the search area, N >= 3. Raises UsageError when it encloses nothing."""
    corners = np.asarray(brief.area, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3 or not np.isfinite(corners).all():
        raise UsageError(f"brief {brief.mission_id}: search area of shape {corners.shape}", "give 3 or more (x, y)")
    if abs(polygon_area(corners)) < 1.0:
        raise UsageError(f"brief {brief.mission_id}: search area encloses nothing", "give corners in order")
    return corners


def polygon_area(corners: NDArray[np.float64]) -> float:
    """Area in m^2 by the shoelace formula, positive for counter-clockwise corners (N, 2)."""
    following = np.roll(corners, -1, axis=0)
    return float(np.sum(corners[:, 0] * following[:, 1] - following[:, 0] * corners[:, 1])) / 2.0


def contains(corners: NDArray[np.float64], point: Vector) -> bool:
    """Returns whether a point (x, y, ...) lies in the polygon: even-odd rule."""
    x, y = float(point[0]), float(point[1])
    following = np.roll(corners, -1, axis=0)
    spans = (corners[:, 1] > y) != (following[:, 1] > y)
    run = following[spans] - corners[spans]
    crossings = corners[spans, 0] + run[:, 0] * (y - corners[spans, 1]) / run[:, 1]
    return bool(np.count_nonzero(crossings > x) % 2)


def nearest_inside(corners: NDArray[np.float64], point: Vector) -> Vector:
    """The point (x, y) of the polygon nearest to a point: itself when it lies inside."""
    if contains(corners, point):
        return np.array(point[:2], dtype=np.float64)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.maximum(np.einsum("ni,ni->n", edges, edges), 1e-12)
    share = np.clip(np.einsum("ni,ni->n", point[:2] - corners, edges) / lengths, 0.0, 1.0)
    feet = corners + share[:, None] * edges
    nearest: Vector = feet[int(np.argmin(np.linalg.norm(feet - point[:2], axis=1)))]
    return nearest


def flight_height(wanted: float, brief: Brief) -> float:
    """Height above ground (m) to search at: as wanted, but below the ceiling with a margin."""
    return min(wanted, max(brief.ceiling - CEILING_MARGIN, brief.ceiling / 2.0))


def distance_to_edge(corners: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance (m) of points (..., 2) to the polygon's edge, negative outside."""
    following = np.roll(corners, -1, axis=0)
    x, y = points[..., 0], points[..., 1]
    minimum = np.full(points.shape[:-1], np.inf)
    within = np.zeros(points.shape[:-1], np.bool_)
    for (x0, y0), (x1, y1) in zip(corners, following, strict=True):
        run, rise = x1 - x0, y1 - y0
        share = np.clip(((x - x0) * run + (y - y0) * rise) / max(run * run + rise * rise, 1e-12), 0.0, 1.0)
        minimum = np.minimum(minimum, np.hypot(x - x0 - share * run, y - y0 - share * rise))
        if y0 != y1:
            within ^= ((y0 > y) != (y1 > y)) & (x < x0 + run * (y - y0) / rise)
    return np.where(within, minimum, -minimum)
