"""Small wrapping noise textures: surface patterns seen near, and clouds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    rock = 0.19 * (0.75 - np.abs(_band_noise(rng, 3, 256, 0.95)))
    snow = 0.05 * _band_noise(rng, 2, 256, 0.9)
    earth = 0.14 * _band_noise(rng, 4, 256, 0.7)
    stacked = np.stack([grass, rock, snow, earth], axis=-1)
    return np.asarray(np.clip(0.5 + stacked, 0.0, 1.0) * 255.0, dtype=np.uint8)


def cloud_pattern(seed: int) -> NDArray[np.uint8]:
    """(SIDE, SIDE): cloud density, median 128."""
    noise = _band_noise(np.random.default_rng([29, seed]), 2, 200, 1.5)
    return np.asarray(np.clip(0.5 + 0.2 * noise, 0.0, 1.0) * 255.0, dtype=np.uint8)


def paint_noise() -> NDArray[np.float32]:
    """(256, 256) wrapping noise of about unit deviation, for colours of the ground."""
    noise = _band_noise(np.random.default_rng(17), 2, 120, 1.2)
    return np.ascontiguousarray(noise[::2, ::2], dtype=np.float32)
