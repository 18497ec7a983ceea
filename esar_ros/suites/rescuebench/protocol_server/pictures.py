"""Pictures of a scene in UnrealCV's formats.

Every file holds bytes that are no UTF-8: the official client takes what can be read as text for text.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.geometry.unreal import CM
from esar_ros.mission.errors import UsageError
from esar_ros.sim.render.renderer import Frame, Renderer
from esar_ros.sim.world.world import World

FORMATS = ("bmp", "png", "npy")
SKY = 65504.0  # cm, depth where nothing is: the largest number of 16-bit floats
_NEAR = 0.04  # m, as for the suite's own pictures

Colour = tuple[int, int, int]  # red, green, blue


def palette_colour(instance: int) -> Colour:
    """Returns the colour of an instance id in masks, until a client sets another; no two are the same."""
    return (37 * instance + 90) % 256, (101 * instance + 17) % 256, instance


class Pictures:
    """Draws a world; every camera has the same size. Belongs to the thread that made it."""

    def __init__(self, world: World, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._world = world
        self._renderer: tuple[float, Renderer] | None = None  # of a field of view; made when somebody looks
        self._last: tuple[object, Frame] | None = None

    def draw(self, moment: object, pose: Pose, fov: float, seconds: float) -> Frame:
        """Returns a frame; fov: rad; moment: what is equal for pictures that are the same. Raises UsageError."""
        if self._last is not None and self._last[0] == (moment, fov):
            return self._last[1]
        if self._renderer is None or self._renderer[0] != fov:
            self.close()
            self._renderer = fov, Renderer(self._world, self.width, self.height, fov, near=_NEAR)
        frame = self._renderer[1].render([pose], seconds)
        self._last = (moment, fov), frame
        return frame

    def close(self) -> None:
        """Give the graphics context back."""
        if self._renderer is not None:
            self._renderer[1].close()
            self._renderer = None


def colour_picture(frame: Frame) -> NDArray[np.uint8]:
    """Returns (H, W, 4) blue, green, red and an alpha of 255."""
    return np.asarray(cv2.cvtColor(frame.rgb[0], cv2.COLOR_RGB2BGRA))


def mask_picture(frame: Frame, colours: Mapping[int, Colour]) -> NDArray[np.uint8]:
    """Returns (H, W, 4) as above: colours by instance id, black for all else."""
    table = np.zeros((256, 4), dtype=np.uint8)
    table[:, 3] = 255
    for instance, (red, green, blue) in colours.items():
        table[instance, :3] = blue, green, red
    return table[frame.ids[0]]


def depth_picture(frame: Frame) -> NDArray[np.float32]:
    """Returns (H, W) cm along the optical axis, SKY for the sky."""
    return np.minimum(frame.depth[0] * np.float32(CM), np.float32(SKY))


def encoded(picture: NDArray[np.uint8] | NDArray[np.float32], how: str) -> bytes:
    """Returns a picture as a file of a format: BMP and PNG with 32 bits a pixel, or NPY."""
    if how == "npy":
        file = io.BytesIO()
        np.save(file, picture, allow_pickle=False)
        return file.getvalue()
    options = [cv2.IMWRITE_PNG_COMPRESSION, 1] if how == "png" else []
    done, data = cv2.imencode(f".{how}", picture, options)
    if not done:
        raise RuntimeError(f"cannot encode a picture as {how}")
    return data.tobytes()


def checked_format(how: str, formats: Sequence[str] = FORMATS) -> str:
    """Returns a format. Raises UsageError for one that there is not."""
    if how not in formats:
        raise UsageError(f"no format '{how[:20]}' of this picture", f"give {', '.join(formats)}")
    return how


def checked_fov(degrees: float) -> float:
    """Returns a field of view in rad. Raises UsageError."""
    if not 5.0 <= degrees <= 170.0:
        raise UsageError(f"a field of view of {degrees:g} degrees", "give 5 to 170")
    return math.radians(degrees)
