"""Region of an image that a network needs to process: the part whose depth is within the detector's reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MARGIN = 16  # px of what lies beyond that are looked at, too: the surroundings an object is told by


def region_within(depth: NDArray[np.float32], reach: float, stride: int) -> tuple[slice, slice]:
    """Rows and columns of an image (H, W) that hold anything within reach (m, planar), with a margin.

    Their starts are multiples of the network's stride, so that its cells lie where they lie in the whole image. What
    has no valid depth (NaN, too near) counts as within reach: it is not known to be far. Both are empty where all is
    beyond.
    """
    near = np.asarray(~(depth > reach), dtype=np.bool_)  # true for NaN
    by_row, by_column = (np.asarray(near.any(axis=axis), dtype=np.bool_) for axis in (1, 0))
    return _span(by_row, stride), _span(by_column, stride)


def _span(near: NDArray[np.bool_], stride: int) -> slice:
    """From the first to the last that is near."""
    found = np.flatnonzero(near)
    if not len(found):
        return slice(0, 0)
    start = max(0, int(found[0]) - MARGIN) // stride * stride
    return slice(start, min(len(near), int(found[-1]) + 1 + MARGIN))
