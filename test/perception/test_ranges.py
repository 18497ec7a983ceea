"""Pooling LiDAR points into the governor's range image."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.mission.vehicle import LidarSpec, load_vehicle
from esar_ros.perception.ranges import (
    DepthPooling,
    RangeGrid,
    merged_ranges,
    plane_ranges,
    pool_ranges,
    unknown_outside,
    with_ground,
)

GRID = RangeGrid.of(load_vehicle().lidar)


def cell_of(direction: np.ndarray) -> tuple[int, int]:
    """Row and column by the definition in msg/RangeImage.msg: the cell whose centre is nearest."""
    elevation = math.asin(direction[2])
    azimuth = math.atan2(direction[1], direction[0])
    rows = GRID.elevation_min + (np.arange(GRID.rows) + 0.5) * GRID.elevation_step
    columns = GRID.azimuth_min + (np.arange(GRID.columns) + 0.5) * GRID.azimuth_step
    turn = np.abs((columns - azimuth + math.pi) % (2 * math.pi) - math.pi)
    return int(np.argmin(np.abs(rows - elevation))), int(np.argmin(turn))


def beams(ranges: np.ndarray) -> np.ndarray:
    """A point in the middle of each cell, at its range."""
    elevation = GRID.elevation_min + (np.arange(GRID.rows)[:, None] + 0.5) * GRID.elevation_step
    azimuth = GRID.azimuth_min + (np.arange(GRID.columns)[None] + 0.5) * GRID.azimuth_step
    flat = np.cos(elevation)
    rays = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation) + 0.0 * azimuth], axis=-1)
    return (rays * ranges[..., None]).reshape(-1, 3).astype(np.float32)


def over_flat_ground(height: float) -> np.ndarray:
    """Ranges (rows, columns); inf where a beam meets nothing within the reach."""
    elevation = GRID.elevation_min + (np.arange(GRID.rows)[:, None] + 0.5) * GRID.elevation_step
    with np.errstate(divide="ignore"):
        ranges = np.where(elevation < 0.0, -height / np.sin(elevation), np.inf) * np.ones((1, GRID.columns))
    return np.where(ranges <= GRID.range_max, ranges, np.inf)


def echoes(points: np.ndarray) -> np.ndarray:
    return points[np.isfinite(points).all(axis=1)]


def test_no_points_say_nothing() -> None:
    assert np.isnan(pool_ranges(np.zeros((0, 3), np.float32), GRID)).all()


def test_over_ground_an_empty_cell_met_nothing() -> None:
    """Each column's echoes from below vouch for its beams to the horizon and into the sky."""
    ranges = over_flat_ground(20.0)
    image = pool_ranges(echoes(beams(ranges)), GRID)
    np.testing.assert_array_equal(np.isposinf(image), np.isinf(ranges))
    assert not np.isnan(image).any()


def test_a_dead_sector_is_unknown() -> None:
    ranges = over_flat_ground(20.0)
    dead = slice(GRID.columns // 2 - 5, GRID.columns // 2 + 5)  # 60 degrees forward
    ranges[:, dead] = np.inf
    image = pool_ranges(echoes(beams(ranges)), GRID)
    assert np.isnan(image[:, dead]).all()
    assert not np.isnan(np.delete(image, np.arange(GRID.columns)[dead], axis=1)).any()


def test_straight_down_an_echo_vouches_for_no_sector() -> None:
    image = pool_ranges(np.array([[0.0, 0.0, -12.0]], np.float32), GRID)
    assert np.isfinite(image).sum() == 1 and np.isnan(image).sum() == image.size - 1


@settings(deadline=None, max_examples=200)
@given(
    st.floats(-math.pi, math.pi),
    st.floats(GRID.elevation_min + 0.01, GRID.elevation_min + GRID.rows * GRID.elevation_step - 0.01),
    st.floats(0.2, 59.0),
)
def test_a_point_lands_in_the_cell_that_looks_at_it(azimuth: float, elevation: float, distance: float) -> None:
    direction = np.array(
        [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
    )
    image = pool_ranges((direction * distance).astype(np.float32)[None], GRID)
    assert np.isfinite(image).sum() == 1
    row, column = (int(i[0]) for i in np.nonzero(np.isfinite(image)))
    expected = cell_of(direction)
    assert abs(row - expected[0]) <= 1  # on a border either neighbour may own it
    assert (column - expected[1]) % GRID.columns in (0, 1, GRID.columns - 1)
    assert image[row, column] == pytest.approx(distance, rel=1e-5)


def test_the_nearest_point_of_a_cell_wins() -> None:
    points = np.array([[10.0, 0.01, 0.0], [4.0, 0.004, 0.0], [7.0, 0.007, 0.0]], np.float32)
    assert np.nanmin(pool_ranges(points, GRID)) == pytest.approx(4.0, rel=1e-4)


def test_straight_down_and_the_upper_edge_are_covered() -> None:
    top = math.radians(load_vehicle().lidar.elevation_max_deg)
    down = pool_ranges(np.array([[0.0, 0.0, -12.0]], np.float32), GRID)
    assert np.isfinite(down[0]).sum() == 1
    up = pool_ranges(np.array([[10 * math.cos(top), 0.0, 10 * math.sin(top)]], np.float32), GRID)
    assert np.isfinite(up[-1]).sum() == 1


def test_too_near_too_far_and_invalid_points() -> None:
    near = pool_ranges(np.array([[0.05, 0.0, 0.0]], np.float32), GRID)
    assert np.isneginf(near).sum() == 1
    nothing = pool_ranges(np.array([[np.nan, 1, 1], [0, 0, 0], [np.inf, 0, 0]], np.float32), GRID)
    assert np.isnan(nothing).all()


def test_an_echo_from_beyond_the_reach_says_that_nothing_is_within() -> None:
    far = pool_ranges(np.array([[61.0, 0.0, 0.0]], np.float32), GRID)
    assert np.isposinf(far[:, GRID.columns // 2]).all() and np.isnan(far).sum() == far.size - GRID.rows


def test_every_beam_of_the_lidar_has_its_own_row() -> None:
    lidar: LidarSpec = load_vehicle().lidar
    angles = np.radians(np.linspace(lidar.elevation_min_deg, lidar.elevation_max_deg, lidar.channels))
    points = np.stack([5 * np.cos(angles), np.zeros_like(angles), 5 * np.sin(angles)], axis=1).astype(np.float32)
    image = pool_ranges(points, GRID)
    assert np.isfinite(image).any(axis=1).all()


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_beyond_the_outermost_beam_an_empty_cell_says_nothing(turn: float) -> None:
    points = np.array([[5.0, 0.0, 0.0], [1.0, 0.0, turn * 5.0]], np.float32)
    whole = pool_ranges(points, GRID)
    low, high = sorted((-turn * math.pi / 2.0, turn * math.radians(30.0)))
    cut = unknown_outside(whole, GRID, low, high)
    edges = GRID.elevation_min + np.arange(GRID.rows + 1) * GRID.elevation_step
    rows = edges[1:] > high + 1e-3 if turn > 0.0 else edges[:-1] < low - 1e-3
    assert not np.isposinf(cut[rows]).any() and np.isposinf(whole[rows]).any()
    assert np.isfinite(cut).sum() == 2, "an echo from there is one all the same"
    np.testing.assert_array_equal(cut[~rows], whole[~rows])


# -- depth images ---------------------------------------------------------------------------------------

VEHICLE = load_vehicle()
MODEL = CameraModel.from_horizontal_fov(160, 120, math.radians(90.0))
FRONT = VEHICLE.cameras["front"].pose


def poolings() -> dict[str, DepthPooling]:
    return {name: DepthPooling(MODEL, mount.pose, GRID) for name, mount in VEHICLE.cameras.items()}


@pytest.fixture(scope="module")
def front() -> DepthPooling:
    return DepthPooling(MODEL, FRONT, GRID)


def depth(metres: float) -> np.ndarray:
    return np.full((MODEL.height, MODEL.width), metres, np.float32)


def test_a_wall_across_the_image_has_its_distance_in_every_cell_that_the_image_shows_whole(front: DepthPooling) -> None:
    out = front.pool(depth(10.0))
    known = np.isfinite(out)
    assert 40 < known.sum() < 0.25 * out.size and not np.isinf(out).any()
    assert (out[known] >= 10.0 - 1e-4).all() and out[known].max() < 10.0 * math.sqrt(1.0 + 1.0 + 0.75**2) + 1e-3
    row, column = cell_of(np.array([math.cos(math.radians(20)), 0.0, -math.sin(math.radians(20))]))
    assert out[row, column] == pytest.approx(10.0, rel=0.01), "along the axis, which looks 20 degrees down"
    assert np.isnan(out[row, 0]), "behind"


@pytest.mark.parametrize(
    ("metres", "told"), [(math.inf, math.inf), (1000.0, math.inf), (-math.inf, -math.inf), (0.01, -math.inf)]
)
def test_what_a_depth_says_of_reach_and_nearness_is_kept(front: DepthPooling, metres: float, told: float) -> None:
    out = front.pool(depth(metres))
    assert set(out[~np.isnan(out)].tolist()) == {told}


def test_an_invalid_pixel_is_never_free(front: DepthPooling) -> None:
    assert np.isnan(front.pool(depth(math.nan))).all()
    image = depth(math.inf)
    shown = ~np.isnan(front.pool(image))
    image[::2, ::2] = math.nan
    assert shown.any() and np.isnan(front.pool(image)).all(), "nothing else in the cell was measured"
    for metres, half, told in ((7.0, False, True), (7.0, True, False), (1.2, True, True)):
        image = depth(metres)
        image[::4, ::4] = math.nan
        if half:
            image[1::2] = math.nan
        assert np.isfinite(front.pool(image)[shown]).all() == told, "few of many, or what is near all the same"


def test_one_near_pixel_counts_for_its_cell_alone(front: DepthPooling) -> None:
    image = depth(20.0)
    far = front.pool(image)
    image[60, 80] = 2.0
    near = front.pool(image)
    assert np.nanmin(near) == pytest.approx(2.0, rel=0.02)
    assert (near != far)[~np.isnan(far)].sum() == 1


def test_a_missing_camera_narrows_what_is_known(front: DepthPooling) -> None:
    parts = {name: pooling.pool(depth(30.0)) for name, pooling in poolings().items()}
    alone = merged_ranges([parts["front"]])
    two = merged_ranges([parts["front"], parts["down"]])
    every = merged_ranges(list(parts.values()))
    known = [~np.isnan(out) for out in (alone, two, every)]
    assert (known[1] | ~known[0]).all() and (known[2] | ~known[1]).all()
    assert known[0].sum() < known[1].sum() < known[2].sum()
    row, left = cell_of(np.array([0.0, math.cos(math.radians(20)), -math.sin(math.radians(20))]))
    assert np.isnan(two[row, left]) and every[row, left] == pytest.approx(30.0, rel=0.01)


def test_of_two_cameras_the_nearer_counts() -> None:
    one = np.array([[np.nan, np.inf, 5.0, -np.inf]], np.float32)
    other = np.array([[np.nan, 9.0, np.nan, 3.0]], np.float32)
    np.testing.assert_array_equal(merged_ranges([one, other]), [[np.nan, 9.0, 5.0, -np.inf]])


def test_an_image_of_another_size_is_refused(front: DepthPooling) -> None:
    with pytest.raises(ValueError, match="the camera has"):
        front.pool(np.zeros((4, 4), np.float32))


def test_a_level_scan_holds_for_its_spread_and_says_nothing_of_the_rest() -> None:
    angles = np.linspace(-math.pi, math.pi, 720, endpoint=False)
    measured = np.where(np.abs(angles) < 0.2, 4.0, np.inf)
    out = plane_ranges(angles, measured, math.radians(10.0), GRID)
    known = ~np.isnan(out).all(axis=1)
    centres = np.degrees(GRID.elevation_min + (np.arange(GRID.rows) + 0.5) * GRID.elevation_step)
    np.testing.assert_array_equal(known, np.abs(centres) < 10.0)
    ahead = out[known][:, GRID.columns // 2]
    assert (ahead == 4.0).all() and np.isposinf(out[known][:, 0]).all()


@pytest.mark.parametrize(
    ("beams", "told"),
    [([5.0, 3.0], 3.0), ([math.nan, 3.0], 3.0), ([math.nan, math.nan], math.nan), ([math.inf, math.nan], math.nan),
     ([math.inf, 3.0], 3.0), ([0.01, 3.0], -math.inf), ([-math.inf, math.inf], -math.inf), ([500.0, 500.0], math.inf)],
)  # fmt: skip
def test_the_nearest_beam_of_a_cell_counts(beams: list[float], told: float) -> None:
    out = plane_ranges(np.array([0.01, 0.02]), np.array(beams), math.radians(10.0), GRID)
    np.testing.assert_equal(out[GRID.rows // 2, GRID.columns // 2], np.float32(told))
    assert np.isnan(out[:, 0]).all(), "no beam looked there"


def test_a_distance_to_the_ground_is_straight_down() -> None:
    out = with_ground(np.full((GRID.rows, GRID.columns), np.nan, np.float32), 7.0)
    assert (out[0] == 7.0).all() and np.isnan(out[1:]).all()
