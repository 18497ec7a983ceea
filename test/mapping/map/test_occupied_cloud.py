"""The cloud kept by block equals a list of everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mapping.map.fusion import fuse
from esar_ros.mapping.map.occupied_cloud import OccupiedCloud
from esar_ros.mapping.map.voxel_map import VoxelMap


def assert_same(cloud: Any, voxel_map: Any) -> None:
    points = cloud.points()
    np.testing.assert_array_equal(points[:, 2], points[:, 3])
    np.testing.assert_array_equal(np.unique(points[:, :3], axis=0), np.unique(voxel_map.occupied_points(), axis=0))
    assert len(points) == voxel_map.occupied_count


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_incremental_equals_a_list_of_everything(random_frames: Any, seed: int) -> None:
    voxel_map = VoxelMap(1.0, (-16,) * 3, (16,) * 3, endless=True)
    cloud = OccupiedCloud(voxel_map)
    assert cloud.points().shape == (0, 4)
    for frame in random_frames(seed, count=5, cameras=2) * 2:
        voxel_map.integrate_frame(frame, 30.0)
        cloud.update()
        assert_same(cloud, voxel_map)
    other = VoxelMap(1.0, (-16,) * 3, (16,) * 3, endless=True)
    for frame in random_frames(seed + 1, count=2, cameras=2):
        other.integrate_frame(frame, 30.0)
    fuse(voxel_map, other)
    cloud.update()
    assert_same(cloud, voxel_map)
    before = cloud.points()
    cloud.update()
    np.testing.assert_array_equal(cloud.points(), before)
