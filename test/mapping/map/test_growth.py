"""A world that grows while it is filled equals one that was large from the start; cold blocks change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.layers.frontiers import Frontiers
from esar_ros.mapping.layers.ground_plan import BevLayers
from esar_ros.mapping.map.voxel_map import FREE, UNKNOWN, VoxelMap

REACH = 30.0
SEEDS = st.integers(0, 2**32 - 1)
CORNER, SHAPE = (-56, -56, -56), (112, 112, 112)  # voxels; holds all that a camera within 20 m can see


def free_at_the_rim(voxel_map: Any) -> Any:
    """Returns the number of free voxels on the faces of a map's box."""
    cells = voxel_map.window(voxel_map.first_cell, np.array(voxel_map.blocks.table.shape) * 16) == FREE
    return sum(int(np.take(cells, end, axis).sum()) for axis in range(3) for end in (0, -1))


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
@example(seed=33)
def test_a_grown_world_equals_a_large_one(random_frames: Any, seed: int) -> None:
    grown = VoxelMap(1.0, (-16, -16, -16), (16, 16, 16), reserved_blocks=2, endless=True)
    large = VoxelMap(1.0, (-128, -128, -128), (128, 128, 128))
    consumers = [(Frontiers(m), BevLayers(m)) for m in (grown, large)]
    for frame in random_frames(seed, count=3, cameras=2):
        for voxel_map, (frontiers, layers) in zip((grown, large), consumers, strict=True):
            voxel_map.integrate_frame(frame, REACH)
            frontiers.update()
            layers.update()
        np.testing.assert_array_equal(grown.window(CORNER, SHAPE), large.window(CORNER, SHAPE))
        # Clusters end at multiples of four blocks of each world, so only totals agree; and what is free at the rim of a
        # bounded world is no frontier, since nothing is known to lie beyond.
        missing = consumers[1][0].total - consumers[0][0].total
        assert 0 <= missing <= free_at_the_rim(grown)
        ours, theirs = consumers[0][1].grid(), consumers[1][1].grid()
        assert ours[1] == theirs[1]
        np.testing.assert_array_equal(ours[0], theirs[0])
        one, other = (c[1].heights() for c in consumers)
        np.testing.assert_array_equal(one.ground, other.ground)
        np.testing.assert_array_equal(one.top, other.top)
        np.testing.assert_array_equal(one.observed, other.observed)
    assert (grown.free_count, grown.occupied_count) == (large.free_count, large.occupied_count)
    known = [m.known_blocks() * 16 + m.first_cell for m in (grown, large)]
    np.testing.assert_array_equal(known[0], known[1])
    dirty = [m.take_dirty("late") * 16 + m.first_cell for m in (grown, large)]
    np.testing.assert_array_equal(dirty[0], dirty[1])


def test_what_changed_before_growing_is_still_told(camera: CameraModel, look: Any) -> None:
    voxel_map = VoxelMap(1.0, (-16, -16, -16), (16, 16, 16), endless=True)
    voxel_map.take_dirty("slow")
    for x in (0.0, 100.0, -150.0):
        voxel_map.integrate_frame(
            [CameraFrame("front", camera, look((x, 0.0, 0.0), 0.0, 0.0), np.full((30, 40), 12.0, np.float32))], REACH
        )
    np.testing.assert_array_equal(voxel_map.take_dirty("slow"), voxel_map.known_blocks())
    assert voxel_map.lower[0] < -150.0 and voxel_map.upper[0] > 100.0


def test_a_frame_infinitely_far_away_is_refused_and_the_map_unharmed(camera: CameraModel, look: Any) -> None:
    voxel_map = VoxelMap(1.0, (-16, -16, -16), (16, 16, 16), endless=True)
    depth = np.full((30, 40), 12.0, np.float32)
    voxel_map.integrate_frame([CameraFrame("front", camera, look((0.0, 0.0, 0.0), 0.0, 0.0), depth)], REACH)
    before = voxel_map.free_count, voxel_map.blocks.table.shape
    for x in (1e7, 1e300):
        with pytest.raises(MapInputError, match="too far"):
            voxel_map.integrate_frame([CameraFrame("front", camera, look((x, 0.0, 0.0), 0.0, 0.0), depth)], REACH)
    assert (voxel_map.free_count, voxel_map.blocks.table.shape) == before


@settings(deadline=None, max_examples=8)
@given(seed=SEEDS, idle=st.integers(0, 3))
def test_paged_blocks_answer_as_before_and_go_on_alike(
    random_frames: Any, whole: Any, tmp_path_factory: pytest.TempPathFactory, seed: int, idle: Any
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    paged = VoxelMap(1.0, (-32,) * 3, (32,) * 3, 4, page_folder=folder)
    plain = VoxelMap(1.0, (-32,) * 3, (32,) * 3, 4)
    rng = np.random.default_rng(seed)
    points = rng.uniform(-32.0, 32.0, (50, 3))
    along = rng.normal(size=(50, 3))
    for frame in random_frames(seed, count=4, cameras=2):
        paged.integrate_frame(frame, REACH)
        plain.integrate_frame(frame, REACH)
        paged.evict(idle)
        np.testing.assert_array_equal(whole(paged), whole(plain))
        np.testing.assert_array_equal(paged.log_odds(points), plain.log_odds(points))
        for unknown in (False, True):
            for a, b in zip(
                paged.nearest_obstacle(points, 9.0, unknown), plain.nearest_obstacle(points, 9.0, unknown), strict=True
            ):
                np.testing.assert_array_equal(a, b)
            free, ends = paged.raycasts(points, along, 20.0, unknown)
            expected_free, expected_ends = plain.raycasts(points, along, 20.0, unknown)
            np.testing.assert_array_equal(free, expected_free)
            np.testing.assert_array_equal(ends, expected_ends)
        np.testing.assert_array_equal(paged.occupied_points(), plain.occupied_points())
    paged.save(folder / "paged.vox")
    plain.save(folder / "plain.vox")
    assert (folder / "paged.vox").read_bytes() == (folder / "plain.vox").read_bytes()
    again = VoxelMap.load(folder / "plain.vox", page_folder=folder)
    assert again.evict(0) == len(np.flatnonzero(again.blocks.table > 0))
    np.testing.assert_array_equal(whole(again), whole(plain))


def test_cold_blocks_leave_memory(random_frames: Any, tmp_path: Path) -> None:
    voxel_map = VoxelMap(1.0, (-64,) * 3, (64,) * 3, 1024, page_folder=tmp_path)
    for frame in random_frames(1, count=6):
        voxel_map.integrate_frame(frame, REACH)
    pages = voxel_map._pages
    assert pages is not None
    blocks = int(np.count_nonzero(voxel_map.blocks.table > 0))
    full, before = pages.resident(), voxel_map.memory_bytes
    assert full >= blocks * 4096
    assert voxel_map.evict(0) >= blocks
    assert pages.resident() < full // 4
    assert voxel_map.memory_bytes <= before - blocks * 4096
    assert voxel_map.occupied_points().shape[0] == voxel_map.occupied_count > 0
    assert pages.resident() > full // 4


def test_paging_needs_a_folder_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(MapInputError, match="page folder"):
        VoxelMap(1.0, (-16,) * 3, (16,) * 3).evict(1)
    with pytest.raises(MapInputError):
        VoxelMap(1.0, (-16,) * 3, (16,) * 3, page_folder=tmp_path / "nowhere")


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_what_was_integrated_is_never_unknown_again(
    random_frames: Any, whole: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    voxel_map = VoxelMap(1.0, (-32,) * 3, (32,) * 3, 4, page_folder=tmp_path_factory.mktemp("pages"))
    known = np.zeros((64, 64, 64), bool)
    for frame in random_frames(seed, count=5, cameras=2):
        voxel_map.integrate_frame(frame, REACH)
        voxel_map.evict(1)
        now = whole(voxel_map) != UNKNOWN
        assert not (known & ~now).any()
        known = now
    assert known.any()


def test_poses_of_several_vehicles_fill_one_map(
    small_map: Callable[..., VoxelMap], random_frames: Any, whole: Any
) -> None:
    """Two vehicles' frames of one instant in one call, whichever comes first."""
    one, other = small_map(), small_map()
    first, second = random_frames(5, count=2, cameras=2)
    one.integrate_frame([*first, *second], REACH)
    other.integrate_frame([*second, *first], REACH)
    np.testing.assert_array_equal(whole(one), whole(other))
    assert isinstance(first[0].pose, Pose)
