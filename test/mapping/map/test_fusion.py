"""Maps of several vehicles and resolutions in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.kernels.blocks import MAX_LOG_ODDS, MIN_LOG_ODDS, NEVER_SEEN
from esar_ros.mapping.map.fusion import coarsened, fuse
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)


def counts(voxel_map: VoxelMap, centers: np.ndarray) -> np.ndarray:
    odds = voxel_map.log_odds(centers)
    return np.where(np.isnan(odds), NEVER_SEEN, np.round(odds * 20)).astype(int)


def filled(voxel_map: VoxelMap, frames: list[list[CameraFrame]], times: int = 3) -> VoxelMap:
    for frame in frames:
        for _ in range(times):
            voxel_map.integrate_frame(frame, REACH)
    return voxel_map


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_log_odds_of_two_vehicles_add_up(
    small_map: Callable[..., VoxelMap], random_frames: Any, voxel_centers: Any, whole: Any, seed: int
) -> None:
    frames = random_frames(seed, count=4, cameras=2)
    one, other = filled(small_map(2.0), frames[:2], 5), filled(small_map(2.0), frames[2:])
    centers = voxel_centers(one)
    a, b = counts(one, centers), counts(other, centers)
    expected = np.where(a == NEVER_SEEN, b, np.where(b == NEVER_SEEN, a, np.clip(a + b, MIN_LOG_ODDS, MAX_LOG_ODDS)))
    both, back = small_map(2.0), small_map(2.0)
    both.take_dirty("x")
    for first, second, into in ((one, other, both), (other, one, back)):
        fuse(into, first)
        before = whole(into)
        into.take_dirty("x")
        fuse(into, second)
        changed = {tuple(b) for b in np.unique(np.argwhere(before != whole(into)) // 16, axis=0)}
        assert changed <= {tuple(b) for b in into.take_dirty("x")}
    np.testing.assert_array_equal(counts(both, centers), expected)
    np.testing.assert_array_equal(counts(back, centers), expected)
    state = whole(both)
    assert (both.free_count, both.occupied_count) == ((state == FREE).sum(), (state == OCCUPIED).sum())
    filled(both, frames[:1])  # and it goes on as any other map
    filled(back, frames[:1])
    np.testing.assert_array_equal(counts(both, centers), counts(back, centers))


@settings(deadline=None, max_examples=8)
@given(seed=SEEDS)
def test_a_coarser_map_hides_no_obstacle_and_invents_no_free_space(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int
) -> None:
    fine = filled(small_map(1.0), random_frames(seed, count=2))
    coarse = coarsened(fine)
    assert coarse.resolution == 2.0
    eight = whole(fine).reshape(32, 2, 32, 2, 32, 2)
    occupied = (eight == OCCUPIED).any(axis=(1, 3, 5))
    free = (eight == FREE).all(axis=(1, 3, 5))
    expected = np.where(occupied, OCCUPIED, np.where(free, FREE, UNKNOWN))
    state = whole(coarse)
    np.testing.assert_array_equal(state, expected)
    assert (coarse.free_count, coarse.occupied_count) == ((state == FREE).sum(), (state == OCCUPIED).sum())


def test_a_finer_map_goes_into_a_coarser_one_that_grows(random_frames: Any, whole: Any) -> None:
    fine = filled(VoxelMap(0.5, (-32,) * 3, (32,) * 3), random_frames(4, count=2))
    target = VoxelMap(2.0, (200, 200, 0), (232, 232, 32), endless=True)
    fuse(target, fine)
    again = VoxelMap(2.0, (-32,) * 3, (32,) * 3)
    fuse(again, fine)
    np.testing.assert_array_equal(target.window((-16,) * 3, (32,) * 3), whole(again))
    assert target.occupied_count == again.occupied_count > 0


def test_what_does_not_fit_is_refused_and_the_map_unharmed(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any
) -> None:
    target = filled(small_map(1.0), random_frames(1))
    before = whole(target)
    far = VoxelMap(1.0, (100,) * 3, (132,) * 3)
    for frame in random_frames(2):
        moved = [replace(v, pose=replace(v.pose, position=v.pose.position + 116.0)) for v in frame]
        far.integrate_frame(moved, REACH)
    for bad in (filled(small_map(2.0), random_frames(2)), VoxelMap(0.75, (0,) * 3, (8,) * 3), far):
        with pytest.raises(MapInputError):
            fuse(target, bad)
        np.testing.assert_array_equal(whole(target), before)


def test_nothing_adds_nothing(small_map: Callable[..., VoxelMap]) -> None:
    target = small_map()
    fuse(target, small_map())
    assert target.memory_bytes == small_map().memory_bytes and not len(target.known_blocks())
