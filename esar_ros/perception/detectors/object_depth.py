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


@dataclass(frozen=True)
class ObjectPixels:
    """The object's pixels (N,) with their depths (m), and the variance (m^2) of having taken the wrong ones."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    depths: NDArray[np.float64]
    doubt: float = 0.0


def object_pixels(detection: Detection2D, depth: NDArray[np.float32]) -> ObjectPixels:
    """Of a detection in an image of planar depth; none where the object has no valid depth."""
    x, y, width, height = detection.box
    top, left = max(y, 0), max(x, 0)
    crop = depth[top : max(y + height, 0), left : max(x + width, 0)].astype(np.float64)
    usable = (crop > 0.0) & ~np.isnan(crop)
    if detection.mask is not None:
        usable &= detection.mask[top - y :, left - x :][: crop.shape[0], : crop.shape[1]]
        usable &= np.isfinite(crop)
    rows, columns = np.nonzero(usable)
    depths = crop[rows, columns]
    keep, doubt = np.zeros(len(depths), dtype=bool), 0.0
    if len(depths) and detection.mask is not None:
        low, high = np.quantile(depths, _TRIM)
        keep = (low <= depths) & (depths <= high)
    elif len(depths):
        across = (columns + left + 0.5 - x) / width - 0.5
        down = (rows + top + 0.5 - y) / height - 0.5
        keep, doubt = _in_box(depths, np.exp(-(across**2 + down**2) / (2.0 * _MIDDLE**2)))
    return ObjectPixels(rows[keep] + top, columns[keep] + left, depths[keep], doubt)


def _in_box(depths: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
    """Returns which of a box's depths (N,), +inf included, are the object's, and the variance (m^2) of that choice."""
    order = np.argsort(depths, kind="stable")
    ascending = depths[order]
    finite = ascending[np.isfinite(ascending)]
    gaps = np.flatnonzero(np.diff(finite) > np.maximum(_MIN_THICKNESS, _THICK * finite[:-1])) + 1
    edges = [0, *gaps.tolist(), *([len(finite)] if len(finite) else []), len(depths)]
    groups = [order[a:b] for a, b in pairwise(edges) if b > a]
    members = max(groups, key=lambda group: float(weights[group].sum()))
    keep = np.zeros(len(depths), dtype=bool)
    if not np.isfinite(depths[members]).all():
        return keep, 0.0
    front = float(np.quantile(depths[members], 0.25))
    keep[members] = np.abs(depths[members] - front) <= max(_MIN_THICKNESS, _THICK * front)
    if weights[keep].sum() >= _CLEAR * weights.sum():
        return keep, 0.0
    aside = np.where(np.isfinite(depths), depths - front, _BEYOND * front)[~keep]
    return keep, float(weights[~keep] @ aside**2 / weights.sum())
