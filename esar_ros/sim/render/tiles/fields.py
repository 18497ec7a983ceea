"""Wrapping fields that tiles of ground are made of: noise, cells, stones. All are (SIDE, SIDE), lengths in m."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from esar_ros.sim.terrain.noise import hash2

SIDE, SPAN = 1024, 40.0  # texels and metres along a side
TEXEL = SPAN / SIDE  # m

Field = NDArray[np.float32]


def noise(
    seed: int, longest: float, shortest: float, power: float, widen: tuple[float, float] = (1.0, 1.0), turn: float = 0.0
) -> Field:
    """Noise of mean 0 and deviation 1 between two wavelengths, spectrum |f|^-power.

    widen: of wavelengths along the axes, which are turned by `turn` (rad): 2 makes them twice as long.
    """
    f = np.fft.fftfreq(SIDE, TEXEL).astype(np.float32)
    fx, fy = np.meshgrid(np.abs(f[: SIDE // 2 + 1]), f)
    c, s = math.cos(turn), math.sin(turn)
    radius = np.hypot((c * fx + s * fy) * widen[0], (c * fy - s * fx) * widen[1])
    radius[0, 0] = np.inf
    band = (radius >= 1.0 / longest) & (radius <= 1.0 / shortest)
    shape = np.where(band, np.maximum(radius, 1e-3) ** -power, 0.0)
    white = np.random.default_rng([71, seed]).standard_normal((SIDE, SIDE), dtype=np.float32)
    out = np.fft.irfft2(np.fft.rfft2(white) * shape, s=(SIDE, SIDE)).astype(np.float32)
    return np.asarray((out - out.mean()) / out.std())


@dataclass(frozen=True, eq=False)
class Cells:
    """Voronoi cells: gap to the next one and place against the middle, in cells; a number of each cell, 32 bits."""

    gap: Field
    key: NDArray[np.uint32]
    x: Field
    y: Field

    def lot(self, which: int) -> Field:
        """A number in [0, 1) for each cell, another one for each `which`."""
        return lot(self.key, which)

    def tilt(self, which: int) -> Field:
        """Height of cells that lean, each its own way, by up to half their width over their width."""
        return (self.lot(which) - 0.5) * self.x + (self.lot(which + 1) - 0.5) * self.y


def cells(seed: int, size: float, jitter: float = 0.92, bend: float = 0.0) -> Cells:
    """Cells about `size` wide; their edges wander by `bend` cells over a cell's width."""
    count = round(SPAN / size)
    zero = np.zeros((SIDE, SIDE), dtype=np.float32)
    bends = [bend * noise(seed + k, 4.0 * size, max(size / 1.6, 2.5 * TEXEL), 1.3) if bend else zero for k in (1, 2)]
    made = Cells(zero.copy(), np.zeros((SIDE, SIDE), dtype=np.uint32), zero.copy(), zero.copy())
    _voronoi(count, seed, jitter, bends[0], bends[1], made.gap, made.key, made.x, made.y)
    return made


@njit(cache=True, nogil=True)
def _voronoi(count, seed, jitter, bend_x, bend_y, gap, key, away_x, away_y):  # type: ignore[no-untyped-def]
    n = gap.shape[0]
    for j in range(n):
        for i in range(n):
            x = (i + 0.5) / n * count + bend_x[j, i]
            y = (j + 0.5) / n * count + bend_y[j, i]
            a = math.floor(x)
            b = math.floor(y)
            first = 9.0
            second = 9.0
            for v in range(b - 1, b + 2):
                for u in range(a - 1, a + 2):
                    w = hash2(u % count, v % count, seed)
                    px = u + 0.5 + jitter * ((w & 0xFFFF) / 65536.0 - 0.5)
                    py = v + 0.5 + jitter * ((w >> 16) / 65536.0 - 0.5)
                    d = math.hypot(px - x, py - y)
                    if d < first:
                        second = first
                        first = d
                        key[j, i] = hash2(u % count, v % count, seed + 7)
                        away_x[j, i] = x - px
                        away_y[j, i] = y - py
                    elif d < second:
                        second = d
            gap[j, i] = second - first


def lot(key: NDArray[np.uint32], which: int) -> Field:
    """A number in [0, 1) for each key, another one for each `which`."""
    word = (key ^ np.uint32(which * 0x9E3779B9 & 0xFFFFFFFF)) * np.uint32(0x85EBCA6B)
    return np.asarray(((word ^ (word >> np.uint32(13))) & np.uint32(0xFFFF)).astype(np.float32) / 65536.0)


def step(low: float, high: float, x: NDArray[Any]) -> Field:
    """0 below low, 1 above high, a cubic between."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def blend(colour: NDArray[Any], other: ArrayLike, share: NDArray[Any]) -> Field:
    """Colours (SIDE, SIDE, 3) with a share of others (3,) or (SIDE, SIDE, 3) over them."""
    return np.asarray(colour + (np.asarray(other, dtype=np.float32) - colour) * share[..., None])


def tinted(colour: ArrayLike, brightness: Any) -> Field:
    """One colour (3,) at brightnesses (SIDE, SIDE)."""
    return np.asarray(np.asarray(colour, dtype=np.float32) * np.asarray(brightness, dtype=np.float32)[..., None])


def blurred(field: Field, width: float) -> Field:
    """The field under a Gaussian of this deviation in m."""
    rim = int(4 * width / TEXEL) + 1
    wide = cv2.copyMakeBorder(field, rim, rim, rim, rim, cv2.BORDER_WRAP)
    return np.asarray(cv2.GaussianBlur(wide, (0, 0), width / TEXEL)[rim:-rim, rim:-rim])


def leaning(height: Field, turn: float, lean: float) -> Field:
    """The field with each point shifted along a direction (rad) by `lean` times its height: steep ahead."""
    reach = lean * height / TEXEL
    rim = int(np.ceil(np.abs(reach).max())) + 2
    wide = cv2.copyMakeBorder(height, rim, rim, rim, rim, cv2.BORDER_WRAP)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) + np.float32(rim)
    from_x, from_y = (x - reach * math.cos(turn)).astype(np.float32), (y - reach * math.sin(turn)).astype(np.float32)
    return np.asarray(cv2.remap(wide, from_x, from_y, cv2.INTER_LINEAR))


@dataclass(frozen=True, eq=False)
class Stones:
    """Loose stones: height, -1 where none lies; a number of each."""

    height: Field
    key: NDArray[np.uint32]

    @property
    def there(self) -> Field:
        """1 where a stone lies, else 0."""
        return np.asarray(self.height > 0.0, dtype=np.float32)

    def tone(self, which: int, low: float, high: float) -> Field:
        """A brightness of each stone."""
        return low + (high - low) * lot(self.key, which)


def stones(seed: int, sizes: dict[float, float], steep: float = 0.55) -> Stones:
    """Stones over each other, by width in m and share of the places taken; steep: how far they lean."""
    height = np.full((SIDE, SIDE), -1.0, dtype=np.float32)
    key = np.zeros((SIDE, SIDE), dtype=np.uint32)
    for k, (size, share) in enumerate(sizes.items()):
        made = cells(seed + 31 * k, size, 0.95, 0.05)
        body = np.clip(made.gap / 0.22, 0.0, 1.0)
        dome = np.sqrt(np.maximum(0.0, 1.0 - (1.0 - body) ** 2))
        h = size * (dome * (0.22 + 0.33 * made.lot(4)) + steep * made.tilt(2) * body - 0.075)
        over = (made.lot(1) < share) & (h > np.maximum(height, 0.0))
        height = np.where(over, h, height)
        key = np.where(over, made.key, key)
    return Stones(height, key)
