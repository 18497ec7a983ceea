"""The network for pictures that have no depth by nature: photographs, films, cameras without a depth sensor.

It knows people alone, and knows them from photographs. A small picture is enlarged as the card says, since people seen
from drones are small, and a large one is looked at in slices; what two slices show counts once, as in Akyon, Altinuc
and Temizel (*Slicing Aided Hyper Inference*, ICIP 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from esar_ros.perception.detectors.engines import ONNXRUNTIME, load_engine
from esar_ros.perception.detectors.model_card import PictureStageCard, ReliabilityCurve, check_digest
from esar_ros.perception.detectors.yolo_boxes import RawBoxes, check_output, decode, letterbox, suppress

LEAST = 0.1  # raw score below which there is bare ground, thousands of boxes a picture
_ORDER = 1e-3  # share


def has_depth(frame: CameraFrame) -> bool:
    """Returns whether any pixel's depth is known, be it that nothing is in reach (+inf)."""
    return not bool(np.isnan(frame.depth).all())


class PictureStage:
    """An exported network for pictures without depth, with its part of the model card."""

    def __init__(self, path: Path, card: PictureStageCard, threads: int) -> None:
        """Loads the network and looks at one grey image with it. Raises UsageError."""
        check_digest(path, card.sha256)
        self.card = card
        self._engine = load_engine(ONNXRUNTIME, path, threads)
        grey = np.full((1, 3, 2 * card.stride, 2 * card.stride), 0.5, dtype=np.float32)
        try:
            output = self._engine.run(grey)
        except Exception as error:  # the engine raises types of its own
            raise UsageError(f"{path} fails on a picture: {error}", "make it again: esar train-detector") from None
        check_output(output.shape, 1, path)
        if not np.isfinite(output).all():
            raise UsageError(f"{path} gives numbers that are not finite", "its weights are damaged: make it again")

    def find(self, rgb: NDArray[np.uint8], min_score: float, share: float = 1.0) -> RawBoxes:
        """Returns the people in a picture (H, W, 3), surest first, from a score on, but not below LEAST.

        share: of the card's enlargement; less costs less and finds fewer small ones.
        """
        floor = np.array([max(min_score, LEAST)])
        parts = [RawBoxes.none(1)]
        scale = share * min(self.card.scale, max(1.0, self.card.short / max(1, min(rgb.shape[:2]))))
        side = max(round(self.card.slice / scale), 2 * self.card.overlap)
        for top, left, part in slices(rgb, side, self.card.overlap):
            image = letterbox(part, None, scale, self.card.stride)
            parts.append(decode(self._engine.run(image.tensor), image, floor).moved(left, top))
        found = suppress(RawBoxes.joined(parts), self.card.nms_iou, agnostic=True)
        return replace(found, corners=grown(found.corners, self.card.growth))


def grown(corners: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Returns boxes (N, 4) x1, y1, x2, y2 about the same middles with sides by a factor."""
    middles, half = (corners[:, :2] + corners[:, 2:]) / 2.0, (corners[:, 2:] - corners[:, :2]) * (factor / 2.0)
    return np.hstack([middles - half, middles + half])


def slices(rgb: NDArray[np.uint8], side: int, overlap: int) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yields top and left edge, and pixels, of slices of at most a side (px) that cover a picture evenly."""
    for top in _starts(rgb.shape[0], side, overlap):
        for left in _starts(rgb.shape[1], side, overlap):
            yield top, left, np.ascontiguousarray(rgb[top : top + side, left : left + side])


def _starts(length: int, side: int, overlap: int) -> list[int]:
    """Returns where slices of a side begin, so that they overlap and the last ends at the edge."""
    if length <= side:
        return [0]
    count = -(-(length - overlap) // (side - overlap))
    return [round(k * (length - side) / (count - 1)) for k in range(count)]


def on_scale(
    scores: NDArray[np.float64], own: ReliabilityCurve | None, told: ReliabilityCurve | None
) -> NDArray[np.float64]:
    """Returns scores (N,) as the scores of another curve with which a detection is as probably right.

    So one curve holds for all detections of a kind, whichever network they come from. Without both curves they stay.
    Where curves are level a small share of the score itself keeps the order.
    """
    if own is None or told is None:
        return scores
    probability = np.interp(scores, (0.0, *own.score), (0.0, *own.probability))
    alike = np.interp(probability, (0.0, *told.probability), (0.0, *told.score))
    return np.asarray((1.0 - _ORDER) * alike + _ORDER * scores)
