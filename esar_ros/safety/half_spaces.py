"""Nearest velocity that keeps every limit, each limit being a half-space normal . v <= bound.

Projection onto the intersection of half-spaces in three dimensions. The cutting-plane loop solves the
projection exactly for a small working set (Seidel's incremental method, as in ORCA by van den Berg et
al., 2011) and adds the most violated limit until none is violated. With all bounds >= 0 the zero
velocity keeps every limit, so a solution exists, and it is never longer than the velocity asked for.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

TOLERANCE = 1e-6  # m/s, a limit exceeded by less counts as kept
_MOST = 48  # limits in the working set; real scenes end below ten


@njit(cache=True, nogil=True)
def _on_line(asked, point, direction, normals, bounds, count, out):  # type: ignore[no-untyped-def]
    """Nearest point to asked on point + s * direction within the first count half-spaces."""
    low, high = -np.inf, np.inf
    for k in range(count):
        slope = normals[k] @ direction
        room = bounds[k] - normals[k] @ point
        if abs(slope) < 1e-9:
            if room < -1e-7:
                return False
        elif slope > 0.0:
            high = min(high, room / slope)
        else:
            low = max(low, room / slope)
    if low > high + 1e-9:
        return False
    s = min(max((asked - point) @ direction, low), high)
    for k in range(3):
        out[k] = point[k] + s * direction[k]
    return True


@njit(cache=True, nogil=True)
def _on_plane(asked, normals, bounds, plane, out):  # type: ignore[no-untyped-def]
    """Nearest point to asked on the plane of one half-space within those before it."""
    normal, bound = normals[plane], bounds[plane]
    excess = normal @ asked - bound
    for k in range(3):
        out[k] = asked[k] - excess * normal[k]
    for j in range(plane):
        if normals[j] @ out <= bounds[j] + 1e-9:
            continue
        cosine = normal @ normals[j]
        sine2 = 1.0 - cosine * cosine
        if sine2 < 1e-12:
            return False
        # The line both planes share: the point of it that lies in the span of the two normals.
        alpha = (bound - cosine * bounds[j]) / sine2
        beta = (bounds[j] - cosine * bound) / sine2
        point = alpha * normal + beta * normals[j]
        direction = np.cross(normal, normals[j]) / math.sqrt(sine2)
        if not _on_line(asked, point, direction, normals, bounds, j, out):
            return False
    return True


@njit(cache=True, nogil=True)
def _project(asked, normals, bounds, out):  # type: ignore[no-untyped-def]
    work_n = np.empty((_MOST, 3))
    work_b = np.empty(_MOST)
    size = 0
    out[:] = asked
    while True:
        worst, which = TOLERANCE, -1
        for i in range(bounds.shape[0]):
            over = normals[i, 0] * out[0] + normals[i, 1] * out[1] + normals[i, 2] * out[2] - bounds[i]
            if over > worst:
                worst, which = over, i
        if which < 0:
            return True
        if size == _MOST:
            return False
        work_n[size] = normals[which]
        work_b[size] = bounds[which]
        size += 1
        out[:] = asked
        for i in range(size):
            if work_n[i] @ out > work_b[i] + 1e-9 and not _on_plane(asked, work_n, work_b, i, out):
                return False


def project(
    asked: NDArray[np.float64], normals: NDArray[np.float64], bounds: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Velocity (3,) nearest to asked with normals (n, 3) @ v <= bounds (n,), unit normals; None if there is none.

    Returns an unchanged copy of asked when it keeps every limit.
    """
    out = np.empty(3)
    return out if _project(asked, normals, bounds, out) else None
