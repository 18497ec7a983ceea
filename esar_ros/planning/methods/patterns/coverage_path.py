"""Lawn-mower lanes over a polygon.

Source: Choset and Pignon, Coverage path planning: the boustrophedon cellular decomposition, 1997.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.planning.search_area import nearest_inside

_HALVINGS = 24  # of the swept box's size


@dataclass(frozen=True)
class CoveragePath:
    """Waypoints (N, 2) in the map frame (m), two a lane, and the path's length from the start (m)."""

    waypoints: NDArray[np.float64]
    length: float

    @property
    def lanes(self) -> int:
        """Number of lanes."""
        return len(self.waypoints) // 2


def lane_direction(corners: NDArray[np.float64]) -> float:
    """Direction (rad) of lanes that need the fewest turns: along the edge across which the polygon is narrowest."""
    edges = np.roll(corners, -1, axis=0) - corners
    best, direction = math.inf, 0.0
    for edge in edges:
        length = float(np.linalg.norm(edge))
        if length < 1e-9:
            continue
        normal = np.array([-edge[1], edge[0]]) / length
        across = corners @ normal
        width = float(np.ptp(across))
        if width < best - 1e-9:
            best, direction = width, math.atan2(edge[1], edge[0])
    return direction


def sweep(
    corners: NDArray[np.float64],
    start: Vector,
    spacing: float,
    reach: float,
    margin: float = 0.0,
    centre: Vector | None = None,
) -> CoveragePath:
    """Back-and-forth lanes over the part of a polygon within a square around centre (default: start).

    corners (N, 2); spacing between lanes, reach (half the square's side) and margin (between lane ends
    and the polygon's edge) in m. The sweep begins at the corner nearest to start. Concave polygons may
    be left and entered on the way.
    """
    angle = lane_direction(corners)
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    local = np.stack([corners @ along, corners @ across], axis=1)
    home = np.array([start[:2] @ along, start[:2] @ across])
    middle = home if centre is None else np.array([centre @ along, centre @ across])

    low = max(float(local[:, 1].min()), middle[1] - reach)
    high = min(float(local[:, 1].max()), middle[1] + reach)
    lanes = [
        pieces
        for offset in _lane_offsets(low, high, spacing)
        if (pieces := _inside(local, offset, margin, middle[0] - reach, middle[0] + reach))
    ]
    if not lanes:
        return CoveragePath(np.zeros((0, 2)), 0.0)
    routes = [_snake(order, forward) for order in (lanes, lanes[::-1]) for forward in (True, False)]
    route = min(routes, key=lambda points: math.dist(points[0], home))
    points = np.array(route)
    length = float(np.linalg.norm(np.diff(np.vstack([home, points]), axis=0), axis=1).sum())
    return CoveragePath(points[:, :1] * along + points[:, 1:] * across, length)


def sweep_within(
    corners: NDArray[np.float64], start: Vector, spacing: float, longest: float, margin: float = 0.0
) -> CoveragePath:
    """The sweep around start over as much of the polygon as a way of `longest` m allows; at least one lane.

    Empty only for a polygon so small that no lane is longer than both its margins.
    """
    centre = nearest_inside(corners, np.asarray(start, dtype=np.float64)[:2])
    small, large = 0.0, 2.0 * float(np.abs(corners - centre).max())
    best = sweep(corners, start, spacing, large, margin, centre)
    if best.length <= longest:
        return best
    for _ in range(_HALVINGS):
        middle = (small + large) / 2.0
        path = sweep(corners, start, spacing, middle, margin, centre)
        if path.length > longest:
            large, best = middle, min(best, path, key=lambda p: p.length)
        else:
            small, best = middle, path if path.lanes else best
    return best


def _lane_offsets(low: float, high: float, spacing: float) -> NDArray[np.float64]:
    """Lane positions so that no point of the strip is farther than half a spacing from a lane."""
    if high <= low:
        return np.zeros(0)
    count = max(1, math.ceil((high - low) / spacing - 1e-9))
    return low + (np.arange(count) + 0.5) * (high - low) / count


def _inside(
    local: NDArray[np.float64], offset: float, margin: float, lower: float, upper: float
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Pieces of the line y = offset inside the polygon less its margin, between lower and upper, by increasing x."""
    following = np.roll(local, -1, axis=0)
    spans = (local[:, 1] > offset) != (following[:, 1] > offset)
    run = following[spans] - local[spans]
    crossings = np.sort(local[spans, 0] + run[:, 0] * (offset - local[spans, 1]) / run[:, 1])
    pieces = []
    for left, right in zip(crossings[::2], crossings[1::2], strict=True):
        left, right = max(float(left) + margin, lower), min(float(right) - margin, upper)
        if right > left:
            pieces.append(((left, offset), (right, offset)))
    return pieces


def _snake(
    lanes: list[list[tuple[tuple[float, float], tuple[float, float]]]], forward: bool
) -> list[tuple[float, float]]:
    """Returns all lanes' end points, every second lane in reverse."""
    points = []
    for pieces in lanes:
        ends = [point for piece in pieces for point in piece]
        points += ends if forward else ends[::-1]
        forward = not forward
    return points
