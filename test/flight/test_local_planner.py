"""From a waypoint to a velocity."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from esar_ros.flight.limits import PilotLimits
from esar_ros.flight.local_planner import LocalPlanner, Motion, _ahead_on
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, UNKNOWN, OccupancyWindow
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.safety.limits import Limits

LIMITS = PilotLimits()
ORIGIN = np.array([-48.0, -48.0, -14.0])
HERE = np.array([0.0, 0.0, 15.0])


def window(*blocks: tuple[tuple[float, float, float], tuple[float, float, float]], fill: int = FREE) -> OccupancyWindow:
    """Flat ground up to z = 0 and blocks (m)."""
    cells = np.full((96, 96, 64), fill, dtype=np.uint8)
    cells[:, :, :14] = OCCUPIED
    for low, high in blocks:
        a, b = (np.array(low) - ORIGIN).astype(int), (np.array(high) - ORIGIN).astype(int)
        cells[a[0] : b[0], a[1] : b[1], a[2] : b[2]] = OCCUPIED
    return OccupancyWindow(ORIGIN, 1.0, cells, 0.0)


def goal(x: float, y: float, z: float, reference: HeightReference = HeightReference.MAP, **more: Any) -> Goal:
    return Goal(GoalType.WAYPOINT, np.array([x, y, z]), reference, **more)


def planner() -> LocalPlanner:
    return LocalPlanner(LIMITS, Limits())


def at(position: np.ndarray = HERE, velocity: np.ndarray | None = None, yaw: float = 0.0) -> Motion:
    return Motion(position, np.zeros(3) if velocity is None else velocity, yaw, float(position[2]))


@pytest.mark.parametrize("reference", list(HeightReference))
def test_straight_ahead_at_cruise(reference: HeightReference) -> None:
    steering = planner().steer(goal(40.0, 0.0, 15.0, reference), at(), window(), 0.0)
    np.testing.assert_allclose(steering.velocity, [LIMITS.speed, 0.0, 0.0], atol=0.05)
    assert abs(steering.yaw_rate) < 0.02 and not steering.reached and not steering.blocked


def test_the_speed_asked_for() -> None:
    slow = planner().steer(goal(40.0, 0.0, 15.0, speed=2.0), at(), window(), 0.0)
    fast = planner().steer(goal(40.0, 0.0, 15.0, speed=99.0), at(), window(), 0.0)
    assert np.linalg.norm(slow.velocity) == pytest.approx(2.0)
    assert np.linalg.norm(fast.velocity) == pytest.approx(LIMITS.speed)


def test_slows_down_towards_the_waypoint_and_says_reached() -> None:
    one, there = planner(), goal(40.0, 0.0, 15.0)
    speeds = [
        np.linalg.norm(one.steer(there, at(np.array([x, 0.0, 15.0])), window(), 0.0).velocity) for x in (30, 36, 38)
    ]
    assert speeds == sorted(speeds, reverse=True) and speeds[-1] < 2.0
    assert one.steer(there, at(np.array([38.5, 0.0, 15.0])), window(), 0.0).reached
    assert not one.steer(there, at(np.array([38.5, 0.0, 19.0])), window(), 0.0).reached


def test_turns_the_nose_first() -> None:
    steering = planner().steer(goal(-40.0, 1.0, 15.0), at(), window(), 0.0)
    assert steering.yaw_rate == pytest.approx(LIMITS.yaw_rate)
    assert np.linalg.norm(steering.velocity) == pytest.approx(0.2 * LIMITS.speed, abs=0.05)


def test_a_heading_is_turned_to_at_the_waypoint() -> None:
    there = goal(1.0, 0.0, 15.0, yaw=math.pi / 2)
    turning = planner().steer(there, at(), window(), 0.0)
    assert turning.yaw_rate > 0.5 and not turning.reached
    assert planner().steer(there, at(yaw=1.5), window(), 0.0).reached


def test_around_an_obstacle() -> None:
    steering = planner().steer(goal(40.0, 0.0, 15.0), at(), window(((15.0, -12.0, 0.0), (17.0, 12.0, 49.0))), 0.0)
    assert len(steering.path) > 2 and abs(steering.velocity[1]) > 1.0


def test_slow_into_the_unknown_and_without_a_map() -> None:
    for local in (window(fill=UNKNOWN), None):
        for reference in HeightReference:
            steering = planner().steer(goal(40.0, 0.0, 15.0, reference), at(), local, 0.0)
            assert 0.5 < np.linalg.norm(steering.velocity) <= LIMITS.speed_unknown + 1e-9


def test_fast_only_as_far_as_was_seen() -> None:
    local = window()
    local.cells[58:, :, 14:] = UNKNOWN  # from x = 10
    steering = planner().steer(goal(40.0, 0.0, 15.0), at(), local, 0.0)
    speed = float(np.linalg.norm(steering.velocity))
    assert LIMITS.speed_unknown < speed < LIMITS.speed
    assert speed**2 / (2 * LIMITS.deceleration) + speed * LIMITS.latency <= 10.0


def test_keeps_off_walls_beside_it() -> None:
    local = window(((-20.0, 2.0, 0.0), (20.0, 4.0, 49.0)))
    steering = planner().steer(goal(15.0, 1.0, 15.0), at(), local, 0.0)
    assert steering.velocity[1] <= 1e-6


def test_climbs_early_over_rising_ground() -> None:
    local = window(((20.0, -40.0, 0.0), (45.0, 40.0, 20.0)))
    near = planner().steer(goal(40.0, 0.0, 12.0, HeightReference.GROUND), at(), local, 0.0)
    assert near.velocity[2] > 1.0 and near.velocity[0] > 1.0
    far = planner().steer(goal(-40.0, 0.0, 12.0, HeightReference.GROUND), at(yaw=math.pi), local, 0.0)
    assert far.velocity[2] < -1.0


def test_blocked_after_a_while_without_progress() -> None:
    one, there, local = planner(), goal(40.0, 0.0, 15.0), window()
    said = [one.steer(there, at(), local, 0.1 * n).blocked for n in range(120)]
    assert said.index(True) == pytest.approx(LIMITS.blocked_after / 0.1, abs=1)
    assert not one.steer(there, at(np.array([5.0, 0.0, 15.0])), local, 12.0).blocked
    assert not one.steer(goal(0.0, 40.0, 15.0), at(), local, 12.1).blocked, "a new goal is a new chance"


def test_a_clock_that_jumps_back_does_no_harm() -> None:
    one, there, local = planner(), goal(40.0, 0.0, 15.0), window()
    one.steer(there, at(), local, 100.0)
    steering = one.steer(there, at(), local, 3.0)
    assert not steering.blocked and np.linalg.norm(steering.velocity) == pytest.approx(LIMITS.speed)


def test_the_same_again_bit_by_bit() -> None:
    def fly() -> bytes:
        one, there, out = planner(), goal(40.0, 5.0, 15.0), b""
        position = HERE.copy()
        for n in range(60):
            if n % 20 == 0:
                local = window(((15.0, -12.0, 0.0), (17.0, 12.0, 30.0)))
            steering = one.steer(there, at(position), local, 0.05 * n)
            position = position + 0.05 * steering.velocity
            out += steering.velocity.tobytes()
        return out

    assert fly() == fly()


def test_ahead_on_a_path() -> None:
    path = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [10.0, 10.0, 0.0]])
    target, left = _ahead_on(path, np.array([8.0, 1.0, 0.0]), 4.0)
    np.testing.assert_allclose(target, [10.0, 2.0, 0.0])
    assert left == pytest.approx(13.0)
    np.testing.assert_allclose(_ahead_on(path, np.array([10.0, 9.0, 0.0]), 4.0)[0], path[-1])
    np.testing.assert_allclose(_ahead_on(path[:1], np.array([3.0, 4.0, 0.0]), 4.0)[0], path[0])


def test_costs_a_millisecond_between_searches() -> None:
    one, there, local = planner(), goal(40.0, 0.0, 15.0), window(((15.0, -12.0, 0.0), (17.0, 12.0, 30.0)))
    one.steer(there, at(), local, 0.0)
    times = []
    for n in range(1, 15):
        begun = time.process_time_ns()
        one.steer(there, at(), local, 0.05 * n)
        times.append((time.process_time_ns() - begun) * 1e-6)
    assert float(np.median(times)) <= 2.0, "twice the goal, for slower machines"
