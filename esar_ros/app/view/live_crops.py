"""A small image of each clue, cut from the cameras' images where the detector saw it best."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.app.view.encode import encode_jpeg

KEPT_IMAGES = 8  # four cameras of two frames: a frame's detections may come before or after its images
MARGIN = 0.6  # of the box, around it on each side
SIDE = 112  # px of a crop
MIN_BOX = 6  # px, longer side; below that there is nothing to see
NEAR = 15.0  # m between a detection and the clue it belongs to, at most
BETTER = 1.25  # times the box's longer side that makes a new crop worth cutting
QUALITY = 82  # of JPEG


@dataclass(frozen=True)
class Crop:
    """A clue's image and the longer side of the box (px) that it was cut for."""

    jpeg: bytes
    size: int
    serial: int


class Crops:
    """Matches detections to clues and to the images of their stamp."""

    def __init__(self) -> None:
        self._images: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._waiting: OrderedDict[int, list[Any]] = OrderedDict()  # detections by stamp
        self._crops: dict[int, Crop] = {}
        self._serial = 0

    def image(self, ns: int, camera: str, jpeg: bytes) -> None:
        """Keep a camera's image for a moment."""
        self._images[ns, camera] = jpeg
        while len(self._images) > KEPT_IMAGES:
            self._images.popitem(last=False)

    def detections(self, ns: int, detections: Iterable[Any]) -> None:
        """Keep a frame's detections with a position until its images and clues are there."""
        self._waiting[ns] = [d for d in detections if d.has_position and max(d.width, d.height) >= MIN_BOX]
        while len(self._waiting) > 2:
            self._waiting.popitem(last=False)

    def cut(self, clues: Iterable[Any]) -> bool:
        """Cut what can be cut for these clues; whether there is something new."""
        clues = list(clues)
        before = self._serial
        for ns, detections in self._waiting.items():
            left = []
            for seen in detections:
                clue = _nearest(seen, clues)
                jpeg = self._images.get((ns, seen.camera))
                if clue is None or jpeg is None:
                    left.append(seen)
                    continue
                size = max(int(seen.width), int(seen.height))
                known = self._crops.get(clue.id)
                if known is None or size >= BETTER * known.size:
                    try:
                        part = cut_box(jpeg, seen)
                    except ValueError:
                        continue  # another image may be whole
                    self._serial += 1
                    self._crops[clue.id] = Crop(part, size, self._serial)
            self._waiting[ns] = left
        return self._serial != before

    def get(self, clue: int) -> Crop | None:
        """A clue's crop, by the clue's id."""
        return self._crops.get(clue)


def _nearest(seen: Any, clues: list[Any]) -> Any | None:
    at = np.array([seen.position.x, seen.position.y, seen.position.z])
    best, minimum = None, NEAR
    for clue in clues:
        if clue.kind != seen.kind:
            continue
        distance = float(np.linalg.norm(at - [clue.position.x, clue.position.y, clue.position.z]))
        if distance <= minimum:
            best, minimum = clue, distance
    return best


def cut_box(jpeg: bytes, box: Any) -> bytes:
    """Square JPEG around a box (x, y, width, height in px) of a JPEG image, enlarged to SIDE.

    Raises ValueError where the image is none.
    """
    decoded = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR) if jpeg else None
    if decoded is None:
        raise ValueError("the image of a detection cannot be read")
    image: NDArray[np.uint8] = np.asarray(decoded, dtype=np.uint8)
    height, width = image.shape[:2]
    side = min(max(int(max(box.width, box.height) * (1.0 + 2.0 * MARGIN)), 24), height, width)
    left = min(max(int(box.x + box.width / 2 - side / 2), 0), width - side)
    top = min(max(int(box.y + box.height / 2 - side / 2), 0), height - side)
    part = cv2.resize(image[top : top + side, left : left + side], (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    return encode_jpeg(np.asarray(part, dtype=np.uint8), QUALITY)
