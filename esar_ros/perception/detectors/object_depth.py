"""Separation of a detection box's depths into the object's own and those of foreground and background.

A segmentation mask gives the object's pixels. A box alone also holds what lies before the object (a ridge, a trunk) and
behind it (ground, sky). There the depths fall into groups with gaps between; the group that fills most of the box's
middle is taken, and of it the near part. Where that does not fill the middle, the other depths enter as variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from esar_ros.perception.detectors.backend import Detection2D

_TRIM = (0.1, 0.9)  # share of a mask's depths kept, between these quantiles
_THICK = 0.05  # of the range: greatest depth of an object, and least gap between two
_MIN_THICKNESS = 1.0  # m
_MIDDLE = 0.3  # of the box's size: deviation of the weight about its middle
_CLEAR = 0.5  # share of the weight from which the pixels taken are the object's beyond doubt
_BEYOND = 0.5  # of the range: taken for the distance to what lies beyond the sensor's reach


Box = tuple[int, int, int, int]  # x, y, width, height, px


@dataclass(frozen=True)
class ObjectPixels:
    """The object's pixels (N,) with their depths (m), and the variance (m^2) of having taken the wrong ones."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    depths: NDArray[np.float64]
    doubt: float = 0.0


def object_pixels(detection: Detection2D, depth: NDArray[np.float32]) -> ObjectPixels:
    """Of a detection in an image of planar depth; none where the object has no valid depth."""
    crop, usable, (top, left) = _within(detection.box, depth)
    if detection.mask is not None:
        x, y = detection.box[:2]
        usable &= detection.mask[top - y :, left - x :][: crop.shape[0], : crop.shape[1]]
        usable &= np.isfinite(crop)
    rows, columns = np.nonzero(usable)
    depths = crop[rows, columns].astype(np.float64)
    low, high, doubt = np.inf, -np.inf, 0.0
    if detection.mask is None:
        own, front = _own_depths(detection.box, crop, usable, (top, left))
        if len(own):
            low, high = own[[0, -1]]
            weights = _weights(detection.box, crop, (top, left))[usable]
            doubt = _doubt(depths, weights, (low <= depths) & (depths <= high), front)
    elif len(depths):
        low, high = np.quantile(depths, _TRIM)
    keep = (low <= depths) & (depths <= high)
    return ObjectPixels(rows[keep] + top, columns[keep] + left, depths[keep], doubt)


def object_depth(box: Box, depth: NDArray[np.float32]) -> float:
    """Median (m) of the depths that object_pixels finds for a box without a mask; NaN where there are none."""
    own, _ = _own_depths(box, *_within(box, depth))
    return float(own[(len(own) - 1) // 2] + own[len(own) // 2]) / 2.0 if len(own) else np.nan


def _within(box: Box, depth: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_], tuple[int, int]]:
    """Returns the part (H, W) of an image that a box covers, what of it is valid, and its row and column there."""
    x, y, width, height = box
    top, left = max(y, 0), max(x, 0)
    crop = depth[top : max(y + height, 0), left : max(x + width, 0)]
    return crop, crop > 0.0, (top, left)


def _weights(box: Box, crop: NDArray[np.float32], corner: tuple[int, int]) -> NDArray[np.float64]:
    """Returns the weight of each pixel (H, W) of a box's crop, whose corner (row, column) is given."""
    (x, y, width, height), (rows, columns), (top, left) = box, crop.shape, corner
    across = (np.arange(columns) + left + 0.5 - x) / width - 0.5
    down = (np.arange(rows) + top + 0.5 - y) / height - 0.5
    return np.asarray(np.exp(-(across**2 + down[:, None] ** 2) / (2.0 * _MIDDLE**2)))


def _own_depths(
    box: Box, crop: NDArray[np.float32], usable: NDArray[np.bool_], corner: tuple[int, int]
) -> tuple[NDArray[np.float64], float]:
    """Returns the object's depths (N,) of those in a box's crop, ascending, and that (m) of its front.

    None where the most of the middle lies beyond the sensor's reach.
    """
    depths = crop[usable]
    ascending = np.sort(depths)
    finite = ascending[: np.searchsorted(ascending, np.inf)].astype(np.float64)
    gaps = np.flatnonzero(np.diff(finite) > np.maximum(_MIN_THICKNESS, _THICK * finite[:-1])) + 1
    groups = list(pairwise(sorted({0, *gaps.tolist(), len(finite), len(depths)})))
    chosen = groups[0] if groups else (0, 0)
    if len(groups) > 1:
        order, weights = np.argsort(depths, kind="stable"), _weights(box, crop, corner)[usable]
        chosen = max(groups, key=lambda group: float(weights[order[slice(*group)]].sum()))
    members = finite[slice(*chosen)]
    if not len(members):
        return members, 0.0
    front = float(np.quantile(members, 0.25))
    return members[np.abs(members - front) <= max(_MIN_THICKNESS, _THICK * front)], front


def _doubt(depths: NDArray[np.float64], weights: NDArray[np.float64], keep: NDArray[np.bool_], front: float) -> float:
    """Returns the variance (m^2) of having taken some of a box's depths (N,), +inf included, for the object's."""
    if weights[keep].sum() >= _CLEAR * weights.sum():
        return 0.0
    aside = np.where(np.isfinite(depths), depths - front, _BEYOND * front)[~keep]
    return float(weights[~keep] @ aside**2 / weights.sum())
