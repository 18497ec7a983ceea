"""A glaciated peak: ridges of surveyed altitudes, fluted faces, an ice cliff, a shoulder with crevasses."""

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

_ICE, _UNKNOWN = 11, 255


class Serac(StrictModel):
    """Front of a hanging glacier: a step across the slope."""

    lip: tuple[float, float] = Field(description="m, middle of the upper edge")
    faces: float = Field(description="deg from north, clockwise, the way down")
    half_width: float = Field(gt=0.0, description="m across")
    height: float = Field(ge=0.0, description="m of the cliff")
    length: float = Field(gt=0.0, description="m the ice reaches up the slope")


class SummitPyramid(StrictModel):
    """Ridges are lists of x, y (m, map frame), altitude (m AMSL) and half width of the crest (m).

    The first ridge bears the glacier: serac, crevasses and bergschrund.
    """

    kind: Literal["summit_pyramid"]
    ridges: Ridges
    steep: float = Field(gt=0.0, description="rise over run below the crests")
    gentle: float = Field(gt=0.0, description="rise over run at the foot of the faces")
    knee: float = Field(gt=0.0, description="m below a crest over which steep eases to gentle")
    roughness: float = Field(ge=0.0, description="m, buttresses and gullies")
    serac: Serac
    crevasse_depth: float = Field(ge=0.0, description="m")
    bergschrund: float = Field(
        description="m down from the serac's lip where the ice has torn off the steep slope above"
    )


def summit_pyramid(
    relief: SummitPyramid, samples: int, size: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Altitudes (n, n) in m AMSL, the highest exactly the ridges' highest, and the surface: ice where it must be."""
    vertices, starts = pack_ridges(relief.ridges)
    heading = math.radians(90.0 - relief.serac.faces)
    serac = np.array(
        [
            *relief.serac.lip,
            math.cos(heading),
            math.sin(heading),
            relief.serac.half_width,
            relief.serac.height,
            relief.serac.length,
        ]
    )
    heights, surface = _summit(
        samples, size, seed, vertices, starts, relief.steep, relief.gentle, relief.knee, relief.roughness, serac,
        relief.crevasse_depth, relief.bergschrund,
    )  # fmt: skip
    return heights, surface


def pin_summit(altitudes: NDArray[np.float64], relief: SummitPyramid, size: float) -> None:
    """Bring the highest vertex to its altitude, with its surroundings, and let nothing stand above it; in place."""
    top = max((vertex for line in relief.ridges.values() for vertex in line), key=lambda vertex: vertex[2])
    _pin(altitudes, size, top[0], top[1], top[2])


@njit(cache=True, nogil=True)
def _pin(h, size, x, y, altitude):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    i = round((x + size / 2.0) / step)
    j = round((y + size / 2.0) / step)
    gap = altitude - h[j, i]
    for b in range(n):
        for a in range(n):
            r2 = ((a - i) * step) ** 2 + ((b - j) * step) ** 2
            h[b, a] += gap * math.exp(-r2 / (2.0 * 120.0**2))
            if r2 < 256.0:  # a cap of snow to stand on
                h[b, a] = max(h[b, a], altitude - 0.5 * math.sqrt(r2))
            if r2 > 0.0:
                h[b, a] = min(h[b, a], altitude - min(0.3 * math.sqrt(r2), 15.0))


@njit(cache=True, nogil=True)
def _summit(n, size, seed, vertices, starts, steep, gentle, knee, rough, serac, crevasse, schrund):  # type: ignore[no-untyped-def]
    heights = np.empty((n, n), np.float64)
    surface = np.full((n, n), _UNKNOWN, np.uint8)
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            wx = x + 26.0 * fbm(x / 170.0, y / 170.0, 4, seed, 0.5)
            wy = y + 26.0 * fbm(x / 170.0 + 5.0, y / 170.0 + 9.0, 4, seed + 5, 0.5)
            h, distance, to_glacier = fall_from_ridges(wx, wy, vertices, starts, steep, gentle, knee, 6.0, 80.0)
            face = smoothstep(8.0, 120.0, distance)
            h += rough * face * (ridged(wx / 330.0, wy / 330.0, 6, seed + 20) - 0.6)
            h += 0.35 * rough * face * (ridged(x / 95.0 + 0.2 * wy / 95.0, y / 95.0, 4, seed + 25) - 0.6)
            h += (0.4 + 2.2 * face) * fbm(x / 22.0, y / 22.0, 3, seed + 30, 0.5)
            # Rock bands: the beds of gneiss dip gently and break the faces into steps here and there.
            bed = (h + 0.30 * x - 0.16 * y + 18.0 * fbm(x / 150.0, y / 150.0, 3, seed + 40, 0.5)) / 58.0
            bed -= math.floor(bed)
            banded = smoothstep(-0.1, 0.35, fbm(x / 260.0, y / 260.0, 3, seed + 45, 0.5))
            h += 7.0 * face * banded * (smoothstep(0.55, 0.95, bed) - bed)
            # The hanging glacier: a swelling that ends in a wall.
            px = x - serac[0]
            py = y - serac[1]
            down = px * serac[2] + py * serac[3]
            side = -px * serac[3] + py * serac[2]
            edge = 12.0 * gradient_noise(side / 45.0, 0.3, seed + 50) + 5.0 * gradient_noise(
                side / 14.0, 0.9, seed + 51
            )
            wide = 1.0 - smoothstep(0.35, 1.0, abs(side) / serac[4])
            edge += 60.0 * (side / serac[4]) ** 2  # the front bends back at its ends
            bulge = wide * smoothstep(-serac[6], -0.2 * serac[6], down) * (1.0 - smoothstep(-6.0, 5.0, down + edge))
            h += serac[5] * bulge
            if wide > 0.12 and -22.0 < down + edge < 9.0:
                surface[j, i] = _ICE
            # Crevasses lie across the glacier where it bends: narrow slots; the bergschrund is the widest.
            bow = down - 0.0015 * side * side + 16.0 * gradient_noise(x / 70.0, y / 70.0, seed + 61)
            slot = bow / 41.0
            slot = abs(slot - math.floor(slot) - 0.5) * 41.0
            where = smoothstep(0.0, 0.25, fbm(x / 130.0, y / 130.0, 2, seed + 60, 0.5) + 0.05)
            depth = crevasse * (1.0 - smoothstep(1.4, 3.4, slot)) * (1.0 - smoothstep(20.0, 60.0, to_glacier)) * where
            torn = 1.4 * crevasse * (1.0 - smoothstep(2.6, 5.2, abs(bow - schrund)))
            depth = max(depth, torn * (1.0 - smoothstep(50.0, 100.0, to_glacier)))
            h -= depth
            if depth > 0.35 * crevasse:
                surface[j, i] = _ICE
            heights[j, i] = h
    return heights, surface
