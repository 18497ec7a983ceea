"""Spiral: outwards around the start.

Source: SARenv's "spiral" baseline (Archimedean spiral), which is the smooth form of the expanding-square search
of the IAMSAR manual, flown when the last known point is good and the missing cannot be far. Adapted for the air: the
turns follow the ground at a fixed height, as far apart as the cameras see a person on both sides. Needs no model.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from esar_ros.planning.methods.patterns.pattern import STEP, Turns
from esar_ros.planning.registry import register


@register("spiral")
class Spiral(Turns):
    """Flies an Archimedean spiral around home, counter-clockwise, and stops at its end."""

    name = "spiral"

    def turns(self, spacing: float, reach: float) -> NDArray[np.float64]:
        """See archimedean()."""
        return archimedean(spacing, reach)


def archimedean(spacing: float, reach: float) -> NDArray[np.float64]:
    """Points (N, 2) around the origin, STEP apart along the turns, which lie `spacing` m apart, out to `reach` m."""
    growth = spacing / (2.0 * math.pi)  # m of radius a radian
    angles, angle = [], 0.0
    while growth * angle < reach:
        # The arc's length is the integral of sqrt(r^2 + growth^2) over the angle.
        angle += STEP / math.hypot(growth * angle, growth)
        angles.append(angle)
    theta = np.array(angles)
    return growth * theta[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=1)
