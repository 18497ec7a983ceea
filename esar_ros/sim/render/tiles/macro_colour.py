"""Colours of the ground wider than a tile: hollows, patches of other plants, dust along the wind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.terrain.maps import PlaceMap

_WIND = 0.785  # rad, along which dust and snow drift
Field = NDArray[np.float32]


def with_macro_colour(
    place: PlaceMap, albedo: NDArray[np.uint8], names: Sequence[str], kinds: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """An albedo (m, m, 3) of square roots with wide differences of colour over it.

    names, kinds: see tile_kinds. The mean root of each kind of ground stays, so that no exposure changes.
    """
    size, texel = albedo.shape[0], place.size / albedo.shape[0]
    height = cv2.resize(place.heights, (size, size), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    hollow = np.zeros_like(height)
    for width, weight in ((6.0, 1.0), (25.0, 0.15)):
        hollow += weight * (cv2.GaussianBlur(height, (0, 0), width / texel) - height)
    slot = hollow
    hollow = np.clip(hollow, -0.8, 0.8)
    planes = [
        albedo[..., channel].astype(np.float32).ravel() for channel in range(3)
    ]  # the channels, one after another
    changes = {  # by tile: factors of linear colour for each field
        ("turf", "litter"): lambda: (
            (hollow, (-0.16, -0.12, -0.14)),
            (_patches(size, 45.0 / texel, 1), (0.10, 0.03, 0.05)),
            (_patches(size, 13.0 / texel, 2), (0.10, 0.03, 0.05)),
        ),
        ("salt", "gravel", "clay"): lambda: (
            (hollow, (-0.10, -0.10, -0.10)),
            (_streaks(size, 26.0 / texel, 3, 7.0), (-0.045, -0.062, -0.085)),
            (_patches(size, 220.0 / texel, 4), (-0.04, -0.056, -0.076)),
        ),
        ("snow",): lambda: (
            (hollow, (-0.10, -0.08, -0.05)),
            (_streaks(size, 9.0 / texel, 5, 5.0), (0.055, 0.045, 0.030)),
            (_patches(size, 60.0 / texel, 6), (0.035, 0.030, 0.020)),
        ),
        ("ice",): lambda: (  # the deeper a crevasse the bluer: red light comes back from no depth
            (np.clip(slot / 1.6, -0.15, 1.0), (-0.66, -0.46, -0.30)),
            (_streaks(size, 9.0 / texel, 5, 5.0), (0.055, 0.045, 0.030)),
        ),
        ("blocks", "sand", "earth"): lambda: (
            (hollow, (-0.12, -0.12, -0.11)),
            (_patches(size, 30.0 / texel, 7), (0.07, 0.07, 0.07)),
        ),
    }
    for group, fields in changes.items():
        own = np.array([name in group for name in names])[kinds]
        if own.any():
            where = np.flatnonzero(own)
            given = [(field.ravel()[where], colour) for field, colour in fields()]
            for channel, plane in enumerate(planes):
                root = 1.0 + sum(field * np.float32(colour[channel]) for field, colour in given)
                root = np.sqrt(np.clip(root, 0.3, 2.0, out=root), out=root)
                root *= 1.0 / root.mean()
                plane[where] *= root
    return np.stack([np.clip(plane + 0.5, 0, 255).astype(np.uint8) for plane in planes], axis=-1).reshape(albedo.shape)


def _patches(size: int, width: float, seed: int) -> Field:
    """Smooth noise (size, size) of unit deviation in patches about `width` texels wide."""
    count = max(8, int(2.5 * size / width))
    small = np.random.default_rng([77, seed]).standard_normal((count, count)).astype(np.float32)
    out = cv2.resize(small, (size, size), interpolation=cv2.INTER_CUBIC)
    return np.asarray((out - out.mean()) / out.std())


def _streaks(size: int, width: float, seed: int, stretch: float) -> Field:
    """The same, drawn out along the wind to `stretch` times the width."""
    long = int(width * stretch) | 1
    kernel = np.zeros((long, long), dtype=np.float32)
    reach = np.array([math.cos(_WIND), math.sin(_WIND)]) * long / 2
    first, last = ((int(long / 2 + side * reach[0]), int(long / 2 + side * reach[1])) for side in (-1, 1))
    cv2.line(kernel, first, last, 1.0, 1)
    out = cv2.filter2D(_patches(size, width, seed), -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT)
    return np.asarray((out - out.mean()) / out.std())
