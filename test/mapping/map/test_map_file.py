"""Saving and loading are exact, and no other file is taken for a map."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mapping.map.voxel_map import MapInputError, VoxelMap

REACH = 30.0


@pytest.fixture(scope="module")
def saved(
    small_map: Callable[..., VoxelMap],
    random_frames: Any,
    camera: CameraModel,
    look: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """A map with free tiles, and its file."""
    voxel_map = small_map()
    for frame in random_frames(11, count=8):
        for _ in range(5):
            voxel_map.integrate_frame(frame, REACH)
    nothing = np.full((camera.height, camera.width), np.inf, np.float32)
    for _ in range(14):
        voxel_map.integrate_frame([CameraFrame("front", camera, look((-30.0, 0.0, 0.0), 0.0, 0.0), nothing)], 60.0)
    assert (voxel_map.blocks.table == 0).any()
    path = tmp_path_factory.mktemp("map") / "map.vox"
    voxel_map.save(path)
    return voxel_map, path


def test_round_trip_is_exact(saved: Any, random_frames: Any, voxel_centers: Any, tmp_path: Path) -> None:
    voxel_map, path = saved
    loaded = VoxelMap.load(path)
    centers = voxel_centers(voxel_map)
    np.testing.assert_array_equal(loaded.log_odds(centers), voxel_map.log_odds(centers))
    assert (loaded.free_count, loaded.occupied_count) == (voxel_map.free_count, voxel_map.occupied_count)
    np.testing.assert_array_equal(loaded.lower, voxel_map.lower)
    loaded.save(tmp_path / "again.vox")
    assert (tmp_path / "again.vox").read_bytes() == path.read_bytes()
    # Both go on alike.
    other = VoxelMap.load(path)
    for frame in random_frames(12):
        loaded.integrate_frame(frame, REACH)
        other.integrate_frame(frame, REACH)
    loaded.save(tmp_path / "one.vox")
    other.save(tmp_path / "other.vox")
    assert (tmp_path / "one.vox").read_bytes() == (tmp_path / "other.vox").read_bytes() != path.read_bytes()


def test_an_empty_map_round_trips(tmp_path: Path) -> None:
    VoxelMap(0.5, (0, 0, 0), (8, 8, 8)).save(tmp_path / "empty.vox")
    assert VoxelMap.load(tmp_path / "empty.vox").free_count == 0


@settings(deadline=None, max_examples=40)
@given(share=st.floats(0.0, 1.0, exclude_max=True))
def test_truncated_files_are_refused(saved: Any, tmp_path_factory: pytest.TempPathFactory, share: Any) -> None:
    raw = saved[1].read_bytes()
    path = tmp_path_factory.mktemp("cut") / "cut.vox"
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(MapInputError):
        VoxelMap.load(path)


@settings(deadline=None, max_examples=60)
@given(share=st.floats(0.0, 1.0, exclude_max=True), bit=st.integers(0, 7))
def test_damage_in_the_blocks_is_refused(
    saved: Any, tmp_path_factory: pytest.TempPathFactory, share: Any, bit: Any
) -> None:
    raw = bytearray(saved[1].read_bytes())
    start = 12 + int.from_bytes(raw[8:12], "little")
    raw[start + int((len(raw) - start) * share)] ^= 1 << bit
    path = tmp_path_factory.mktemp("damaged") / "damaged.vox"
    path.write_bytes(raw)
    try:
        loaded = VoxelMap.load(path)
    except MapInputError:
        return
    # Flags of the frame that do not matter may differ, the map must not.
    np.testing.assert_array_equal(loaded.blocks.table > 0, VoxelMap.load(saved[1]).blocks.table > 0)
    assert loaded.free_count == saved[0].free_count


HEADER = '{"resolution": %s, "first_cell": [0, 0, 0], "shape": [%d, %d, 100], "tiles": 0, "blocks": %d}'


def with_header(header: Any) -> Any:
    return b"esarvox1" + struct.pack("<I", len(header)) + header.encode() + b"esarvend"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"esarvox1",
        b"esarvox1\x04\x00\x00\x00{}{}",
        b"esarvox1\xff\xff\xff\xff",
        b"PK\x03\x04 something else",
        b"esarvox1\x02\x00\x00\x00{}",
        b"esarvox1\x06\x00\x00\x00[1, 2]",
        with_header("[" * 4000),
        with_header(HEADER % ("9" * 3900, 1, 1, 1)),
        with_header(HEADER % ("1" + "0" * 400, 1, 1, 1)),
        with_header(HEADER % ("0.5", 10_000, 10_000, 1)),
        with_header(HEADER % ("0.5", 1_000, 1_000, 10_000_000)),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "foreign.vox"
    path.write_bytes(content)
    with pytest.raises(MapInputError):
        VoxelMap.load(path)


def test_an_older_file_survives_a_failed_save(saved: Any, tmp_path: Path) -> None:
    path = tmp_path / "map.vox"
    path.write_bytes(saved[1].read_bytes())
    (tmp_path / "map.vox.part").mkdir()
    with pytest.raises(OSError):
        saved[0].save(path)
    assert path.read_bytes() == saved[1].read_bytes()
