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
    """Height at a point, its crest's distance (m), the place along it (m) and a margin (m).

    The margin is how much lower the ground of the next ridge would be: 0 in the creases, where what follows one
    crest must have faded out.

    From a crest's edge the ground falls `steep` (rise over run) at first and `gentle` far beyond `knee` metres;
    `rounding` (m) takes the edge off crests, `blend` (m) fills the creases between them.
    """
    best = -1e9
    first = -1e9
    second = -1e9
    distance = 0.0
    along = 0.0
    for ridge in range(starts.shape[0] - 1):
        own = -1e9
        own_distance = 0.0
        own_along = 0.0
        walked = 977.0 * ridge
        for k in range(starts[ridge], starts[ridge + 1] - 1):
            ex = vertices[k + 1, 0] - vertices[k, 0]
            ey = vertices[k + 1, 1] - vertices[k, 1]
            length = math.sqrt(ex * ex + ey * ey)
            t = ((x - vertices[k, 0]) * ex + (y - vertices[k, 1]) * ey) / (length * length)
            t = min(1.0, max(0.0, t))
            dx = x - vertices[k, 0] - t * ex
            dy = y - vertices[k, 1] - t * ey
            width = vertices[k, 3] + t * (vertices[k + 1, 3] - vertices[k, 3])
            d = max(0.0, math.sqrt(dx * dx + dy * dy) - width)
            d = math.sqrt(d * d + rounding * rounding) - rounding
            z = vertices[k, 2] + t * (vertices[k + 1, 2] - vertices[k, 2])
            z -= gentle * d + (steep - gentle) * knee * (1.0 - math.exp(-d / knee))
            if z > own:
                own = z
                own_distance = d
                own_along = walked + t * length
            walked += length
        if own > first:
            second = first
            first = own
            distance = own_distance
            along = own_along
        elif own > second:
            second = own
        best = smooth_max(best, own, blend)
    return best, distance, along, first - second
