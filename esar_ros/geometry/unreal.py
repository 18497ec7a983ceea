"""The frame of Unreal Engine's worlds and the way to and from the map frame.

Unreal: x ahead, y right, z up, centimetres, left-handed; angles in degrees, yaw clockwise as seen from above. The map
frame is the mirror image in metres: x, y and z up of the same axes with y turned over.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.frames import Vector, wrap_angle

CM = 100.0
"""Centimetres in a metre."""
_Y_FLIPPED = np.array([1.0, -1.0, 1.0])


def mirrored(values: ArrayLike) -> Vector:
    """Returns vector(s) of shape (..., 3) in the frame of other handedness; the same call converts back."""
    return np.asarray(values, dtype=np.float64) * _Y_FLIPPED + 0.0  # no negative zero


def unreal_to_map(values: ArrayLike) -> Vector:
    """Returns position(s) in m of position(s) in cm, (..., 3)."""
    return mirrored(values) / CM


def map_to_unreal(values: ArrayLike) -> Vector:
    """Returns position(s) in cm of position(s) in m, (..., 3)."""
    return mirrored(values) * CM


def unreal_heading_to_map(yaw: float) -> float:
    """Returns a heading in rad, counter-clockwise, in [-pi, pi), of one in degrees, clockwise."""
    return wrap_angle(math.radians(-yaw))


def map_heading_to_unreal(yaw: float) -> float:
    """Returns a heading in degrees, clockwise, in (-180, 180], of one in rad, counter-clockwise."""
    return -math.degrees(wrap_angle(yaw)) + 0.0
