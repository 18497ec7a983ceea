"""The accuracy of the voxel map against the world of the mapper's benchmark, with and without errors of the sensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from mapper_world import CAMERAS, World
from numpy.typing import NDArray

from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mapping.map.voxel_map import FREE, OCCUPIED, UNKNOWN, VoxelMap
from esar_ros.mission.vehicle import load_vehicle

REACH = 120.0  # m
LOOKS_AFTER = 10  # frames flown again after trees were taken away
Frame = list[CameraFrame]


def disturbed(frames: list[Frame], depth_noise: float = 0.0, pose_noise: bool = False, late: int = 0) -> list[Frame]:
    """Returns the frames with Gaussian depth noise (share), pose noise (0.1 m, 0.3 degrees), or late poses."""
    rng = np.random.default_rng(7)
    out = []
    for n, frame in enumerate(frames):
        shift = rng.normal(0.0, 0.1, 3) if pose_noise else np.zeros(3)
        turn = Pose(shift, quaternion_from_rpy(*(rng.normal(0.0, math.radians(0.3), 3) * pose_noise)))
        views = []
        for view, old in zip(frame, frames[max(0, n - late)], strict=True):
            noise = 1.0 + depth_noise * rng.standard_normal(view.depth.shape)
            pose = Pose(old.pose.position + turn.position, turn.compose(old.pose).quaternion)
            views.append(replace(view, depth=(view.depth * noise).astype(np.float32), pose=pose))
        out.append(views)
    return out


def located_by_odometry(frames: list[Frame], poses: Sequence[Pose], period: float) -> list[Frame]:
    """Returns the frames at the poses of the simulator's odometry with its slow errors."""
    error = OdometryError(load_vehicle().odometry_error, 3, "uav1")
    out = []
    for n, (frame, true) in enumerate(zip(frames, poses, strict=True)):
        estimated = error.estimate(int(n * period * 1e9), true, np.zeros(3)).pose
        correction = estimated.compose(true.inverse())
        out.append([replace(view, pose=correction.compose(view.pose)) for view in frame])
    return out


def whole(voxel_map: VoxelMap) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Returns the first voxel and the classes of the box that is known."""
    known = voxel_map.known_blocks() * 16
    low = known.min(axis=0) + voxel_map.first_cell
    nx, ny, nz = (int(n) for n in known.max(axis=0) + 16 - known.min(axis=0))
    return low, voxel_map.window(low, (nx, ny, nz))


def accuracy(world: World, frames: list[Frame], clean: list[Frame], depth_noise: float = 0.0) -> dict[str, float]:
    """Returns the accuracy of a map made from frames, against the world that the clean frames show; see compared."""
    voxel_map = VoxelMap()
    for frame in frames:
        voxel_map.integrate_frame(frame, REACH, depth_noise)
    return compared(world, *whole(voxel_map), clean)


def compared(world: World, low: NDArray[np.int64], state: NDArray[np.uint8], clean: list[Frame]) -> dict[str, float]:
    """Returns the accuracy of classes (nx, ny, nz) of the voxels of 1 m from `low` on.

    Strict precision: occupied voxels that hold something solid. Recall: voxels in which pixels of at
    least three clean frames end that are occupied. Freed: voxels at least half solid that are free.
    """
    nx, ny, nz = state.shape
    solid = world.solid(low, (nx, ny, nz))
    seen = np.zeros(state.shape, np.int16)
    for frame in clean:
        hit = np.zeros(state.shape, np.bool_)
        for view in frame:
            depth = view.depth.astype(np.float64)
            rays = view.model.rays()
            valid = np.isfinite(depth) & (depth * np.linalg.norm(rays, axis=-1) <= REACH)
            points = view.pose.apply(rays[valid] * depth[valid][:, None])
            cell = np.floor(points).astype(np.int64) - low
            cell = cell[((cell >= 0) & (cell < state.shape)).all(axis=1)]
            hit[tuple(cell.T)] = True
        seen += hit
    occupied, half = state == OCCUPIED, (solid >= 4) & (solid <= 8)
    often = seen >= 3
    return {
        "strict precision": float((occupied & (solid > 0)).sum() / occupied.sum()),
        "recall": float((occupied & often).sum() / often.sum()),
        "solid voxels freed share": float(((state == FREE) & half).sum() / (half & (state != UNKNOWN)).sum()),
    }


def removed_obstacles(frames: list[Frame], poses: Sequence[Pose], reach: float = REACH) -> dict[str, float]:
    """Returns the share left of trees that were cut, from flights over the same ground with and then without them."""
    voxel_map = VoxelMap()
    for frame in frames:
        for _ in range(3):
            voxel_map.integrate_frame(frame, reach)
    low, before = whole(voxel_map)
    bare = World(trees=0)
    empty = [[bare.view(pose, camera, frames[0][0].model, reach) for camera in CAMERAS] for pose in poses]
    seen_through = np.zeros(before.shape, np.bool_)
    other = VoxelMap()
    for frame in empty:
        other.integrate_frame(frame, reach)
    nx, ny, nz = before.shape
    solid = bare.solid(low, (nx, ny, nz))
    seen_through = other.window(low, (nx, ny, nz)) == FREE
    cut = (before == OCCUPIED) & (solid == 0) & seen_through
    figures = {"voxels of trees cut": float(cut.sum())}
    looks = 0
    while looks < LOOKS_AFTER:
        for frame in empty:
            voxel_map.integrate_frame(frame, reach)
        looks += 1
        left = (voxel_map.window(low, (nx, ny, nz)) == OCCUPIED) & cut
        if looks in (1, 3, LOOKS_AFTER):
            figures[f"cut trees left after {looks} flights, share"] = float(left.sum() / cut.sum())
    return figures
