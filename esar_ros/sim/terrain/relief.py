"""Relief of a place: a shape function per kind of landscape, hydraulic erosion, and the alpine crest's shape.

Grids are (n, n) with row = y (row 0 is the south edge) and column = x (column 0 is the west edge).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.coast import CoastalHills, coastal_hills, wear_shore
from esar_ros.sim.terrain.dem import ImportedDem, imported_ground
from esar_ros.sim.terrain.desert import DesertBasin, desert_basin
from esar_ros.sim.terrain.land_cover import UNKNOWN
from esar_ros.sim.terrain.noise import fbm, gradient_noise, ridged, smoothstep
from esar_ros.sim.terrain.settlements.ground import SettlementGround, settlement_ground
from esar_ros.sim.terrain.summit import SummitPyramid, pin_summit, summit_pyramid

Grid = NDArray[np.float32]


class Erosion(StrictModel):
    """Droplet erosion after Beyer, "Implementation of a method for hydraulic erosion", 2015."""

    droplets: int = Field(ge=0, le=5_000_000)
    erosion_rate: float = Field(0.25, ge=0.0, le=1.0)
    deposition_rate: float = Field(0.25, ge=0.0, le=1.0)


class AlpineRidge(StrictModel):
    """A main crest with spurs, couloirs and one gentle shoulder (the camp) at the map's centre."""

    kind: Literal["alpine_ridge"]
    crest_offset: float = Field(description="m the crest passes north of the centre")
    crest_rise: float = Field(description="m the crest climbs from the centre to the east edge")
    south_slope: float = Field(gt=0.0, le=1.5, description="rise over run below the crest")
    north_slope: float = Field(gt=0.0, le=1.5, description="rise over run below the crest")
    spur_height: float = Field(ge=0.0, description="m, spurs and couloirs far below the crest")
    shoulder_radius: float = Field(gt=0.0, description="m, of the gentle ground about the centre")
    shoulder_slope: float = Field(ge=0.0, le=0.5, description="rise over run on it")


Relief = Annotated[
    AlpineRidge | DesertBasin | SummitPyramid | CoastalHills | ImportedDem | SettlementGround,
    Field(discriminator="kind"),
]


def generate_heights(
    relief: Relief,
    erosion: Erosion,
    samples: int,
    size: float,
    seed: int,
    altitude: float,
    folder: Path | None = None,
    water_level: float | None = None,
) -> tuple[Grid, NDArray[np.uint8]]:
    """Heights (samples, samples) in m, 0 at the centre, and the surface (samples, samples) where the relief knows it.

    The same bytes for the same arguments. altitude (m AMSL) is the centre's: reliefs that are given in altitudes are
    brought to it there, and the sea, where there is one, lies level at -altitude. folder is where the map file lies
    and, beside it, an imported relief's heights. water_level (m) is the sea's, or that of a settlement's ponds.
    """
    surface = np.full((samples, samples), UNKNOWN, dtype=np.uint8)
    cell = size / (samples - 1)
    if isinstance(relief, AlpineRidge):
        heights = _alpine_ridge(
            samples,
            size,
            seed,
            relief.crest_offset,
            relief.crest_rise,
            relief.south_slope,
            relief.north_slope,
            relief.spur_height,
            relief.shoulder_radius,
            relief.shoulder_slope,
        )
    elif isinstance(relief, DesertBasin):
        heights, surface = desert_basin(relief, samples, size, seed)
    elif isinstance(relief, SummitPyramid):
        heights, surface = summit_pyramid(relief, samples, size, seed)
    elif isinstance(relief, ImportedDem):
        heights, known = imported_ground(relief, folder, samples, size, water_level)
        surface = surface if known is None else known
    elif isinstance(relief, SettlementGround):
        heights, surface = settlement_ground(relief, samples, size, seed, water_level)
    else:
        heights = coastal_hills(relief, samples, size, seed)
    _erode(heights, cell, erosion.droplets, seed, erosion.erosion_rate, erosion.deposition_rate)
    centre = (samples - 1) // 2
    if isinstance(relief, CoastalHills):
        wear_shore(heights, relief, size, seed)
    if isinstance(relief, SummitPyramid):
        pin_summit(heights, relief, size)
    if isinstance(relief, CoastalHills | SummitPyramid):
        _set_centre(heights, size, altitude)
    return (heights - heights[centre, centre]).astype(np.float32), surface


def _set_centre(altitudes: NDArray[np.float64], size: float, altitude: float) -> None:
    """Raise or lower the land about the centre so that it stands at an altitude there; the sea stays; in place."""
    n = altitudes.shape[0]
    axis = np.linspace(-size / 2, size / 2, n)
    bump = np.exp(-(axis**2) / (2.0 * 60.0**2))
    bump[bump < 1e-3] = 0.0
    gap = altitude - altitudes[n // 2, n // 2]
    altitudes += gap * bump[:, None] * bump[None, :] * (altitudes > 0.0)


def surface_normals(heights: Grid, cell: float) -> NDArray[np.float32]:
    """Unit normals (n, n, 3) by central differences."""
    gy, gx = np.gradient(heights.astype(np.float32), np.float32(cell))
    normals = np.stack([-gx, -gy, np.ones_like(gx)], axis=-1)
    normals /= np.sqrt((normals * normals).sum(axis=-1, keepdims=True))
    return normals.astype(np.float32)


@njit(cache=True, nogil=True)
def _alpine_ridge(n, size, seed, offset, rise, south, north, spur, radius, gentle):  # type: ignore[no-untyped-def]
    out = np.empty((n, n), np.float64)
    step = size / (n - 1)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            wx = x + 90.0 * fbm(x / 420.0, y / 420.0, 4, seed + 50, 0.5)
            wy = y + 90.0 * fbm(x / 420.0 + 7.0, y / 420.0 + 3.0, 4, seed + 60, 0.5)
            crest_y = offset + 120.0 * gradient_noise(wx / 700.0, 0.37, seed + 1)
            across = wy - crest_y
            below = math.sqrt(across * across + 60.0 * 60.0) - 60.0
            slope = south if across < 0.0 else north
            crest = rise * smoothstep(0.0, size / 2.0, x) + 35.0 * gradient_noise(wx / 330.0, 5.2, seed + 2)
            carved = smoothstep(30.0, 350.0, below)
            spurs = spur * (ridged(wx / 520.0, wy / 900.0, 5, seed + 10) - 0.5)
            h = crest - slope * below + carved * spurs
            h += 16.0 * fbm(wx / 210.0, wy / 210.0, 5, seed + 20, 0.5)
            steep_detail = 0.5 + carved
            h += 1.6 * steep_detail * fbm(x / 34.0, y / 34.0, 3, seed + 30, 0.5)
            away = math.sqrt(x * x + y * y) / radius
            flat = 0.88 * (1.0 - smoothstep(0.35, 1.35, away))
            camp = -slope * (math.sqrt(offset * offset + 3600.0) - 60.0) + gentle * y
            camp += 2.5 * fbm(x / 70.0, y / 70.0, 3, seed + 40, 0.5)
            out[j, i] = h + flat * (camp - h)
    return out


@njit(cache=True, nogil=True)
def _erode(h, cell, droplets, seed, erosion_rate, deposition_rate):  # type: ignore[no-untyped-def]
    np.random.seed(seed)
    n = h.shape[0]
    for _ in range(droplets):
        x = np.random.random() * (n - 3) + 1.0
        y = np.random.random() * (n - 3) + 1.0
        dx = 0.0
        dy = 0.0
        speed = 1.0
        water = 1.0
        sediment = 0.0
        for _step in range(48):
            ix = int(x)
            iy = int(y)
            fx = x - ix
            fy = y - iy
            h00 = h[iy, ix]
            h10 = h[iy, ix + 1]
            h01 = h[iy + 1, ix]
            h11 = h[iy + 1, ix + 1]
            gx = ((h10 - h00) * (1.0 - fy) + (h11 - h01) * fy) / cell
            gy = ((h01 - h00) * (1.0 - fx) + (h11 - h10) * fx) / cell
            here = h00 * (1.0 - fx) * (1.0 - fy) + h10 * fx * (1.0 - fy) + h01 * (1.0 - fx) * fy + h11 * fx * fy
            dx = dx * 0.1 - gx * 0.9
            dy = dy * 0.1 - gy * 0.9
            length = math.sqrt(dx * dx + dy * dy)
            if length < 1e-6:
                break
            dx /= length
            dy /= length
            nx = x + dx
            ny = y + dy
            if nx < 1.0 or ny < 1.0 or nx >= n - 2 or ny >= n - 2:
                break
            jx = int(nx)
            jy = int(ny)
            u = nx - jx
            v = ny - jy
            there = h[jy, jx] * (1.0 - u) * (1.0 - v) + h[jy, jx + 1] * u * (1.0 - v)
            there += h[jy + 1, jx] * (1.0 - u) * v + h[jy + 1, jx + 1] * u * v
            drop = there - here
            capacity = max(-drop / cell, 0.01) * speed * water * 0.3 * cell
            if drop > 0.0:
                moved = min(drop, sediment)
            elif sediment > capacity:
                moved = (sediment - capacity) * deposition_rate
            else:
                moved = -min((capacity - sediment) * erosion_rate, -drop)
            sediment -= moved
            h[iy, ix] += moved * (1.0 - fx) * (1.0 - fy)
            h[iy, ix + 1] += moved * fx * (1.0 - fy)
            h[iy + 1, ix] += moved * (1.0 - fx) * fy
            h[iy + 1, ix + 1] += moved * fx * fy
            speed = math.sqrt(max(0.01, speed * speed - drop * 0.5))
            water *= 0.985
            x = nx
            y = ny
