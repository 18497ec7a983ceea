"""Images of one moment as agents are given them, whatever draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.suites.uav_on.settings import SuiteSettings


class Images:
    """Images of one moment (object_goal.StepViews); holds no more of the world than the functions that draw them."""

    def __init__(
        self,
        settings: SuiteSettings,
        told: Pose,
        colour: Callable[[], NDArray[np.uint8]],
        depth: Callable[[], NDArray[np.float32]],
        labels: Callable[[], Sequence[Mapping[str, int]]],
    ) -> None:
        """told: the vehicle's pose as the agent is told it. Functions answer a row a camera, in the settings' order."""
        self.model = CameraModel.from_horizontal_fov(settings.depth, settings.depth, math.radians(settings.fov_deg))
        self.poses = {name: told.compose(mount.pose) for name, mount in settings.cameras.items()}
        self._colour, self._depth, self._labels = colour, depth, labels

    @cached_property
    def colour(self) -> Mapping[str, NDArray[np.uint8]]:
        """(H, W, 3) RGB by camera."""
        return dict(zip(self.poses, self._colour(), strict=True))

    @cached_property
    def depth(self) -> Mapping[str, NDArray[np.float32]]:
        """(h, w) m along the ray of each pixel, by camera."""
        return dict(zip(self.poses, self._depth(), strict=True))

    @cached_property
    def labels(self) -> Mapping[str, Mapping[str, int]]:
        """Pixels by words of each object seen, by camera. Raises PermissionError where the agent may not ask."""
        return dict(zip(self.poses, self._labels(), strict=True))


def quantised(depth: NDArray[np.float32], reach: float) -> NDArray[np.float32]:
    """Depth (m) as the public code gives it: clipped to reach (m) and kept as whole 255ths of it, rounded down."""
    grey = np.floor(np.clip(depth, 0.0, reach) / reach * 255.0)
    return np.asarray(grey / 255.0 * reach, dtype=np.float32)
