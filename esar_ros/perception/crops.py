"""The best image of each object, as a small JPEG for reports and for people who check them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.perception.detectors.backend import Detection2D

SIDE = 128  # px, longest side of a kept image
MARGIN = 0.5  # of the box's longer side, shown around it
MIN_MARGIN = 8  # px
BETTER = 1.3  # how much larger the shown object must be to replace the kept image
_QUALITY = 80


@dataclass(frozen=True)
class _Kept:
    worth: float
    jpeg: bytes


class Crops:
    """Best images by object id: larger and surer is better, cut by the border counts half."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}

    def get(self, identity: int) -> bytes | None:
        """JPEG of an object, None of one never shown."""
        kept = self._kept.get(identity)
        return None if kept is None else kept.jpeg

    def offer(self, identity: int, detection: Detection2D, frame: CameraFrame) -> bool:
        """Keep the image if it is clearly better than the kept one; whether it was."""
        x, y, width, height = detection.box
        at_border = x <= 0 or y <= 0 or x + width >= frame.rgb.shape[1] or y + height >= frame.rgb.shape[0]
        worth = width * height * detection.score * (0.5 if at_border else 1.0)
        kept = self._kept.get(identity)
        if kept is not None and worth < BETTER * kept.worth:
            return False
        jpeg = _jpeg(_cut(detection, frame.rgb))
        if jpeg is None:
            return False
        self._kept[identity] = _Kept(worth, jpeg)
        return True

    def merge(self, merged: Mapping[int, int]) -> None:
        """Objects that were found to be one: id that is no more -> the one it is."""
        for gone, stays in merged.items():
            mine = self._kept.pop(gone, None)
            theirs = self._kept.get(stays)
            if mine is not None and (theirs is None or mine.worth > theirs.worth):
                self._kept[stays] = mine


def _cut(detection: Detection2D, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    x, y, width, height = detection.box
    margin = max(MIN_MARGIN, round(MARGIN * max(width, height)))
    return rgb[max(0, y - margin) : max(0, y + height + margin), max(0, x - margin) : max(0, x + width + margin)]


def _jpeg(image: NDArray[np.uint8]) -> bytes | None:
    if image.size == 0:
        return None
    shrink = min(1.0, SIDE / max(image.shape[:2]))
    if shrink < 1.0:
        size = (max(1, round(image.shape[1] * shrink)), max(1, round(image.shape[0] * shrink)))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    done, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(data) if done else None
