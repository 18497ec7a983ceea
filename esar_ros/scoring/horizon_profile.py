"""Occlusion by terrain: the profile of the horizon as seen from a place, by direction and distance.

Only ground counts: plants and structures are not in it. With ground truth it lets the referee derive from a vehicle's
track alone, in a running graph as from a bag, in which images a victim could be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

TARGET_HEIGHT = 0.5  # m above ground: the part of a person that is looked at
DIRECTIONS = 36
# m: distances on the ground up to which the profile is the highest so far; from farther away the last one stands.
RINGS = (8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0)
_STEP = 2.0  # m between points whose height is asked
_LOWEST = -1000.0  # tangent of a profile where the ground is unknown

# (DIRECTIONS, RINGS) tangents of elevation, seen from TARGET_HEIGHT above the place; direction 0 is east, then
# counter-clockwise.
HorizonProfile = tuple[tuple[float, ...], ...]


def horizon_profile(place: ArrayLike, ground_height: Callable[[Any], Any]) -> HorizonProfile:
    """Returns the profile of a place (2,) on the ground of the map frame (m); ground_height: z of points (..., 2).

    Heights count against the place's own by the same function, so that a simulator's ground may lie off the map's.
    """
    foot = np.asarray(place, dtype=np.float64)
    eye = float(ground_height(foot)) + TARGET_HEIGHT
    angles = np.arange(DIRECTIONS) * (2.0 * math.pi / DIRECTIONS)
    away = np.arange(_STEP, RINGS[-1] + _STEP / 2, _STEP)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    rise = np.asarray(ground_height(foot + away[None, :, None] * directions[:, None, :])) - eye
    highest = np.maximum.accumulate(np.where(np.isfinite(rise), rise / away, _LOWEST), axis=1)
    rings = np.searchsorted(away, RINGS, side="right") - 1
    return tuple(tuple(round(float(tangent), 3) for tangent in row[rings]) for row in highest)


def hidden(profile: HorizonProfile, offsets: ArrayLike) -> NDArray[np.bool_]:
    """Returns a mask (N,) of the points that ground hides from a place; all False without a profile.

    offsets: (N, 3), m, of the points from TARGET_HEIGHT above the place.
    """
    away = np.asarray(offsets, dtype=np.float64).reshape(-1, 3)
    if not profile:
        return np.zeros(len(away), dtype=np.bool_)
    distance = np.hypot(away[:, 0], away[:, 1])
    ring = np.searchsorted(RINGS, distance, side="right") - 1  # ground beyond the point hides nothing
    turn = np.arctan2(away[:, 1], away[:, 0]) * (DIRECTIONS / (2.0 * math.pi))
    tangents = np.array(profile)[np.rint(turn).astype(int) % DIRECTIONS, np.maximum(ring, 0)]
    return np.asarray((ring >= 0) & (away[:, 2] < tangents * distance))
