"""Light on tiles of ground: bumps lit by the sun and the shadows that they cast on each other."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.render.tiles.fields import TEXEL, Field

SUN_RANGE = 3.0  # times the light of level ground that 255 stands for
_LOWEST = 0.22  # sine of the sun's height below which shadows grow no longer
_WALL_SUN = np.array([0.35, 0.60, 0.72])  # on a wall's own plane, whatever way it faces
FROZEN = ("snow", "ice")  # tiles that light their own shadows, and whose walls are made of them
_SNOW_SHARE = 0.80  # of the contrast that is left where the ground lights its own shadows


def shine(name: str, height: Field, to_sun: Vector, turn: float) -> NDArray[np.uint8]:
    """Light of each texel (SIDE, SIDE): square root of the sun's against that of level ground, over SUN_RANGE.

    turn: rad, of the tile's x axis in the map. The roots' mean is 1, so that no tile brightens or darkens its ground.
    """
    sun = _WALL_SUN if name == "cliff" else _turned(np.asarray(to_sun, dtype=np.float64), turn)
    sun[2] = max(float(sun[2]), _LOWEST)
    flat = math.hypot(sun[0], sun[1])
    lit = np.empty_like(height)
    _lit(height, sun[0], sun[1], sun[2], flat, lit)
    root = np.sqrt(np.minimum(lit, SUN_RANGE))
    if name in FROZEN:
        root = 1.0 + _SNOW_SHARE * (root - root.mean())
    root /= max(float(root.mean()), 0.3)
    return np.asarray(np.clip(255.0 * root / math.sqrt(SUN_RANGE) + 0.5, 0, 255), dtype=np.uint8)


def _turned(sun: NDArray[np.float64], turn: float) -> NDArray[np.float64]:
    c, s = math.cos(turn), math.sin(turn)
    return np.array([c * sun[0] + s * sun[1], c * sun[1] - s * sun[0], sun[2]])


@njit(cache=True, nogil=True)
def _lit(h, sx, sy, sz, flat, out):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    steps = np.array([1, 2, 3, 4, 6, 8, 11, 15, 20, 27])
    shift_x = np.zeros(steps.shape[0], np.int64)
    shift_y = np.zeros(steps.shape[0], np.int64)
    climb = np.zeros(steps.shape[0], np.float32)
    for k in range(steps.shape[0]):
        if flat > 1e-6:
            shift_x[k] = round(steps[k] * sx / flat)
            shift_y[k] = round(steps[k] * sy / flat)
            climb[k] = steps[k] * TEXEL * sz / flat
        else:
            climb[k] = 1e6
    soft = 1.0 / (0.4 * TEXEL + 0.02)
    mask = n - 1
    for j in range(n):
        for i in range(n):
            here = h[j, i]
            gx = (h[j, (i + 1) & mask] - h[j, (i - 1) & mask]) / (2.0 * TEXEL)
            gy = (h[(j + 1) & mask, i] - h[(j - 1) & mask, i]) / (2.0 * TEXEL)
            direct = (sz - gx * sx - gy * sy) / math.sqrt(1.0 + gx * gx + gy * gy) / sz
            if direct <= 0.0:
                out[j, i] = 0.0
                continue
            rise = 0.0
            for k in range(steps.shape[0]):
                above = h[(j + shift_y[k]) & mask, (i + shift_x[k]) & mask] - climb[k] - here
                rise = max(rise, above)
            out[j, i] = direct * max(0.0, 1.0 - rise * soft)
