"""Lens and sensor effects on an image: rain, snow and sand before the lens, drops and ice on it, softness, noise.

Acts on colour alone. A pure function of seed, time and pose, so that a pose has one image.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.render.precipitation import draw_fall
from esar_ros.sim.render.views import View
from esar_ros.sim.weather.appearance import Conditions, Falling

_DROP_LIFE = 7.0  # s that a drop stays on the lens
_DROPS = 14  # on the lens in the densest rain
_STORM_WIND = np.array([13.0, 4.0, 0.0])  # m/s, of blown sand and blizzard snow where no wind is set

_BLUR = 0.55  # px, deviation
_NOISE = 1.5  # grey levels, deviation by day
_FIELD_SLACK = 65_536  # places in the field of noise where an image may begin
_LEVELS = np.arange(256) / 255.0
_CONTRAST = np.rint(255.0 * (_LEVELS + 0.15 * (_LEVELS**2 * (3.0 - 2.0 * _LEVELS) - _LEVELS))).astype(np.uint8)

# Particles in the densest fall, metres to the farthest, fall in m/s, exposure in s, diameter in m, opacity.
_KINDS: dict[Falling, tuple[int, float, float, float, float, float]] = {
    Falling.RAIN: (900, 9.0, 7.5, 1 / 40, 0.0035, 0.55),
    Falling.SNOW: (1400, 9.0, 1.3, 1 / 80, 0.009, 0.85),
    Falling.SAND: (700, 4.0, 0.3, 1 / 100, 0.002, 0.45),
}


def finish(
    rgb: NDArray[np.uint8],
    views: Sequence[View],
    weather: Conditions,
    haze: Vector,
    wind: Vector,
    noise: float,
    seed: int,
    time: float,
    ice: float,
    camera: bool,
    depth: NDArray[np.float32] | None = None,
    motion: Vector | None = None,
) -> None:
    """Change images (C, H, W, 3) in place.

    haze: radiance of distant air times exposure; wind: m/s ENU; noise: standard deviation in grey levels;
    ice: share of the lens that it has reached; camera: whether a lens and a sensor leave their traces by day, too, and
    what falls is drawn as a camera sees it, before a scene of a depth (C, H, W), m, from a motion (3,), m/s, ENU.
    """
    grey = tone(haze)
    moved = np.zeros(3) if motion is None else motion
    for k, view in enumerate(views):
        key = [seed, zlib.crc32(view.eye.tobytes() + view.axes.tobytes()), round(time * 1000.0) & 0xFFFFFFFF]
        if weather.falling is not Falling.NOTHING:
            rng, air = np.random.default_rng(key), _air(wind, weather)
            if camera and depth is not None:
                draw_fall(rgb[k], depth[k], view, weather.falling, weather.density, grey, air, moved, rng)
            else:
                _fall(rgb[k], view, weather, grey, air, rng)
            looks_up = float(view.axes[2, 2]) > -0.6
            if weather.falling is Falling.RAIN and looks_up:
                _drops(rgb[k], weather.density, np.random.default_rng([seed, math.floor(time / _DROP_LIFE), 7]))
        if ice > 0.01:
            _frost(rgb[k], ice, grey, seed & 0x7FFFFFFF)
        if camera:
            _develop(rgb[k], int(np.random.default_rng(key).integers(_FIELD_SLACK)))
        if noise > 0.2:
            _grain(rgb[k].reshape(-1), noise, np.random.default_rng(key).integers(1, 2**62))


def tone(radiance: Vector) -> NDArray[np.float64]:
    """The shaders' tone curve: grey levels 0..255 of exposed radiance."""
    c = np.asarray(radiance, dtype=np.float64)
    return 255.0 * np.sqrt(np.clip(c / (c * 0.35 + 0.75), 0.0, 1.0))


def _develop(image: NDArray[np.uint8], at: int) -> None:
    """Blur of lens and demosaicing, a camera's contrast, and noise from a place `at` in the field.

    In the tone's square roots shot noise has one deviation, whatever the brightness.
    """
    cv2.GaussianBlur(image, (3, 3), _BLUR, dst=image)
    cv2.LUT(image, _CONTRAST, dst=image)
    flat = image.reshape(len(image), -1)
    more, less = (part[at : at + flat.size].reshape(flat.shape) for part in _noise_field(flat.size + _FIELD_SLACK))
    cv2.add(flat, more, dst=flat)
    cv2.subtract(flat, less, dst=flat)


@lru_cache(maxsize=2)
def _noise_field(size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Grey levels to be added and to be taken away, (size,) each; mean 0, deviation _NOISE, neighbours alike."""
    field = np.random.default_rng(5).standard_normal((size + 3) // 3 * 3).astype(np.float32).reshape(1, -1, 3)
    field = 0.7 * field + 0.7 * field.mean(axis=2, keepdims=True) * math.sqrt(3.0)  # half of it has no colour
    values = np.rint(_NOISE * field / field.std()).ravel()[:size]
    return tuple(np.clip(sign * values, 0, 255).astype(np.uint8) for sign in (1, -1))


def _air(wind: Vector, weather: Conditions) -> Vector:
    """Returns the velocity (m/s, ENU) of the air that bears what falls; a storm is one where no wind is set, too."""
    air = np.asarray(wind, dtype=np.float64)
    calm = float(np.linalg.norm(air)) < 1.0
    return _STORM_WIND if calm and weather.density >= 1.0 and weather.falling is not Falling.RAIN else air


def _fall(
    image: NDArray[np.uint8], view: View, weather: Conditions, grey: Vector, air: Vector, rng: np.random.Generator
) -> None:
    """Draws what falls in images of low quality; air: m/s, ENU."""
    max_count, reach, fall, shutter, size, opacity = _KINDS[weather.falling]
    count = int(max_count * weather.density)
    height, width = image.shape[:2]
    z = np.maximum(0.35, reach * np.cbrt(rng.random(count)))
    spread = rng.uniform(-1.15, 1.15, (count, 2)) * z[:, None] * (view.half_width, view.half_height)
    points = np.column_stack([spread, z])
    velocity = air - [0.0, 0.0, fall] + 0.12 * (fall + float(np.linalg.norm(air))) * rng.standard_normal((count, 3))
    ends = points + shutter * velocity @ view.axes.T
    ends[:, 2] = np.maximum(ends[:, 2], 0.2)
    focal = width / (2.0 * view.half_width)
    start = points[:, :2] / points[:, 2:] * focal + (width / 2, height / 2)
    end = ends[:, :2] / ends[:, 2:] * focal + (width / 2, height / 2)
    radius = 0.5 * focal * size * rng.uniform(0.5, 1.3, count) / z
    thin = np.minimum(1.0, radius / 0.55)  # thinner than a pixel: fainter instead
    length = np.linalg.norm(end - start, axis=1)
    smear = np.sqrt(np.minimum(1.0, 3.0 * np.maximum(radius, 0.5) / np.maximum(length, 1.0)))
    brightness = np.minimum(255.0, grey * (1.12 if weather.falling is not Falling.SAND else 0.92))
    _streaks(image, start, end, np.maximum(radius, 0.55), opacity * thin * smear, brightness)


def _drops(image: NDArray[np.uint8], density: float, rng: np.random.Generator) -> None:
    height, width = image.shape[:2]
    count = int(_DROPS * density)
    centres = rng.random((count, 2)) * (width, height)
    radii = width * rng.uniform(0.005, 0.017, count)
    _refract(image, image.copy(), centres, radii)


@njit(cache=True, nogil=True)
def _streaks(image, start, end, radius, opacity, colour):  # type: ignore[no-untyped-def]
    height, width = image.shape[0], image.shape[1]
    for k in range(start.shape[0]):
        r = radius[k]
        x0, y0, x1, y1 = start[k, 0], start[k, 1], end[k, 0], end[k, 1]
        dx = x1 - x0
        dy = y1 - y0
        long = dx * dx + dy * dy + 1e-9
        if long > 4.0e4:
            continue
        left = max(0, int(min(x0, x1) - r - 1.0))
        right = min(width - 1, int(max(x0, x1) + r + 1.0))
        low = max(0, int(min(y0, y1) - r - 1.0))
        high = min(height - 1, int(max(y0, y1) + r + 1.0))
        for j in range(low, high + 1):
            for i in range(left, right + 1):
                px = i + 0.5 - x0
                py = j + 0.5 - y0
                t = min(1.0, max(0.0, (px * dx + py * dy) / long))
                gap = math.sqrt((px - t * dx) ** 2 + (py - t * dy) ** 2)
                a = opacity[k] * min(1.0, max(0.0, r + 0.5 - gap))
                if a > 0.004:
                    for c in range(3):
                        old = image[j, i, c]
                        image[j, i, c] = int(old + a * (colour[c] - old) + 0.5)


@njit(cache=True, nogil=True)
def _refract(image, scene, centres, radii):  # type: ignore[no-untyped-def]
    """A drop is a strong lens: what is beside it, upside down and smaller."""
    height, width = image.shape[0], image.shape[1]
    for k in range(centres.shape[0]):
        r = radii[k]
        x, y = centres[k, 0], centres[k, 1]
        for j in range(max(0, int(y - r)), min(height, int(y + r) + 1)):
            for i in range(max(0, int(x - r)), min(width, int(x + r) + 1)):
                u = (i + 0.5 - x) / r
                v = (j + 0.5 - y) / r
                q = u * u + v * v
                if q >= 1.0:
                    continue
                a = int(min(width - 1.0, max(0.0, x - 3.5 * u * r)))
                b = int(min(height - 1.0, max(0.0, y - 3.5 * v * r)))
                rim = min(1.0, (1.0 - q) * 4.0)
                light = 1.0 - 0.25 * q + 0.12 * v
                for c in range(3):
                    seen = min(255.0, scene[b, a, c] * light)
                    image[j, i, c] = int(scene[j, i, c] + rim * (seen - scene[j, i, c]) + 0.5)


@njit(cache=True, nogil=True)
def _hash(x):  # type: ignore[no-untyped-def]
    """A scrambled 64-bit word (Steele et al., "Fast splittable pseudorandom number generators", 2014)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _frost(image, share, colour, seed):  # type: ignore[no-untyped-def]
    """Ice grows inwards from the rim in ragged cells; share is of the distance to the middle."""
    height, width = image.shape[0], image.shape[1]
    cell = max(3.0, width / 48.0)
    for j in range(height):
        for i in range(width):
            u = abs(2.0 * (i + 0.5) / width - 1.0)
            v = abs(2.0 * (j + 0.5) / height - 1.0)
            edge = max(u, v) * 0.5 + 0.5 * math.sqrt(0.5 * (u * u + v * v))
            x = i / cell
            y = j / cell
            a = int(x)
            b = int(y)
            s = x - a
            t = y - b
            total = 0.0
            for q in range(4):
                word = _hash(np.uint64(seed + (a + (q & 1)) * 7919 + (b + (q >> 1)) * 104729))
                value = float(word >> np.uint64(40)) / 16777216.0
                total += value * (s if q & 1 else 1.0 - s) * (t if q >> 1 else 1.0 - t)
            ice = min(1.0, max(0.0, (edge - (1.0 - share) + 0.35 * (total - 0.5)) / 0.22)) * 0.85
            if ice > 0.004:
                for c in range(3):
                    old = image[j, i, c]
                    image[j, i, c] = int(old + ice * (0.92 * colour[c] - old) + 0.5)


@njit(cache=True, nogil=True)
def _grain(values, deviation, key):  # type: ignore[no-untyped-def]
    """Add noise of a standard deviation, nearly normal: the sum of four uniform bytes."""
    scale = deviation / 147.8  # the deviation of that sum
    word = np.uint64(0)
    for k in range(values.shape[0]):
        if k & 1 == 0:
            word = _hash(np.uint64(key) + np.uint64(k))
        total = 0.0
        for _ in range(4):
            total += float(word & np.uint64(255))
            word >>= np.uint64(8)
        values[k] = int(min(255.0, max(0.0, values[k] + (total - 510.0) * scale + 0.5)))
