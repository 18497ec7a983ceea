"""Bird's-eye layers against a plain reading of their definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.layers.ground_plan import TILE, BevLayers
from esar_ros.mapping.map import voxel_map as voxels
from esar_ros.mapping.map.voxel_map import VoxelMap
from esar_ros.mission.observation import FREE, OCCUPIED, UNKNOWN

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)


def plain_grid(state: Any, span: Any, band: Any) -> Any:
    """Cells (x, y) of a window of classes with 1 m voxels."""
    occupied = state == voxels.OCCUPIED
    lowest = np.where(occupied.any(axis=2), occupied.argmax(axis=2) + 1, 0)
    out = np.full((state.shape[0] // span, state.shape[1] // span), UNKNOWN, np.int8)
    for i, j in np.ndindex(*out.shape):
        x, y = i * span, j * span
        around = lowest[max(0, x - 4) : x + span + 4, max(0, y - 4) : y + span + 4]
        if not (around > 0).any():
            continue
        ground = around[around > 0].min()
        cell = state[x : x + span, y : y + span, int(ground + band[0]) : math.ceil(ground + band[1])]
        if (cell == voxels.OCCUPIED).any():
            out[i, j] = OCCUPIED
        elif (cell == voxels.FREE).any() or (lowest[x : x + span, y : y + span] > 0).any():
            out[i, j] = FREE
    return out


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS, span=st.sampled_from([1, 2, 4]), band=st.sampled_from([(4.0, 60.0), (2.5, 9.0), (0.0, 3.0)]))
def test_incremental_equals_a_scan_of_everything(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any, seed: int, span: Any, band: Any
) -> None:
    voxel_map = small_map()
    layers = BevLayers(voxel_map)
    for frame in random_frames(seed, count=4, cameras=2):
        for _ in range(3):
            voxel_map.integrate_frame(frame, REACH)
        layers.update()
        cells, origin = layers.grid(float(span), band)
        state = whole(voxel_map)
        expected = plain_grid(state, span, band)
        assert all(o % TILE == 0.0 for o in origin) and all(n % (TILE / span) == 0 for n in cells.shape)
        # Lay both on the tiles around the world's [-32, 32).
        placed = np.full((128 // span, 128 // span), UNKNOWN, np.int8)
        row, column = int((origin[1] + 64) / span), int((origin[0] + 64) / span)
        placed[row : row + cells.shape[0], column : column + cells.shape[1]] = cells
        np.testing.assert_array_equal(placed.T, np.pad(expected, 32 // span, constant_values=UNKNOWN))
        heights = layers.heights()
        first = [int(o + 32) for o in heights.origin]
        rows, columns = heights.ground.shape
        box = state[first[0] : first[0] + columns, first[1] : first[1] + rows]
        assert (box != voxels.UNKNOWN).sum() == (state != voxels.UNKNOWN).sum()
        np.testing.assert_array_equal(heights.observed.T, (box != voxels.UNKNOWN).any(axis=2))
        solid = box == voxels.OCCUPIED
        top = np.where(solid.any(axis=2), 64 - solid[:, :, ::-1].argmax(axis=2) - 32, np.nan)
        np.testing.assert_array_equal(heights.top.T, top)
        ground = np.where(solid.any(axis=2), solid.argmax(axis=2) + 1 - 32, np.nan)
        np.testing.assert_array_equal(heights.ground.T, ground)


@pytest.fixture()
def tower_seen(look: Any) -> Any:
    """Flat ground at z = 0.5 and a tower of 12 m on x, y in [6, 9), seen from two sides above."""
    camera = CameraModel.from_horizontal_fov(160, 120, np.pi / 2)
    voxel_map = voxels.VoxelMap(1.0, (-64, -64, -16), (64, 64, 48))
    low, high = np.array([6.2, 6.2, -1.0]), np.array([8.8, 8.8, 12.5])
    for x, y, yaw in ((-8.0, 7.5, 0.0), (24.0, 7.5, np.pi)):
        pose = look((x, y, 25.0), yaw, -0.9)
        rays = camera.rays() @ pose.rotation.T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(rays[..., 2] < 0, (0.5 - 25.0) / rays[..., 2], np.inf)
            near, far = (low - pose.position) / rays, (high - pose.position) / rays
            enter, leave = np.minimum(near, far).max(axis=-1), np.maximum(near, far).min(axis=-1)
        depth = np.where((enter <= leave) & (enter > 0), np.minimum(enter, depth), depth).astype(np.float32)
        for _ in range(3):
            voxel_map.integrate_frame([CameraFrame("front", camera, pose, depth)], 60.0)
    return voxel_map


def test_a_tower_blocks_the_bands_it_reaches_into(tower_seen: Any) -> None:
    layers = BevLayers(tower_seen)
    layers.update()

    def value(band: Any, x: Any, y: Any) -> Any:
        cells, origin = layers.grid(2.0, band)
        return cells[int((y - origin[1]) / 2.0), int((x - origin[0]) / 2.0)]

    assert value((4.0, 60.0), 7.5, 7.5) == OCCUPIED
    assert value((16.0, 60.0), 7.5, 7.5) == FREE
    assert value((4.0, 60.0), 0.5, 7.5) == FREE
    assert value((4.0, 60.0), -60.0, -60.0) == UNKNOWN
    np.testing.assert_array_equal(layers.ground_at([[0.5, 7.5], [500.0, 0.0]]), np.array([1.0, np.nan], np.float32))
    assert np.nanmax(layers.heights().top) == 13.0


def test_nothing_known_is_an_empty_grid(small_map: Callable[..., VoxelMap]) -> None:
    layers = BevLayers(small_map())
    layers.update()
    assert layers.grid()[0].size == 0 and layers.heights().ground.size == 0


@pytest.mark.parametrize("resolution, band", [(3.0, (4.0, 60.0)), (0.5, (4.0, 60.0)), (2.0, (9.0, 3.0))])
def test_impossible_grids_are_refused(small_map: Callable[..., VoxelMap], resolution: Any, band: Any) -> None:
    with pytest.raises(MapInputError):
        BevLayers(small_map()).grid(resolution, band)
