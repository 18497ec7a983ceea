"""Images into YOLO's input and YOLO's output into boxes, without the framework it was trained in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError

GREY = 114  # of 255: what YOLO is trained to see beyond the image's edge
FREE_COLUMNS = 6  # x1, y1, x2, y2, score, class: networks that need no suppression


@dataclass(frozen=True)
class Letterbox:
    """An image in the network's input, and the inverse mapping."""

    tensor: NDArray[np.float32]  # (1, 3, H, W), RGB 0..1
    scale: float  # input px per image px


@dataclass(frozen=True)
class RawBoxes:
    """Candidates of one image, in image px; N of them."""

    corners: NDArray[np.float64]  # (N, 4) x1, y1, x2, y2
    scores: NDArray[np.float64]  # (N,) raw, 0..1
    classes: NDArray[np.int64]  # (N,) the best
    table: NDArray[np.float64]  # (N, classes) raw scores of all; of a network that tells the best alone, 0 for the rest

    def __getitem__(self, chosen: NDArray[Any]) -> RawBoxes:
        """Some of them, by index or mask."""
        return RawBoxes(self.corners[chosen], self.scores[chosen], self.classes[chosen], self.table[chosen])

    @classmethod
    def none(cls, classes: int) -> RawBoxes:
        """None at all."""
        return cls(np.zeros((0, 4)), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((0, classes)))

    @classmethod
    def joined(cls, parts: Sequence[RawBoxes]) -> RawBoxes:
        """Those of all parts, of which there is at least one."""
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    def moved(self, right: int, down: int) -> RawBoxes:
        """The same boxes in the coordinates of an image that begins `right` and `down` px further left and up."""
        return replace(self, corners=self.corners + np.array([right, down, right, down], dtype=np.float64))


def letterbox(rgb: NDArray[np.uint8], size: tuple[int, int] | None, scale: float = 1.0, stride: int = 32) -> Letterbox:
    """Put an image (H, W, 3) into the network's input, at its upper left corner, padded with grey.

    size: (height, width) that the network takes, whole image kept in proportion; None: the image at `scale`, padded
    to multiples of the network's stride.
    """
    height, width = rgb.shape[:2]
    if size is not None:
        scale = min(size[0] / height, size[1] / width)
    inner_width, inner_height = max(1, round(width * scale)), max(1, round(height * scale))
    if (inner_height, inner_width) != (height, width):
        rgb = np.asarray(cv2.resize(rgb, (inner_width, inner_height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
    rows, columns = size or (-(-inner_height // stride) * stride, -(-inner_width // stride) * stride)
    tensor = np.full((1, 3, rows, columns), GREY / 255.0, dtype=np.float32)
    np.multiply(rgb.transpose(2, 0, 1), np.float32(1.0 / 255.0), out=tensor[0, :, :inner_height, :inner_width])
    return Letterbox(tensor, scale)


def check_output(shape: tuple[int, ...], classes: int, source: object) -> None:
    """Raises UsageError unless this output shape fits a detector with the given number of classes."""
    if len(shape) == 3 and shape[0] == 1 and (shape[1] == 4 + classes or shape[2] == FREE_COLUMNS):
        return
    if len(shape) == 3 and shape[0] == 1 and 4 < shape[1] < shape[2]:
        raise UsageError(
            f"{source} has {shape[1] - 4} classes, not {classes}", "name the model card or list it belongs to"
        )
    raise UsageError(
        f"{source} gives an array of shape {shape}", "a YOLO detector gives (1, 4 + classes, N) or (1, N, 6)"
    )


def decode(output: NDArray[np.float32], image: Letterbox, min_scores: NDArray[np.float64]) -> RawBoxes:
    """Candidates from (1, 4 + classes, N) with centres and sizes, or (1, N, 6) with corners.

    min_scores: (classes,) raw score from which each class counts; infinite for those not asked for. Boxes that are not
    finite are left out.
    """
    if output.shape[1] == 4 + len(min_scores):
        # Almost all cells hold nothing: they are left out before the rest is computed in double precision.
        floor = np.nextafter(min_scores.astype(np.float32), np.float32(-np.inf))
        table = output[0][:, (output[0, 4:] >= floor[:, None]).any(axis=0)].T.astype(np.float64)
        wanted = np.where(np.isfinite(min_scores), table[:, 4:], -np.inf)
        classes = wanted.argmax(axis=1)
        scores, every = wanted[np.arange(len(table)), classes], table[:, 4:]
        half = table[:, 2:4] / 2.0
        corners = np.hstack([table[:, :2] - half, table[:, :2] + half])
    else:
        table = output[0].astype(np.float64)
        corners, scores = table[:, :4], table[:, 4]
        classes = np.where((table[:, 5] >= 0) & (table[:, 5] < len(min_scores)), table[:, 5], -1).astype(np.int64)
        scores = np.where(classes >= 0, scores, -np.inf)
        every = np.where(classes[:, None] == np.arange(len(min_scores)), scores[:, None], 0.0)
    kept = (scores >= min_scores[classes]) & np.isfinite(corners).all(axis=1)
    return RawBoxes(corners / image.scale, scores, classes, every)[kept]


def suppress(boxes: RawBoxes, overlap: float, agnostic: bool) -> RawBoxes:
    """Non-maximum suppression (OpenCV's), by class unless agnostic; best first."""
    if not len(boxes.scores):
        return boxes
    sides = np.hstack([boxes.corners[:, :2], boxes.corners[:, 2:] - boxes.corners[:, :2]])
    classes = np.zeros_like(boxes.classes) if agnostic else boxes.classes
    kept = np.asarray(
        cv2.dnn.NMSBoxesBatched(sides.tolist(), boxes.scores.tolist(), classes.tolist(), 0.0, overlap), dtype=np.int64
    ).reshape(-1)
    return boxes[kept[np.lexsort((kept, -boxes.scores[kept]))]]


def pixel_box(corners: NDArray[np.float64], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Box (x, y, width, height) in whole px that covers the corners within an image (height, width); None: outside."""
    left, top = (max(0, int(np.floor(value + 0.5))) for value in corners[:2])
    right, bottom = (
        min(limit, int(np.floor(value + 0.5))) for value, limit in zip(corners[2:], (size[1], size[0]), strict=True)
    )
    if left >= size[1] or top >= size[0] or right <= 0 or bottom <= 0:
        return None
    return left, top, max(1, right - left), max(1, bottom - top)
