"""Pixel labels of the objects detected in an image, for the class layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import check_view
from esar_ros.mission.clues import KINDS

LABELS = {kind: number for number, kind in enumerate(KINDS, 1)}  # of the class layer; 0 is none
_MIN_THICKNESS = 0.5  # m in front of and behind the object's middle that are its own


@dataclass(frozen=True)
class SeenObject:
    """One detection in one image: its box (x, y, width, height; px), its middle (3,) m in the map, its label."""

    box: tuple[int, int, int, int]
    position: Vector
    label: int  # 1 .. 255


def object_labels(view: CameraFrame, objects: Sequence[SeenObject]) -> NDArray[np.uint8]:
    """Returns labels (H, W) of an image's pixels, 0 where nothing was detected. Raises MapInputError.

    Of a box those pixels are the object's whose depth is that of its middle, within half of the box's greater edge
    (m, at that depth): a box also holds ground. Where objects overlap the nearer one is seen.
    """
    check_view(view)
    labels = np.zeros(view.depth.shape, np.uint8)
    rotation, origin = view.pose.rotation, view.pose.position
    along = [float((thing.position - origin) @ rotation[:, 2]) for thing in objects]
    for middle, thing in sorted(zip(along, objects, strict=True), key=lambda pair: -pair[0]):
        if not 1 <= thing.label <= 255:
            raise MapInputError(f"not a label of an object: {thing.label}")
        x, y, width, height = thing.box
        window = (slice(max(y, 0), max(y + height, 0)), slice(max(x, 0), max(x + width, 0)))
        reach = max(_MIN_THICKNESS, 0.5 * max(width, height) * middle / view.model.fx)
        with np.errstate(invalid="ignore"):
            own = np.abs(view.depth[window] - middle) <= reach
        labels[window][own] = thing.label
    return labels
