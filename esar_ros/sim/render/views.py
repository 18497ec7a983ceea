"""A camera's view as the renderer needs it: frustum planes, clip matrix and the shader's uniform block."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.sim.render.shaders.common import LAMPS

NEAR, FAR = 0.15, 12_000.0  # m, clip planes; around imported maps more is seen
SHARED_FLOATS = 13 * 4 + 3 * LAMPS * 4  # of the Frame block, in common to the views of a frame
UNIFORM_FLOATS = 2 * 16 + SHARED_FLOATS


@dataclass(frozen=True, eq=False)
class View:
    """Pinhole view from an optical frame (x right, y down, z forward) in the map."""

    eye: NDArray[np.float64]  # (3,) m
    axes: NDArray[np.float64]  # (3, 3) rows right, down, forward in the map
    half_width: float  # tangent of half the horizontal field of view
    half_height: float
    width: int  # px
    near: float = NEAR  # m, of the plane in front of which nothing is drawn
    far: float = FAR  # m, of the plane behind which nothing is drawn

    @staticmethod
    def of(pose: Pose, width: int, height: int, fov: float, near: float = NEAR, far: float = FAR) -> View:
        """View of a camera of width x height px and a horizontal field of view in rad."""
        tangent = math.tan(fov / 2)
        position = np.asarray(pose.position, dtype=np.float64)
        return View(position, pose.rotation.T, tangent, tangent * height / width, width, near, far)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """4x4 from the map frame to clip space; image row 0 is at y = -1."""
        camera = np.eye(4)
        camera[:3, :3] = self.axes
        camera[:3, 3] = -self.axes @ self.eye
        clip = np.zeros((4, 4))
        clip[0, 0] = 1.0 / self.half_width
        clip[1, 1] = 1.0 / self.half_height
        clip[2, 2] = (self.far + self.near) / (self.far - self.near)
        clip[2, 3] = -2.0 * self.far * self.near / (self.far - self.near)
        clip[3, 2] = 1.0
        return clip @ camera

    @property
    def planes(self) -> NDArray[np.float64]:
        """(5, 4) frustum planes, unit normals inwards: sides and the plane through the eye."""
        right, down, forward = self.axes
        normals = np.array(
            [
                forward * self.half_width + right,
                forward * self.half_width - right,
                forward * self.half_height + down,
                forward * self.half_height - down,
                forward,
            ]
        )
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return np.column_stack([normals, -normals @ self.eye])

    def uniforms(self, shared: NDArray[np.float32], shadow_matrix: NDArray[np.float64]) -> bytes:
        """The Frame block of the shaders (std140); shared: what all views of a frame have in common."""
        block = np.empty(UNIFORM_FLOATS, dtype=np.float32)
        block[:16] = self.matrix.T.ravel()
        block[16:32] = shadow_matrix.T.ravel()
        block[32:] = shared
        right, down, forward = self.axes
        block[32:35], block[36:39] = self.eye, forward
        block[40:43], block[44:47] = right * self.half_width, down * self.half_height
        return block.tobytes()


def sun_matrix(centre: NDArray[np.float64], to_sun: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """4x4 orthographic clip matrix looking down the sun's rays at a square of half side reach (m) about centre."""
    side = np.cross(to_sun, [0.0, 0.0, 1.0] if abs(to_sun[2]) < 0.95 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    up = np.cross(side, to_sun)
    depth = 3.0 * reach
    rows = np.array([side / reach, up / reach, -to_sun / depth])
    matrix = np.eye(4)
    matrix[:3, :3] = rows
    matrix[:3, 3] = -rows @ centre
    return matrix
