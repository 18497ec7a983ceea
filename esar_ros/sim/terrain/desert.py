"""A dry lake's shore: salt crust, gravel plain, wind-carved yardangs and transverse dunes.

Everything the wind made follows one direction. Yardangs are streamlined ridges with a blunt head to the
wind and a tapering tail (Ward and Greeley, "Evolution of the yardangs at Rogers Lake", 1984); transverse
dunes rise gently to windward and fall at the angle of repose to leeward (Bagnold, 1941).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.noise import fbm, gradient_noise, smoothstep, uniform2

# What the shape functions know of the surface, by LandCover's numbers; the cover classifier decides the rest.
_SAND, _SALT, _GOBI, _CLAY = 3, 8, 9, 10


class DesertBasin(StrictModel):
    """Distances are measured across the map's diagonals, which the wind follows."""

    kind: Literal["desert_basin"]
    wind_from: float = Field(ge=0.0, lt=360.0, description="deg from north, clockwise, where the wind comes from")
    salt_from: float = Field(description="m across the wind, to its left looking downwind, where the crust begins")
    yardang_from: float = Field(description="m across the wind, to its right, where the yardangs begin")
    dune_from: float = Field(description="m downwind where the dunes begin")
    crust_relief: float = Field(ge=0.0, le=2.0, description="m, upturned rims of the salt polygons")
    plain_rise: float = Field(ge=0.0, le=50.0, description="m the plain stands above the lake floor")
    yardang_height: tuple[float, float] = Field(description="m, least and greatest")
    yardang_length: tuple[float, float] = Field(description="m, least and greatest")
    dune_height: float = Field(ge=0.0, le=60.0, description="m, of the highest")
    dune_spacing: float = Field(gt=20.0, description="m from crest to crest")


def desert_basin(
    relief: DesertBasin, samples: int, size: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Heights (n, n) in m above the lake floor and the surface (n, n) as LandCover numbers."""
    away = math.radians(90.0 - relief.wind_from) + math.pi
    return _desert(  # type: ignore[no-any-return]
        samples,
        size,
        seed,
        math.cos(away),
        math.sin(away),
        relief.salt_from,
        relief.yardang_from,
        relief.dune_from,
        relief.crust_relief,
        relief.plain_rise,
        np.array([*relief.yardang_height, *relief.yardang_length]),
        relief.dune_height,
        relief.dune_spacing,
    )


@njit(cache=True, nogil=True)
def crust_rim(x: float, y: float, seed: int) -> float:
    """1 on the rims of salt polygons, 0 within them; lattice of one unit."""
    ix = math.floor(x)
    iy = math.floor(y)
    first = 9.0
    second = 9.0
    for j in range(iy - 1, iy + 2):
        for i in range(ix - 1, ix + 2):
            dx = i + uniform2(i, j, seed) - x
            dy = j + uniform2(i, j, seed + 1) - y
            d = math.sqrt(dx * dx + dy * dy)
            if d < first:
                second = first
                first = d
            elif d < second:
                second = d
    return 1.0 - smoothstep(0.03, 0.2, second - first)


@njit(cache=True, nogil=True)
def _yardang(down, across, cell_l, cell_w, shape, seed):  # type: ignore[no-untyped-def]
    """Height (m) of the yardangs at a point: streamlined bodies, one a cell, some cells empty."""
    best = 0.0
    ci = math.floor(down / cell_l)
    cj = math.floor(across / cell_w)
    for j in range(cj - 1, cj + 2):
        shift = 0.5 * cell_l * (j & 1)
        for i in range(ci - 2, ci + 2):
            if uniform2(i, j, seed) < 0.16:
                continue
            big = uniform2(i, j, seed + 1)
            big = big * big
            length = shape[2] + (shape[3] - shape[2]) * big
            width = length / (2.6 + 2.4 * uniform2(i, j, seed + 2))
            head = (i + 0.8 * uniform2(i, j, seed + 3)) * cell_l + shift
            middle = (j + 0.5 + 0.55 * (uniform2(i, j, seed + 4) - 0.5)) * cell_w
            s = (down - head) / length
            if s <= 0.0 or s >= 1.0:
                continue
            half = 0.5 * width * 1.75 * s**0.42 * (1.0 - s) ** 0.75
            off = abs(across - middle - 3.0 * gradient_noise(down / 37.0, j * 1.7, seed + 5))
            if off >= half:
                continue
            top = shape[0] + (shape[1] - shape[0]) * (0.25 + 0.75 * big) * (0.55 + 0.45 * uniform2(i, j, seed + 6))
            inward = (half - off) / max(0.30 * width, 2.0)
            body = top * smoothstep(0.0, 0.8, inward) * (1.0 - 0.45 * s)
            best = max(best, body * smoothstep(0.0, 0.06, s))
    return best


@njit(cache=True, nogil=True)
def _desert(n, size, seed, wx, wy, salt_from, yardang_from, dune_from, crust, rise, shape, dune, spacing):  # type: ignore[no-untyped-def]
    heights = np.empty((n, n), np.float64)
    surface = np.empty((n, n), np.uint8)
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            down = x * wx + y * wy  # along the wind, where it blows to
            left = -x * wy + y * wx  # to its left, looking downwind
            broad = fbm(x / 900.0, y / 900.0, 4, seed, 0.5)
            fine = fbm(x / 60.0, y / 60.0, 4, seed + 10, 0.55)
            lake = smoothstep(-140.0, 140.0, left - salt_from + 420.0 * broad)
            wall = smoothstep(
                -120.0, 180.0, -left - yardang_from + 380.0 * fbm(x / 700.0, y / 700.0, 3, seed + 20, 0.5)
            )
            erg = smoothstep(-150.0, 250.0, down - dune_from + 450.0 * fbm(x / 800.0, y / 800.0, 3, seed + 30, 0.5))
            h = rise * (1.0 - lake) * (0.55 + 0.45 * smoothstep(0.0, 2200.0, -left)) + 1.1 * (1.0 - lake) * broad
            h += (0.35 * (1.0 - lake) + 0.05) * fine
            kind = _GOBI
            # Salt polygons: big plates with upturned rims, small ones within; smooth pans between the fields.
            if lake > 0.5 - 0.2 * fine:
                rough = smoothstep(-0.35, 0.1, fbm(x / 310.0, y / 310.0, 3, seed + 40, 0.5))
                rim = crust_rim(x / 24.0 + 0.3 * fine, y / 24.0, seed + 41)
                h += crust * lake * (0.25 + 0.75 * rough) * rim
                h += 0.35 * crust * rough * fbm(x / 9.0, y / 9.0, 2, seed + 42, 0.5)
                kind = _SALT
            if wall > 0.02:
                body = _yardang(down, left, 150.0, 62.0, shape, seed + 50)
                body = max(body, 0.42 * _yardang(down + 61.0, left + 17.0, 74.0, 31.0, 0.5 * shape, seed + 70))
                body *= smoothstep(0.05, 0.75, wall)
                # Hard layers of the lake clay stand out as steps.
                layer = body / 2.4
                whole = math.floor(layer)
                body = 2.4 * (whole + smoothstep(0.25, 0.85, layer - whole)) * 0.6 + body * 0.4
                h += body + 0.8 * wall * fbm(down / 120.0, left / 26.0, 3, seed + 90, 0.5)
                if body > 0.5:
                    kind = _CLAY
            if erg > 0.02 and wall < 0.6:
                bend = 38.0 * fbm(left / 260.0, down / 700.0, 3, seed + 100, 0.5) + 9.0 * gradient_noise(
                    left / 60.0, down / 200.0, seed + 104
                )
                phase = (down + bend) / spacing
                phase -= math.floor(phase)
                slip = 0.17
                up = phase / (1.0 - slip)
                profile = up * up * (3.0 - 2.0 * up) if up < 1.0 else (1.0 - phase) / slip
                strength = (
                    smoothstep(-0.42, 0.3, fbm(left / 240.0, down / 330.0, 3, seed + 110, 0.5)) * erg * (1.0 - wall)
                )
                body = dune * strength * profile
                h += body + 0.8 * erg * strength
                if body > 0.35 + 0.5 * fine or strength > 0.72:
                    kind = _SAND
            heights[j, i] = h
            surface[j, i] = kind
    return heights, surface
