"""AirSim's dictionaries: built for calls and read from answers, in AirSim's own frames (NED, FRD)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector

# Image types
SCENE, DEPTH_PLANAR, DEPTH_PERSPECTIVE, DEPTH_VIS, DISPARITY, SEGMENTATION = range(6)
THERMAL = 100  # the embedded simulator's own
# DrivetrainType
MAX_DEGREE_OF_FREEDOM, FORWARD_ONLY = 0, 1
# LandedState
LANDED, FLYING = 0, 1
NO_DEPTH = 65504.0  # m; what a depth image holds where nothing is in range (the largest half float)


def vector3r(values: Sequence[float] | Vector) -> dict[str, float]:
    """A Vector3r of three numbers."""
    x, y, z = (float(v) for v in values)
    return {"x_val": x, "y_val": y, "z_val": z}


def quaternionr(values: Sequence[float] | Vector) -> dict[str, float]:
    """A Quaternionr of (w, x, y, z)."""
    w, x, y, z = (float(v) for v in values)
    return {"w_val": w, "x_val": x, "y_val": y, "z_val": z}


def from_vector3r(value: Mapping[str, float]) -> Vector:
    """Three numbers of a Vector3r."""
    return np.array([value["x_val"], value["y_val"], value["z_val"]], dtype=np.float64)


def from_quaternionr(value: Mapping[str, float]) -> Vector:
    """(w, x, y, z) of a Quaternionr."""
    return np.array([value["w_val"], value["x_val"], value["y_val"], value["z_val"]], dtype=np.float64)


def yaw_mode(value: float, is_rate: bool) -> dict[str, Any]:
    """Degrees or degrees a second, clockwise from north."""
    return {"is_rate": is_rate, "yaw_or_rate": float(value)}


def image_request(camera: str, kind: int, as_float: bool = False, compress: bool = False) -> dict[str, Any]:
    """An ImageRequest; depth needs as_float."""
    return {"camera_name": camera, "image_type": kind, "pixels_as_float": as_float, "compress": compress}


def image_pixels(response: Mapping[str, Any]) -> NDArray[Any]:
    """Returns the pixels of an answer of simGetImages: (H, W, 3) BGR uint8, (H, W) float32, or (n,) uint8 of a PNG.

    They are a view of what was received. Raises ValueError for a wrong size.
    """
    shape: tuple[int, ...] = (int(response["height"]), int(response["width"]))
    if response["pixels_as_float"]:
        pixels: NDArray[Any] = np.asarray(response["image_data_float"], dtype=np.float32)
    else:
        pixels = np.frombuffer(response["image_data_uint8"], dtype=np.uint8)
        shape = (*shape, 3) if not response["compress"] else (pixels.size,)
    return pixels.reshape(shape)


def lidar_points(response: Mapping[str, Any]) -> NDArray[np.float32]:
    """Points (N, 3) of a LidarData, m, in its data frame (FRD of the sensor, or NED of the vehicle)."""
    cloud = np.asarray(response["point_cloud"], dtype=np.float32)
    return cloud[: cloud.size - cloud.size % 3].reshape(-1, 3)  # AirSim sends one float when it saw nothing
