"""Where the vehicle may fly: fence, ceiling and home of one mission."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.safety.braking import allowed_speed
from esar_ros.safety.limits import Limits
from esar_ros.safety.obstacles import HalfSpaces


@dataclass(frozen=True)
class Site:
    """Fence corners (n, 2) counter-clockwise, m, map frame; ceiling in m above ground; home (3,) m, map frame.

    Raises UsageError when the corners enclose no area, a number is not finite, or home is outside the fence.
    """

    fence: NDArray[np.float64]
    ceiling: float
    home: Vector

    def __post_init__(self) -> None:
        fence = np.asarray(self.fence, dtype=np.float64)
        if fence.ndim != 2 or fence.shape[0] < 3 or fence.shape[1] != 2 or not np.isfinite(fence).all():
            raise UsageError("the fence has no three finite corners", "give the search area as a polygon")
        if _area(fence) < 0.0:
            fence = fence[::-1]
        if not _area(fence) > 1.0:
            raise UsageError("the fence encloses no area", "give the search area as a polygon")
        if not (math.isfinite(self.ceiling) and self.ceiling > 0.0):
            raise UsageError(f"the ceiling is {self.ceiling} m above ground", "it must be positive")
        if not np.isfinite(self.home).all():
            raise UsageError("home is not finite", "give the position the vehicle starts from")
        object.__setattr__(self, "fence", np.ascontiguousarray(fence))
        if self.outside(np.asarray(self.home)) > 0.0:
            raise UsageError("home lies outside the fence", "start inside the search area or widen it")

    @staticmethod
    def covering(area: NDArray[np.float64], ceiling: float, home: Vector, room: float = 30.0) -> Site:
        """Site whose fence is the search area (n, 2), or its convex hull with room (m) about home if home needs it."""
        fence = np.asarray(area, dtype=np.float64)[:, :2]
        corners = home[:2] + room * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        if all(_distance_outside(fence, corner) <= 0.0 for corner in corners):
            return Site(fence, ceiling, home)
        return Site(_convex_hull(np.concatenate([fence, corners])), ceiling, home)

    def outside(self, position: Vector) -> float:
        """Horizontal distance (m) to the fence: positive outside, negative inside."""
        return _distance_outside(self.fence, position[:2])

    def looser_than(self, other: Site) -> bool:
        """Whether this site allows something the other does not, or leads home elsewhere."""
        inside = all(other.outside(corner) <= 1e-9 for corner in self.fence)
        return not inside or self.ceiling > other.ceiling or not np.array_equal(self.home, other.home)

    def fence_limits(self, position: Vector, velocity: Vector, limits: Limits) -> HalfSpaces:
        """Limits of the fence's edges: stop fence_margin inside; from outside, come back at push_speed."""
        starts, ends = self.fence, np.roll(self.fence, -1, axis=0)
        foot, distance = _nearest_on_edges(starts, ends, position[:2])
        edge = ends - starts
        length = np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-9)
        outward = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / length
        away = foot - position[:2]
        normal = np.where(distance[:, None] > 1e-3, away / np.maximum(distance, 1e-3)[:, None], outward)
        if self.outside(position) > 0.0:
            nearest = int(np.argmin(distance))
            normal, bounds = -normal[nearest : nearest + 1], np.array([-limits.push_speed])
            if distance[nearest] <= 1e-3:
                normal = outward[nearest : nearest + 1]
        else:
            room = distance - limits.fence_margin
            allowed = np.array([allowed_speed(r, limits.deceleration, limits.latency) for r in room])
            closing = normal @ velocity[:2]
            bounds = np.where(closing > allowed, np.maximum(0.0, 2.0 * allowed - closing), allowed)
        return HalfSpaces(np.concatenate([normal, np.zeros((len(normal), 1))], axis=1), bounds)


def _area(polygon: NDArray[np.float64]) -> float:
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _nearest_on_edges(
    starts: NDArray[np.float64], ends: NDArray[np.float64], point: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nearest point (n, 2) of each edge and its distance (n,)."""
    edge = ends - starts
    share = np.einsum("ij,ij->i", point - starts, edge) / np.maximum(np.einsum("ij,ij->i", edge, edge), 1e-12)
    foot = starts + np.clip(share, 0.0, 1.0)[:, None] * edge
    return foot, np.hypot(foot[:, 0] - point[0], foot[:, 1] - point[1])


def _distance_outside(polygon: NDArray[np.float64], point: NDArray[np.float64]) -> float:
    starts, ends = polygon, np.roll(polygon, -1, axis=0)
    _, distance = _nearest_on_edges(starts, ends, point)
    x, y = float(point[0]), float(point[1])
    crosses = (starts[:, 1] > y) != (ends[:, 1] > y)
    rise = np.where(crosses, ends[:, 1] - starts[:, 1], 1.0)
    at = starts[:, 0] + (y - starts[:, 1]) / rise * (ends[:, 0] - starts[:, 0])
    inside = bool(np.count_nonzero(crosses & (x < at)) % 2)
    nearest = float(distance.min())
    return -nearest if inside else nearest


def _convex_hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
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
