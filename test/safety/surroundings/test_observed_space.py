"""The free distance along a direction, and the surface below."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.geometry.occupancy_window import FREE, OCCUPIED, OccupancyWindow
from esar_ros.safety.inputs import RangeImageData
from esar_ros.safety.surroundings.observed_space import SECTORS, ObservedSpace

HERE = np.array([3.0, -2.0, 20.0])
OWN = 1.0


def image(kit: SimpleNamespace, **changes: object) -> RangeImageData:
    return replace(kit.World().image(Pose(HERE), 1.0), **changes)


def turned(value: float) -> object:
    return np.full((24, 72), value, dtype=np.float32)


FORWARD, UP, DOWN = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])


def test_nothing_known_is_nothing_free() -> None:
    assert ObservedSpace(HERE, None, None, OWN).known_free(FORWARD, 10.0) == 0.0


def test_a_free_direction_is_free_as_far_as_asked(kit: SimpleNamespace) -> None:
    assert ObservedSpace(HERE, image(kit), None, OWN).known_free(FORWARD, 10.0) == pytest.approx(10.0)
    assert ObservedSpace(HERE, image(kit), None, OWN).known_free(DOWN, 25.0) == pytest.approx(19.0, abs=0.6)


def test_ranges_lie_in_the_sensor_s_axes_however_it_is_turned(kit: SimpleNamespace) -> None:
    """Its picture of what is ahead lies in the north when it looks there."""
    ranges = np.full((24, 72), 30.0, dtype=np.float32)
    ranges[:, 30:42] = 4.0  # within 30 degrees of its nose
    north = image(kit, ranges=ranges, pose=Pose(HERE, quaternion_from_rpy(0.0, 0.0, math.pi / 2.0)))
    space = ObservedSpace(HERE, north, None, OWN)
    assert space.known_free(np.array([0.0, 1.0, 0.0]), 10.0) == pytest.approx(3.0)
    assert space.known_free(FORWARD, 10.0) == pytest.approx(10.0)


def test_outside_the_image_nothing_is_free(kit: SimpleNamespace) -> None:
    assert ObservedSpace(HERE, image(kit), None, OWN).known_free(UP, 10.0) == 0.0


@pytest.mark.parametrize("bad", [math.nan, -math.inf, -1.0, 61.0, 3e4])
def test_what_is_no_range_is_not_free(kit: SimpleNamespace, bad: float) -> None:
    """NaN is invalid, -inf too near, and a number beyond the sensor's reach, such as millimetres, is no range."""
    assert ObservedSpace(HERE, image(kit, ranges=turned(bad)), None, OWN).known_free(FORWARD, 10.0) == 0.0


def test_nothing_in_range_is_free_to_the_reach_and_no_farther(kit: SimpleNamespace) -> None:
    space = ObservedSpace(HERE, image(kit, ranges=turned(math.inf), range_max=8.0), None, OWN)
    assert space.known_free(FORWARD, 20.0) == pytest.approx(7.0, abs=0.5)


@given(st.floats(-math.pi, math.pi), st.floats(-1.5, 0.5), st.floats(0.5, 40.0))
@settings(deadline=None, max_examples=100)
def test_never_farther_than_the_ranges_reach(kit: SimpleNamespace, azimuth: float, elevation: float, r: float) -> None:
    """I9: along any direction the known free distance ends at the measured range."""
    space = ObservedSpace(HERE, image(kit, ranges=turned(r)), None, OWN)
    direction = np.array(
        [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
    )
    assert space.known_free(direction, 50.0) <= max(0.0, r - OWN) + 1e-6


def test_the_window_fills_what_ranges_do_not_see() -> None:
    cells = np.full((20, 20, 20), FREE, dtype=np.uint8)
    cells[16:, :, :] = 0
    window = OccupancyWindow(HERE - 10.0, 1.0, cells, 1.0)
    space = ObservedSpace(HERE, None, window, OWN)
    assert space.known_free(UP, 5.0) == pytest.approx(5.0)
    assert space.known_free(FORWARD, 9.0) == pytest.approx(5.0, abs=0.5)
    assert space.known_free(UP, 30.0) < 10.0


def test_a_window_of_smaller_cells_is_read_by_their_size() -> None:
    cells = np.full((20, 20, 20), FREE, dtype=np.uint8)
    cells[16:, :, :] = 0
    space = ObservedSpace(HERE, None, OccupancyWindow(HERE - 5.0, 0.5, cells, 1.0), OWN)
    assert space.known_free(FORWARD, 9.0) == pytest.approx(2.0, abs=0.5)


def test_motion_since_the_image_is_taken_into_account(kit: SimpleNamespace) -> None:
    world = kit.World(np.array([[13.0, -2.0, math.inf, 2.0]]), 24, 180)
    seen = world.image(Pose(HERE), 1.0)
    moved = HERE + np.array([3.0, 0.0, 0.0])
    assert ObservedSpace(moved, seen, None, OWN).known_free(FORWARD, 20.0) == pytest.approx(8.0 - 3.0 - OWN, abs=0.6)


def test_surface_below(kit: SimpleNamespace) -> None:
    assert ObservedSpace(HERE, image(kit), None, OWN).surface_below() == pytest.approx(0.0, abs=1e-5)
    rock = kit.World(np.array([[3.0, -2.0, 0.0, 4.0]]), 24, 72)
    assert ObservedSpace(HERE, rock.image(Pose(HERE), 1.0), None, OWN).surface_below() == pytest.approx(4.0, abs=0.2)


def test_a_wall_beside_the_vehicle_is_not_below_it(kit: SimpleNamespace) -> None:
    world = kit.World(np.array([[4.2, -2.0, math.inf, 0.2]]), 24, 180)
    z = ObservedSpace(HERE, world.image(Pose(HERE), 1.0), None, OWN).surface_below()
    assert z is not None and z < HERE[2] - 5.0


def test_surface_below_of_the_window() -> None:
    cells = np.full((10, 10, 20), FREE, dtype=np.uint8)
    cells[:, :, :4] = OCCUPIED
    window = OccupancyWindow(np.array([-2.0, -7.0, 5.0]), 1.0, cells, 1.0)
    assert ObservedSpace(HERE, None, window, OWN).surface_below() == pytest.approx(9.0)
    assert ObservedSpace(HERE, None, None, OWN).surface_below() is None


def test_a_tilted_scan_finds_the_same_surface(kit: SimpleNamespace) -> None:
    tilted = Pose(HERE, quaternion_from_rpy(0.3, -0.2, 1.0))
    assert ObservedSpace(HERE, kit.World().image(tilted, 1.0), None, OWN).surface_below() == pytest.approx(
        0.0, abs=1e-4
    )
    assert ObservedSpace(HERE, image(kit, ranges=turned(math.nan)), None, OWN).surface_below() is None


def test_on_a_slope_the_lowest_point_below_is_farther_than_the_surface(kit: SimpleNamespace) -> None:
    rock = kit.World(np.array([[3.0, -2.0, 0.0, 4.0]]), 24, 72)
    space = ObservedSpace(HERE, rock.image(Pose(HERE), 1.0), None, OWN)
    gap, depth = space.gap_below(), space.depth_below()
    assert gap == pytest.approx(16.0, abs=0.2) and depth is not None and 16.5 < depth < 20.0


def test_where_no_point_was_measured_below_there_is_no_depth_and_no_gap(kit: SimpleNamespace) -> None:
    for seen in (None, image(kit, ranges=turned(math.nan)), image(kit, ranges=turned(math.inf))):
        space = ObservedSpace(HERE, seen, None, OWN)
        assert space.depth_below() is None and space.gap_below() is None


def test_what_is_too_near_below_is_as_near_as_can_be_measured(kit: SimpleNamespace) -> None:
    near = image(kit, ranges=turned(-math.inf))
    assert ObservedSpace(HERE, near, None, OWN).gap_below() == near.range_min


def plane(kit: SimpleNamespace, slope: float) -> RangeImageData:
    """Returns the ranges to ground that falls to the east from 20 m below HERE."""
    measured = image(kit)
    elevation = measured.elevation_min + (np.arange(24)[:, None] + 0.5) * measured.elevation_step
    azimuth = measured.azimuth_min + (np.arange(72) + 0.5) * measured.azimuth_step
    down = -np.sin(elevation) - slope * np.cos(elevation) * np.cos(azimuth)
    away = 20.0 / np.where(down > 1e-6, down, np.nan)
    return replace(measured, ranges=np.where(away <= 60.0, away, np.inf).astype(np.float32))


EAST = SECTORS // 2  # the first sector north of east


@pytest.mark.parametrize("slope", [0.0, 0.4, 0.9])
def test_the_fall_of_the_ground_is_that_of_the_slope_and_never_less(kit: SimpleNamespace, slope: float) -> None:
    falls = ObservedSpace(HERE, plane(kit, slope), None, OWN).fall_around(1.0)
    assert slope - 0.02 <= falls[EAST] <= slope + 0.1
    assert 0.0 <= falls[0] <= 0.25  # uphill


def test_ground_that_no_echo_shows_falls_as_steeply_as_ground_may(kit: SimpleNamespace) -> None:
    flat = plane(kit, 0.0)
    assert ObservedSpace(HERE, None, None, OWN).fall_around(0.7).tolist() == [0.7] * SECTORS
    assert ObservedSpace(HERE, flat, None, OWN).fall_around(0.7).tolist() == pytest.approx([0.0] * SECTORS, abs=0.02)
    edge = flat.ranges.copy()
    x = flat.azimuth_min + (np.arange(72) + 0.5) * flat.azimuth_step
    edge[8:, np.abs(x) < 0.6] = math.inf  # to the east nothing comes back from farther than 20 m down at 45 degrees
    falls = ObservedSpace(HERE, replace(flat, ranges=edge), None, OWN).fall_around(0.7)
    assert falls[EAST] > 0.05 and falls[0] == pytest.approx(0.0, abs=0.02)


def test_of_ground_that_the_map_alone_shows_the_fall_is_that_of_the_map() -> None:
    cells = np.full((64, 64, 64), FREE, np.uint8)
    for i in range(64):  # a metre down for each two to the east, from 20 m below
        cells[i, :, : max(0, 20 - (i - 32) // 2)] = OCCUPIED
    window = OccupancyWindow(np.zeros(3), 1.0, cells, 1.0)
    here = np.array([32.5, 32.5, 40.5])
    falls = ObservedSpace(here, None, window, OWN).fall_around(1.0)
    assert falls[EAST] == pytest.approx(0.5, abs=0.12) and falls[0] == pytest.approx(0.0, abs=0.01)
    hidden = replace(window, cells=np.where(np.arange(64)[:, None, None] < 40, cells, 0).astype(np.uint8))
    assert ObservedSpace(here, None, hidden, OWN).fall_around(1.0)[EAST] > 0.7
