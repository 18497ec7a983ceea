"""Human similarity of a walked track: dynamic time warping against a person's track of the same task.

Source: Sakoe and Chiba, 1978; Wu et al., RescueBench, 2026, appendix F.1, and its public code, which differ.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from esar_ros.geometry.frames import Vector

FARTHEST_MEAN = 50.0
"""m a step of the longer track at which similarity is 0 in the public code."""
SIGMA = 42.0
"""m, "median total path length of human demonstrations" in the paper. The published tracks' median is 33.5 m, their
mean 43.1 m."""


def warping_distance(track: Vector, reference: Vector) -> float:
    """Returns the least sum of distances over all warping paths of two tracks (N, D) and (M, D), N, M >= 1."""
    if track.ndim != 2 or reference.ndim != 2 or track.shape[1] != reference.shape[1]:
        raise ValueError(f"tracks of shapes {track.shape} and {reference.shape} are not of the same space")
    if not len(track) or not len(reference):
        raise ValueError("a track without a point")
    return float(_warped(np.ascontiguousarray(track, np.float64), np.ascontiguousarray(reference, np.float64)))


def similarity_code(track: Vector, reference: Vector) -> float:
    """Returns similarity in [0, 1] as the public code has it: 3D, a step's mean over the longer track.

    Tracks are (N, 3) and (M, 3) m with the pose of the reset, a point a step.
    """
    mean = warping_distance(track, reference) / max(len(track), len(reference))
    return max(0.0, 1.0 - mean / FARTHEST_MEAN)


def similarity_paper(track: Vector, reference: Vector, sigma: float = SIGMA) -> float:
    """Returns similarity in [0, 1] as the paper has it: level, a plain sum over sigma (m)."""
    return math.exp(-warping_distance(track[:, :2], reference[:, :2]) / sigma)


@njit(cache=True)
def _warped(track, reference):  # type: ignore[no-untyped-def]
    """Returns the least sum, row by row of the table of partial sums."""
    count = len(reference)
    above = np.full(count + 1, np.inf)
    above[0] = 0.0
    row = np.empty(count + 1)
    for i in range(len(track)):
        row[0] = np.inf
        for j in range(count):
            square = 0.0
            for axis in range(track.shape[1]):
                gap = track[i, axis] - reference[j, axis]
                square += gap * gap
            row[j + 1] = math.sqrt(square) + min(above[j], above[j + 1], row[j])
        above, row = row, above
    return above[count]
