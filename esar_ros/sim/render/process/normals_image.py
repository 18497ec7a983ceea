"""World normals of a depth image: the plane through each pixel and its neighbours on the same surface."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose


def surface_normals_ned(depth: NDArray[np.float32], pose: Pose, camera: CameraModel) -> NDArray[np.uint8]:
    """RGB (H, W, 3) = (n + 1) / 2 of the unit normal n (north, east, down) of planar depth (H, W); sky black.

    pose: the camera's optical frame in the map. Beside a silhouette the nearer of both neighbours counts.
    """
    out = np.zeros((*depth.shape, 3), dtype=np.uint8)
    _normals(depth, camera.rays().astype(np.float64), pose.rotation, out)
    return out


@njit(cache=True, nogil=True)
def _normals(depth, rays, rotation, out):  # type: ignore[no-untyped-def]
    height, width = depth.shape
    across = np.empty((2, 3))
    for j in range(height):
        for i in range(width):
            d = depth[j, i]
            if not d < 1e9:
                continue
            for axis in range(2):
                dj, di = (0, 1) if axis == 0 else (1, 0)
                best = 1e18
                sign = 0.0
                for s in (1, -1):
                    a, b = j + s * dj, i + s * di
                    if 0 <= a < height and 0 <= b < width and abs(depth[a, b] - d) < best:
                        best = abs(depth[a, b] - d)
                        sign = float(s)
                if sign == 0.0:
                    best = 0.0
                    sign = 1.0
                a = min(height - 1, max(0, j + int(sign) * dj))
                b = min(width - 1, max(0, i + int(sign) * di))
                other = depth[a, b] if depth[a, b] < 1e9 else d
                for k in range(3):
                    across[axis, k] = sign * (rays[a, b, k] * other - rays[j, i, k] * d)
            nx = across[0, 1] * across[1, 2] - across[0, 2] * across[1, 1]
            ny = across[0, 2] * across[1, 0] - across[0, 0] * across[1, 2]
            nz = across[0, 0] * across[1, 1] - across[0, 1] * across[1, 0]
            facing = nx * rays[j, i, 0] + ny * rays[j, i, 1] + nz * rays[j, i, 2]
            long = math.sqrt(nx * nx + ny * ny + nz * nz)
            if long < 1e-12:
                continue
            long = -long if facing > 0.0 else long
            east = (rotation[0, 0] * nx + rotation[0, 1] * ny + rotation[0, 2] * nz) / long
            north = (rotation[1, 0] * nx + rotation[1, 1] * ny + rotation[1, 2] * nz) / long
            up = (rotation[2, 0] * nx + rotation[2, 1] * ny + rotation[2, 2] * nz) / long
            out[j, i, 0] = int(127.5 * (north + 1.0) + 0.5)
            out[j, i, 1] = int(127.5 * (east + 1.0) + 0.5)
            out[j, i, 2] = int(127.5 * (1.0 - up) + 0.5)
