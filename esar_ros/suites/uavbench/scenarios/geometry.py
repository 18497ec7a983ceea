"""Plane and solid geometry of scenarios in plain Python: polygons, legs, cylinders, things that move.

Every size is in m. A point nearer to an edge than TOUCH lies on it, and on counts as inside the fence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

TOUCH = 1e-3  # m
Point = Sequence[float]
Polygon = Sequence[Sequence[float]]


class Cylinder(NamedTuple):
    """An upright cylinder at t = 0 and its level velocity (m/s)."""

    center: Point
    radius: float
    floor: float
    ceiling: float
    velocity: Point = (0.0, 0.0)

    def distance(self, p: Point) -> float:
        """Returns the distance of a point; 0 inside."""
        flat = max(0.0, math.hypot(p[0] - self.center[0], p[1] - self.center[1]) - self.radius)
        return math.hypot(flat, max(0.0, self.floor - p[2], p[2] - self.ceiling))


class Ball(NamedTuple):
    """A ball at t = 0 and its velocity (m/s); radius 0 is a point."""

    center: Point
    radius: float
    velocity: Point


def without_repeats(points: Polygon) -> list[tuple[float, float]]:
    """Returns the corners of a polygon without a corner that repeats the one before it, or the first at the end."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if not corners or math.hypot(x - corners[-1][0], y - corners[-1][1]) > TOUCH:
            corners.append((x, y))
    while len(corners) > 1 and math.hypot(corners[0][0] - corners[-1][0], corners[0][1] - corners[-1][1]) <= TOUCH:
        corners.pop()
    return corners


def area(corners: Polygon) -> float:
    """Returns the area (m^2), positive when the corners turn counter-clockwise."""
    x0, y0 = corners[0]  # relative to a corner: far from the origin the products would lose their digits
    total = 0.0
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        total += (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    return total / 2.0


class SelfContact(NamedTuple):
    """Two edges of a polygon, each from corner to corner, that meet other than as neighbours at their corner."""

    one: tuple[Point, Point]
    other: tuple[Point, Point]
    at: Point
    crossing: bool  # else they touch, or one turns back onto the other


def self_contact(corners: Polygon) -> SelfContact | None:
    """Returns where a polygon crosses itself, else where it touches itself; None: it is simple."""
    n = len(corners)
    edges = [(corners[i], corners[(i + 1) % n]) for i in range(n)]
    touching: SelfContact | None = None
    for i, (a, b) in enumerate(edges):
        for j in range(i + 1, n):
            c, d = edges[j]
            ends: tuple[tuple[Point, Point, Point], ...]  # a point, and the edge that it may lie on
            if j == i + 1 or (j + 1) % n == i:  # neighbours: one turns back where its far end lies on the other
                ends = ((d, a, b), (a, c, d)) if j == i + 1 else ((c, a, b), (b, c, d))
            elif not _boxes_meet(a, b, c, d):
                continue
            elif (cut := _crossing(a, b, c, d)) is not None:
                return SelfContact(edges[i], edges[j], cut, True)
            else:
                ends = ((a, c, d), (b, c, d), (c, a, b), (d, a, b))
            at = next((p for p, q, r in ends if segment_distance(p, q, r) <= TOUCH), None)
            if at is not None and touching is None:
                touching = SelfContact(edges[i], edges[j], at, False)
    return touching


def outside(corners: Polygon, p: Point) -> bool:
    """Returns whether a point lies outside a simple polygon and not on its edge."""
    x, y = p[0], p[1]
    inside = False
    x1, y1 = corners[-1]
    for x2, y2 in corners:
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
        x1, y1 = x2, y2
    return not inside and edge_distance(corners, p) > TOUCH


def edge_distance(corners: Polygon, p: Point) -> float:
    """Returns the distance of a point to the nearest edge."""
    return min(segment_distance(p, a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True))


def leaves(corners: Polygon, a: Point, b: Point) -> bool:
    """Returns whether the straight leg between two points of a polygon has a part outside it."""
    cuts = [0.0, 1.0]
    dx, dy = b[0] - a[0], b[1] - a[1]
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        ex, ey = x2 - x1, y2 - y1
        cross = dx * ey - dy * ex
        if cross != 0.0:
            t = ((x1 - a[0]) * ey - (y1 - a[1]) * ex) / cross
            if 0.0 < t < 1.0:
                cuts.append(t)
    if len(cuts) == 2:
        return False
    cuts.sort()
    middles = [(t1 + t2) / 2.0 for t1, t2 in itertools.pairwise(cuts)]
    return any(outside(corners, (a[0] + t * dx, a[1] + t * dy)) for t in middles)


def crosses(cylinder: Cylinder, a: Point, b: Point) -> bool:
    """Returns whether a straight leg has a part within a cylinder that stands still."""
    span = _within_disk(cylinder, a, b)
    if span is None:
        return False
    rise = b[2] - a[2]
    low, high = cylinder.floor - a[2], cylinder.ceiling - a[2]
    if abs(rise) < 1e-9:
        return low < 0.0 < high
    t1, t2 = sorted((low / rise, high / rise))
    return min(span[1], t2, 1.0) > max(span[0], t1, 0.0)


def clearance(cylinder: Cylinder, a: Point, b: Point, far: float) -> float:
    """Returns the least distance of a leg to a cylinder that stands still; far where it is farther than that."""
    center, radius, floor, ceiling = cylinder[:4]
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    rx, ry = center[0] - a[0], center[1] - a[1]
    dd = dx * dx + dy * dy
    t = min(1.0, max(0.0, (rx * dx + ry * dy) / dd)) if dd > 0.0 else 0.0
    level = max(0.0, math.hypot(rx - t * dx, ry - t * dy) - radius)
    if level >= far or floor <= a[2] + t * dz <= ceiling:  # nearest on the level and between floor and ceiling
        return min(far, level)
    return min(far, _least(lambda t: cylinder.distance((a[0] + t * dx, a[1] + t * dy, a[2] + t * dz))))


class Motion(NamedTuple):
    """A leg flown at constant speed: from a at start (s) to b at end (s)."""

    a: Point
    b: Point
    start: float
    end: float


def timed(route: Sequence[Point], speed: float) -> list[Motion]:
    """Returns the legs of a route flown at one speed (m/s) from t = 0; points that repeat take no time."""
    motions, now = [], 0.0
    for a, b in itertools.pairwise(route):
        after = now + math.dist(a, b) / speed
        if after > now:
            motions.append(Motion(a, b, now, after))
        now = after
    return motions


def cylinder_clearance(motion: Motion, mover: Cylinder, far: float) -> float:
    """Returns the least distance of a flown leg to a cylinder that moves; far where it is farther than that."""
    return clearance(mover, *_relative(motion, (*mover.velocity, 0.0)), far)


def ball_clearance(motion: Motion, ball: Ball) -> tuple[float, float]:
    """Returns the least distance of a flown leg to a moving ball's surface, negative inside it, and when (s)."""
    a, b = _relative(motion, ball.velocity)
    t, distance = _foot(ball.center, a, b)
    return distance - ball.radius, motion.start + t * (motion.end - motion.start)


def first_within(motion: Motion, ball: Ball, distance: float) -> float | None:
    """Returns when (s) a flown leg is first nearer than a distance to a moving ball's centre; None: never."""
    a, b = _relative(motion, ball.velocity)
    r = [a[i] - ball.center[i] for i in range(3)]
    if math.hypot(*r) < distance:
        return motion.start
    t = _first_root(r, [b[i] - a[i] for i in range(3)], distance)
    return motion.start + t * (motion.end - motion.start) if t is not None and 0.0 <= t <= 1.0 else None


def soonest_within(
    route: Sequence[Point], slow: float, fast: float, ball: Ball, distance: float
) -> tuple[float, float] | None:
    """Returns when (s) a route flown from t = 0 can first be nearer than a distance to a moving ball's centre, and at
    which constant speed (m/s) of those between slow and fast; None: at none of them.

    On a leg the pairs of time and way flown that are near enough are a convex set, and so are those that these speeds
    reach. The first of both lies where the first set begins, or on an edge of the second: flown at the least or the
    greatest speed, or at an end of the leg.
    """
    found: list[tuple[float, float]] = []
    flown = 0.0
    for a, b in itertools.pairwise(route):
        length = math.dist(a, b)
        if length == 0.0:
            continue
        begin, end = flown, flown + length
        for motion, speed in (
            (Motion(a, b, begin / fast, end / fast), fast),
            (Motion(a, b, begin / slow, end / slow), slow),
            (Motion(b, b, end / fast, end / slow), None),
        ):
            when = first_within(motion, ball, distance)
            if when is not None:
                found.append((when, speed if speed is not None else end / when))
        along = [(b[i] - a[i]) / length for i in range(3)]
        offset = [ball.center[i] - a[i] for i in range(3)]
        across, drift = _across(offset, along), _across(ball.velocity, along)
        when = _first_root(across, drift, distance)
        if when is not None and when > 0.0:
            way = begin + sum((offset[i] + when * ball.velocity[i]) * along[i] for i in range(3))
            if begin <= way <= end and slow * when <= way <= fast * when:
                found.append((when, way / when))
        flown = end
    return min(found, default=None)


def _across(v: Point, along: Point) -> list[float]:
    """Returns the part of a vector that is perpendicular to a unit vector."""
    share = sum(x * u for x, u in zip(v, along, strict=True))
    return [x - share * u for x, u in zip(v, along, strict=True)]


def _first_root(start: Point, rate: Point, distance: float) -> float | None:
    """Returns when start + rate t comes nearer to 0 than a distance; None where it never does or always was."""
    rr = sum(x * x for x in start)
    rd = sum(x * y for x, y in zip(start, rate, strict=True))
    dd = sum(y * y for y in rate)
    root = rd * rd - dd * (rr - distance * distance)
    return (-rd - math.sqrt(root)) / dd if dd > 0.0 and root > 0.0 else None


def _relative(motion: Motion, velocity: Point) -> tuple[Point, Point]:
    """Returns the ends of a leg as seen from something that moves."""
    (a, b, start, end) = motion
    x, y, z = velocity
    return (a[0] - x * start, a[1] - y * start, a[2] - z * start), (b[0] - x * end, b[1] - y * end, b[2] - z * end)


def _within_disk(cylinder: Cylinder, a: Point, b: Point) -> tuple[float, float] | None:
    """Returns the shares of a leg between which it is over the disk; None where it is not."""
    rx, ry = a[0] - cylinder.center[0], a[1] - cylinder.center[1]
    dx, dy = b[0] - a[0], b[1] - a[1]
    dd, rd, rest = dx * dx + dy * dy, rx * dx + ry * dy, rx * rx + ry * ry - cylinder.radius**2
    if dd < 1e-12:
        return (0.0, 1.0) if rest < 0.0 else None
    root = rd * rd - dd * rest
    if root <= 0.0:
        return None
    half = math.sqrt(root)
    first, last = max(0.0, (-rd - half) / dd), min(1.0, (-rd + half) / dd)
    return (first, last) if last > first else None


def _least(value: Callable[[float], float]) -> float:
    """Returns the minimum over 0..1 of a convex function, to a millionth of the way."""
    low, high = 0.0, 1.0
    for _ in range(40):
        third = (high - low) / 3.0
        if value(low + third) <= value(high - third):
            high -= third
        else:
            low += third
    return min(value(0.0), value((low + high) / 2.0), value(1.0))


def _foot(p: Point, a: Point, b: Point) -> tuple[float, float]:
    """Returns where along a-b (0..1) the point nearest to p is, and its distance, in space."""
    dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    rx, ry, rz = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    dd = dx * dx + dy * dy + dz * dz
    t = min(1.0, max(0.0, (rx * dx + ry * dy + rz * dz) / dd)) if dd > 0.0 else 0.0
    return t, math.hypot(rx - t * dx, ry - t * dy, rz - t * dz)


def segment_distance(p: Point, a: Point, b: Point) -> float:
    """Returns the distance of a point to a segment in the plane."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    rx, ry = p[0] - a[0], p[1] - a[1]
    dd = dx * dx + dy * dy
    t = 0.0 if dd <= 0.0 else min(1.0, max(0.0, (rx * dx + ry * dy) / dd))
    return math.hypot(rx - t * dx, ry - t * dy)


def _boxes_meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Returns whether the boxes around two segments, along the axes, touch."""
    if max(a[0], b[0]) + TOUCH < min(c[0], d[0]) or max(c[0], d[0]) + TOUCH < min(a[0], b[0]):
        return False
    return max(a[1], b[1]) + TOUCH >= min(c[1], d[1]) and max(c[1], d[1]) + TOUCH >= min(a[1], b[1])


def _crossing(a: Point, b: Point, c: Point, d: Point) -> tuple[float, float] | None:
    """Returns where two segments cross, each with an end on either side of the other; None where they do not."""

    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    if side(a, b, c) * side(a, b, d) >= 0.0 or side(c, d, a) * side(c, d, b) >= 0.0:
        return None
    t = side(c, d, a) / (side(c, d, a) - side(c, d, b))
    return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])
