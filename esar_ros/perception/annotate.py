"""Images with what was detected drawn into them, for people."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.clues import KINDS
from esar_ros.perception.detectors.backend import Detection2D

Colour = tuple[int, int, int]


def colour_of(kind: str) -> Colour:
    """RGB of a kind: hues far apart for neighbours in the list."""
    hue = 0.61803 * KINDS.index(kind) % 1.0
    red, green, blue = (round(255 * value) for value in colorsys.hsv_to_rgb(hue, 0.75, 1.0))
    return red, green, blue


def annotated(rgb: NDArray[np.uint8], detections: Sequence[Detection2D]) -> NDArray[np.uint8]:
    """A copy of an image (H, W, 3) with a box, kind and score for each detection."""
    image = np.ascontiguousarray(rgb).copy()
    height, width = image.shape[:2]
    for detection in detections:
        x, y, across, down = detection.box
        colour = colour_of(detection.kind)
        cv2.rectangle(image, (x - 2, y - 2), (x + across + 1, y + down + 1), colour, 1)
        label = f"{detection.kind} {detection.score:.2f}"
        (wide, high), _ = cv2.getTextSize(label, cv2.FONT_HERSHEY_SIMPLEX, 0.4, 1)
        left = min(max(0, x - 2), max(0, width - wide))
        base = y - 5 if y - 5 - high >= 0 else min(height - 2, y + down + high + 4)
        cv2.rectangle(image, (left, base - high - 1), (left + wide, base + 2), (0, 0, 0), -1)
        cv2.putText(image, label, (left, base), cv2.FONT_HERSHEY_SIMPLEX, 0.4, colour, 1, cv2.LINE_AA)
    return image
