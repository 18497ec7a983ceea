"""Drops, flakes and grains in the air before a camera, in images of high quality.

They hang in the air as densely as the weather lets them, near ones few and large, far ones many and faint; beyond they
are what the haze is made of. In an exposure each draws a streak along its velocity relative to the camera. The lens is
focused far away: something near is spread over the lens's opening, and fainter by as much. A pure function of the
generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.render.views import View
from esar_ros.sim.weather.appearance import Falling

_OPENING = 0.0016  # m, the lens's: 4.5 mm at f/2.8
_NEAREST = 0.22  # m
_LONGEST = 400.0  # px, of a streak
_FAINTEST = 0.008  # opacity


@dataclass(frozen=True)
class _Kind:
    """A kind of what falls, at its densest. Diameters follow a log-normal law."""

    layers: tuple[tuple[float, int], ...]  # distance to a layer's far end (m), its particles
    size: float  # m, median diameter
    spread: float  # deviation of the diameter's logarithm
    fall: float  # m/s at the median diameter, with the square root of others
    stray: float  # m/s, deviation of the velocity: turbulence
    exposure: float  # s
    opacity: float
    brightness: float  # of the haze


# Drops as in Marshall and Palmer (1948) over 1 mm, of 25 mm an hour; flakes are clusters of crystals.
_KINDS: dict[Falling, _Kind] = {
    Falling.RAIN: _Kind(((2.5, 240), (6.0, 320), (14.0, 240)), 0.0019, 0.30, 7.0, 0.35, 1 / 60, 0.80, 1.22),
    Falling.SNOW: _Kind(((2.5, 140), (7.0, 460), (20.0, 900)), 0.0060, 0.45, 1.2, 0.40, 1 / 160, 0.90, 1.14),
    Falling.SAND: _Kind(((1.5, 260), (4.0, 420)), 0.0009, 0.50, 0.4, 0.90, 1 / 125, 0.55, 0.90),
}


def draw_fall(
    image: NDArray[np.uint8],
    depth: NDArray[np.float32],
    view: View,
    falling: Falling,
    density: float,
    haze: Vector,
    wind: Vector,
    motion: Vector,
    rng: np.random.Generator,
) -> None:
    """Draws what falls over an image (H, W, 3) whose scene has a depth (H, W), m.

    density: share of the densest; haze: grey levels of distant air; wind, motion: m/s, ENU, of the air and the camera.
    """
    kind = _KINDS[falling]
    height, width = image.shape[:2]
    focal = width / (2.0 * view.half_width)
    ends = [0.0, *(end for end, _ in kind.layers)]
    counts = [round(count * density) for _, count in kind.layers]
    # Evenly in the volume of a layer of the view's pyramid.
    cubes = np.concatenate([rng.uniform(a**3, b**3, n) for a, b, n in zip(ends, ends[1:], counts, strict=False)])
    z = np.maximum(_NEAREST, np.cbrt(cubes))
    at = np.column_stack([rng.uniform(-1.1, 1.1, (len(z), 2)) * (view.half_width, view.half_height) * z[:, None], z])
    size = kind.size * np.exp(kind.spread * rng.standard_normal(len(z)))
    velocity = np.asarray(wind) - np.asarray(motion) + kind.stray * rng.standard_normal((len(z), 3))
    velocity[:, 2] -= kind.fall * np.sqrt(size / kind.size)
    way = 0.5 * kind.exposure * velocity @ view.axes.T
    start, end = (_seen(at + sign * way, focal, width, height) for sign in (-1.0, 1.0))
    sharp, spread = focal * size / z, focal * np.hypot(size, _OPENING) / z
    length = np.linalg.norm(end - start, axis=1)
    # As much light as an opaque disc's in passing, but for a root: to an eye a streak is its brightest part.
    shown = np.maximum(spread, 1.1)
    opacity = (
        kind.opacity * (sharp / shown) * np.sqrt(shown / (shown + length)) * np.minimum(1.0, sharp / spread + 0.15)
    )
    kept = (length < _LONGEST) & (opacity > _FAINTEST)
    colour = np.minimum(255.0, kind.brightness * np.asarray(haze))
    _streaks(image, depth, start[kept], end[kept], 0.5 * shown[kept], opacity[kept], z[kept], colour)


def _seen(points: NDArray[np.float64], focal: float, width: int, height: int) -> NDArray[np.float64]:
    """Returns where (N, 2) (px) points (N, 3) of the optical frame are seen."""
    return points[:, :2] / np.maximum(points[:, 2:], 0.1) * focal + (width / 2, height / 2)


@njit(cache=True, nogil=True)
def _streaks(image, depth, start, end, radius, opacity, distance, colour):  # type: ignore[no-untyped-def]
    """Draws soft capsules, row by row, before what is farther."""
    height, width = image.shape[0], image.shape[1]
    for k in range(start.shape[0]):
        x, y = start[k, 0], start[k, 1]
        dx, dy = end[k, 0] - x, end[k, 1] - y
        long = dx * dx + dy * dy + 1e-9
        reach = radius[k] + 0.5
        side = reach * math.sqrt(1.0 + (dx * dx) / (dy * dy + 1e-9))  # half a row's share of the capsule
        low, high = max(0, int(min(y, y + dy) - reach)), min(height - 1, int(max(y, y + dy) + reach))
        least, most = min(x, x + dx) - reach, max(x, x + dx) + reach
        for j in range(low, high + 1):
            t = min(1.0, max(0.0, (j + 0.5 - y) * dy / long * (1.0 + dx * dx / (dy * dy + 1e-9))))
            middle = x + t * dx
            left, right = (
                max(0, int(max(least, middle - side - 1.0))),
                min(width - 1, int(min(most, middle + side + 1.0))),
            )
            for i in range(left, right + 1):
                px, py = i + 0.5 - x, j + 0.5 - y
                s = min(1.0, max(0.0, (px * dx + py * dy) / long))
                gap = math.sqrt((px - s * dx) ** 2 + (py - s * dy) ** 2) / reach
                if gap >= 1.0 or depth[j, i] < distance[k]:
                    continue
                a = opacity[k] * (1.0 - gap * gap)
                for c in range(3):
                    old = image[j, i, c]
                    image[j, i, c] = int(old + a * (colour[c] - old) + 0.5)
