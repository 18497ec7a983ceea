"""The limits of obstacles, from ranges and from the window."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow
from esar_ros.safety.limits import Limits
from esar_ros.safety.surroundings.obstacles import from_ranges, from_window, reach_of

STILL = np.zeros(3)


def pillar_at(kit: SimpleNamespace, distance: float):  # type: ignore[no-untyped-def]
    """Returns a place, and a scan there of a pillar with its surface at a distance (m) east."""
    here = np.array([0.0, 0.0, 30.0])
    world = kit.World(np.array([[distance + 2.0, 0.0, math.inf, 2.0]]), 24, 181)
    return here, world.image(Pose(here), 1.0)


def test_a_pillar_ahead(kit: SimpleNamespace, limits: Limits) -> None:
    here = np.array([0.0, 0.0, 30.0])
    world = kit.World(np.array([[10.0, 0.0, math.inf, 2.0]]), 24, 181)
    found = from_ranges(world.image(Pose(here), 1.0), here, STILL, limits, 12.0, 0.0)
    assert found.nearest == pytest.approx(8.0, abs=0.05)
    nearest = int(np.argmin(found.limits.bounds))
    np.testing.assert_allclose(found.limits.normals[nearest], [1.0, 0.0, 0.0], atol=0.05)
    wanted = limits.allowed_speed(8.0 - limits.clearance)
    assert found.limits.bounds[nearest] == pytest.approx(wanted, abs=0.05)


def test_closing_too_fast_allows_less(kit: SimpleNamespace, limits: Limits) -> None:
    here = np.array([0.0, 0.0, 30.0])
    scan = kit.World(np.array([[10.0, 0.0, math.inf, 2.0]]), 24, 181).image(Pose(here), 1.0)
    calm = from_ranges(scan, here, STILL, limits, 12.0, 0.0).limits.bounds.min()
    fast = from_ranges(scan, here, np.array([calm + 1.0, 0.0, 0.0]), limits, 12.0, 0.0).limits.bounds.min()
    assert fast == pytest.approx(calm - 1.0, abs=0.05)


def test_too_near_backs_off_only_when_asked_to(kit: SimpleNamespace, limits: Limits) -> None:
    here = np.array([0.0, 0.0, 30.0])
    scan = kit.World(np.array([[3.0, 0.0, math.inf, 2.0]]), 24, 181).image(Pose(here), 1.0)
    assert from_ranges(scan, here, STILL, limits, 5.0, 0.0).limits.bounds.min() == 0.0
    assert (
        -limits.push_speed <= from_ranges(scan, here, STILL, limits, 5.0, limits.push_speed).limits.bounds.min() < 0.0
    )


def test_a_gust_that_may_carry_the_vehicle_is_kept_beside_the_clearance(kit: SimpleNamespace, limits: Limits) -> None:
    here, scan = pillar_at(kit, 8.0)
    nearest = from_ranges(scan, here, STILL, limits, 12.0, 0.0, drift=1.5).limits.bounds.min()
    assert nearest == pytest.approx(limits.allowed_speed(8.0 - limits.clearance - 1.5), abs=0.05)
    inside = 8.0 - limits.clearance + 1.0
    beside = from_ranges(scan, here, STILL, limits, 12.0, limits.push_speed, drift=inside).limits.bounds.min()
    assert beside == 0.0, "within the drift alone nothing backs off"


@given(st.floats(0.0, 3.0), st.floats(1.0, 4.0))
@settings(deadline=None, max_examples=50)
def test_one_that_is_blown_nearer_backs_off(kit: SimpleNamespace, limits: Limits, closing: float, away: float) -> None:
    here, scan = pillar_at(kit, away)
    velocity = np.array([closing, 0.0, 0.0])
    bound = from_ranges(scan, here, velocity, limits, 12.0, limits.push_speed).limits.bounds.min()
    allowed = limits.allowed_speed(away - limits.clearance)
    assert -limits.push_speed <= bound <= allowed + 0.05
    if closing > 2.0 * allowed + 0.1:
        least = min(limits.push_speed, closing - 2.0 * allowed)
        assert bound <= 0.05 - least
    elif closing < allowed - 0.1:
        assert bound > 0.0
    assert from_ranges(scan, here, velocity, limits, 12.0, 0.0).limits.bounds.min() >= 0.0


@pytest.mark.parametrize(("value", "distance"), [(-math.inf, 0.1), (0.0, 0.0), (2.0, 2.0)])
def test_near_and_too_near_are_obstacles(kit: SimpleNamespace, limits: Limits, value: float, distance: float) -> None:
    here = np.array([0.0, 0.0, 30.0])
    scan = kit.World().image(Pose(here), 1.0)
    scan = replace(scan, ranges=np.full(scan.ranges.shape, value, dtype=np.float32))
    assert from_ranges(scan, here, STILL, limits, 5.0, 0.0).nearest == pytest.approx(distance, abs=1e-6)


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=100)
def test_nearest_of_the_window_is_the_windows_own(limits: Limits, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.where(rng.random((14, 14, 14)) < 0.02, OCCUPIED, FREE).astype(np.uint8)
    window = OccupancyWindow(np.array([-7.0, -7.0, 3.0]), 1.0, cells, 1.0)
    here = rng.uniform(-2.0, 2.0, 3) + np.array([0.0, 0.0, 10.0])
    distance, point = window.nearest_obstacle(here, 5.0, unknown_is_obstacle=False)
    found = from_window(window, here, STILL, limits, 5.0, limits.body_radius)
    if point is None:
        assert found.nearest > 5.0
    elif distance > limits.body_radius:
        assert found.nearest == pytest.approx(distance)
        nearest = int(np.argmin(found.limits.bounds))
        wanted = limits.allowed_speed(distance - limits.clearance)
        assert found.limits.bounds[nearest] == pytest.approx(wanted)


def test_landing_leaves_out_what_is_below(kit: SimpleNamespace, limits: Limits) -> None:
    here = np.array([0.0, 0.0, 1.0])
    world = kit.World(np.array([[4.0, 0.0, math.inf, 2.0]]), 24, 72)
    found = from_ranges(world.image(Pose(here), 1.0), here, STILL, limits, 5.0, 0.0, 0.0)
    assert len(found.limits.bounds) and (found.limits.normals[:, 2] >= 0.0).all()
    below = from_window(world.window(here, 1.0), here, STILL, limits, 5.0, 0.5, 0.0)
    assert (below.limits.normals[:, 2] >= 0.0).all()


def test_reach(limits: Limits) -> None:
    assert reach_of(0.0, limits) == pytest.approx(limits.clearance)
    assert reach_of(6.0, limits) == pytest.approx(limits.clearance + 36 / 5 + 6 * 0.35)
