"""Queries, bookkeeping and refusals of the voxel map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.map.local_window import window_around
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, MapInputError, VoxelMap

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def filled(small_map: Callable[..., VoxelMap], random_frames: Any) -> Any:
    """Maps of a few seeds, made once."""
    made: dict[tuple[int, float], VoxelMap] = {}

    def make(seed: int, resolution: float = 1.0) -> VoxelMap:
        key = (seed % 4, resolution)
        if key not in made:
            made[key] = small_map(resolution)
            for frame in random_frames(key[0], count=6):
                for _ in range(2):
                    made[key].integrate_frame(frame, REACH)
        return made[key]

    return make


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, unknown=st.booleans())
def test_batched_equals_scalar(filled: Any, seed: int, unknown: Any) -> None:
    voxel_map = filled(seed)
    rng = np.random.default_rng(seed)
    points = rng.uniform(-40.0, 40.0, (20, 3))
    states, odds = voxel_map.state(points), voxel_map.log_odds(points)
    distances, nearest = voxel_map.nearest_obstacle(points, 8.0, unknown)
    directions = rng.normal(size=(20, 3))
    ranges, stops = voxel_map.raycasts(points, directions, 25.0, unknown)
    for n, point in enumerate(points):
        assert voxel_map.state(point[None])[0] == states[n]
        np.testing.assert_array_equal(voxel_map.log_odds(point[None])[0], odds[n])
        one, where = voxel_map.nearest_obstacle(point[None], 8.0, unknown)
        np.testing.assert_array_equal(one[0], distances[n])
        np.testing.assert_array_equal(where[0], nearest[n])
        assert voxel_map.raycast(point, directions[n], 25.0, unknown) == (ranges[n], stops[n])


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, r_max=st.sampled_from([3.0, 17.0, 60.0]), unknown=st.booleans())
@pytest.mark.parametrize("resolution", [1.0, 2.0])
def test_nearest_obstacle_is_exact(
    filled: Any, whole: Any, seed: int, r_max: Any, unknown: Any, resolution: Any
) -> None:
    voxel_map = filled(seed, resolution)
    point = np.random.default_rng(seed).uniform(-34.0, 34.0, 3)
    state = np.pad(whole(voxel_map), 1, constant_values=UNKNOWN)
    obstacle = (state == OCCUPIED) | (unknown & (state == UNKNOWN))
    corners = (np.argwhere(obstacle) - 1) * voxel_map.resolution + voxel_map.lower
    gaps = np.clip(point, corners, corners + voxel_map.resolution) - point
    expected = np.sqrt((gaps**2).sum(axis=1).min()) if len(corners) else np.inf
    if unknown and ((point < voxel_map.lower) | (point >= voxel_map.upper)).any():
        expected = 0.0
    distance, nearest = voxel_map.nearest_obstacle(point[None], r_max, unknown)
    if expected > r_max:
        assert distance[0] == np.inf and np.isnan(nearest).all()
    else:
        assert distance[0] == pytest.approx(expected, abs=1e-9)
        assert np.linalg.norm(nearest[0] - point) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, unknown=st.booleans())
def test_rays_stop_at_the_first_thing_not_free(filled: Any, seed: int, unknown: Any) -> None:
    voxel_map = filled(seed)
    rng = np.random.default_rng(seed)
    origin, direction = rng.uniform(-25.0, 25.0, 3), rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    distance, stop = voxel_map.raycast(origin, direction, 25.0, unknown)
    passed = origin + direction * np.linspace(0.0, max(distance - 1e-6, 0.0), 200)[:, None]
    before = voxel_map.state(passed[:-1] if distance > 0 else passed[:0])
    assert not (before == OCCUPIED).any()
    assert not (unknown and (before == UNKNOWN).any())
    if stop == FREE:
        assert distance == 25.0
    else:
        assert voxel_map.state((origin + direction * (distance + 1e-6))[None])[0] == stop
        assert stop == OCCUPIED or unknown


def test_rays_along_the_axes(filled: Any) -> None:
    voxel_map = filled(0)
    for direction in np.vstack([np.eye(3), -np.eye(3)]):
        distance, _ = voxel_map.raycast((0.0, 0.0, 0.0), direction, 500.0, unknown_is_obstacle=False)
        assert 0.0 <= distance <= 500.0


@settings(deadline=None, max_examples=30)
@given(
    seed=SEEDS,
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40)),
    corner=st.tuples(st.integers(-50, 40), st.integers(-50, 40), st.integers(-50, 40)),
)
def test_a_window_is_exact(filled: Any, seed: int, shape: Any, corner: Any) -> None:
    voxel_map = filled(seed)
    window = voxel_map.window(corner, shape)
    centers = np.indices(shape).reshape(3, -1).T + np.array(corner) + 0.5
    np.testing.assert_array_equal(window.ravel(), voxel_map.state(centers))


def test_window_around_lies_on_whole_voxels(filled: Any) -> None:
    voxel_map = filled(1, 2.0)
    window = window_around(voxel_map, (3.3, -4.9, 0.2), 7.5, (8, 6, 4))
    np.testing.assert_array_equal(window.origin % 2.0, 0.0)
    assert window.cells.shape == (8, 6, 4) and window.stamp == 7.5
    points = np.random.default_rng(0).uniform(window.origin, window.upper, (200, 3))
    np.testing.assert_array_equal(window.state_at(points), voxel_map.state(points))


def test_occupied_points(filled: Any, whole: Any, voxel_centers: Any) -> None:
    voxel_map = filled(2)
    expected = voxel_centers(voxel_map)[whole(voxel_map).ravel() == OCCUPIED]
    found = voxel_map.occupied_points()
    assert len(found) == voxel_map.occupied_count > 0
    np.testing.assert_array_equal(np.unique(found, axis=0), np.unique(expected.astype(np.float32), axis=0))
    one = voxel_map.known_blocks()[:1]
    inside = ((expected - voxel_map.lower) // 16 == one[0]).all(axis=1)
    assert len(voxel_map.occupied_points(one)) == inside.sum()


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_dirty_blocks_are_those_in_which_a_class_changed(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int
) -> None:
    voxel_map = small_map()
    frames = random_frames(seed, count=5, cameras=1)
    voxel_map.integrate_frame(frames[0], REACH)
    np.testing.assert_array_equal(voxel_map.take_dirty("early"), voxel_map.known_blocks())
    before = whole(voxel_map)
    for frame in frames[1:]:
        voxel_map.integrate_frame(frame, REACH)
        after = whole(voxel_map)
        changed = np.unique(np.argwhere(before != after) // 16, axis=0)
        dirty = voxel_map.take_dirty("early")
        assert {tuple(b) for b in changed} <= {tuple(b) for b in dirty}
        before = after
    assert len(voxel_map.take_dirty("early")) == 0
    np.testing.assert_array_equal(voxel_map.take_dirty("late"), voxel_map.known_blocks())


def test_a_slow_consumer_misses_nothing(small_map: Callable[..., VoxelMap], random_frames: Any) -> None:
    voxel_map = small_map()
    voxel_map.take_dirty("slow")
    for frame in random_frames(5, count=100, cameras=1):
        voxel_map.integrate_frame(frame, REACH)
    np.testing.assert_array_equal(voxel_map.take_dirty("slow"), voxel_map.known_blocks())


def test_the_world_is_widened_to_whole_blocks() -> None:
    voxel_map = VoxelMap(0.5, (-3.0, 0.0, -1.0), (9.0, 8.0, 0.0))
    np.testing.assert_array_equal(voxel_map.lower, (-8.0, 0.0, -8.0))
    np.testing.assert_array_equal(voxel_map.upper, (16.0, 8.0, 0.0))


@pytest.mark.parametrize(
    "world",
    [
        (0.0, (0, 0, 0), (1, 1, 1)),
        (np.nan, (0, 0, 0), (1, 1, 1)),
        (1.0, (0, 0, 0), (1, 1, 0)),
        (1.0, (0, 0, 0), (1, np.inf, 1)),
        (1e-3, (-1e4, -1e4, -1e4), (1e4, 1e4, 1e4)),
    ],
)
def test_impossible_worlds_are_refused(world: Any) -> None:
    with pytest.raises(MapInputError):
        VoxelMap(*world)


def _views(good: CameraFrame) -> dict[str, CameraFrame]:
    pose, model, depth = good.pose, good.model, good.depth
    turn = np.asarray(pose.quaternion)
    return {
        "position not finite": replace(good, pose=Pose(np.array([0.0, np.nan, 0.0]), turn)),
        "attitude not finite": replace(good, pose=Pose(pose.position, turn * np.inf)),
        "not rigid": replace(good, pose=Pose(pose.position, turn * 1.1)),
        "no rotation": replace(good, pose=Pose(pose.position, turn * 0.0)),
        "position of two numbers": replace(good, pose=Pose(np.zeros(2), turn)),
        "other picture size": replace(good, depth=depth[:-1]),
        "colour picture": replace(good, depth=np.stack([depth] * 3, axis=-1)),
        "transposed": replace(good, depth=depth.T),
        "integer millimetres": replace(good, depth=(depth * 1000).astype(np.uint16)),
        "floating point millimetres": replace(good, depth=depth * 1000),
        "focal length of zero": replace(good, model=replace(model, fx=0.0)),
        "focal length not finite": replace(good, model=replace(model, fy=np.nan)),
        "principal point far outside": replace(good, model=replace(model, cx=1e5)),
    }


def test_bad_frames_are_refused_and_the_map_is_unharmed(
    filled: Any, camera: CameraModel, look: Any, voxel_centers: Any
) -> None:
    voxel_map = filled(3)
    depth = np.full((camera.height, camera.width), 12.0, np.float32)
    good = CameraFrame("front", camera, look((0.0, 0.0, 0.0), 0.3, 0.1), depth)
    centers = voxel_centers(voxel_map)
    before = voxel_map.log_odds(centers)
    voxel_map.take_dirty("check")
    for kind, bad in _views(good).items():
        with pytest.raises(MapInputError):
            voxel_map.integrate_frame([good, bad], REACH)
        np.testing.assert_array_equal(voxel_map.log_odds(centers), before, err_msg=kind)
    for reach in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(MapInputError):
            voxel_map.integrate_frame([good], reach)
    for noise in (-0.1, np.nan, 0.5):
        with pytest.raises(MapInputError):
            voxel_map.integrate_frame([good], REACH, noise)
    assert len(voxel_map.take_dirty("check")) == 0


def test_sky_with_little_far_land_is_no_millimetre_picture(
    small_map: Callable[..., VoxelMap], camera: CameraModel, look: Any
) -> None:
    depth = np.full((camera.height, camera.width), np.inf, np.float32)
    depth[:, :3] = 900.0
    voxel_map = small_map()
    voxel_map.integrate_frame([CameraFrame("front", camera, look((0.0, 0.0, 0.0), 0.0, 0.0), depth)], REACH)
    assert voxel_map.free_count > 0


def test_read_only_and_double_pictures_are_taken(
    small_map: Callable[..., VoxelMap], camera: CameraModel, look: Any
) -> None:
    depth = np.full((camera.height, camera.width), 12.0)
    pose = look((0.0, 0.0, 0.0), 0.0, 0.0)
    locked = depth.astype(np.float32)
    locked.flags.writeable = False
    one, other = small_map(), small_map()
    one.integrate_frame([CameraFrame("front", camera, pose, depth)], REACH)
    other.integrate_frame([CameraFrame("front", camera, pose, locked)], REACH)
    assert one.free_count == other.free_count > 0


@pytest.mark.parametrize("points", [np.zeros(3), np.zeros((2, 2)), np.full((1, 3), np.nan)])
def test_bad_points_are_refused(filled: Any, points: Any) -> None:
    with pytest.raises(MapInputError):
        filled(0).state(points)
    with pytest.raises(MapInputError):
        filled(0).nearest_obstacle(points, 5.0)


def test_bad_rays_and_windows_are_refused(filled: Any) -> None:
    with pytest.raises(MapInputError):
        filled(0).raycast((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 5.0)
    with pytest.raises(MapInputError):
        filled(0).raycasts(np.zeros((2, 3)), np.ones((1, 3)), 5.0)
    with pytest.raises(MapInputError):
        filled(0).window((0, 0, 0), (0, 4, 4))
    with pytest.raises(MapInputError):
        filled(0).window((0.5, 0.0, 0.0), (4, 4, 4))
