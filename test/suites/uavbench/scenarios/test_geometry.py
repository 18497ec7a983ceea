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
    is_simple,
    leaves,
    outside,
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
        if not is_simple(corners):
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
    assert is_simple(BAY) and area(BAY) == -area(BAY[::-1]) == pytest.approx(10_000 - 20 * 80 / 2)
    assert not is_simple([(0, 0), (10, 10), (10, 0), (0, 10)]), "a bow tie"
    assert not is_simple([(0, 0), (10, 0), (10, 10), (5, 0)]), "a corner on an edge"
    assert not is_simple([(0, 0), (10, 0), (5, 0)]), "an edge back on the one before"
    far = [(x + 9e5, y - 9e5) for x, y in BAY]
    assert is_simple(far) and area(far) == pytest.approx(area(BAY))


def test_legs_and_cylinders_agree_with_samples() -> None:
    random, crossed = np.random.default_rng(4), 0
    for _ in range(400):
        low, high = np.sort(random.uniform(0, 60, 2))
        zone = Cylinder(random.uniform(-50, 50, 2), float(random.uniform(5, 40)), low, high + 5)
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
        ball = Ball(random.uniform(-80, 80, 3), 4.0, velocity)
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
        zone = Cylinder(ball.center[:2], 15.0, -20.0, 20.0, velocity[:2])
        still = to_cylinder(zone, own, zone.center + when[:, None] * velocity[:2])
        assert cylinder_clearance(motion, zone, math.inf) == pytest.approx(still.min(), abs=0.05)


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
