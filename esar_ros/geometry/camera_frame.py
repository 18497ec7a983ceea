"""A camera's image on its whole way, from the bridge that reads it to the map, and the images of one stamp."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True)
class CameraFrame:
    """One camera's image, its depth and the pose both were taken at; arrays are read-only by agreement."""

    camera: str  # its name
    model: CameraModel
    pose: Pose  # of the optical frame at stamp, in map; in base_link until FrameSet.placed
    depth: NDArray[np.float32]  # (H, W) planar m; +inf nothing in range, NaN invalid, -inf too near
    rgb: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0, 3), np.uint8))  # (H, W, 3), or not drawn
    stamp: float = 0.0  # s
    segmentation: NDArray[np.uint8] | None = None  # (H, W) object ids, simulators only
    pose_covariance: NDArray[np.float64] | None = None  # (6, 6) m^2, rad^2 about the map's axes; not > 0: not stated


def _read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class FrameSet:
    """The images of one vehicle's cameras at one stamp."""

    ns: int
    frames: tuple[CameraFrame, ...]  # in the order of mission.names.CAMERAS; in real time some may be lacking

    def placed(self, ns: int, base: Pose, covariance: NDArray[np.float64] | None) -> FrameSet:
        """Returns the frames that a bridge gave as taken at a stamp (ns) from a pose of base_link in the map.

        covariance: (6, 6) of that pose, about the map's axes. The arrays of what is returned, which many read from
        here on, are read-only views.
        """
        placed = [
            replace(
                frame,
                pose=base.compose(frame.pose),
                stamp=ns * 1e-9,
                pose_covariance=covariance,
                rgb=_read_only(frame.rgb),
                depth=_read_only(frame.depth),
                segmentation=None if frame.segmentation is None else _read_only(frame.segmentation),
            )
            for frame in self.frames
        ]
        return FrameSet(ns, tuple(placed))

    def views(self) -> dict[str, CameraFrame]:
        """Returns the frames by camera as methods see them: without object ids, which are ground truth."""
        return {frame.camera: replace(frame, segmentation=None) for frame in self.frames}
