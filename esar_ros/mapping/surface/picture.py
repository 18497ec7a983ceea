"""A view of a surface from above at an angle, by casting rays: it needs neither a screen nor a graphics card."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.mapping.surface.fusion import Mesh, load_open3d

PITCH = math.radians(42.0)  # of the look, below level
VIEW = math.radians(40.0)  # horizontal field of view
ROOM = 1.05  # share of the surface's extent that the image has room for
SPAN = (
    1.0,
    99.0,
)  # percentiles between which the surface's extent is taken: a far streak is not to make the rest small
BACKGROUND = (243, 245, 246)  # of the report's page


def view_from_above(mesh: Mesh, width: int, height: int) -> NDArray[np.uint8]:
    """Returns a picture (height, width, 3) of a mesh in its own colours, seen towards north; background where none is.

    Raises UsageError where Open3D is absent.
    """
    open3d = load_open3d()
    picture = np.full((height, width, 3), BACKGROUND, np.uint8)
    if not len(mesh.triangles):
        return picture
    low, high = np.percentile(mesh.points, SPAN, axis=0)
    middle = (low + high) / 2.0
    camera = CameraModel.from_horizontal_fov(width, height, VIEW)
    turn = optical_rotation(math.pi / 2.0, -PITCH)  # towards north, down
    right, down, along = ((mesh.points - middle) @ turn).T
    needed = np.maximum(np.abs(right), np.abs(down) * width / height) / math.tan(VIEW / 2.0) - along
    away = ROOM * float(np.percentile(needed, SPAN[1]))
    rays = np.empty((height, width, 6), np.float32)
    rays[..., :3], rays[..., 3:] = -away * turn[:, 2], camera.rays() @ turn.T
    scene = open3d.t.geometry.RaycastingScene()
    tensor = open3d.core.Tensor
    scene.add_triangles(tensor((mesh.points - middle).astype(np.float32)), tensor(mesh.triangles))
    cast = scene.cast_rays(tensor(rays))
    hit = np.isfinite(cast["t_hit"].numpy())
    corners = mesh.colours[mesh.triangles[cast["primitive_ids"].numpy()[hit]]].astype(np.float32)  # (N, 3, 3)
    second, third = cast["primitive_uvs"].numpy()[hit].T
    shares = np.stack([1.0 - second - third, second, third], axis=-1)
    picture[hit] = np.rint((corners * shares[..., None]).sum(axis=1)).clip(0, 255)
    return picture
