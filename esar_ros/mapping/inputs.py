"""Depth images as the map takes them, and what it refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.errors import MapInputError

FARTHEST = 1000.0  # m; finite depth beyond it is taken for millimetres
FUTURE = 0.1  # s that a stamp may lie ahead of the clock
_SAMPLE = 8  # every so many pixels are looked at for it
_NORM_SLACK = 1e-3  # of a unit quaternion


@dataclass(frozen=True)
class Scan:
    """One LiDAR scan: ranges in m, +inf = nothing in range, NaN or not positive = no measurement."""

    directions: NDArray[np.float64]  # (N, 3) unit vectors in the sensor's frame
    ranges: NDArray[np.float64]  # (N,)
    pose: Pose  # of the sensor's frame in map

    @staticmethod
    def of_points(points: ArrayLike, pose: Pose) -> Scan:
        """Returns the scan of points (N, 3) in m in the sensor's frame; non-finite points give no measurement."""
        array = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        ranges = np.linalg.norm(array, axis=1)
        good = np.isfinite(ranges) & (ranges > 0.0)
        directions = np.where(good[:, None], array, (1.0, 0.0, 0.0)) / np.where(good, ranges, 1.0)[:, None]
        return Scan(directions, np.where(good, ranges, np.nan), pose)


def checked_scan(scan: Scan) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions (N, 3) and ranges (N,) of a scan. Raises MapInputError."""
    directions = np.asarray(scan.directions, dtype=np.float64)
    ranges = np.asarray(scan.ranges, dtype=np.float64)
    if directions.ndim != 2 or directions.shape[1] != 3 or ranges.shape != directions.shape[:1]:
        raise MapInputError(
            f"a scan of {directions.shape} directions and {ranges.shape} ranges: (N, 3) and (N,) expected"
        )
    norms = np.linalg.norm(directions, axis=1)
    if not (np.abs(norms - 1.0) < _NORM_SLACK).all():
        raise MapInputError("a scan's directions must be unit vectors")
    refuse_millimetres(ranges, "range")
    return directions, ranges


def refuse_millimetres(lengths: NDArray[Any], what: str) -> None:
    """Raises MapInputError where most lengths are such as metres never are."""
    finite = lengths[np.isfinite(lengths)]
    if len(finite) and np.count_nonzero(finite > FARTHEST) * 2 > len(finite):
        raise MapInputError(
            f"most of the {what} lies beyond {FARTHEST:.0f} m: metres are expected, and +inf where nothing is in range"
        )


def checked_noise(share: float) -> None:
    """A standard deviation of depth as a share of it, at most a tenth. Raises MapInputError."""
    if not 0.0 <= share <= 0.1:
        raise MapInputError(f"not a depth noise: {share}")


def checked_depth(view: CameraFrame) -> NDArray[np.float32]:
    """The image as a writable C-ordered float32 array, so that kernels have one signature. Raises MapInputError."""
    check_view(view)
    return np.require(view.depth, np.float32, ["C", "W"])


def check_view(view: CameraFrame) -> None:
    """Raise MapInputError unless the image is one of metres and belongs to a camera of its size."""
    depth = np.asarray(view.depth)
    if depth.ndim != 2 or depth.dtype.kind != "f":
        raise MapInputError(
            f"depth of shape {depth.shape} and type {depth.dtype}: expected (H, W) floating point metres"
        )
    model = view.model
    if depth.shape != (model.height, model.width):
        raise MapInputError(f"depth of shape {depth.shape} for a camera of {model.width}x{model.height} px")
    numbers = (model.fx, model.fy, model.cx, model.cy)
    if not (all(map(math.isfinite, numbers)) and model.fx > 0.0 and model.fy > 0.0 and depth.size):
        raise MapInputError(f"not a camera: {model}")
    if not (-model.width < model.cx < 2 * model.width and -model.height < model.cy < 2 * model.height):
        raise MapInputError(f"principal point far outside the picture: {model}")
    refuse_millimetres(depth[_SAMPLE // 2 :: _SAMPLE, _SAMPLE // 2 :: _SAMPLE], "depth")


def checked_pose(pose: Pose) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotation (3, 3) and position (3,) of a rigid, finite pose. Raises MapInputError."""
    position = np.asarray(pose.position, dtype=np.float64)
    quaternion = np.asarray(pose.quaternion, dtype=np.float64)
    if position.shape != (3,) or quaternion.shape != (4,) or not pose.is_finite():
        raise MapInputError(f"not a pose: position {position.tolist()}, quaternion {quaternion.tolist()}")
    norm = float(np.linalg.norm(quaternion))
    if abs(norm - 1.0) > _NORM_SLACK:
        raise MapInputError(f"not a rigid transform: its quaternion has the norm {norm:.4f}")
    return np.ascontiguousarray(pose.rotation), position


def checked_stamp(stamp: float | None, now: float | None) -> None:
    """A stamp (s) that is finite and not in the future, as far as both are known. Raises MapInputError."""
    if stamp is None:
        return
    if not math.isfinite(stamp):
        raise MapInputError(f"not a stamp: {stamp} s")
    if now is not None and stamp > now + FUTURE:
        raise MapInputError(f"a frame from the future: its stamp is {stamp - now:.3f} s ahead")


def checked_range(value: float) -> float:
    """A positive, finite range in m. Raises MapInputError."""
    if not (math.isfinite(value) and value > 0.0):
        raise MapInputError(f"not a range: {value} m")
    return float(value)


def checked_points(points: ArrayLike) -> NDArray[np.float64]:
    """Points (N, 3) as finite float64. Raises MapInputError."""
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all():
        raise MapInputError(f"expected finite points of shape (N, 3), got shape {array.shape}")
    return array


def pool_depth(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Halves a depth image by the minimum of each 2x2 pixels; a pixel that frees nothing makes its four so.

    An odd last row or column is dropped. Belongs to CameraModel.scaled(0.5).
    """
    rows, columns = depth.shape[0] // 2 * 2, depth.shape[1] // 2 * 2
    halved = np.minimum(depth[0:rows:2, :columns], depth[1:rows:2, :columns])
    return np.minimum(halved[:, 0::2], halved[:, 1::2])
