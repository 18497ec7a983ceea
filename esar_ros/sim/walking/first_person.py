"""Images through a walker's eye: RGB, depth and ids."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World

FOV = math.radians(110.0)  # horizontal
_NEAR = 0.04  # m: the eye is 0.14 m from a wall that its body touches, and sees it aslant


@dataclass(frozen=True, eq=False)
class WalkerImage:
    """One image; arrays are the caller's own."""

    rgb: NDArray[np.uint8]  # (H, W, 3)
    depth: NDArray[np.float32]  # (H, W) m along the optical axis, +inf for sky
    ids: NDArray[np.uint8]  # (H, W) of spawned objects, 0 for all else


class FirstPersonCamera:
    """Draws what walkers in a world see. Belongs to the thread that made it. Raises UsageError without OpenGL."""

    def __init__(self, world: World, width: int, height: int) -> None:
        self.model = CameraModel.from_horizontal_fov(width, height, FOV)
        self._renderer = Renderer(world, width, height, FOV, near=_NEAR)

    def image(self, walker: Walker) -> WalkerImage:
        """Returns what a walker sees."""
        frame = self._renderer.render([walker.camera], walker.seconds)
        return WalkerImage(frame.rgb[0], frame.depth[0], frame.ids[0])

    def close(self) -> None:
        """Give the graphics context back."""
        self._renderer.close()
