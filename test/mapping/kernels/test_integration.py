"""The kernels against a plain reading of the sensor model, and against worlds that are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.ndimage import minimum_filter

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.inputs import pool_depth
from esar_ros.mapping.kernels.blocks import HIT, MAX_LOG_ODDS, MIN_LOG_ODDS, MISS, NEVER_SEEN
from esar_ros.mapping.kernels.carving import NEAREST
from esar_ros.mapping.kernels.integration import NOISE_MARGIN, SURFACE_MARGIN
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)


def plain_update(voxel_map: Any, centers: Any, counts: Any, views: Any, reach: Any, noise: Any) -> None:
    """The sensor model of one frame, voxel by voxel without any hierarchy; counts (N,) change in place."""
    missed = []
    hit = np.zeros(len(counts), bool)
    for view in views:
        size = voxel_map.resolution
        depth = view.depth.astype(np.float64)
        rays = view.model.rays()
        valid = np.isfinite(depth) & (depth > 0)
        valid &= np.where(valid, depth, 0.0) * np.linalg.norm(rays, axis=-1) <= reach
        ends = view.pose.apply(rays[valid] * depth[valid][:, None])
        cell = np.floor((ends - voxel_map.lower) / size).astype(int)
        cell = cell[((cell >= 0) & (cell < voxel_map.shape)).all(axis=1)]
        hit[np.ravel_multi_index(tuple(cell.T), tuple(voxel_map.shape))] = True
        free = minimum_filter(np.where(view.depth > 0, view.depth, 0.0), size=3, mode="nearest")
        local = (centers - view.pose.position) @ view.pose.rotation
        uv, inside = view.model.project(local)
        inside &= local[:, 2] >= NEAREST * size
        pixel = np.where(inside[:, None], uv, 0.0).astype(int)
        distance = np.linalg.norm(local, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            clearance = (free[pixel[:, 1], pixel[:, 0]] / local[:, 2] - 1.0) * distance
        keep = SURFACE_MARGIN * size + NOISE_MARGIN * noise * distance
        missed.append(inside & (distance <= reach) & (clearance >= keep))
    for miss in missed:
        chosen = miss & ~hit
        counts[chosen] = np.maximum(np.where(counts[chosen] == NEVER_SEEN, 0, counts[chosen]) - MISS, MIN_LOG_ODDS)
    counts[hit] = np.minimum(np.where(counts[hit] == NEVER_SEEN, 0, counts[hit]) + HIT, MAX_LOG_ODDS)


@settings(deadline=None, max_examples=15)
@example(seed=1, resolution=1.0, reach=70.0, noisy=False)
@given(seed=SEEDS, resolution=st.just(2.0), reach=st.sampled_from([30.0, 70.0]), noisy=st.booleans())
def test_hierarchy_changes_nothing(
    small_map: Callable[..., VoxelMap],
    random_frames: Any,
    voxel_centers: Any,
    seed: int,
    resolution: Any,
    reach: Any,
    noisy: Any,
) -> None:
    noise = 0.02 * noisy
    voxel_map = small_map(resolution)
    centers = voxel_centers(voxel_map)
    counts = np.full(len(centers), NEVER_SEEN, np.int64)
    for frame in random_frames(seed):
        for _ in range(5):  # again, so that voxels saturate and blocks become tiles
            voxel_map.integrate_frame(frame, reach, noise)
            plain_update(voxel_map, centers, counts, frame, reach, noise)
        found = np.where(np.isnan(voxel_map.log_odds(centers)), NEVER_SEEN, voxel_map.log_odds(centers) * 20)
        np.testing.assert_array_equal(np.round(found), counts)


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, order=st.permutations(range(4)))
def test_order_of_cameras_does_not_matter(
    small_map: Callable[..., VoxelMap], random_frames: Any, voxel_centers: Any, seed: int, order: Any
) -> None:
    one, other = small_map(), small_map()
    for frame in random_frames(seed, count=3, cameras=4):
        one.integrate_frame(frame, REACH)
        other.integrate_frame([frame[n] for n in order], REACH)
    centers = voxel_centers(one)
    np.testing.assert_array_equal(one.log_odds(centers), other.log_odds(centers))
    np.testing.assert_array_equal(one.take_dirty("x"), other.take_dirty("x"))


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_integrated_voxels_stay_known(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int
) -> None:
    voxel_map = small_map()
    known = np.zeros(tuple(voxel_map.shape), bool)
    for frame in random_frames(seed, count=4, cameras=2):
        voxel_map.integrate_frame(frame, REACH)
        now = whole(voxel_map) != UNKNOWN
        assert not (known & ~now).any()
        known = now


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_counts_are_kept(small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int) -> None:
    voxel_map = small_map()
    for frame in random_frames(seed, count=3, cameras=2):
        for _ in range(6):
            voxel_map.integrate_frame(frame, REACH)
        state = whole(voxel_map)
        assert voxel_map.free_count == np.count_nonzero(state == FREE)
        assert voxel_map.occupied_count == np.count_nonzero(state == OCCUPIED)


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_pool_grows_without_losing_anything(
    small_map: Callable[..., VoxelMap], random_frames: Any, voxel_centers: Any, seed: int
) -> None:
    tight, roomy = small_map(reserved_blocks=1), small_map(reserved_blocks=4096)
    for frame in random_frames(seed, count=4):
        tight.integrate_frame(frame, REACH)
        roomy.integrate_frame(frame, REACH)
    centers = voxel_centers(tight)
    np.testing.assert_array_equal(tight.log_odds(centers), roomy.log_odds(centers))
    assert tight.memory_bytes == roomy.memory_bytes


def room_view(pose: Pose, camera: CameraModel, low: np.ndarray, high: np.ndarray) -> CameraFrame:
    """Depth inside a box whose inner walls are these."""
    rays = camera.rays() @ pose.rotation.T
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.where(rays > 0, (high - pose.position) / rays, (low - pose.position) / rays)
    return CameraFrame("front", camera, pose, np.nanmin(walls, axis=-1).astype(np.float32))


def test_a_room_is_free_inside_closed_all_around_and_unknown_beyond(
    look: Any, small_map: Callable[..., VoxelMap], whole: Any
) -> None:
    camera = CameraModel.from_horizontal_fov(160, 120, np.pi / 2)
    low, high = np.array([-12.6, -8.4, -5.7]), np.array([11.3, 9.6, 6.5])
    voxel_map = small_map()
    for yaw in range(4):
        views = [
            room_view(look((0.3, 0.2, 0.1), yaw * np.pi / 2, pitch), camera, low, high) for pitch in (-1.2, 0.0, 1.2)
        ]
        voxel_map.integrate_frame(views, REACH)
    state = whole(voxel_map)
    first, last = (low - voxel_map.lower).astype(int), (high - voxel_map.lower).astype(int)
    interior = state[tuple(slice(a + 2, b - 1) for a, b in zip(first, last, strict=True))]
    assert np.mean(interior == FREE) > 0.999
    assert not (interior == OCCUPIED).any()
    for axis in range(3):
        across = [slice(a + 1, b) for a, b in zip(first, last, strict=True)]
        for face in (first[axis], last[axis]):
            across[axis] = face
            assert (state[tuple(across)] == OCCUPIED).mean() > 0.99
    beyond = np.ones(state.shape, bool)
    beyond[tuple(slice(a, b + 1) for a, b in zip(first, last, strict=True))] = False
    assert (state[beyond] == UNKNOWN).all()


@pytest.fixture()
def wall(camera: CameraModel, look: Any) -> Any:
    """A wall at x = 20.5 seen from the origin, and the picture without it."""
    pose = look((0.0, 0.0, 0.0), 0.0, 0.0)
    shape = (camera.height, camera.width)
    return (
        CameraFrame("front", camera, pose, np.full(shape, 20.5, np.float32)),
        CameraFrame("front", camera, pose, np.full(shape, np.inf, np.float32)),
    )


def along_axis(voxel_map: VoxelMap, x: float) -> int:
    return int(voxel_map.state([[x, 0.5, 0.5]])[0])


def test_wall(small_map: Callable[..., VoxelMap], wall: Any) -> None:
    voxel_map = small_map()
    voxel_map.integrate_frame([wall[0]], REACH)
    assert [along_axis(voxel_map, x) for x in (5.5, 18.5, 20.5, 21.5)] == [FREE, FREE, OCCUPIED, UNKNOWN]


def test_a_removed_obstacle_fades(small_map: Callable[..., VoxelMap], wall: Any) -> None:
    voxel_map = small_map()
    for _ in range(20):
        voxel_map.integrate_frame([wall[0]], REACH)
    frames = 0
    while along_axis(voxel_map, 20.5) == OCCUPIED:
        voxel_map.integrate_frame([wall[1]], REACH)
        frames += 1
    assert frames == -(-(MAX_LOG_ODDS - 9) // MISS)
    assert along_axis(voxel_map, 25.5) == FREE


def test_an_obstacle_that_stood_in_settled_air_fades_as_any_other(
    small_map: Callable[..., VoxelMap], wall: Any
) -> None:
    voxel_map = small_map()
    for picture, state in ((wall[1], FREE), (wall[0], OCCUPIED), (wall[1], FREE)):
        for _ in range(8):
            voxel_map.integrate_frame([picture], REACH)
        assert along_axis(voxel_map, 20.5) == state


def test_a_voxel_counts_as_freed_when_it_ceases_to_be_occupied_and_not_before(
    small_map: Callable[..., VoxelMap], whole: Any, wall: Any
) -> None:
    """Two hits and three misses leave it at the bound, 2 * 17 - 3 * 8 = 10, where it is occupied yet."""
    voxel_map = small_map()
    for picture in (wall[0], wall[0], wall[1], wall[1], wall[1], wall[1]):
        voxel_map.integrate_frame([picture], REACH)
        state = whole(voxel_map)
        assert voxel_map.free_count == np.count_nonzero(state == FREE)
        assert voxel_map.occupied_count == np.count_nonzero(state == OCCUPIED)
    assert along_axis(voxel_map, 20.5) == FREE


def test_the_noisier_the_range_the_more_is_left_alone_before_a_surface(
    small_map: Callable[..., VoxelMap], wall: Any
) -> None:
    """Also of a brick that lies wholly before the surface: at 17.5 m 4 m off, of which 4.4 are left alone."""
    voxel_map = small_map()
    farther = replace(wall[0], depth=np.full_like(wall[0].depth, 21.5))
    voxel_map.integrate_frame([farther], REACH, 0.1)
    assert [along_axis(voxel_map, x) for x in (13.5, 17.5, 19.5, 21.5)] == [FREE, UNKNOWN, UNKNOWN, OCCUPIED]


def test_a_hit_of_one_camera_wins_over_the_misses_of_another(small_map: Callable[..., VoxelMap], wall: Any) -> None:
    voxel_map = small_map()
    for _ in range(3):
        voxel_map.integrate_frame([wall[0], wall[1]], REACH)
        assert along_axis(voxel_map, 20.5) == OCCUPIED
    assert voxel_map.log_odds([[20.5, 0.5, 0.5]])[0] == pytest.approx(3 * HIT * 0.05)


def test_no_return_is_free_to_the_range_and_no_further(small_map: Callable[..., VoxelMap], wall: Any) -> None:
    voxel_map = small_map()
    voxel_map.integrate_frame([wall[1]], 25.0)
    assert [along_axis(voxel_map, x) for x in (5.5, 24.5, 25.5)] == [FREE, FREE, UNKNOWN]
    assert voxel_map.occupied_count == 0


@pytest.mark.parametrize("value", [np.nan, -np.inf, 0.0, -3.0])
def test_invalid_and_too_near_touch_nothing(small_map: Callable[..., VoxelMap], wall: Any, value: Any) -> None:
    voxel_map = small_map()
    view = replace(wall[0], depth=np.full_like(wall[0].depth, value))
    voxel_map.integrate_frame([view], REACH)
    assert (voxel_map.free_count, voxel_map.occupied_count) == (0, 0)
    assert len(voxel_map.known_blocks()) == 0


def test_a_hit_beyond_the_range_frees_up_to_it(small_map: Callable[..., VoxelMap], wall: Any) -> None:
    voxel_map = small_map()
    voxel_map.integrate_frame([wall[0]], 15.0)
    assert [along_axis(voxel_map, x) for x in (14.5, 16.5, 20.5)] == [FREE, UNKNOWN, UNKNOWN]
    assert voxel_map.occupied_count == 0


def test_settled_air_costs_no_blocks_and_does_not_flip_at_once(
    camera: CameraModel, look: Any, small_map: Callable[..., VoxelMap]
) -> None:
    voxel_map = small_map()
    pose = look((-30.0, 0.0, 0.0), 0.0, 0.0)
    nothing = np.full((camera.height, camera.width), np.inf, np.float32)
    voxel_map.integrate_frame([CameraFrame("front", camera, pose, nothing)], 60.0)
    fresh = voxel_map.memory_bytes
    assert not (voxel_map.blocks.table == 0).any()
    for _ in range(4):
        voxel_map.integrate_frame([CameraFrame("front", camera, pose, nothing)], 60.0)
    assert voxel_map.blocks.table[2, 1, 1] == 0  # 30 to 46 m ahead, well inside the picture
    assert voxel_map.free_count == np.count_nonzero(voxel_map.window((-32, -32, -32), (64, 64, 64)) == FREE)
    for state in (FREE, FREE, OCCUPIED):  # -40 + 3 * 17 = 11
        voxel_map.integrate_frame([CameraFrame("front", camera, pose, np.full_like(nothing, 35.5))], 60.0)
        assert along_axis(voxel_map, 5.5) == state
    assert voxel_map.memory_bytes <= fresh + 16 * 4096


def test_what_lies_outside_the_world_is_clipped(
    camera: CameraModel, look: Any, small_map: Callable[..., VoxelMap]
) -> None:
    voxel_map = small_map()
    depth = np.full((camera.height, camera.width), 20.0, np.float32)
    voxel_map.integrate_frame([CameraFrame("front", camera, look((25.0, 0.0, 0.0), 0.0, 0.0), depth)], REACH)
    assert voxel_map.free_count > 0 and voxel_map.occupied_count == 0
    before = voxel_map.free_count
    voxel_map.integrate_frame([CameraFrame("front", camera, look((500.0, 0.0, 0.0), 0.0, 0.0), depth)], REACH)
    assert voxel_map.free_count == before
    voxel_map.integrate_frame([CameraFrame("front", camera, look((45.0, 0.0, 0.0), np.pi, 0.0), depth)], REACH)
    assert voxel_map.occupied_count > 0


def test_pooling_keeps_the_nearest_and_spreads_what_frees_nothing() -> None:
    inf, nan = np.inf, np.nan
    depth = np.array([[5, 7, inf, inf, nan, 3, 2], [6, 4, inf, 9, 2, 2, 2], [inf, inf, -inf, 1, 1, 1, 2]], np.float32)
    np.testing.assert_array_equal(pool_depth(depth), np.array([[4, 9, nan]], np.float32))
    four = np.array([[inf, inf, -inf, 1], [inf, inf, 2, 3]], np.float32)
    np.testing.assert_array_equal(pool_depth(four), np.array([[inf, -inf]], np.float32))
