"""Frontiers against a plain scan of the whole map, kept up to date block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.layers.frontiers import Frontiers
from esar_ros.mapping.map.voxel_map import FREE, UNKNOWN, VoxelMap

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)


def plain_frontier(state: Any) -> Any:
    """Free voxels with an unknown face neighbour inside the world."""
    padded = np.pad(state == UNKNOWN, 1)
    beside = np.zeros(state.shape, bool)
    for axis in range(3):
        for step in (-1, 1):
            beside |= np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1]
    return (state == FREE) & beside


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_incremental_equals_a_scan_of_everything(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int
) -> None:
    voxel_map = small_map()
    frontiers = Frontiers(voxel_map)
    for frame in random_frames(seed, count=4, cameras=2):
        for _ in range(2):
            voxel_map.integrate_frame(frame, REACH)
        frontiers.update()
        expected = plain_frontier(whole(voxel_map))
        assert frontiers.total == expected.sum()
        clusters = frontiers.clusters(min_size=1)
        assert clusters[:, 3].sum() == expected.sum()
        index = np.floor(clusters[:, :3] - voxel_map.lower).astype(int)
        assert expected[tuple(index.T)].all()
    fresh = Frontiers(voxel_map, "fresh")
    fresh.update()
    np.testing.assert_array_equal(fresh.clusters(), frontiers.clusters())


def test_clusters_are_sorted_and_filtered(small_map: Callable[..., VoxelMap], random_frames: Any) -> None:
    voxel_map = small_map(0.5)
    frontiers = Frontiers(voxel_map)
    assert frontiers.clusters().shape == (0, 4)
    for frame in random_frames(3, count=4):
        voxel_map.integrate_frame(frame, REACH)
    frontiers.update()
    clusters = frontiers.clusters(min_size=30)
    assert len(clusters) > 1
    assert (np.diff(clusters[:, 3]) <= 0).all() and (clusters[:, 3] >= 30).all()
    low = frontiers.clusters(min_size=1, z_range=(-10.0, 5.0))
    assert len(low) and ((low[:, 2] >= -10.0) & (low[:, 2] <= 5.0)).all()
    assert frontiers.clusters(min_size=10**6).shape == (0, 4)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 2])
def test_one_look_into_the_open_has_its_frontier_around_the_view(
    small_map: Callable[..., VoxelMap], camera: CameraModel, look: Any, yaw: Any
) -> None:
    voxel_map = small_map()
    frontiers = Frontiers(voxel_map)
    nothing = np.full((camera.height, camera.width), np.inf, np.float32)
    voxel_map.integrate_frame([CameraFrame("front", camera, look((0.0, 0.0, 0.0), yaw, 0.0), nothing)], 20.0)
    frontiers.update()
    clusters = frontiers.clusters(min_size=5)
    along = clusters[:, :2] @ np.array([np.cos(yaw), np.sin(yaw)])
    assert (along > -1.0).all() and along.max() > 12.0
