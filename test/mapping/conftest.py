"""Small worlds and cameras for the tests of the map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mapping.map.voxel_map import VoxelMap

REACH = 30.0  # m
SPAN = 32.0  # m, half the edge of the small world


@pytest.fixture(scope="session")
def camera() -> CameraModel:
    return CameraModel.from_horizontal_fov(40, 30, np.pi / 2)


@pytest.fixture(scope="session")
def small_map() -> Callable[..., VoxelMap]:
    """A cube of 64 m around the origin."""

    def make(resolution: float = 1.0, reserved_blocks: int = 64) -> VoxelMap:
        return VoxelMap(resolution, (-SPAN,) * 3, (SPAN,) * 3, reserved_blocks)

    return make


@pytest.fixture(scope="session")
def look() -> Callable[..., Pose]:
    """Pose of an optical frame at a position, looking along yaw and pitch (rad)."""

    def make(position: tuple[float, float, float], yaw: float, pitch: float) -> Pose:
        return Pose(np.array(position, dtype=float), quaternion_from_rotation(optical_rotation(yaw, pitch)))

    return make


@pytest.fixture(scope="session")
def random_frames(camera: CameraModel) -> Callable[..., list[list[CameraFrame]]]:
    """Frames of a seed: smooth random surfaces with invalid, too near and no-return pixels, any attitude."""

    def make(seed: int, count: int = 2, cameras: int = 3) -> list[list[CameraFrame]]:
        rng = np.random.default_rng(seed)
        return [[_random_view(rng, camera) for _ in range(cameras)] for _ in range(count)]

    return make


def _random_view(rng: np.random.Generator, camera: CameraModel) -> CameraFrame:
    coarse = rng.uniform(2.0, 40.0, (camera.height // 10 + 1, camera.width // 10 + 1))
    depth = np.kron(coarse, np.ones((10, 10)))[: camera.height, : camera.width]
    depth += rng.normal(0.0, rng.uniform(0.0, 2.0), depth.shape)
    kind = rng.uniform(0.0, 1.0, depth.shape)
    depth[kind < 0.02] = np.nan
    depth[(kind > 0.02) & (kind < 0.03)] = -np.inf
    depth[(kind > 0.03) & (kind < 0.1)] = np.inf
    if rng.uniform() < 0.3:
        depth[:] = np.inf
    quaternion = rng.normal(size=4)
    pose = Pose(rng.uniform(-20.0, 20.0, 3), quaternion / np.linalg.norm(quaternion))
    return CameraFrame("front", camera, pose, depth.astype(np.float32))


@pytest.fixture(scope="session")
def whole() -> Callable[[VoxelMap], NDArray[np.uint8]]:
    """Classes of all voxels of a map."""

    def cut(voxel_map: VoxelMap) -> NDArray[np.uint8]:
        nx, ny, nz = (int(n) for n in voxel_map.shape)
        return voxel_map.window(voxel_map.first_cell, (nx, ny, nz))

    return cut


@pytest.fixture(scope="session")
def voxel_centers() -> Callable[[VoxelMap], NDArray[np.float64]]:
    """Centres (N, 3) in m of all voxels of a map, in C order."""

    def make(voxel_map: VoxelMap) -> NDArray[np.float64]:
        index = np.indices(tuple(int(n) for n in voxel_map.shape)).reshape(3, -1).T
        return (index + 0.5) * voxel_map.resolution + voxel_map.lower

    return make
