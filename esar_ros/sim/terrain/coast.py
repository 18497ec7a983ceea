"""A drowned hill coast: wooded ridges that end in headlands with sea cliffs, valleys that end in beaches."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.noise import fbm, gradient_noise, ridged, smoothstep
from esar_ros.sim.terrain.ridge_skeleton import Ridges, fall_from_ridges, pack_ridges


class CoastalHills(StrictModel):
    """Ridges are lists of x, y (m, map frame), altitude (m AMSL) and half width of the crest (m)."""

    kind: Literal["coastal_hills"]
    ridges: Ridges
    steep: float = Field(gt=0.0, description="rise over run below the crests")
    gentle: float = Field(gt=0.0, description="rise over run at the foot of the hills")
    knee: float = Field(gt=0.0, description="m below a crest over which steep eases to gentle")
    spurs: float = Field(ge=0.0, description="m, spurs and gullies of the flanks")
    cliff_height: float = Field(ge=0.0, description="m, of sea cliffs at headlands")
    beaches: list[tuple[float, float, float]] = Field(description="x, y and radius (m) of bays with a beach")


def coastal_hills(relief: CoastalHills, samples: int, size: float, seed: int) -> NDArray[np.float64]:
    """Altitudes (n, n) in m AMSL before the sea wears the shore; sea bed below 0."""
    vertices, starts = pack_ridges(relief.ridges)
    return _hills(  # type: ignore[no-any-return]
        samples, size, seed, vertices, starts, relief.steep, relief.gentle, relief.knee, relief.spurs
    )


def wear_shore(altitudes: NDArray[np.float64], relief: CoastalHills, size: float, seed: int) -> None:
    """Cut sea cliffs with a rock platform at their foot, lay out beaches, level the sea at 0; in place."""
    beaches = np.array(relief.beaches, dtype=np.float64).reshape(-1, 3)
    _wear(altitudes, size, seed, relief.cliff_height, beaches)


@njit(cache=True, nogil=True)
def _hills(n, size, seed, vertices, starts, steep, gentle, knee, spurs):  # type: ignore[no-untyped-def]
    out = np.empty((n, n), np.float64)
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            wx = x + 55.0 * fbm(x / 300.0, y / 300.0, 4, seed, 0.5)
            wy = y + 55.0 * fbm(x / 300.0 + 5.0, y / 300.0 + 9.0, 4, seed + 5, 0.5)
            h, distance, _ = fall_from_ridges(wx, wy, vertices, starts, steep, gentle, knee, 28.0, 90.0)
            flank = smoothstep(15.0, 160.0, distance)
            h += spurs * (0.35 + flank) * (ridged(wx / 300.0, wy / 300.0, 5, seed + 20) - 0.55)
            h += 5.0 * fbm(x / 90.0, y / 90.0, 4, seed + 30, 0.5)
            out[j, i] = h
    return out


@njit(cache=True, nogil=True)
def _wear(h, size, seed, cliff, beaches):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            sand = 0.0
            for k in range(beaches.shape[0]):
                away = math.sqrt((x - beaches[k, 0]) ** 2 + (y - beaches[k, 1]) ** 2) / beaches[k, 2]
                sand = max(sand, 1.0 - smoothstep(0.55, 1.0, away))
            z = h[j, i] + 3.0 * fbm(x / 26.0, y / 26.0, 3, seed + 40, 0.5) * (1.0 - sand)
            tall = cliff * (0.35 + 0.65 * smoothstep(-0.25, 0.3, gradient_noise(x / 190.0, y / 190.0, seed + 41)))
            tall *= 1.0 - sand
            if z > 0.0:
                # Headlands: a wave-cut platform with boulders, then the cliff; bays: a strand that steepens inland.
                shelf = min(z, 2.2) * (0.5 + 0.5 * smoothstep(0.0, 3.0, z))
                worn = shelf + tall * smoothstep(2.0, 7.5, z) + max(0.0, z - 2.2)
                strand = z * (0.16 + 0.84 * smoothstep(10.0, 60.0, z))
                z = worn + sand * (strand - worn)
            h[j, i] = max(z, 0.0)
