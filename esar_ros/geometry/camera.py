"""Pinhole camera: intrinsics, rays and projection in the optical frame (x right, y down, z forward)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Columns are the optical frame's axes (right, down, forward) in a FLU camera body.
_OPTICAL_IN_BODY = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True)
class CameraModel:
    """Undistorted pinhole intrinsics in px; the centre of the top left pixel is (0.5, 0.5)."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @staticmethod
    def from_horizontal_fov(width: int, height: int, fov: float) -> CameraModel:
        """Square pixels, centred principal point, horizontal field of view fov in rad."""
        if not (width > 0 and height > 0 and 0.0 < fov < math.pi):
            raise ValueError(f"no camera has {width}x{height} px and a field of view of {fov} rad")
        focal = width / (2.0 * math.tan(fov / 2.0))
        return CameraModel(width, height, focal, focal, width / 2.0, height / 2.0)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """3x3 intrinsic matrix K."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def scaled(self, factor: float) -> CameraModel:
        """The same camera seen at factor times the resolution."""
        return CameraModel(
            round(self.width * factor),
            round(self.height * factor),
            self.fx * factor,
            self.fy * factor,
            self.cx * factor,
            self.cy * factor,
        )

    def rays(self) -> NDArray[np.float64]:
        """Directions through pixel centres with z = 1, shape (height, width, 3)."""
        u = (np.arange(self.width) + 0.5 - self.cx) / self.fx
        v = (np.arange(self.height) + 0.5 - self.cy) / self.fy
        grid = np.empty((self.height, self.width, 3))
        grid[..., 0] = u[None, :]
        grid[..., 1] = v[:, None]
        grid[..., 2] = 1.0
        return grid

    def project(self, points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Pixels (..., 2) of optical-frame points (..., 3) and whether each is in the image."""
        p = np.asarray(points, dtype=np.float64)
        z = p[..., 2]
        front = z > 1e-6
        safe = np.where(front, z, 1.0)
        uv = np.stack([self.fx * p[..., 0] / safe + self.cx, self.fy * p[..., 1] / safe + self.cy], axis=-1)
        inside = front & (uv[..., 0] >= 0) & (uv[..., 0] < self.width) & (uv[..., 1] >= 0) & (uv[..., 1] < self.height)
        return uv, inside

    def back_project(self, pixels: ArrayLike, depth: ArrayLike) -> NDArray[np.float64]:
        """Optical-frame points (..., 3) of pixel positions (..., 2) at planar depth (m, along z)."""
        uv = np.asarray(pixels, dtype=np.float64)
        z = np.asarray(depth, dtype=np.float64)
        return np.stack([(uv[..., 0] - self.cx) / self.fx * z, (uv[..., 1] - self.cy) / self.fy * z, z], axis=-1)


def optical_rotation(yaw: float, pitch: float) -> NDArray[np.float64]:
    """Rotation of an optical frame in FLU base_link: turned left by yaw, then nose up by pitch (rad).

    Pitch -pi/2 looks straight down with the image's top towards yaw.
    """
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    turn = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    tilt = np.array([[cp, 0.0, -sp], [0.0, 1.0, 0.0], [sp, 0.0, cp]])
    return turn @ tilt @ _OPTICAL_IN_BODY
