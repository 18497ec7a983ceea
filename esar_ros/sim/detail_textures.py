"""Small wrapping noise textures: surface patterns seen near, and clouds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

SIDE = 512


def _band_noise(rng: np.random.Generator, low: float, high: float, power: float) -> NDArray[np.float64]:
    """Wrapping noise (SIDE, SIDE), mean 0, deviation 1, spectrum |f|^-power between two frequencies."""
    frequency = np.fft.fftfreq(SIDE) * SIDE
    radius = np.hypot(*np.meshgrid(frequency, frequency))
    radius[0, 0] = 1.0
    shape = np.where((radius >= low) & (radius <= high), radius**-power, 0.0)
    noise = np.fft.ifft2(np.fft.fft2(rng.standard_normal((SIDE, SIDE))) * shape).real
    return np.asarray((noise - noise.mean()) / noise.std())


def detail_patterns() -> NDArray[np.uint8]:
    """(SIDE, SIDE, 4): brightness about 128 of grass, rock, snow and sand, earth."""
    rng = np.random.default_rng(11)
    grass = 0.17 * _band_noise(rng, 6, 256, 0.5)
    rock = 0.55 * _stones(rng, 900) + 0.05 * _band_noise(rng, 6, 256, 0.6)
    snow = 0.05 * _band_noise(rng, 2, 256, 0.9)
    earth = 0.14 * _band_noise(rng, 4, 256, 0.7)
    stacked = np.stack([grass, rock, snow, earth], axis=-1)
    return np.asarray(np.clip(0.5 + stacked, 0.0, 1.0) * 255.0, dtype=np.uint8)


def _stones(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Wrapping Voronoi cells (SIDE, SIDE): each its own grey, dark along the gaps; about [-0.6, 0.3]."""
    points = rng.uniform(0.0, SIDE, (count, 2))
    grey = rng.uniform(-0.16, 0.22, count)
    shifts = [(dx, dy) for dx in (-SIDE, 0, SIDE) for dy in (-SIDE, 0, SIDE)]
    tree = cKDTree(np.concatenate([points + shift for shift in shifts]))
    pixels = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 2) + 0.5
    distance, nearest = tree.query(pixels, k=2)
    gap = np.clip((distance[:, 1] - distance[:, 0]) / 5.0, 0.0, 1.0)
    return np.asarray((grey[nearest[:, 0] % count] - 0.55 * (1.0 - gap) ** 1.5).reshape(SIDE, SIDE))


def cloud_pattern(seed: int) -> NDArray[np.uint8]:
    """(SIDE, SIDE): cloud density, median 128."""
    noise = _band_noise(np.random.default_rng([29, seed]), 2, 200, 1.5)
    return np.asarray(np.clip(0.5 + 0.2 * noise, 0.0, 1.0) * 255.0, dtype=np.uint8)


def paint_noise() -> NDArray[np.float32]:
    """(256, 256) wrapping noise of about unit deviation, for colours of the ground."""
    noise = _band_noise(np.random.default_rng(17), 2, 120, 1.2)
    return np.ascontiguousarray(noise[::2, ::2], dtype=np.float32)
