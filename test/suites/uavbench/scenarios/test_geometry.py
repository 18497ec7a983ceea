"""Geometry beside a brute-force twin that samples, and findings that do not depend on where a scene lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from esar_ros.suites.uavbench.scenarios.geometry import (
    Ball,
    Cylinder,
    Motion,
    area,
    ball_clearance,
    clearance,
    crosses,
    cylinder_clearance,
    edge_distance,
    first_within,
    leaves,
    outside,
    self_contact,
    soonest_within,
    timed,
)
from esar_ros.suites.uavbench.scenarios.risk import label
from esar_ros.suites.uavbench.scenarios.validate import check
from helpers.scenarios import example, example_files, moved, patched

BAY = [(-50, -50), (50, -50), (50, 50), (10, 50), (0, -30), (-10, 50), (-50, 50)]
SAMPLES = np.linspace(0.0, 1.0, 4001)[:, None]


def winding(corners: Any, p: Any) -> float:
    """Returns how often the corners turn around a point."""
    angles = [math.atan2(y - p[1], x - p[0]) for x, y in corners]
    turns = [(b - a + math.pi) % (2 * math.pi) - math.pi for a, b in zip(angles, [*angles[1:], angles[0]], strict=True)]
    return sum(turns) / (2 * math.pi)


def to_cylinder(zone: Cylinder, points: Any, centers: Any) -> Any:
    """Returns the distances of points (n, 3) to a cylinder at centers (n, 2) or (2,)."""
    level = np.maximum(0.0, np.linalg.norm(points[:, :2] - centers, axis=1) - zone.radius)
    return np.hypot(level, np.maximum(0.0, np.maximum(zone.floor - points[:, 2], points[:, 2] - zone.ceiling)))


def star(random: np.random.Generator) -> list[tuple[float, float]]:
    angles = np.sort(random.uniform(0, 2 * math.pi, random.integers(3, 12)))
    radii = random.uniform(20, 100, len(angles))
    return [(float(r * math.cos(a)), float(r * math.sin(a))) for a, r in zip(angles, radii, strict=True)]


def test_inside_and_leaving_agree_with_samples() -> None:
    random, left = np.random.default_rng(3), 0
    for _ in range(80):
        corners = BAY if random.random() < 0.6 else star(random)
        if self_contact(corners):
            continue
        a, b = random.uniform(-55, 55, (2, 2))
        for p in (a, b):
            if edge_distance(corners, p) > 0.1:
                assert outside(corners, p) == (abs(winding(corners, p)) < 0.5)
        if outside(corners, a) or outside(corners, b):
            continue
        points = a + SAMPLES[::40] * (b - a)
        away = [p for p in points if abs(winding(corners, p)) < 0.5 and edge_distance(corners, p) > 0.1]
        left += bool(away)
        if away:
            assert leaves(corners, a, b)
        elif min(abs(winding(corners, p)) for p in points) > 0.5:
            gap = min(edge_distance(corners, p) for p in points)
            assert gap < 1.0 or not leaves(corners, a, b)
    assert left > 3


def test_simple_polygons_and_their_areas() -> None:
    assert not self_contact(BAY) and area(BAY) == -area(BAY[::-1]) == pytest.approx(10_000 - 20 * 80 / 2)
    far = [(x + 9e5, y - 9e5) for x, y in BAY]
    assert not self_contact(far) and area(far) == pytest.approx(area(BAY))


@pytest.mark.parametrize(
    ("corners", "at", "crossing"),
    [
        ([(0, 0), (10, 10), (10, 0), (0, 10)], (5, 5), True),  # a bow tie
        ([(0, 0), (10, 0), (10, 10), (5, 0)], (5, 0), False),  # a corner on an edge
        ([(0, 0), (10, 0), (5, 0)], (5, 0), False),  # an edge back on the one before
        ([(5, 0), (10, 0), (10, 10), (0, 10), (0, 0), (7, 0)], (7, 0), False),  # the last edge over the first
        ([(0, 0), (5, 0), (5, 10), (20, 10), (20, 4), (-1, 4), (-1, 0)], (5, 4), True),  # touches first, crosses too
    ],
)
def test_a_polygon_that_meets_itself_says_where(corners: Any, at: Any, crossing: bool) -> None:
    for turned in (corners, corners[::-1], corners[2:] + corners[:2]):
        contact = self_contact(turned)
        assert contact is not None and contact.crossing is crossing
        if crossing:
            assert contact.at == pytest.approx(at)
        for edge in (contact.one, contact.other):
            assert edge_distance(edge, contact.at) < 1e-9


def test_legs_and_cylinders_agree_with_samples() -> None:
    random, crossed = np.random.default_rng(4), 0
    for _ in range(400):
        low, high = np.sort(random.uniform(0, 60, 2))
        zone = Cylinder(random.uniform(-50, 50, 2).tolist(), float(random.uniform(5, 40)), low, high + 5)
        a, b = np.column_stack([random.uniform(-80, 80, (2, 2)), random.uniform(0, 80, 2)])
        distances = to_cylinder(zone, a + SAMPLES * (b - a), zone.center)
        assert zone.distance(a) == pytest.approx(distances[0])
        near = float(distances.min())
        assert clearance(zone, a, b, math.inf) == pytest.approx(near, abs=0.05)
        assert clearance(zone, a, b, 10.0) == pytest.approx(min(10.0, near), abs=0.05)
        if near > 0.05:
            assert not crosses(zone, a, b)
        elif (distances == 0.0).sum() > 1:
            assert crosses(zone, a, b)
            crossed += 1
    assert crossed > 50


def test_legs_and_things_that_move_agree_with_samples() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        a, b = random.uniform(-80, 80, (2, 3))
        motion = Motion(a, b, 3.0, 3.0 + float(random.uniform(1, 20)))
        when = motion.start + SAMPLES[:, 0] * (motion.end - motion.start)
        own = a + SAMPLES * (b - a)
        velocity = random.uniform(-8, 8, 3)
        ball = Ball(random.uniform(-80, 80, 3).tolist(), 4.0, velocity.tolist())
        distances = np.linalg.norm(own - (ball.center + when[:, None] * velocity), axis=1)
        near, at = ball_clearance(motion, ball)
        assert near == pytest.approx(distances.min() - 4.0, abs=0.05)
        assert motion.start <= at <= motion.end
        within = np.flatnonzero(distances < 25.0)
        first = first_within(motion, ball, 25.0)
        if abs(distances.min() - 25.0) > 0.1:
            assert (first is None) == (not len(within))
        if first is not None and len(within):
            assert first == pytest.approx(when[within[0]], abs=0.05)
        zone = Cylinder(ball.center[:2], 15.0, -20.0, 20.0, ball.velocity[:2])
        still = to_cylinder(zone, own, zone.center + when[:, None] * velocity[:2])
        assert cylinder_clearance(motion, zone, math.inf) == pytest.approx(still.min(), abs=0.05)


def test_the_soonest_meeting_at_any_speed_agrees_with_samples() -> None:
    random, kinds = np.random.default_rng(6), set()
    slow, fast, near = 5.0, 10.0, 8.0
    times = np.linspace(0.0, 14.0, 1401)
    for _ in range(400):
        route = random.uniform(-40, 40, (3, 3)) * (1, 1, 0.2)
        place, velocity = random.uniform(-60, 60, 3) * (1, 1, 0.2), random.uniform(-9, 9, 3) * (1, 1, 0)
        ball = Ball(place.tolist(), 0.0, velocity.tolist())
        legs = np.linalg.norm(np.diff(route, axis=0), axis=1)
        ways = np.concatenate([[0.0], np.cumsum(legs)])
        if math.dist(route[0], ball.center) < near:
            continue
        there = ball.center + times[:, None] * np.array(ball.velocity)
        sampled = math.inf
        for speed in np.linspace(slow, fast, 41):
            flown = speed * times
            own = np.column_stack([np.interp(flown, ways, route[:, axis]) for axis in range(3)])
            inside = np.flatnonzero((np.linalg.norm(own - there, axis=1) < near) & (flown <= ways[-1]))
            sampled = min(sampled, times[inside[0]] if len(inside) else math.inf)
        found = soonest_within(route.tolist(), slow, fast, ball, near)
        if math.isinf(sampled):
            assert found is None or found[0] * slow > ways[-1] - 1e-6 or _grazes(route, ways, ball, found, near)
            continue
        assert found is not None and sampled - 0.15 < found[0] <= sampled + 1e-9
        assert slow - 1e-9 <= found[1] <= fast + 1e-9
        kinds.add("greatest" if found[1] > fast - 1e-9 else "least" if found[1] < slow + 1e-9 else "between")
        kinds.add("later leg" if found[0] * found[1] > legs[0] + 1e-6 else "first leg")
    assert kinds == {"greatest", "least", "between", "first leg", "later leg"}


def _grazes(route: Any, ways: Any, ball: Ball, found: tuple[float, float], near: float) -> bool:
    """Returns whether a meeting is a moment's, too short for samples: at its time the distance is that asked for."""
    own = [np.interp(found[0] * found[1], ways, route[:, axis]) for axis in range(3)]
    there = np.array(ball.center) + found[0] * np.array(ball.velocity)
    return math.dist(own, there) == pytest.approx(near, abs=1e-6)


def test_a_route_is_timed_leg_by_leg() -> None:
    motions = timed([(0, 0, 0), (0, 0, 0), (30, 40, 0), (30, 40, 10)], 5.0)
    assert [(m.start, m.end) for m in motions] == [(0.0, 10.0), (10.0, 12.0)]


def told(scenario: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(f.code, f.severity, f.pointer) for f in check(scenario).findings if f.code[0] != "D"}


BROKEN = {
    "/mission/waypoints/1": [300, 120, 40],
    "/mission/waypoints/2": [650, 260, 40],
    "/traffic/0/spawn": [126, 250, 30],
    "/traffic/0/heading_deg": 225,
    "/moving_obstacles/0/center": [520, 280, 30],
    "/airspace/no_fly_zones_dynamic/0/center": [150, 240],
}


@pytest.mark.parametrize("shift", [(0.0, 0.0, 90.0), (1234.5, -777.7, 0.0), (-4e5, 3e5, 33.3), (10.0, 20.0, -141.2)])
@pytest.mark.parametrize("path", [None, *example_files()], ids=lambda path: path.stem if path else "broken")
def test_findings_and_risk_do_not_depend_on_where_a_scene_lies(path: Any, shift: tuple[float, float, float]) -> None:
    scenario = patched(example(), BROKEN) if path is None else example(path.stem)
    scenario.pop("description", None)
    there = moved(scenario, *shift)
    assert told(there) == told(scenario)
    ours, theirs = (label(checked.scene) for checked in map(check, (scenario, there)) if checked.scene is not None)
    assert theirs["risk_level"] == ours["risk_level"] and theirs["factors"] == ours["factors"]
    assert theirs["risk_score"] == pytest.approx(ours["risk_score"], abs=1e-3)
    if path is None:
        assert {"G2", "G4", "G6", "F2"} <= {code for code, _, _ in told(scenario)}
