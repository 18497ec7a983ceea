"""The second stage behind a network's boxes: each is looked at again, alone, at a scale that depth makes known.

As in R-CNN (Girshick et al., CVPR 2014) proposals are classified one by one; as with depth at hand (Gupta et al., ECCV
2014) from colour and depth together. A crop spans a fixed number of metres at the box's depth, so a tent is as large in
it from 20 m as from 60 m, and a slope that merely looks like one is not. As in Fast R-CNN (Girshick, ICCV 2015) each
box is moved onto the object, too: (dx, dy) in its own sides, (log width, log height) against them.
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError, first_line
from esar_ros.perception.detectors.engines import Tensor, load_session
from esar_ros.perception.detectors.model_card import SecondStageCard, check_digest
from esar_ros.perception.detectors.object_depth import object_depth
from esar_ros.perception.detectors.yolo_boxes import GREY, RawBoxes, pixel_box

EXTENTS = (4.0, 1.2)  # m, sides of an object's two crops: it with its surroundings, and what is small
SIDE = 32  # px, of each crop
CHANNELS = 4 * len(EXTENTS)  # red, green, blue, depth of each
OWN_FEATURES = 6  # before the first stage's scores
_MIN_SCORE = 1e-3  # first-stage scores below it are alike
_MIN_SIDE = 0.5  # px, of a box
_MAX_SHIFT = 2.0  # sides that a box moves at most
_MAX_GROWTH = math.log(4.0)  # of a side, either way


def box_depths(boxes: RawBoxes, frame: CameraFrame) -> NDArray[np.float64]:
    """Planar depth (m) of the object in each box (N,); NaN where it has none."""
    depths = np.full(len(boxes.scores), np.nan)
    for n, corners in enumerate(boxes.corners):
        box = pixel_box(corners, frame.rgb.shape[:2])
        if box is not None:
            depths[n] = object_depth(box, frame.depth)
    return depths


def features(boxes: RawBoxes, depths: NDArray[np.float64], frame: CameraFrame) -> Tensor:
    """(N, OWN_FEATURES + classes): logarithms of depth (m), of the box's sides in m and px, whether it touches the
    image's edge, and the first stage's log-odds of each class."""
    height, width = frame.rgb.shape[:2]
    sides = np.maximum(boxes.corners[:, 2:] - boxes.corners[:, :2], _MIN_SIDE)
    metres = sides * depths[:, None] / (frame.model.fx, frame.model.fy)
    low, high = boxes.corners[:, :2], np.array([width, height]) - boxes.corners[:, 2:]
    at_edge = np.minimum(low, high).min(axis=1) < 1.0
    scores = np.clip(boxes.table, _MIN_SCORE, 1.0 - _MIN_SCORE)
    columns = [
        np.log(depths)[:, None],
        np.log(metres),
        np.log(sides),
        at_edge[:, None],
        np.log(scores / (1.0 - scores)),
    ]
    return np.hstack(columns).astype(np.float32)


def crops(boxes: RawBoxes, depths: NDArray[np.float64], frame: CameraFrame) -> Tensor:
    """(N, CHANNELS, SIDE, SIDE) about the boxes' centres: colour 0..1, and depth against the box's own, in shares of
    the crop's extent, -1..1. Beyond the image: grey, at the box's own depth."""
    out = np.empty((len(depths), CHANNELS, SIDE, SIDE), dtype=np.float32)
    pyramid = [(frame.rgb, frame.depth)]
    for n, (corners, depth) in enumerate(zip(boxes.corners, depths, strict=True)):
        centre = (corners[:2] + corners[2:]) / 2.0
        for scale, extent in enumerate(EXTENTS):
            step = extent * frame.model.fx / depth / SIDE  # image px per crop px
            level = min(max(0, math.floor(math.log2(step))), 4)
            while len(pyramid) <= level:
                pyramid.append(_halved(*pyramid[-1]))
            rgb, far = pyramid[level]
            colour, relative = _cut(rgb, far, centre / 2**level, step / 2**level, float(depth), extent)
            out[n, 4 * scale : 4 * scale + 3] = colour
            out[n, 4 * scale + 3] = relative
    return out


def _halved(rgb: NDArray[np.uint8], depth: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Half as large; depth is picked, not averaged, since half way between two surfaces there is none."""
    half = (max(1, rgb.shape[1] // 2), max(1, rgb.shape[0] // 2))
    small = np.asarray(cv2.resize(rgb, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return small, np.ascontiguousarray(depth[::2, ::2][: half[1], : half[0]])


def _cut(
    rgb: NDArray[np.uint8],
    depth: NDArray[np.float32],
    centre: NDArray[np.float64],
    step: float,
    own: float,
    extent: float,
) -> tuple[Tensor, Tensor]:
    """Colour (3, SIDE, SIDE) and relative depth (SIDE, SIDE) of a square with `step` px of the image per px.

    What has no depth (NaN, 0) counts as being at the box's own.
    """
    corner = centre - step * SIDE / 2.0 + step / 2.0 - 0.5  # of the first pixel's centre, in cv2's coordinates
    warp = np.array([[step, 0.0, corner[0]], [0.0, step, corner[1]]])
    size = (SIDE, SIDE)
    smooth, picked = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    colour = cv2.warpAffine(
        rgb, warp, size, flags=smooth, borderMode=cv2.BORDER_CONSTANT, borderValue=(GREY, GREY, GREY)
    )
    metres = cv2.warpAffine(depth, warp, size, flags=picked, borderMode=cv2.BORDER_CONSTANT, borderValue=own)
    relative = np.where(metres > 0.0, np.clip((metres - own) / extent, -1.0, 1.0), 0.0)
    return np.multiply(colour.transpose(2, 0, 1), 1.0 / 255.0, dtype=np.float32), relative.astype(np.float32)


def shifts_between(corners: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 4) dx, dy, log width, log height that move boxes (N, 4) x1, y1, x2, y2 onto others; `shifted` undoes it."""
    middles, sides = _middles_and_sides(corners)
    others, targets = _middles_and_sides(wanted)
    return np.hstack([(others - middles) / sides, np.log(targets / sides)])


def shifted(corners: NDArray[np.float64], shifts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boxes (N, 4) x1, y1, x2, y2 moved by dx, dy, log width, log height (N, 4), within bounds."""
    middles, sides = _middles_and_sides(corners)
    middles = middles + sides * np.clip(shifts[:, :2], -_MAX_SHIFT, _MAX_SHIFT)
    half = sides * np.exp(np.clip(shifts[:, 2:], -_MAX_GROWTH, _MAX_GROWTH)) / 2.0
    return np.hstack([middles - half, middles + half])


def _middles_and_sides(corners: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sides = np.maximum(corners[:, 2:] - corners[:, :2], _MIN_SIDE)
    return (corners[:, :2] + corners[:, 2:]) / 2.0, sides


class SecondStage:
    """An exported second stage with its part of the model card."""

    def __init__(self, path: Path, card: SecondStageCard, classes: int, threads: int) -> None:
        """Loads the network and shows it one grey crop. Raises UsageError."""
        check_digest(path, card.sha256)
        self.card = card
        self._session = load_session(path, threads)
        self._classes = classes
        blank = np.full((1, CHANNELS, SIDE, SIDE), 0.5, np.float32), np.zeros((1, OWN_FEATURES + classes), np.float32)
        try:
            outputs = self._run(*blank)
        except Exception as error:  # the engine raises types of its own
            raise UsageError(
                f"{path} fails on a crop: {first_line(error)}", "export it again: esar train-detector"
            ) from None
        shapes = [output.shape for output in outputs]
        if shapes != [(1, classes + 1), (1, 4)]:
            raise UsageError(
                f"{path} gives arrays of shapes {shapes}", f"a second stage gives (N, {classes + 1}) and (N, 4)"
            )
        if not all(np.isfinite(output).all() for output in outputs):
            raise UsageError(f"{path} gives numbers that are not finite", "its weights are damaged: export it again")

    def judge(
        self, boxes: RawBoxes, depths: NDArray[np.float64], frame: CameraFrame
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of boxes whose depths (m) are known: probabilities (N, classes + 1) of each class and last of none, and
        their corners (N, 4) moved onto what they show."""
        if not len(depths):
            return np.zeros((0, self._classes + 1)), np.zeros((0, 4))
        shares, shifts = self._run(crops(boxes, depths, frame), features(boxes, depths, frame))
        return shares.astype(np.float64), shifted(boxes.corners, shifts.astype(np.float64))

    def _run(self, images: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        shares, shifts = self._session.run(["probabilities", "shifts"], {"crops": images, "features": numbers})
        return shares, shifts
