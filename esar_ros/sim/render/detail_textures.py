"""Small wrapping noise textures: surface patterns seen near, and clouds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap

SIDE = 512


def _band_noise(rng: np.random.Generator, low: float, high: float, power: float) -> NDArray[np.float64]:
    """Wrapping noise (SIDE, SIDE), mean 0, deviation 1, spectrum |f|^-power between two frequencies."""
    frequency = np.fft.fftfreq(SIDE) * SIDE
    radius = np.hypot(*np.meshgrid(frequency, frequency))
    radius[0, 0] = 1.0
    shape = np.where((radius >= low) & (radius <= high), radius**-power, 0.0)
    noise = np.fft.ifft2(np.fft.fft2(rng.standard_normal((SIDE, SIDE))) * shape).real
    return np.asarray((noise - noise.mean()) / noise.std())


def detail_patterns(place: PlaceMap) -> NDArray[np.uint8]:
    """(SIDE, SIDE, 4): brightness about 128 of four patterns, each some 6 m across on the ground.

    The first is grass, or a salt crust's plates or hard ice where the place has those; then rock (gravel in a desert);
    snow and sand, with the ripples of the wind; earth.
    """
    rng = np.random.default_rng(11)
    grass = 0.17 * _band_noise(rng, 6, 256, 0.5)
    rock = 0.55 * _stones(rng, 900) + 0.05 * _band_noise(rng, 6, 256, 0.6)
    snow = 0.05 * _band_noise(rng, 2, 256, 0.9)
    earth = 0.14 * _band_noise(rng, 4, 256, 0.7)
    found = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    rng = np.random.default_rng(12)
    if found[LandCover.SALT] > 0.01:
        grass = 0.27 * _plates(rng, 49) + 0.13 * _plates(rng, 576) + 0.08 * _band_noise(rng, 8, 256, 0.6)
        rock = 0.40 * _stones(rng, 6000) + 0.10 * _band_noise(rng, 4, 256, 0.5)
        snow = 0.10 * _ripples(rng, 34) + 0.03 * _band_noise(rng, 4, 256, 0.5)
        earth = 0.10 * _ripples(rng, 9) + 0.11 * _band_noise(rng, 4, 256, 0.7)
    elif found[LandCover.SNOW] > 0.1:
        grass = 0.10 * _plates(rng, 36) + 0.05 * _band_noise(rng, 2, 100, 1.1)
        snow = 0.05 * _ripples(rng, 14) + 0.03 * _band_noise(rng, 2, 256, 0.8)
    stacked = np.stack([grass, rock, snow, earth], axis=-1)
    return np.asarray(np.clip(0.5 + stacked, 0.0, 1.0) * 255.0, dtype=np.uint8)


def _ripples(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Wrapping wavy bands (SIDE, SIDE) of unit deviation, `count` across: wind ripples, sastrugi, layers."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE * 2.0 * np.pi
    bent = count * (x + y) + 1.5 * _band_noise(rng, 1, 24, 1.1)
    waves = np.sin(bent) + 0.3 * np.sin(2.0 * bent)
    return np.asarray(waves / waves.std())


def _plates(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Wrapping plates (SIDE, SIDE) with bright upturned rims and a dark crack along them; about [-1, 1]."""
    first, second, _ = _voronoi(rng, count, True)
    gap = second - first
    size = SIDE / np.sqrt(count)
    return np.asarray(np.exp(-((gap / (0.10 * size) - 1.2) ** 2)) - 1.3 * np.exp(-((gap / (0.045 * size)) ** 2)))


def _voronoi(
    rng: np.random.Generator, count: int, even: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Distances to the nearest and the second of `count` wrapping points, and which is the nearest; (SIDE, SIDE).

    An even count is a square number.
    """
    if even:  # one a square: shrinkage cracks are about evenly spaced
        side = math.isqrt(count)
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
        points = (grid + 0.5 + 0.75 * (rng.random((count, 2)) - 0.5)) * (SIDE / side)
    else:
        points = rng.uniform(0.0, SIDE, (count, 2))
    shifts = [(dx, dy) for dx in (-SIDE, 0, SIDE) for dy in (-SIDE, 0, SIDE)]
    tree = cKDTree(np.concatenate([points + shift for shift in shifts]))
    pixels = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 2) + 0.5
    distance, nearest = tree.query(pixels, k=2)
    shape = (SIDE, SIDE)
    return distance[:, 0].reshape(shape), distance[:, 1].reshape(shape), (nearest[:, 0] % count).reshape(shape)


def _stones(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Wrapping Voronoi cells (SIDE, SIDE): each its own grey, dark along the gaps; about [-0.6, 0.3]."""
    first, second, nearest = _voronoi(rng, count, False)
    grey = rng.uniform(-0.16, 0.22, count)
    gap = np.clip((second - first) / 5.0 * np.sqrt(count / 900.0), 0.0, 1.0)
    return np.asarray(grey[nearest] - 0.55 * (1.0 - gap) ** 1.5)


def cloud_pattern(seed: int) -> NDArray[np.uint8]:
    """(SIDE, SIDE): cloud density, median 128."""
    noise = _band_noise(np.random.default_rng([29, seed]), 2, 200, 1.5)
    return np.asarray(np.clip(0.5 + 0.2 * noise, 0.0, 1.0) * 255.0, dtype=np.uint8)


def paint_noise() -> NDArray[np.float32]:
    """(256, 256) wrapping noise of about unit deviation, for colours of the ground."""
    noise = _band_noise(np.random.default_rng(17), 2, 120, 1.2)
    return np.ascontiguousarray(noise[::2, ::2], dtype=np.float32)
