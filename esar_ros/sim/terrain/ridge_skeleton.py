"""Relief from a skeleton of ridges: the ground falls away from crest lines of known altitude."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ridges = dict[str, list[tuple[float, float, float, float]]]


def pack_ridges(ridges: Ridges) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (V, 4) of x, y, altitude, half width (m), and where each ridge begins (R + 1,)."""
    vertices = np.array([vertex for line in ridges.values() for vertex in line], dtype=np.float64)
    return vertices, np.cumsum([0] + [len(line) for line in ridges.values()]).astype(np.int64)


@njit(cache=True, nogil=True)
def smooth_max(a: float, b: float, blend: float) -> float:
    """Greater of two, rounded where they are within `blend` of each other."""
    near = max(blend - abs(a - b), 0.0) / blend
    return max(a, b) + near * near * blend * 0.25


@njit(cache=True, nogil=True)
def fall_from_ridges(x, y, vertices, starts, steep, gentle, knee, rounding, blend):  # type: ignore[no-untyped-def]
    """Height at a point, and its distances (m) to the edge of the nearest crest and of the first ridge's crest.

    From a crest's edge the ground falls `steep` (rise over run) at first and `gentle` far beyond `knee` metres;
    `rounding` (m) takes the edge off crests, `blend` (m) fills the creases between them. All three are continuous.
    """
    height = -1e9
    nearest = 1e9
    to_first = 1e9
    for ridge in range(starts.shape[0] - 1):
        own = -1e9
        for k in range(starts[ridge], starts[ridge + 1] - 1):
            ex = vertices[k + 1, 0] - vertices[k, 0]
            ey = vertices[k + 1, 1] - vertices[k, 1]
            t = ((x - vertices[k, 0]) * ex + (y - vertices[k, 1]) * ey) / (ex * ex + ey * ey)
            t = min(1.0, max(0.0, t))
            dx = x - vertices[k, 0] - t * ex
            dy = y - vertices[k, 1] - t * ey
            width = vertices[k, 3] + t * (vertices[k + 1, 3] - vertices[k, 3])
            d = max(0.0, math.sqrt(dx * dx + dy * dy) - width)
            nearest = min(nearest, d)
            if ridge == 0:
                to_first = min(to_first, d)
            d = math.sqrt(d * d + rounding * rounding) - rounding
            z = vertices[k, 2] + t * (vertices[k + 1, 2] - vertices[k, 2])
            own = max(own, z - gentle * d - (steep - gentle) * knee * (1.0 - math.exp(-d / knee)))
        height = smooth_max(height, own, blend)
    return height, nearest, to_first
