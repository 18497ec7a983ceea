"""The projection of a velocity onto limits, each of which is a half-space normal . v <= bound.

The result is the nearest velocity that keeps every limit. The cutting-plane loop solves the projection exactly for a
small working set (Seidel's incremental method, as in ORCA by van den Berg et al., 2011) and adds the most violated
limit until none is violated. With all bounds >= 0 the zero velocity keeps every limit, so a solution exists, and it is
never longer than the velocity asked for.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

TOLERANCE = 1e-6  # m/s, a limit exceeded by less counts as kept
_MAX_WORKING_SET = 48  # limits; real scenes end below ten
_PARALLEL = 1e-9  # cosine below which a line runs along a plane
_PARALLEL_PLANES = 1e-12  # squared sine below which two planes never meet
_SLACK = 1e-9  # m/s, rounding within the solver
_SLACK_ALONG = 1e-7  # m/s, the same where a line runs along a plane


@njit(cache=True, nogil=True)
def _on_line(asked, point, direction, normals, bounds, count, out):  # type: ignore[no-untyped-def]
    """Writes the point of a line (point + s * direction) nearest to asked within the first count half-spaces to out.

    Returns False where the line has no point within them.
    """
    low, high = -np.inf, np.inf
    for k in range(count):
        slope = normals[k] @ direction
        room = bounds[k] - normals[k] @ point
        if abs(slope) < _PARALLEL:
            if room < -_SLACK_ALONG:
                return False
        elif slope > 0.0:
            high = min(high, room / slope)
        else:
            low = max(low, room / slope)
    if low > high + _SLACK:
        return False
    s = min(max((asked - point) @ direction, low), high)
    for k in range(3):
        out[k] = point[k] + s * direction[k]
    return True


@njit(cache=True, nogil=True)
def _on_plane(asked, normals, bounds, plane, out):  # type: ignore[no-untyped-def]
    """Writes the point nearest to asked on the plane of one half-space within those before it to out.

    Returns False where the plane has no point within them.
    """
    normal, bound = normals[plane], bounds[plane]
    excess = normal @ asked - bound
    for k in range(3):
        out[k] = asked[k] - excess * normal[k]
    for j in range(plane):
        if normals[j] @ out <= bounds[j] + _SLACK:
            continue
        cosine = normal @ normals[j]
        sine2 = 1.0 - cosine * cosine
        if sine2 < _PARALLEL_PLANES:
            return False
        # The line that both planes share, by its point in the span of the two normals.
        alpha = (bound - cosine * bounds[j]) / sine2
        beta = (bounds[j] - cosine * bound) / sine2
        point = alpha * normal + beta * normals[j]
        direction = np.cross(normal, normals[j]) / math.sqrt(sine2)
        if not _on_line(asked, point, direction, normals, bounds, j, out):
            return False
    return True


@njit(cache=True, nogil=True)
def _project(asked, normals, bounds, out):  # type: ignore[no-untyped-def]
    """Writes the point nearest to asked within all half-spaces to out; returns False where none was found."""
    work_n = np.empty((_MAX_WORKING_SET, 3))
    work_b = np.empty(_MAX_WORKING_SET)
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
        if size == _MAX_WORKING_SET:
            return False
        work_n[size] = normals[which]
        work_b[size] = bounds[which]
        size += 1
        out[:] = asked
        for i in range(size):
            if work_n[i] @ out > work_b[i] + _SLACK and not _on_plane(asked, work_n, work_b, i, out):
                return False


def project(
    asked: NDArray[np.float64], normals: NDArray[np.float64], bounds: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Returns the velocity v (3,) nearest to asked with normals (n, 3) @ v <= bounds (n,); None: there is none.

    The normals are of unit length. Where asked keeps every limit, an unchanged copy of it is returned.
    """
    out = np.empty(3)
    return out if _project(asked, normals, bounds, out) else None
