"""The engine's rounding of numbers equals that of the messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from esar_ros.benchmark.engine import wire
from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.observation import Grid, SeenClue
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import PilotState
from esar_ros.nodes.core.steps import Step
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.mapping import local_map_message, occupancy_grid
from esar_ros.nodes.messages.vehicle import range_image_message
from esar_ros.perception.ranges import RangeGrid

plain = settings(deadline=None, max_examples=60)
NUMBERS = st.floats(-5000.0, 5000.0)
POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS).map(np.array)
STAMPS = st.integers(0, 2**40)
SHARES = st.floats(0.0, 1.0)


def sent(message: Any) -> Any:
    """The message as a subscriber gets it."""
    return deserialize_message(serialize_message(message), type(message))


def step(ns: int) -> Step:
    return Step(ns, 1, 1, 0.05, None, frozenset())


@plain
@given(NUMBERS)
def test_float32_fields(value: float) -> None:
    assert sent(PilotState(height=value)).height == wire.single(value)


@plain
@given(POINTS, SHARES, NUMBERS, STAMPS, STAMPS)
def test_clues(position: Any, score: float, nearest: float, first: int, last: int) -> None:
    spread = np.outer(position, position) + np.eye(3)
    clue = SeenClue(7, "tent", "orange tent", score, position, spread, 3, nearest, first * 1e-9, last * 1e-9)
    there, here = convert.clue_of(sent(convert.clue_message(clue))), wire.clue_as_sent(clue)
    for field in ("id", "kind", "text", "probability", "views", "nearest_view", "first_seen", "last_seen"):
        assert getattr(there, field) == getattr(here, field), field
    assert np.array_equal(there.position, here.position)
    assert np.array_equal(there.covariance, here.covariance)


@plain
@given(POINTS, st.none() | NUMBERS, POINTS, NUMBERS, SHARES, STAMPS)
def test_goals(position: Any, yaw: float | None, velocity: Any, rate: float, speed: float, ns: int) -> None:
    goal = Goal(GoalType.WAYPOINT, position, HeightReference.GROUND, yaw, velocity, rate, speed)
    there, here = convert.goal_of(sent(convert.goal_message(goal, 3, step(ns)))), wire.goal_as_sent(goal)
    for field in ("type", "height_reference", "yaw", "yaw_rate", "speed"):
        assert getattr(there, field) == getattr(here, field), field
    assert np.array_equal(there.position, here.position) and np.array_equal(there.velocity, here.velocity)
    assert here is not goal and here.position is not goal.position


@plain
@given(POINTS, st.integers(0, 2**32 - 1), STAMPS)
def test_windows(origin: Any, seed: int, ns: int) -> None:
    cells = np.random.default_rng(seed).integers(0, 3, (8, 6, 4), dtype=np.uint8)
    window = OccupancyWindow(origin, 1.0, cells, 0.0)
    message = local_map_message(window, 0.0, Time(sec=ns // 10**9, nanosec=ns % 10**9))
    there, here = convert.window_of(sent(message)), wire.window_as_sent(window, ns)
    assert (there.stamp, there.resolution) == (here.stamp, here.resolution)
    assert np.array_equal(there.origin, here.origin) and np.array_equal(there.cells, here.cells)


@plain
@given(st.integers(0, 2**32 - 1), NUMBERS, NUMBERS, st.sampled_from((0.5, 1.0, 2.0, 0.1)))
def test_grids(seed: int, x: float, y: float, resolution: float) -> None:
    cells = np.random.default_rng(seed).choice(np.array([-1, 0, 100], np.int8), (5, 9))
    there = convert.grid_of(sent(occupancy_grid(cells, resolution, (x, y), Time())))
    here = wire.grid_as_sent(Grid(cells.copy(), resolution, (x, y)))
    assert (there.resolution, there.origin) == (here.resolution, here.origin)
    assert np.array_equal(there.cells, here.cells)
    assert not here.cells.flags.writeable


def test_ranges() -> None:
    grid = RangeGrid.of(load_vehicle().lidar)
    pooled = np.random.default_rng(1).uniform(0.0, 60.0, (grid.rows, grid.columns)).astype(np.float32)
    pooled[0, :3] = np.inf, -np.inf, np.nan
    message = sent(range_image_message("uav1", grid, pooled, Time()))
    here = wire.ranges_as_sent(pooled, grid, Pose(), 1)
    for field in ("azimuth_min", "azimuth_step", "elevation_min", "elevation_step", "range_min", "range_max"):
        assert getattr(message, field) == getattr(here, field), field
    there = np.frombuffer(message.ranges, dtype=np.float32).reshape(grid.rows, grid.columns)
    assert np.array_equal(there, here.ranges, equal_nan=True)
