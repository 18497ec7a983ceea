"""Relief finer than a surveyed model: a fractal that goes on from what the model's own spectrum shows.

Of fractional Brownian relief with exponent H the spectrum of a profile falls as k^-(1 + 2 H) (Mandelbrot, *The Fractal
Geometry of Nature*, 1982, chapter 28; Turcotte, *Fractals and Chaos in Geology and Geophysics*, 1997, chapter 7). Mean
squares of second differences over two and over four cells, where models are true, give H and the strength; the law goes
on to wavelengths that the cells cannot hold. Level ground has small differences, and little is added.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field
from scipy.ndimage import gaussian_filter

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.noise import fbm, ridged, smoothstep

_LAG = 2  # cells; models are smooth over one
_NEIGHBOURHOOD = 2.0  # cells, deviation of the Gaussian that local roughness is a mean by
_LEAST_CELLS = 2.5  # of the map's own grid that the model's cell must be wide for anything to fit between
_OCTAVES = 6  # at most
_GENTLE = (0.002, 0.02)  # rise over run: lakes and salt flats are level in the model, and stay so
_STEEP = (0.35, 0.9)  # rise over run where hummocks become ribs
_MOST = 50.0  # m, of what is added
_H = (0.3, 1.9)  # exponents that are believed; above 1 the relief is smooth


class FinerRelief(StrictModel):
    """Relief that is added to a model, measured on it when it was imported."""

    seed: int = Field(ge=0)
    amplitude: float = Field(ge=0.0, le=_MOST, description="m, root mean square over the map; 0: nothing is added")
    hurst: float = Field(ge=0.0, le=2.0, description="exponent H of the model's spectrum")


def measure(heights: NDArray[np.float64], step: float, cell: float, quantum: float, seed: int) -> FinerRelief | None:
    """Relief that a model lacks by its heights (n, n) in m on the map's grid; None where its cells are as fine.

    step and cell: m between heights and between the model's own samples. quantum: m that the model's heights are
    rounded to; its share of the differences is left out.
    """
    if not _octaves(step, cell):
        return None
    coarse, every = _thinned(heights, step, cell)
    rounding = quantum * quantum / 2.0  # (1 + 4 + 1) / 12
    near, far = (max(float(_differences(coarse, lag).mean()) - rounding, 0.0) for lag in _lags(step * every, cell))
    if near <= 0.0 or far <= near:
        return FinerRelief(seed=seed, amplitude=0.0, hurst=_H[0])
    hurst = min(max(0.5 * math.log2(far / near), _H[0]), _H[1])
    amplitude = min(math.sqrt(near * missing_share(hurst, _LAG)), _MOST)
    return FinerRelief(seed=seed, amplitude=round(amplitude, 3), hurst=round(hurst, 3))


def missing_share(hurst: float, lag: float) -> float:
    """Variance of wavelengths below two cells, over the mean square of second differences across lag cells."""
    u = np.geomspace(1e-4, 1e3, 40_000)
    # In the logarithm of u; beyond its end the mean of (2 - 2 cos u)^2 is 6.
    density = u ** (-2.0 * hurst) * (2.0 - 2.0 * np.cos(u)) ** 2
    squares = float(np.trapezoid(density, np.log(u))) + 6.0 * 1e3 ** (-2.0 * hurst) / (2.0 * hurst)
    return (math.pi * lag) ** (-2.0 * hurst) / (2.0 * hurst) / squares


def add_finer_relief(
    heights: NDArray[np.float64], step: float, cell: float, finer: FinerRelief, water_level: float | None
) -> None:
    """Add it to heights (n, n) in m, in place; not at the map's centre, whose height is told, and not on water."""
    octaves = _octaves(step, cell)
    if not octaves or finer.amplitude <= 0.0:
        return
    coarse, every = _thinned(heights, step, cell)
    lag, _ = _lags(step * every, cell)
    squares = np.pad(_differences(coarse, lag), lag, mode="edge")
    rough = np.sqrt(gaussian_filter(squares, _NEIGHBOURHOOD * cell / (step * every), mode="nearest"))
    sea = -math.inf if water_level is None else water_level
    added = _fractal(heights, rough, every, step, cell, octaves, min(0.5**finer.hurst, 0.75), finer.seed, sea)
    total = math.sqrt(float(np.mean(added * added, dtype=np.float64)))
    if total > 0.0:
        added *= finer.amplitude / total
        heights += added


def _octaves(step: float, cell: float) -> int:
    return min(max(math.ceil(math.log2(cell / (_LEAST_CELLS * step))), 0), _OCTAVES)


def _thinned(heights: NDArray[np.float64], step: float, cell: float) -> tuple[NDArray[np.float64], int]:
    """Every so many heights, about two a cell, and how many those are; the last row and column are among them."""
    every = 1
    while 2 * every * 2 * step <= cell and (heights.shape[0] - 1) % (2 * every) == 0:
        every *= 2
    return heights[::every, ::every], every


def _lags(step: float, cell: float) -> tuple[int, int]:
    lag = max(round(_LAG * cell / step), 1)
    return lag, 2 * lag


def _differences(h: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    """Mean squares (n - 2 lag, n - 2 lag) of the second differences along both axes."""
    inner = slice(lag, -lag)
    along = h[inner, 2 * lag :] - 2.0 * h[inner, inner] + h[inner, : -2 * lag]
    across = h[2 * lag :, inner] - 2.0 * h[inner, inner] + h[: -2 * lag, inner]
    return np.asarray(0.5 * (along * along + across * across))


@njit(cache=True, nogil=True)
def _fractal(h, rough, every, step, cell, octaves, gain, seed, sea):  # type: ignore[no-untyped-def]
    """Noise as strong as the neighbourhood is rough: hummocks on slopes, ribs where they are steep."""
    n = h.shape[0]
    out = np.zeros((n, n), np.float32)
    last = rough.shape[0] - 2
    middle = (n - 1) // 2
    for j in range(n):
        for i in range(n):
            a = min(i + 1, n - 1)
            b = max(i - 1, 0)
            c = min(j + 1, n - 1)
            d = max(j - 1, 0)
            gx = (h[j, a] - h[j, b]) / ((a - b) * step)
            gy = (h[c, i] - h[d, i]) / ((c - d) * step)
            slope = math.sqrt(gx * gx + gy * gy)
            if h[j, i] <= sea or slope <= _GENTLE[0]:
                continue
            p = min(i // every, last)
            q = min(j // every, last)
            u = i / every - p
            v = j / every - q
            low = rough[q, p] + (rough[q, p + 1] - rough[q, p]) * u
            high = rough[q + 1, p] + (rough[q + 1, p + 1] - rough[q + 1, p]) * u
            x = i * step / cell
            y = j * step / cell
            ribs = smoothstep(_STEEP[0], _STEEP[1], slope)
            noise = (1.0 - ribs) * fbm(x, y, octaves, seed, gain)
            if ribs > 0.0:
                noise += ribs * 1.5 * (ridged(0.6 * x, 0.6 * y, octaves + 1, seed + 50) - 0.55)
            away = ((i - middle) ** 2 + (j - middle) ** 2) * (step / cell) ** 2
            noise *= (low + (high - low) * v) * smoothstep(_GENTLE[0], _GENTLE[1], slope) * (1.0 - math.exp(-away))
            out[j, i] = noise
    return out
