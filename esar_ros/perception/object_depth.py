"""Which depths of a detection's box are the object's own.

A segmentation mask says it. A box alone also holds ground: before the object's foot, behind it and to its sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from esar_ros.perception.backend import Detection2D

_TRIM = (0.1, 0.9)  # share of the object's depths kept, between these quantiles
_CLUSTER = 0.05  # of the range: thickness of the cluster taken for the object when no mask is known
_CLUSTER_LEAST = 1.0  # m

Pixels = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def object_depths(detection: Detection2D, depth: NDArray[np.float32]) -> Pixels:
    """Rows, columns and depths (N,) of the pixels taken for the object itself; none where no depth is valid."""
    x, y, width, height = detection.box
    top, left = max(y, 0), max(x, 0)
    crop = depth[top : max(y + height, 0), left : max(x + width, 0)].astype(np.float64)
    valid = np.isfinite(crop) & (crop > 0.0)
    if detection.mask is not None:
        valid &= detection.mask[top - y :, left - x :][: crop.shape[0], : crop.shape[1]]
    rows, columns = np.nonzero(valid)
    depths = crop[rows, columns]
    if len(depths):
        if detection.mask is not None:
            low, high = np.quantile(depths, _TRIM)
        else:
            front = float(np.quantile(depths, 0.25))
            thickness = max(_CLUSTER_LEAST, _CLUSTER * front)
            low, high = front - thickness, front + thickness
        keep = (low <= depths) & (depths <= high)
        rows, columns, depths = rows[keep], columns[keep], depths[keep]
    return rows + top, columns + left, depths
