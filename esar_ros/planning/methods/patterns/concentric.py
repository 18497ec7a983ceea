"""Concentric: rings around the start, from the inside out.

Source: SARenv's "concentric circles" baseline. Adapted for the air: rings follow the ground at a fixed height, as far
apart as the cameras see a person on both sides; parts of a ring outside the search area are left out. Needs no model.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.planning.methods.patterns.pattern import STEP, Turns
from esar_ros.planning.registry import register


@register("concentric")
class Concentric(Turns):
    """Flies ring after ring, every second one the other way round, and stops after the last."""

    name = "concentric"

    def turns(self, spacing: float, reach: float) -> NDArray[np.float64]:
        """See rings()."""
        return rings(spacing, reach)


def rings(spacing: float, reach: float) -> NDArray[np.float64]:
    """Points (N, 2) on circles of radius spacing, 2 spacing ... around the origin, out to `reach` m at least."""
    points = []
    for number in range(1, max(1, math.ceil(reach / spacing)) + 1):
        radius = number * spacing
        count = max(8, math.ceil(2.0 * math.pi * radius / STEP))
        # Each ring ends where it began, due east, where the next begins.
        angles = np.linspace(0.0, 2.0 * math.pi, count + 1) * (1.0 if number % 2 else -1.0)
        points.append(radius * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    return np.concatenate(points)
