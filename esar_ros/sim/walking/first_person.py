"""Images through a walker's eye, and through that of a drone beside it: RGB, depth and ids."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World

FOV = math.radians(110.0)  # horizontal
AIR_FOV = math.radians(90.0)  # horizontal, of the drone
_NEAR = 0.04  # m: the eye is 0.14 m from a wall that its body touches, and sees it aslant


@dataclass(frozen=True, eq=False)
class WalkerImage:
    """One image; arrays are the caller's own."""

    rgb: NDArray[np.uint8]  # (H, W, 3)
    depth: NDArray[np.float32]  # (H, W) m along the optical axis, +inf for sky
    ids: NDArray[np.uint8]  # (H, W) of spawned objects, 0 for all else


class FirstPersonCamera:
    """Draws what is seen in a world. Belongs to the thread that made it. Raises UsageError without OpenGL."""

    def __init__(self, world: World, width: int, height: int, fov: float = FOV) -> None:
        self.model = CameraModel.from_horizontal_fov(width, height, fov)
        self._renderer = Renderer(world, width, height, fov, near=_NEAR)

    def image(self, walker: Walker) -> WalkerImage:
        """Returns what a walker sees."""
        return self.image_from(walker.camera, walker.seconds)

    def image_from(self, camera: Pose, seconds: float) -> WalkerImage:
        """Returns what an optical frame in the map sees, at a time of the simulation (s)."""
        frame = self._renderer.render([camera], seconds)
        return WalkerImage(frame.rgb[0], frame.depth[0], frame.ids[0])

    def close(self) -> None:
        """Give the graphics context back."""
        self._renderer.close()
