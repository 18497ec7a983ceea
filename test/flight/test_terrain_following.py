"""The surface of a window and the height to fly over it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.flight.terrain_following import Surface, follow
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow

CLIMB, SPEED = 1.8, 5.0


def window() -> OccupancyWindow:
    cells = np.full((40, 40, 20), FREE, dtype=np.uint8)
    cells[:, :, :3] = OCCUPIED
    cells[30, 20, 10] = OCCUPIED  # a branch
    cells[:5] = 0  # never seen
    return OccupancyWindow(np.array([-20.0, -20.0, -5.0]), 1.0, cells, 0.0)


def test_surface_is_the_top_of_each_column() -> None:
    surface = Surface.of(window())
    assert surface.heights[20, 20] == -2.0
    assert surface.heights[30, 20] == 6.0
    assert surface.heights[0, 0] == -math.inf


def test_ahead_sees_the_branch_early_and_beside_the_way() -> None:
    surface = Surface.of(window())
    ahead = surface.ahead(np.array([0.5, 2.5, 20.0]), np.array([1.0, 0.0]), 15.0, 3.0)
    assert len(ahead) == 16
    assert ahead[:8].max() == -2.0 and ahead[8:13].max() == 6.0 and ahead[15] == -2.0


def test_ahead_into_the_unseen_is_unknown() -> None:
    surface = Surface.of(window())
    ahead = surface.ahead(np.array([-10.5, 0.5, 20.0]), np.array([-1.0, 0.0]), 15.0, 2.0)
    assert ahead[0] == -2.0 and np.isinf(ahead[-1])


def test_flat_ground() -> None:
    climb = follow(np.full(20, 3.0), 1.0, 10.0, 12.0, SPEED, CLIMB)
    assert climb is not None and climb.height == pytest.approx(15.0) and climb.speed == SPEED


def test_rising_ground_is_climbed_before_it_is_there() -> None:
    profile = np.where(np.arange(41) < 30, 0.0, 20.0)
    climb = follow(profile, 1.0, 10.0, 10.0, SPEED, CLIMB)
    assert climb is not None and climb.height > 20.0


def test_a_cliff_is_waited_for() -> None:
    profile = np.where(np.arange(41) < 6, 0.0, 40.0)
    climb = follow(profile, 1.0, 10.0, 10.0, SPEED, CLIMB)
    assert climb is not None and climb.speed < 1.0


def test_nothing_known_nothing_said() -> None:
    assert follow(np.full(5, -math.inf), 1.0, 10.0, 10.0, SPEED, CLIMB) is None


@given(st.lists(st.floats(-20.0, 40.0), min_size=2, max_size=40), st.floats(-10.0, 60.0), st.floats(4.0, 40.0))
@settings(deadline=None)
def test_never_lower_than_over_the_ground_below_and_slow_enough_for_all_ahead(
    heights: list[float], z: float, above: float
) -> None:
    climb = follow(np.array(heights), 1.0, z, above, SPEED, CLIMB)
    assert climb is not None
    assert climb.height >= heights[0] + above - 1e-9
    for s, ground in enumerate(heights):
        # Climbing all the way there at the speed given, half the height is left at least.
        if climb.speed > 1e-9:
            assert z + CLIMB * s / climb.speed >= ground + 0.5 * above - 1e-6
