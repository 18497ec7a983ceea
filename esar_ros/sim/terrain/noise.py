"""Coherent noise on the plane: hash, gradient noise, fractal and ridged sums.

Only additions and multiplications of hashed integers, so that a map has the same bytes on every
machine. Perlin, "Improving noise", 2002; Musgrave, "Texturing and Modeling", chapter 16.
"""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def hash2(ix: int, iy: int, seed: int) -> int:
    """32 well mixed bits of a lattice point."""
    n = (ix * 374761393 + iy * 668265263 + seed * 974634213) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    n = ((n ^ (n >> 15)) * 2146822519) & 0xFFFFFFFF
    return (n ^ (n >> 16)) & 0xFFFFFFFF


@njit(cache=True, nogil=True)
def uniform2(ix: int, iy: int, seed: int) -> float:
    """Number in [0, 1) of a lattice point."""
    return hash2(ix, iy, seed) / 4294967296.0


@njit(cache=True, nogil=True)
def _corner(ix: int, iy: int, fx: float, fy: float, seed: int) -> float:
    h = hash2(ix, iy, seed)
    return ((h & 0xFFFF) / 32767.5 - 1.0) * fx + ((h >> 16) / 32767.5 - 1.0) * fy


@njit(cache=True, nogil=True)
def gradient_noise(x: float, y: float, seed: int) -> float:
    """Smooth noise with unit lattice, about [-1, 1], mean 0."""
    ix = math.floor(x)
    iy = math.floor(y)
    fx = x - ix
    fy = y - iy
    u = fx * fx * fx * (fx * (fx * 6.0 - 15.0) + 10.0)
    v = fy * fy * fy * (fy * (fy * 6.0 - 15.0) + 10.0)
    a = _corner(ix, iy, fx, fy, seed)
    b = _corner(ix + 1, iy, fx - 1.0, fy, seed)
    c = _corner(ix, iy + 1, fx, fy - 1.0, seed)
    d = _corner(ix + 1, iy + 1, fx - 1.0, fy - 1.0, seed)
    low = a + (b - a) * u
    return 1.6 * (low + (c + (d - c) * u - low) * v)


@njit(cache=True, nogil=True)
def fbm(x: float, y: float, octaves: int, seed: int, gain: float) -> float:
    """Sum of octaves, each twice as fine and gain as strong; about [-1, 1]."""
    total = 0.0
    weight = 1.0
    weights = 0.0
    for octave in range(octaves):
        total += weight * gradient_noise(x, y, seed + octave)
        weights += weight
        weight *= gain
        x *= 2.03
        y *= 2.03
    return total / weights


@njit(cache=True, nogil=True)
def ridged(x: float, y: float, octaves: int, seed: int) -> float:
    """Ridged multifractal in about [0, 1]: sharp crests, smooth valleys."""
    total = 0.0
    amplitude = 1.0
    weight = 1.0
    weights = 0.0
    for octave in range(octaves):
        crest = 1.0 - abs(gradient_noise(x, y, seed + octave))
        crest *= crest * weight
        weight = min(1.0, max(0.0, crest * 1.6))
        total += amplitude * crest
        weights += amplitude
        amplitude *= 0.5
        x *= 2.03
        y *= 2.03
    return total / weights


@njit(cache=True, nogil=True)
def smoothstep(low: float, high: float, x: float) -> float:
    """0 below low, 1 above high, a cubic between; low > high reverses it."""
    t = min(1.0, max(0.0, (x - low) / (high - low)))
    return t * t * (3.0 - 2.0 * t)
